package app

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// ServiceQuery chooses services.
type ServiceQuery = store.ServiceQuery

// CreateService makes something that can be offered.
func (a *App) CreateService(ctx context.Context, caller tenant.Caller, s catalog.Service) (catalog.Service, error) {
	s = s.WithDefaults()
	s.Active = true
	if err := s.Validate(); err != nil {
		return s, err
	}
	err := a.write(ctx, caller, "service.create", func(_ context.Context, tx *engine.Tx) error {
		s.ID, s.Version, s.CreatedAt, s.UpdatedAt = tenant.Next[tenant.ServiceID](tx.IDs), 1, tx.Now, tx.Now
		store.InsertService(tx.Tx, tx.Tenant, s)
		seats.CatalogChanged(tx, "service.created", "service", s.ID.UUID, catalog.Changes(nil, s.Facts()))
		return nil
	}, answers(&s))
	return s, serviceNameTaken(err)
}

// UpdateService edits a service, if it still is at the version expected (nil: whichever).
func (a *App) UpdateService(ctx context.Context, caller tenant.Caller, id tenant.ServiceID, expect *int, edit func(*catalog.Service)) (catalog.Service, error) {
	var after catalog.Service
	err := a.write(ctx, caller, "service.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *catalog.Service
		var batch pg.Batch
		store.FindService(&batch, tx.Tenant, id, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return noService
		}
		if err := current(expect, before.Version); err != nil {
			return err
		}
		after = *before
		edit(&after)
		after = after.WithDefaults()
		changes := catalog.Changes(before.Facts(), after.Facts())
		if changes == nil {
			return nil
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		store.UpdateService(tx.Tx, tx.Tenant, after)
		seats.CatalogChanged(tx, "service.updated", "service", id.UUID, changes)
		return nil
	}, answers(&after))
	return after, serviceNameTaken(err)
}

// GetService reads a service.
func (a *App) GetService(ctx context.Context, caller tenant.Caller, id tenant.ServiceID) (catalog.Service, error) {
	var found *catalog.Service
	var batch pg.Batch
	store.FindService(&batch, caller.Tenant, id, &found)
	if err := a.read(ctx, caller, &batch); err != nil {
		return catalog.Service{}, err
	}
	if found == nil {
		return catalog.Service{}, noService
	}
	return *found, nil
}

// ListServices reads services by name.
func (a *App) ListServices(ctx context.Context, caller tenant.Caller, q ServiceQuery) ([]catalog.Service, error) {
	var found []catalog.Service
	var batch pg.Batch
	store.ListServices(&batch, caller.Tenant, q, &found)
	err := a.read(ctx, caller, &batch)
	return found, err
}

var noService = fault.Missing(fault.ServiceNotFound, "Service")

func serviceNameTaken(err error) error {
	return nameTaken(err, "services_name", "service.name", "service")
}
