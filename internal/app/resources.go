package app

import (
	"context"

	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// ResourceQuery chooses resources.
type ResourceQuery = catalogdb.ResourceQuery

// CreateResource makes a resource at a location.
func (a *App) CreateResource(ctx context.Context, caller tenant.Caller, r catalog.Resource) (catalog.Resource, error) {
	var made catalog.Resource
	err := a.write(ctx, caller, "resource.create", func(ctx context.Context, t *tx) error {
		var location *catalog.Location
		var batch pg.Batch
		catalogdb.FindLocation(&batch, t.in, r.Location, &location)
		if err := t.Load(ctx, &batch); err != nil {
			return err
		}
		if location == nil {
			return noLocation
		}
		made = r
		made.ID, made.Active = tenant.Next[tenant.ResourceID](t.mint), true
		made.Version, made.CreatedAt, made.UpdatedAt = 1, t.now, t.now
		if err := made.Validate(); err != nil {
			return err
		}
		catalogdb.InsertResource(t.Tx, t.in, made)
		t.catalogChanged("resource.created", "resource", made.ID.UUID, catalog.Changes(nil, made.Facts()))
		return nil
	}, answers(&made))
	return made, resourceNameTaken(err)
}

// UpdateResource edits a resource, if it still is at the version expected (nil: whichever). It stays at its location.
func (a *App) UpdateResource(ctx context.Context, caller tenant.Caller, id tenant.ResourceID, expect *int, edit func(*catalog.Resource)) (catalog.Resource, error) {
	var after catalog.Resource
	err := a.write(ctx, caller, "resource.update", func(ctx context.Context, t *tx) error {
		var before *catalog.Resource
		var batch pg.Batch
		catalogdb.FindResource(&batch, t.in, id, &before)
		if err := t.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return fault.Missing(fault.ResourceNotFound, "Resource")
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
		after.Version, after.UpdatedAt = before.Version+1, t.now
		catalogdb.UpdateResource(t.Tx, t.in, after)
		t.catalogChanged("resource.updated", "resource", id.UUID, changes)
		return nil
	}, answers(&after))
	return after, resourceNameTaken(err)
}

// ListResources reads resources by name, of one location or of all.
func (a *App) ListResources(ctx context.Context, caller tenant.Caller, q ResourceQuery) ([]catalog.Resource, error) {
	var location *catalog.Location
	var found []catalog.Resource
	var batch pg.Batch
	catalogdb.FindLocation(&batch, caller.Tenant, q.Location, &location)
	catalogdb.ListResources(&batch, caller.Tenant, q, &found)
	if err := a.read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if location == nil && !q.Location.IsZero() {
		return nil, noLocation
	}
	return found, nil
}

func resourceNameTaken(err error) error {
	return nameTaken(err, "resources_name", "resource.name", "resource")
}
