package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// GetTenant reads the tenant.
func (s *Service) GetTenant(ctx context.Context, caller tenant.Caller) (catalog.Tenant, error) {
	return engine.Get(ctx, s.engine, caller, catalog.ErrNoTenant, func(b *pg.Batch, into **catalog.Tenant) {
		accountdb.FindTenant(b, caller.Tenant, into)
	})
}

// StepUp reads which sign-in the tenant asks people for.
func (s *Service) StepUp(ctx context.Context, in tenant.TenantID) (catalog.StepUp, error) {
	t, err := s.GetTenant(ctx, tenant.System(in))
	return t.StepUp, err
}

// UpdateTenant edits the tenant. If expect is not nil it must be the tenant's version.
func (s *Service) UpdateTenant(
	ctx context.Context, caller tenant.Caller, expect *int, edit func(*catalog.Tenant),
) (catalog.Tenant, error) {
	return engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "tenant.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (catalog.Tenant, error) {
			before, err := engine.Find(ctx, tx, catalog.ErrNoTenant, func(b *pg.Batch, into **catalog.Tenant) {
				accountdb.FindTenant(b, tx.Tenant, into)
			})
			if err != nil {
				return before, err
			}
			if err := fault.CheckVersion(expect, before.Version); err != nil {
				return before, err
			}
			after := before
			edit(&after)
			changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
			if changes == nil {
				return after, nil
			}
			if err := after.ValidateEdit(before); err != nil {
				return before, err
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			accountdb.UpdateTenant(tx.Tx, after)
			record.CatalogChange(tx, "tenant.updated", "tenant", tx.Tenant.UUID, changes)
			return after, nil
		})
}
