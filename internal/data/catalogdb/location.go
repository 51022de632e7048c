// Package catalogdb has the SQL of what a tenant offers: locations, services, resources, items, plans, benefit
// providers and policies.
package catalogdb

import (
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

var locations = pg.NewTable("l", func(l *catalog.Location) []pg.Column {
	return []pg.Column{
		pg.Key("id", &l.ID),
		pg.Col("name", &l.Name),
		pg.Col("time_zone", &l.TimeZone),
		pg.Col("address", &l.Address),
		pg.Col("latitude", coredb.Latitude(&l.Point)),
		pg.Col("longitude", coredb.Longitude(&l.Point)),
		pg.Col("channels", &l.Channels),
		pg.Col("active", &l.Active),
		pg.Col("version", &l.Version),
		pg.Fixed("created_at", &l.CreatedAt),
		pg.Col("updated_at", &l.UpdatedAt),
	}
})

var (
	findLocation  = pg.SQL(`select ` + locations.Columns() + ` from locations l where l.tenant_id = $1 and l.id = $2`)
	listLocations = pg.SQL(`select ` + locations.Columns() + ` from locations l
where l.tenant_id = $1 and l.active = any($2) and ($4::uuid is null or (lower(l.name), l.id) > (lower($3), $4))
order by lower(l.name) limit $5`)
	insertLocation = pg.SQL(`insert into locations ` + locations.Values())
	updateLocation = pg.SQL(`update locations set ` + locations.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindLocation reads a location; nil if there is none.
func FindLocation(b *pg.Batch, in tenant.TenantID, id tenant.LocationID, into **catalog.Location) {
	locations.Find(b.Queue(findLocation, in, id), into)
}

// LocationQuery selects locations.
type LocationQuery struct {
	Active    []bool // which of the active and the inactive ones
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.LocationID
	Limit     int
}

// ListLocations reads locations by name, which is unique.
func ListLocations(b *pg.Batch, in tenant.TenantID, q LocationQuery, into *[]catalog.Location) {
	locations.List(b.Queue(listLocations, in, q.Active, q.AfterName, q.AfterID, q.Limit), into)
}

// HasSessions reads whether a location has sessions that are not deleted, whatever their state is.
func HasSessions(b *pg.Batch, in tenant.TenantID, id tenant.LocationID, into *bool) {
	b.Queue(`
select exists (select from sessions where tenant_id = $1 and location_id = $2 and deleted_at is null)`, in, id).
		Scan(into)
}

// InsertLocation inserts a location.
func InsertLocation(tx *pg.Tx, in tenant.TenantID, l catalog.Location) {
	tx.Write(insertLocation, locations.Insert(in, &l)...)
	coredb.RenewSnapshot(tx, in)
}

// UpdateLocation updates a location.
func UpdateLocation(tx *pg.Tx, in tenant.TenantID, l catalog.Location) {
	tx.Write(updateLocation, locations.Update(in, &l)...)
	coredb.RenewSnapshot(tx, in)
}

// ListLocationNames reads the names of all locations, by id.
func ListLocationNames(b *pg.Batch, in tenant.TenantID, into map[string]string) {
	listNames(b.Queue(`select id::text, name from locations where tenant_id = $1`, in), into)
}

// ListServiceNames reads the names of all services, by id.
func ListServiceNames(b *pg.Batch, in tenant.TenantID, into map[string]string) {
	listNames(b.Queue(`select id::text, name from services where tenant_id = $1`, in), into)
}

func listNames(s *pg.Statement, into map[string]string) {
	var id, name string
	s.Each(func() { into[id] = name }, &id, &name)
}
