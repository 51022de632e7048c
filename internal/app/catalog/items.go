package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateItem makes an item that can go with bookings at its location.
func (s *Service) CreateItem(ctx context.Context, caller tenant.Caller, i booking.Item) (booking.Item, error) {
	if err := i.Validate(); err != nil {
		return i, err
	}
	err := s.engine.Write(ctx, caller, "item.create", func(_ context.Context, tx *engine.Tx) error {
		i.ID, i.Version, i.CreatedAt, i.UpdatedAt = tenant.NextID[tenant.ItemID](tx.IDs), 1, tx.Now, tx.Now
		catalogdb.InsertItem(tx.Tx, tx.Tenant, i)
		seats.CatalogChanged(tx, "item.created", "item", i.ID.UUID, map[string]any{"name": i.Name, "stock": i.Stock})
		return nil
	}, engine.Answers(&i))
	if pg.IsForeignKey(err) {
		err = fault.Missing(fault.LocationNotFound, "Location").WithCause(err)
	}
	return i, itemNameTaken(err)
}

// UpdateItem edits an item, if it still is at the version expected (nil: whichever).
func (s *Service) UpdateItem(ctx context.Context, caller tenant.Caller, id tenant.ItemID, expect *int, edit func(*booking.Item) error) (booking.Item, error) {
	var after booking.Item
	err := s.engine.Write(ctx, caller, "item.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *booking.Item
		var batch pg.Batch
		catalogdb.FindItem(&batch, tx.Tenant, id, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return fault.Missing(fault.ItemNotFound, "Item")
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = *before
		if err := edit(&after); err != nil {
			return err
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		catalogdb.UpdateItem(tx.Tx, tx.Tenant, after)
		seats.CatalogChanged(tx, "item.updated", "item", id.UUID, map[string]any{"name": after.Name, "stock": after.Stock, "active": after.Active})
		return nil
	}, engine.Answers(&after))
	return after, itemNameTaken(err)
}

// ItemQuery chooses items.
type ItemQuery = catalogdb.ItemQuery

// ListItems reads items by name, then id.
func (s *Service) ListItems(ctx context.Context, caller tenant.Caller, q ItemQuery) ([]booking.Item, error) {
	var items []booking.Item
	var batch pg.Batch
	catalogdb.ListItems(&batch, caller.Tenant, q, &items)
	err := s.engine.Read(ctx, caller, &batch)
	return items, err
}

func itemNameTaken(err error) error {
	if pg.IsUnique(err, "items_name") {
		return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "An item at the location has that name.").WithField("item.name").WithCause(err)
	}
	return err
}

// PutBenefitProvider makes a benefit provider, or replaces the one of its code, if that still is at the version expected (nil: whichever;
// 0: there is none yet).
func (s *Service) PutBenefitProvider(ctx context.Context, caller tenant.Caller, p booking.BenefitProvider, expect *int) (booking.BenefitProvider, error) {
	if err := p.Validate(); err != nil {
		return p, err
	}
	var after booking.BenefitProvider
	err := s.engine.Write(ctx, caller, "benefit_provider.put", func(ctx context.Context, tx *engine.Tx) error {
		var before *booking.BenefitProvider
		var batch pg.Batch
		catalogdb.FindBenefitProvider(&batch, tx.Tenant, p.Code, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		after = p
		after.Version, after.CreatedAt, after.UpdatedAt = 1, tx.Now, tx.Now
		var was catalog.AuditFields
		version := 0
		if before != nil {
			was, version = before.Facts(), before.Version
			after.Version, after.CreatedAt = version+1, before.CreatedAt
		}
		if expect != nil && *expect == 0 && before != nil {
			return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "There is a provider of that code.").WithField("provider.code")
		}
		if err := engine.CheckVersion(expect, version); err != nil {
			return err
		}
		changes := catalog.AuditChanges(was, after.Facts())
		if changes == nil {
			after = *before
			return nil
		}
		catalogdb.PutBenefitProvider(tx.Tx, tx.Tenant, after)
		tx.AuditEntry(coredb.AuditEntry{Action: "benefit_provider.put", TargetKind: "benefit_provider", TargetID: p.Code, Changes: changes})
		seats.CatalogEvent(tx, "benefit_provider", p.Code)
		return nil
	}, engine.Answers(&after))
	return after, err
}

// ListBenefitProviders reads all of a tenant's benefit providers by code.
func (s *Service) ListBenefitProviders(ctx context.Context, caller tenant.Caller) ([]booking.BenefitProvider, error) {
	var providers []booking.BenefitProvider
	var batch pg.Batch
	catalogdb.ListBenefitProviders(&batch, caller.Tenant, &providers)
	err := s.engine.Read(ctx, caller, &batch)
	return providers, err
}
