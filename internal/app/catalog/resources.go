package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// ResourceQuery chooses resources.
type ResourceQuery = catalogdb.ResourceQuery

// CreateResource makes a resource at a location.
func (s *Service) CreateResource(ctx context.Context, caller tenant.Caller, r catalog.Resource) (catalog.Resource, error) {
	var made catalog.Resource
	err := s.engine.Write(ctx, caller, "resource.create", func(ctx context.Context, tx *engine.Tx) error {
		var location *catalog.Location
		var batch pg.Batch
		catalogdb.FindLocation(&batch, tx.Tenant, r.Location, &location)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if location == nil {
			return catalog.ErrNoLocation
		}
		made = r
		made.ID, made.Active = tenant.NextID[tenant.ResourceID](tx.IDs), true
		made.Version, made.CreatedAt, made.UpdatedAt = 1, tx.Now, tx.Now
		if err := made.Validate(); err != nil {
			return err
		}
		catalogdb.InsertResource(tx.Tx, tx.Tenant, made)
		seats.CatalogChanged(tx, "resource.created", "resource", made.ID.UUID, catalog.AuditChanges(nil, made.AuditFields()))
		return nil
	}, engine.Answers(&made))
	return made, resourceNameTaken(err)
}

// UpdateResource edits a resource, if it still is at the version expected (nil: whichever). It stays at its location.
func (s *Service) UpdateResource(ctx context.Context, caller tenant.Caller, id tenant.ResourceID, expect *int, edit func(*catalog.Resource)) (catalog.Resource, error) {
	var after catalog.Resource
	err := s.engine.Write(ctx, caller, "resource.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *catalog.Resource
		var batch pg.Batch
		catalogdb.FindResource(&batch, tx.Tenant, id, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return fault.Missing(fault.ResourceNotFound, "Resource")
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
		catalogdb.UpdateResource(tx.Tx, tx.Tenant, after)
		seats.CatalogChanged(tx, "resource.updated", "resource", id.UUID, changes)
		return nil
	}, engine.Answers(&after))
	return after, resourceNameTaken(err)
}

// ListResources reads resources by name, of one location or of all.
func (s *Service) ListResources(ctx context.Context, caller tenant.Caller, q ResourceQuery) ([]catalog.Resource, error) {
	var location *catalog.Location
	var found []catalog.Resource
	var batch pg.Batch
	catalogdb.FindLocation(&batch, caller.Tenant, q.Location, &location)
	catalogdb.ListResources(&batch, caller.Tenant, q, &found)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if location == nil && !q.Location.IsZero() {
		return nil, catalog.ErrNoLocation
	}
	return found, nil
}

func resourceNameTaken(err error) error {
	return nameTaken(err, "resources_name", "resource.name", "resource")
}
