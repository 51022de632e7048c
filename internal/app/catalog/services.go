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

// ServiceQuery selects services.
type ServiceQuery = catalogdb.ServiceQuery

// CreateService creates a service. It is active.
func (s *Service) CreateService(
	ctx context.Context, caller tenant.Caller, svc catalog.Service,
) (catalog.Service, error) {
	svc = svc.WithDefaults()
	if err := svc.Validate(); err != nil {
		return svc, err
	}
	created, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "service.create", Replay: true},
		func(_ context.Context, tx *engine.Tx) (catalog.Service, error) {
			svc.ID, svc.Version, svc.CreatedAt, svc.UpdatedAt = tenant.NextID[tenant.ServiceID](tx.IDs), 1, tx.Now, tx.Now
			catalogdb.InsertService(tx.Tx, tx.Tenant, svc)
			record.CatalogChange(tx, "service.created", "service", svc.ID.UUID, catalog.AuditChanges(nil, svc.AuditFields()))
			return svc, nil
		})
	return created, serviceNameTaken(err)
}

// UpdateService edits a service. If expect is not nil it must be the service's version.
func (s *Service) UpdateService(
	ctx context.Context, caller tenant.Caller, id tenant.ServiceID, expect *int, edit func(*catalog.Service),
) (catalog.Service, error) {
	updated, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "service.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (catalog.Service, error) {
			before, err := engine.Find(ctx, tx, catalog.ErrNoService, func(b *pg.Batch, into **catalog.Service) {
				catalogdb.FindService(b, tx.Tenant, id, into)
			})
			if err != nil {
				return before, err
			}
			if err := fault.CheckVersion(expect, before.Version); err != nil {
				return before, err
			}
			after := before
			edit(&after)
			after = after.WithDefaults()
			changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
			if changes == nil {
				return after, nil
			}
			if err := after.ValidateEdit(before); err != nil {
				return before, err
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			catalogdb.UpdateService(tx.Tx, tx.Tenant, after)
			record.CatalogChange(tx, "service.updated", "service", id.UUID, changes)
			return after, nil
		})
	return updated, serviceNameTaken(err)
}

// GetService reads a service.
func (s *Service) GetService(
	ctx context.Context, caller tenant.Caller, id tenant.ServiceID,
) (catalog.Service, error) {
	return engine.Get(ctx, s.engine, caller, catalog.ErrNoService, func(b *pg.Batch, into **catalog.Service) {
		catalogdb.FindService(b, caller.Tenant, id, into)
	})
}

// ListServices reads services by name, then id.
func (s *Service) ListServices(
	ctx context.Context, caller tenant.Caller, q ServiceQuery,
) ([]catalog.Service, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]catalog.Service) {
		catalogdb.ListServices(b, caller.Tenant, q, into)
	})
}

func serviceNameTaken(err error) error {
	return nameTaken(err, "services_name", "service.name", "There is a service of that name.")
}
