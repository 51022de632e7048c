package coredb

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Plans is the table of plans.
var Plans = pg.NewTable("p", func(p *credit.Plan) []pg.Column {
	return []pg.Column{
		pg.Key("id", &p.ID),
		pg.Col("name", &p.Name),
		pg.Col("description", &p.Description),
		pg.Fixed("kind", &p.Kind),
		pg.Col("credits", &p.Credits),
		pg.Col("period_seconds", &p.Period),
		pg.Col("term_seconds", &p.Term),
		pg.Col("daily_limit", &p.DailyLimit),
		pg.Col("weekly_limit", &p.WeeklyLimit),
		pg.Col("allow_overlap", &p.AllowOverlap),
		pg.Col("price_currency", &p.Price.Currency),
		pg.Col("price_units", &p.Price.Units),
		pg.Col("price_nanos", &p.Price.Nanos),
		pg.Col("active", &p.Active),
		pg.Col("version", &p.Version),
		pg.Fixed("created_at", &p.CreatedAt),
		pg.Col("updated_at", &p.UpdatedAt),
	}
})

type (
	locationRow struct {
		id tenant.LocationID
		booking.SnapshotLocation
	}
	serviceRow struct {
		id tenant.ServiceID
		booking.SnapshotService
	}
)

var (
	locations = pg.NewReader(func(l *locationRow) []pg.Column {
		return []pg.Column{
			pg.Read("id", &l.id),
			pg.Read("name", &l.Name),
			pg.Read("time_zone", &l.TimeZone),
			pg.Read("latitude", Latitude(&l.Point)),
			pg.Read("longitude", Longitude(&l.Point)),
			pg.Read("channels", &l.Channels),
		}
	})
	services = pg.NewReader(func(s *serviceRow) []pg.Column {
		return []pg.Column{
			pg.Read("id", &s.id),
			pg.Read("min_party", &s.MinParty),
			pg.Read("max_party", &s.MaxParty),
			pg.Read("delivery", &s.Delivery),
		}
	})
	policies = pg.NewReader(func(p *catalog.PolicyLayer) []pg.Column {
		return append(Policies.Of(p), pg.Read("p.waitlist_enabled", &p.WaitlistEnabled))
	})
)

var (
	listLocations = pg.SQL(`select ` + locations.Columns() + ` from locations where tenant_id = $1`)
	listServices  = pg.SQL(`select ` + services.Columns() + ` from services where tenant_id = $1`)
	listPolicies  = pg.SQL(`select ` + policies.Columns() + ` from policies p where p.tenant_id = $1`)
	listPlans     = pg.SQL(`select ` + Plans.Columns() + ` from plans p where p.tenant_id = $1`)
)

// FindSnapshotVersion reads the version of the tenant's snapshot. A transaction that uses a cached snapshot has to read
// it, to see whether the snapshot is current, and to conflict with concurrent changes of what it contains.
func FindSnapshotVersion(b *pg.Batch, in tenant.TenantID, into *int64) {
	*into = 0
	b.Queue(`select snapshot_version from tenants where tenant_id = $1`, in).ScanAny(into)
}

// FindSnapshot reads the tenant's snapshot.
func FindSnapshot(b *pg.Batch, in tenant.TenantID, into *booking.Snapshot) {
	*into = booking.Snapshot{
		Locations: make(map[tenant.LocationID]booking.SnapshotLocation),
		Services:  make(map[tenant.ServiceID]booking.SnapshotService),
		Policies:  make(map[tenant.UUID]*catalog.CompiledPolicy),
		Plans:     make(map[tenant.PlanID]credit.Plan),
	}
	b.Queue(`select snapshot_version, takes_payments from tenants where tenant_id = $1`, in).
		ScanAny(&into.Version, &into.TakesPayments)
	locations.Each(b.Queue(listLocations, in), func(l locationRow) { into.Locations[l.id] = l.SnapshotLocation })
	services.Each(b.Queue(listServices, in), func(s serviceRow) { into.Services[s.id] = s.SnapshotService })
	policies.Each(b.Queue(listPolicies, in), func(p catalog.PolicyLayer) { into.Policies[p.Scope] = p.Compile() })
	Plans.Each(b.Queue(listPlans, in), func(p credit.Plan) { into.Plans[p.ID] = p })
}

// RenewSnapshot increments the version of the tenant's snapshot, so that cached ones are not used any more. Call it
// with every write to what FindSnapshot reads.
func RenewSnapshot(tx *pg.Tx, in tenant.TenantID) {
	tx.Write(`update tenants set snapshot_version = snapshot_version + 1 where tenant_id = $1`, in)
}

// Latitude is the column of a point's latitude. It is NULL if there is no point. Longitude has to be scanned after it.
func Latitude(of **catalog.Point) pg.Field { return latitude{of} }

// Longitude is the column of a point's longitude.
func Longitude(of **catalog.Point) pg.Field { return longitude{of} }

type (
	latitude  struct{ of **catalog.Point }
	longitude struct{ of **catalog.Point }
)

// Target implements pg.Field.
func (l latitude) Target() any { return l }

// Target implements pg.Field.
func (l longitude) Target() any { return l }

// ScanFloat64 implements pgtype.Float64Scanner.
func (l latitude) ScanFloat64(v pgtype.Float8) error {
	*l.of = nil
	if v.Valid {
		*l.of = &catalog.Point{Latitude: v.Float64}
	}
	return nil
}

// ScanFloat64 implements pgtype.Float64Scanner. The database has both or none.
func (l longitude) ScanFloat64(v pgtype.Float8) error {
	if v.Valid {
		(*l.of).Longitude = v.Float64
	}
	return nil
}

// Value implements pg.Field.
func (l latitude) Value() any {
	if *l.of == nil {
		return nil
	}
	return (*l.of).Latitude
}

// Value implements pg.Field.
func (l longitude) Value() any {
	if *l.of == nil {
		return nil
	}
	return (*l.of).Longitude
}
