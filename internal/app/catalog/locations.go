package catalog

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// LocationQuery selects locations.
type LocationQuery = catalogdb.LocationQuery

// CreateLocation creates a location. It takes bookings through all channels if it names none, and is in the tenant's
// time zone if it names none.
func (s *Service) CreateLocation(
	ctx context.Context, caller tenant.Caller, l catalog.Location,
) (catalog.Location, error) {
	created, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "location.create", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (catalog.Location, error) {
			owner, err := engine.Find(ctx, tx, catalog.ErrNoTenant, func(b *pg.Batch, into **catalog.Tenant) {
				accountdb.FindTenant(b, tx.Tenant, into)
			})
			if err != nil {
				return l, err
			}
			made := l
			made.ID = tenant.NextID[tenant.LocationID](tx.IDs)
			if len(made.Channels) == 0 {
				made.Channels = catalog.Channels()
			}
			made.Version, made.CreatedAt, made.UpdatedAt = 1, tx.Now, tx.Now
			made.TimeZone = cmp.Or(made.TimeZone, owner.TimeZone)
			if err := made.Validate(); err != nil {
				return made, err
			}
			catalogdb.InsertLocation(tx.Tx, tx.Tenant, made)
			record.CatalogChange(tx, "location.created", "location", made.ID.UUID, catalog.AuditChanges(nil, made.AuditFields()))
			return made, nil
		})
	return created, locationNameTaken(err)
}

// UpdateLocation edits a location. If expect is not nil it must be the location's version.
//
// A location with sessions keeps its time zone. The local days of its sessions are already counted in quotas and shown
// in reports, and its series are at local times that people know.
func (s *Service) UpdateLocation(
	ctx context.Context, caller tenant.Caller, id tenant.LocationID, expect *int, edit func(*catalog.Location),
) (catalog.Location, error) {
	updated, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "location.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (catalog.Location, error) {
			before, err := engine.Find(ctx, tx, catalog.ErrNoLocation, func(b *pg.Batch, into **catalog.Location) {
				catalogdb.FindLocation(b, tx.Tenant, id, into)
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
			if after.TimeZone != before.TimeZone {
				if err := checkNoSessions(ctx, tx, id); err != nil {
					return before, err
				}
			}
			catalogdb.UpdateLocation(tx.Tx, tx.Tenant, after)
			record.CatalogChange(tx, "location.updated", "location", id.UUID, changes)
			return after, nil
		})
	return updated, locationNameTaken(err)
}

// checkNoSessions rejects a new time zone for a location with sessions. A transaction that creates a session has read
// the location, so SERIALIZABLE lets only one of the two commit.
func checkNoSessions(ctx context.Context, tx *engine.Tx, id tenant.LocationID) error {
	var scheduled bool
	var batch pg.Batch
	catalogdb.HasSessions(&batch, tx.Tenant, id, &scheduled)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	return catalog.CheckNewZone(scheduled)
}

// GetLocation reads a location.
func (s *Service) GetLocation(
	ctx context.Context, caller tenant.Caller, id tenant.LocationID,
) (catalog.Location, error) {
	return engine.Get(ctx, s.engine, caller, catalog.ErrNoLocation, func(b *pg.Batch, into **catalog.Location) {
		catalogdb.FindLocation(b, caller.Tenant, id, into)
	})
}

// ListLocations reads locations by name, then id.
func (s *Service) ListLocations(
	ctx context.Context, caller tenant.Caller, q LocationQuery,
) ([]catalog.Location, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]catalog.Location) {
		catalogdb.ListLocations(b, caller.Tenant, q, into)
	})
}

func locationNameTaken(err error) error {
	return nameTaken(err, "locations_name", "location.name", "There is a location of that name.")
}
