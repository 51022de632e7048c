package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// GetTenant reads the tenant's settings.
func (s *Service) GetTenant(ctx context.Context, caller tenant.Caller) (catalog.Tenant, error) {
	var found *catalog.Tenant
	var batch pg.Batch
	accountdb.FindTenant(&batch, caller.Tenant, &found)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return catalog.Tenant{}, err
	}
	if found == nil {
		return catalog.Tenant{}, catalog.ErrNoTenant
	}
	return *found, nil
}

// UpdateTenant edits the tenant's settings, if they still are at the version expected (nil: whichever).
func (s *Service) UpdateTenant(ctx context.Context, caller tenant.Caller, expect *int, edit func(*catalog.Tenant)) (catalog.Tenant, error) {
	var after catalog.Tenant
	err := s.engine.Write(ctx, caller, "tenant.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *catalog.Tenant
		var batch pg.Batch
		accountdb.FindTenant(&batch, tx.Tenant, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return catalog.ErrNoTenant
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = *before
		edit(&after)
		changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
		if changes == nil {
			return nil
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		accountdb.UpdateTenant(tx.Tx, after)
		seats.CatalogChanged(tx, "tenant.updated", "tenant", tx.Tenant.UUID, changes)
		return nil
	}, engine.Answers(&after))
	return after, err
}
