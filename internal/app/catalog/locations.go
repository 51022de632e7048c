package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// LocationQuery chooses locations.
type LocationQuery = catalogdb.LocationQuery

// CreateLocation makes a location with all channels on, in the tenant's time zone unless it names one.
func (s *Service) CreateLocation(ctx context.Context, caller tenant.Caller, l catalog.Location) (catalog.Location, error) {
	var made catalog.Location
	err := s.engine.Write(ctx, caller, "location.create", func(ctx context.Context, tx *engine.Tx) error {
		var home *catalog.Tenant
		var batch pg.Batch
		accountdb.FindTenant(&batch, tx.Tenant, &home)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if home == nil {
			return catalog.ErrNoTenant
		}
		made = l
		made.ID, made.Channels, made.Active = tenant.NextID[tenant.LocationID](tx.IDs), catalog.Channels(), true
		made.Version, made.CreatedAt, made.UpdatedAt = 1, tx.Now, tx.Now
		if made.TimeZone == "" {
			made.TimeZone = home.TimeZone
		}
		if err := made.Validate(); err != nil {
			return err
		}
		catalogdb.InsertLocation(tx.Tx, tx.Tenant, made)
		seats.CatalogChanged(tx, "location.created", "location", made.ID.UUID, catalog.AuditChanges(nil, made.AuditFields()))
		return nil
	}, engine.Answers(&made))
	return made, locationNameTaken(err)
}

// UpdateLocation edits a location, if it still is at the version expected (nil: whichever).
//
// A location that has sessions keeps its time zone. Their local days stand in quotas that are used
// up and in reports that were read, and their series in wall clock times that people know.
func (s *Service) UpdateLocation(ctx context.Context, caller tenant.Caller, id tenant.LocationID, expect *int, edit func(*catalog.Location)) (catalog.Location, error) {
	var after catalog.Location
	err := s.engine.Write(ctx, caller, "location.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *catalog.Location
		var batch pg.Batch
		catalogdb.FindLocation(&batch, tx.Tenant, id, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return catalog.ErrNoLocation
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
		if after.TimeZone != before.TimeZone {
			if err := keepZone(ctx, tx, id); err != nil {
				return err
			}
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		catalogdb.UpdateLocation(tx.Tx, tx.Tenant, after)
		seats.CatalogChanged(tx, "location.updated", "location", id.UUID, changes)
		return nil
	}, engine.Answers(&after))
	return after, locationNameTaken(err)
}

// keepZone refuses a new time zone where there are sessions. One that is made at the same moment
// has read the location, so SERIALIZABLE lets only one of the two pass.
func keepZone(ctx context.Context, tx *engine.Tx, id tenant.LocationID) error {
	var scheduled bool
	var batch pg.Batch
	catalogdb.HasSessions(&batch, tx.Tenant, id, &scheduled)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	if scheduled {
		return fault.New(fault.FailedPrecondition, fault.SessionState,
			"The location has sessions: its time zone stays. Make another location, or delete them.").
			WithMetadata("state", "scheduled").WithField("location.time_zone")
	}
	return nil
}

// SetChannels says by which ways bookings may come in at a location; the rest are off.
func (s *Service) SetChannels(ctx context.Context, caller tenant.Caller, id tenant.LocationID, expect *int, channels []catalog.Channel) (catalog.Location, error) {
	return s.UpdateLocation(ctx, caller, id, expect, func(l *catalog.Location) { l.Channels = channels })
}

// GetLocation reads a location.
func (s *Service) GetLocation(ctx context.Context, caller tenant.Caller, id tenant.LocationID) (catalog.Location, error) {
	var found *catalog.Location
	var batch pg.Batch
	catalogdb.FindLocation(&batch, caller.Tenant, id, &found)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return catalog.Location{}, err
	}
	if found == nil {
		return catalog.Location{}, catalog.ErrNoLocation
	}
	return *found, nil
}

// ListLocations reads locations by name.
func (s *Service) ListLocations(ctx context.Context, caller tenant.Caller, q LocationQuery) ([]catalog.Location, error) {
	var found []catalog.Location
	var batch pg.Batch
	catalogdb.ListLocations(&batch, caller.Tenant, q, &found)
	err := s.engine.Read(ctx, caller, &batch)
	return found, err
}

func locationNameTaken(err error) error {
	return nameTaken(err, "locations_name", "location.name", "location")
}
