package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// ServiceQuery chooses services.
type ServiceQuery = catalogdb.ServiceQuery

// CreateService makes something that can be offered.
func (s *Service) CreateService(ctx context.Context, caller tenant.Caller, svc catalog.Service) (catalog.Service, error) {
	svc = svc.WithDefaults()
	svc.Active = true
	if err := svc.Validate(); err != nil {
		return svc, err
	}
	err := s.engine.Write(ctx, caller, "service.create", func(_ context.Context, tx *engine.Tx) error {
		svc.ID, svc.Version, svc.CreatedAt, svc.UpdatedAt = tenant.NextID[tenant.ServiceID](tx.IDs), 1, tx.Now, tx.Now
		catalogdb.InsertService(tx.Tx, tx.Tenant, svc)
		seats.CatalogChanged(tx, "service.created", "service", svc.ID.UUID, catalog.AuditChanges(nil, svc.AuditFields()))
		return nil
	}, engine.Answers(&svc))
	return svc, serviceNameTaken(err)
}

// UpdateService edits a service, if it still is at the version expected (nil: whichever).
func (s *Service) UpdateService(ctx context.Context, caller tenant.Caller, id tenant.ServiceID, expect *int, edit func(*catalog.Service)) (catalog.Service, error) {
	var after catalog.Service
	err := s.engine.Write(ctx, caller, "service.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *catalog.Service
		var batch pg.Batch
		catalogdb.FindService(&batch, tx.Tenant, id, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return catalog.ErrNoService
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = *before
		edit(&after)
		after = after.WithDefaults()
		changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
		if changes == nil {
			return nil
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		catalogdb.UpdateService(tx.Tx, tx.Tenant, after)
		seats.CatalogChanged(tx, "service.updated", "service", id.UUID, changes)
		return nil
	}, engine.Answers(&after))
	return after, serviceNameTaken(err)
}

// GetService reads a service.
func (s *Service) GetService(ctx context.Context, caller tenant.Caller, id tenant.ServiceID) (catalog.Service, error) {
	var found *catalog.Service
	var batch pg.Batch
	catalogdb.FindService(&batch, caller.Tenant, id, &found)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return catalog.Service{}, err
	}
	if found == nil {
		return catalog.Service{}, catalog.ErrNoService
	}
	return *found, nil
}

// ListServices reads services by name.
func (s *Service) ListServices(ctx context.Context, caller tenant.Caller, q ServiceQuery) ([]catalog.Service, error) {
	var found []catalog.Service
	var batch pg.Batch
	catalogdb.ListServices(&batch, caller.Tenant, q, &found)
	err := s.engine.Read(ctx, caller, &batch)
	return found, err
}

func serviceNameTaken(err error) error {
	return nameTaken(err, "services_name", "service.name", "service")
}
