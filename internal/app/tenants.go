package app

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// GetTenant reads the tenant's settings.
func (a *App) GetTenant(ctx context.Context, caller tenant.Caller) (catalog.Tenant, error) {
	var found *catalog.Tenant
	var batch pg.Batch
	store.FindTenant(&batch, caller.Tenant, &found)
	if err := a.read(ctx, caller, &batch); err != nil {
		return catalog.Tenant{}, err
	}
	if found == nil {
		return catalog.Tenant{}, noTenant
	}
	return *found, nil
}

// UpdateTenant edits the tenant's settings, if they still are at the version expected (nil: whichever).
func (a *App) UpdateTenant(ctx context.Context, caller tenant.Caller, expect *int, edit func(*catalog.Tenant)) (catalog.Tenant, error) {
	var after catalog.Tenant
	err := a.write(ctx, caller, "tenant.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *catalog.Tenant
		var batch pg.Batch
		store.FindTenant(&batch, tx.Tenant, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return noTenant
		}
		if err := current(expect, before.Version); err != nil {
			return err
		}
		after = *before
		edit(&after)
		changes := catalog.Changes(before.Facts(), after.Facts())
		if changes == nil {
			return nil
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		store.UpdateTenant(tx.Tx, after)
		seats.CatalogChanged(tx, "tenant.updated", "tenant", tx.Tenant.UUID, changes)
		return nil
	}, answers(&after))
	return after, err
}

var noTenant = fault.Missing(fault.TenantNotFound, "Tenant")

// catalogChanged records that something of what a tenant sets up was made or edited, for
// the log of who did it and for whoever keeps a copy.
func (a *App) catalogChanged(tx *engine.Tx, action, kind string, id tenant.UUID, changes map[string]any) {
	tx.Audit(action, kind, id, "", changes)
	seats.CatalogEvent(tx, kind, id.String())
}

func (a *App) catalogEvent(tx *engine.Tx, kind, id string) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.Next[tenant.EventID](tx.IDs), Type: outbox.CatalogChanged, Actor: tx.Caller.Actor(),
		Data: map[string]any{"kind": kind, "id": id}, At: tx.Now,
	})
}

// nameTaken says so where a unique name was refused by its index. Looking first would not help: the
// other may be made at the same moment.
func nameTaken(err error, index, field, kind string) error {
	if pg.IsUnique(err, index) {
		return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "There is a %s of that name.", kind).In(field).Because(err)
	}
	return err
}
