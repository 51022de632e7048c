package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// ResourceQuery selects resources.
type ResourceQuery = catalogdb.ResourceQuery

// CreateResource creates a resource at a location.
func (s *Service) CreateResource(
	ctx context.Context, caller tenant.Caller, r catalog.Resource,
) (catalog.Resource, error) {
	created, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "resource.create", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (catalog.Resource, error) {
			_, err := engine.Find(ctx, tx, catalog.ErrNoLocation, func(b *pg.Batch, into **catalog.Location) {
				catalogdb.FindLocation(b, tx.Tenant, r.Location, into)
			})
			if err != nil {
				return r, err
			}
			r.ID = tenant.NextID[tenant.ResourceID](tx.IDs)
			r.Version, r.CreatedAt, r.UpdatedAt = 1, tx.Now, tx.Now
			if err := r.Validate(); err != nil {
				return r, err
			}
			catalogdb.InsertResource(tx.Tx, tx.Tenant, r)
			record.CatalogChange(tx, "resource.created", "resource", r.ID.UUID, catalog.AuditChanges(nil, r.AuditFields()))
			return r, nil
		})
	return created, resourceNameTaken(err)
}

// UpdateResource edits a resource, which stays at its location. If expect is not nil it must be the resource's version.
func (s *Service) UpdateResource(
	ctx context.Context, caller tenant.Caller, id tenant.ResourceID, expect *int, edit func(*catalog.Resource),
) (catalog.Resource, error) {
	updated, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "resource.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (catalog.Resource, error) {
			before, err := engine.Find(ctx, tx, errNoResource, func(b *pg.Batch, into **catalog.Resource) {
				catalogdb.FindResource(b, tx.Tenant, id, into)
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
			catalogdb.UpdateResource(tx.Tx, tx.Tenant, after)
			record.CatalogChange(tx, "resource.updated", "resource", id.UUID, changes)
			return after, nil
		})
	return updated, resourceNameTaken(err)
}

// GetResource reads a resource.
func (s *Service) GetResource(
	ctx context.Context, caller tenant.Caller, id tenant.ResourceID,
) (catalog.Resource, error) {
	return engine.Get(ctx, s.engine, caller, errNoResource, func(b *pg.Batch, into **catalog.Resource) {
		catalogdb.FindResource(b, caller.Tenant, id, into)
	})
}

// ListResources reads resources by name, then id: those of one location, which has to exist, or all.
func (s *Service) ListResources(
	ctx context.Context, caller tenant.Caller, q ResourceQuery,
) ([]catalog.Resource, error) {
	var location *catalog.Location
	found, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]catalog.Resource) {
		catalogdb.FindLocation(b, caller.Tenant, q.Location, &location)
		catalogdb.ListResources(b, caller.Tenant, q, into)
	})
	if err == nil && location == nil && !q.Location.IsZero() {
		err = catalog.ErrNoLocation
	}
	return found, err
}

var errNoResource = fault.Missing(fault.ResourceNotFound, "Resource")

func resourceNameTaken(err error) error {
	return nameTaken(err, "resources_name", "resource.name", "There is a resource of that name.")
}
