package coredb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Plans are what members buy.
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
	placeRow struct {
		id tenant.LocationID
		booking.SnapshotLocation
	}
	offerRow struct {
		id tenant.ServiceID
		booking.SnapshotService
	}
)

var (
	places = pg.NewReader(func(p *placeRow) []pg.Column {
		return []pg.Column{
			pg.Read("id", &p.id),
			pg.Read("time_zone", &p.TimeZone),
			pg.Read("latitude", Latitude(&p.Point)),
			pg.Read("longitude", Longitude(&p.Point)),
			pg.Read("channels", &p.Channels),
		}
	})
	offers = pg.NewReader(func(o *offerRow) []pg.Column {
		return []pg.Column{
			pg.Read("id", &o.id),
			pg.Read("min_party", &o.MinParty),
			pg.Read("max_party", &o.MaxParty),
			pg.Read("delivery", &o.Delivery),
		}
	})
	policies = pg.NewReader(func(p *catalog.Policy) []pg.Column {
		return append(Policies.Of(p), pg.Read("p.waitlist_enabled", &p.WaitlistEnabled))
	})
)

var (
	allPlaces   = pg.SQL(`select ` + places.Columns() + ` from locations where tenant_id = $1`)
	allOffers   = pg.SQL(`select ` + offers.Columns() + ` from services where tenant_id = $1`)
	allPolicies = pg.SQL(`select ` + policies.Columns() + ` from policies p where p.tenant_id = $1`)
	allPlans    = pg.SQL(`select ` + Plans.Columns() + ` from plans p where p.tenant_id = $1`)
)

// FindSnapshotVersion reads the version of the tenant's snapshot. Bookings read it in the transaction that relies on a
// snapshot from an earlier one.
func FindSnapshotVersion(b *pg.Batch, in tenant.TenantID, into *int64) {
	*into = 0
	b.Queue(`select house_version from tenants where tenant_id = $1`, in).ScanAny(into)
}

// FindSnapshot reads the tenant's snapshot.
func FindSnapshot(b *pg.Batch, in tenant.TenantID, into *booking.Snapshot) {
	*into = booking.Snapshot{
		Locations: make(map[tenant.LocationID]booking.SnapshotLocation),
		Services:  make(map[tenant.ServiceID]booking.SnapshotService),
		Policies:  make(map[tenant.UUID]*catalog.Layer),
		Plans:     make(map[tenant.PlanID]credit.Plan),
	}
	b.Queue(`select house_version, takes_payments from tenants where tenant_id = $1`, in).
		ScanAny(&into.Version, &into.TakesPayments)
	places.Each(b.Queue(allPlaces, in), func(p placeRow) { into.Locations[p.id] = p.SnapshotLocation })
	offers.Each(b.Queue(allOffers, in), func(o offerRow) { into.Services[o.id] = o.SnapshotService })
	policies.Each(b.Queue(allPolicies, in), func(p catalog.Policy) { into.Policies[p.Scope] = p.Layer() })
	Plans.Each(b.Queue(allPlans, in), func(p credit.Plan) { into.Plans[p.ID] = p })
}

// RenewSnapshot gives the tenant's snapshot a new version, so that it is read again. Every write to what FindSnapshot reads
// goes with it.
func RenewSnapshot(tx *pg.Tx, in tenant.TenantID) {
	tx.Write(`update tenants set house_version = house_version + 1 where tenant_id = $1`, in)
}
