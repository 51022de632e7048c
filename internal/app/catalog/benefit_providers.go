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

// PutBenefitProvider creates a benefit provider, or replaces the one with its code. If expect is not nil it must be the
// provider's version, where 0 means that there is none.
func (s *Service) PutBenefitProvider(
	ctx context.Context, caller tenant.Caller, p booking.BenefitProvider, expect *int,
) (booking.BenefitProvider, error) {
	if err := p.Validate(); err != nil {
		return p, err
	}
	return engine.Do(ctx, s.engine, caller,
		engine.Spec[booking.BenefitProvider]{Name: "benefit_provider.put", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (booking.BenefitProvider, error) {
			// If there is none, this finds a zero provider without an error. Its version is 0.
			before, err := engine.Find(ctx, tx, nil, func(b *pg.Batch, into **booking.BenefitProvider) {
				catalogdb.FindBenefitProvider(b, tx.Tenant, p.Code, into)
			})
			if err != nil {
				return before, err
			}
			if expect != nil && *expect == 0 && before.Version > 0 {
				return before, fault.New(fault.AlreadyExists, fault.AlreadyExistsReason,
					"There is a provider of that code.").WithField("provider.code")
			}
			if err := engine.CheckVersion(expect, before.Version); err != nil {
				return before, err
			}
			after := p
			after.Version, after.CreatedAt, after.UpdatedAt = before.Version+1, tx.Now, tx.Now
			var old catalog.AuditFields
			if before.Version > 0 {
				old, after.CreatedAt = before.Facts(), before.CreatedAt
			}
			changes := catalog.AuditChanges(old, after.Facts())
			if changes == nil {
				return before, nil
			}
			catalogdb.PutBenefitProvider(tx.Tx, tx.Tenant, after)
			tx.AuditEntry(coredb.AuditEntry{
				Action: "benefit_provider.put", TargetKind: "benefit_provider", TargetID: p.Code, Changes: changes,
			})
			seats.CatalogEvent(tx, "benefit_provider", p.Code)
			return after, nil
		})
}

// ListBenefitProviders reads all of a tenant's benefit providers by code.
func (s *Service) ListBenefitProviders(ctx context.Context, caller tenant.Caller) ([]booking.BenefitProvider, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]booking.BenefitProvider) {
		catalogdb.ListBenefitProviders(b, caller.Tenant, into)
	})
}
