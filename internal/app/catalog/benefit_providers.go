package catalog

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateBenefitProvider creates a benefit provider. The tenant must have none with its code: ALREADY_EXISTS.
func (s *Service) CreateBenefitProvider(
	ctx context.Context, caller tenant.Caller, p booking.BenefitProvider,
) (booking.BenefitProvider, error) {
	if err := p.Validate(); err != nil {
		return p, err
	}
	return engine.Transact(ctx, s.engine, caller,
		engine.Transaction{Name: "benefit_provider.create", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (booking.BenefitProvider, error) {
			// If there is none, this finds a zero provider without an error. Its version is 0.
			known, err := engine.Find(ctx, tx, nil, func(b *pg.Batch, into **booking.BenefitProvider) {
				catalogdb.FindBenefitProvider(b, tx.Tenant, p.Code, into)
			})
			if err != nil {
				return known, err
			}
			if known.Version > 0 {
				return known, catalog.NameTaken("provider_code", "There is a provider of that code.")
			}
			created := p
			created.Version, created.CreatedAt, created.UpdatedAt = 1, tx.Now, tx.Now
			putBenefitProvider(tx, "benefit_provider.created", created, catalog.AuditChanges(nil, created.AuditFields()))
			return created, nil
		})
}

// UpdateBenefitProvider edits a benefit provider. If expect is not nil it must be the provider's version.
func (s *Service) UpdateBenefitProvider(
	ctx context.Context, caller tenant.Caller, code string, expect *int, edit func(*booking.BenefitProvider) error,
) (booking.BenefitProvider, error) {
	return engine.Transact(ctx, s.engine, caller,
		engine.Transaction{Name: "benefit_provider.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (booking.BenefitProvider, error) {
			before, err := engine.Find(ctx, tx, errNoProvider, func(b *pg.Batch, into **booking.BenefitProvider) {
				catalogdb.FindBenefitProvider(b, tx.Tenant, code, into)
			})
			if err != nil {
				return before, err
			}
			if err := fault.CheckVersion(expect, before.Version); err != nil {
				return before, err
			}
			after := before
			if err := edit(&after); err != nil {
				return before, err
			}
			if err := after.ValidateEdit(before); err != nil {
				return before, err
			}
			changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
			if changes == nil {
				return before, nil
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			putBenefitProvider(tx, "benefit_provider.updated", after, changes)
			return after, nil
		})
}

// putBenefitProvider stores a provider that is new or has changed, and records that.
func putBenefitProvider(tx *engine.Tx, action string, p booking.BenefitProvider, changes map[string]any) {
	catalogdb.PutBenefitProvider(tx.Tx, tx.Tenant, p)
	record.AuditEntry(tx, coredb.AuditEntry{
		Action: action, TargetKind: "benefit_provider", TargetID: p.Code, Changes: changes,
	})
	record.Event(tx, outbox.Event{
		Data: event.CatalogChanged{Kind: "benefit_provider", ID: p.Code}, Facts: event.NoFacts,
	})
}

// GetBenefitProvider reads a benefit provider.
func (s *Service) GetBenefitProvider(
	ctx context.Context, caller tenant.Caller, code string,
) (booking.BenefitProvider, error) {
	return engine.Get(ctx, s.engine, caller, errNoProvider, func(b *pg.Batch, into **booking.BenefitProvider) {
		catalogdb.FindBenefitProvider(b, caller.Tenant, code, into)
	})
}

// ListBenefitProviders reads all of a tenant's benefit providers by code.
func (s *Service) ListBenefitProviders(ctx context.Context, caller tenant.Caller) ([]booking.BenefitProvider, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]booking.BenefitProvider) {
		catalogdb.ListBenefitProviders(b, caller.Tenant, into)
	})
}

// BenefitNumbers is a change to a provider's list of membership numbers.
type BenefitNumbers struct {
	Add, Remove []string
	Replace     bool // remove all that are not added
}

// UpdateBenefitNumbers adds numbers to a provider's list, and removes others. Members keep the numbers that they use.
func (s *Service) UpdateBenefitNumbers(
	ctx context.Context, caller tenant.Caller, code string, change BenefitNumbers,
) (booking.BenefitProvider, error) {
	add, err := booking.BenefitKeys("add", change.Add)
	if err != nil {
		return booking.BenefitProvider{}, err
	}
	remove, err := booking.BenefitKeys("remove", change.Remove)
	if err != nil {
		return booking.BenefitProvider{}, err
	}
	remove = slices.DeleteFunc(remove, func(key string) bool {
		_, added := slices.BinarySearch(add, key)
		return added
	})
	return engine.Transact(ctx, s.engine, caller,
		engine.Transaction{Name: "benefit_numbers.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (booking.BenefitProvider, error) {
			var provider *booking.BenefitProvider
			var known [2]int // how many of add and remove are on the list
			var batch pg.Batch
			catalogdb.FindBenefitProvider(&batch, tx.Tenant, code, &provider)
			catalogdb.CountBenefitNumbers(&batch, tx.Tenant, code, add, remove, &known)
			if err := tx.Load(ctx, &batch); err != nil {
				return booking.BenefitProvider{}, err
			}
			if provider == nil {
				return booking.BenefitProvider{}, errNoProvider
			}
			added, removed := len(add)-known[0], known[1]
			if change.Replace {
				removed = provider.Numbers - known[0]
			}
			if added == 0 && removed == 0 {
				return *provider, nil
			}
			provider.Numbers += added - removed
			if err := provider.CheckNumbers(); err != nil {
				return booking.BenefitProvider{}, err
			}
			if change.Replace {
				catalogdb.KeepBenefitNumbers(tx.Tx, tx.Tenant, code, add)
			} else {
				catalogdb.RemoveBenefitNumbers(tx.Tx, tx.Tenant, code, remove)
			}
			catalogdb.AddBenefitNumbers(tx.Tx, tx.Tenant, code, add)
			catalogdb.PutBenefitProvider(tx.Tx, tx.Tenant, *provider)
			record.AuditEntry(tx, coredb.AuditEntry{
				Action: "benefit_numbers.updated", TargetKind: "benefit_provider", TargetID: code,
				Changes: map[string]any{"added": added, "removed": removed, "numbers": provider.Numbers},
			})
			return *provider, nil
		})
}

var errNoProvider = fault.Missing(fault.ProviderNotFound, "Benefit provider")

// Types that the store defines.
type (
	MembershipQuery  = catalogdb.MembershipQuery
	ListedMembership = catalogdb.ListedMembership
)

// ListBenefitMemberships reads a page of the numbers that members use.
func (s *Service) ListBenefitMemberships(
	ctx context.Context, caller tenant.Caller, q MembershipQuery,
) ([]ListedMembership, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]ListedMembership) {
		catalogdb.ListBenefitMemberships(b, caller.Tenant, q, into)
	})
}

// DeleteBenefitMembership ends a member's use of a number, so that another member can use it.
func (s *Service) DeleteBenefitMembership(
	ctx context.Context, caller tenant.Caller, code string, of tenant.MemberID,
) error {
	t := engine.Transaction{Name: "benefit_membership.delete", Replay: true}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		var used *booking.BenefitMembership
		var batch pg.Batch
		catalogdb.FindBenefitMembership(&batch, tx.Tenant, code, of, &used)
		if err := tx.Load(ctx, &batch); err != nil || used == nil {
			return err
		}
		catalogdb.DeleteBenefitMembership(tx.Tx, tx.Tenant, code, of)
		record.Audit(tx, "benefit_membership.deleted", "member", of.UUID, "", map[string]any{
			"provider_code": code, "membership_number": used.Number,
		})
		return nil
	})
}
