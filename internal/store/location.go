package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

const locationColumns = `
  l.id, l.name, l.time_zone, l.address, l.latitude, l.longitude, l.channels, l.active, l.version, l.created_at, l.updated_at`

func scanLocation(row pgx.Row) (catalog.Location, error) {
	var l catalog.Location
	var latitude, longitude *float64
	err := row.Scan(&l.ID, &l.Name, &l.TimeZone, &l.Address, &latitude, &longitude, &l.Channels, &l.Active, &l.Version, &l.CreatedAt, &l.UpdatedAt)
	if latitude != nil && longitude != nil {
		l.Point = &catalog.Point{Latitude: *latitude, Longitude: *longitude}
	}
	return l, err
}

// FindLocation reads a location; nil where there is none.
func FindLocation(b *pg.Batch, in tenant.TenantID, id tenant.LocationID, into **catalog.Location) {
	b.Queue(`select`+locationColumns+` from locations l where l.tenant_id = $1 and l.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		l, err := scanLocation(row)
		return found(into, l, err)
	})
}

// LocationQuery chooses locations.
type LocationQuery struct {
	Inactive  bool   // those too
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.LocationID
	Limit     int
}

// ListLocations reads them by name, then id.
func ListLocations(b *pg.Batch, in tenant.TenantID, q LocationQuery, into *[]catalog.Location) {
	pg.Collect(b.Queue(`select`+locationColumns+` from locations l
where l.tenant_id = $1 and (l.active or $2) and ($4::uuid is null or (lower(l.name), l.id) > (lower($3), $4))
order by lower(l.name), l.id limit $5`, in, q.Inactive, q.AfterName, q.AfterID, q.Limit), into,
		func(row pgx.CollectableRow) (catalog.Location, error) { return scanLocation(row) })
}

// HasSessions tells whether a location has sessions, of whatever state, that are not deleted.
func HasSessions(b *pg.Batch, in tenant.TenantID, id tenant.LocationID, into *bool) {
	b.Queue(`select exists (select from sessions where tenant_id = $1 and location_id = $2 and deleted_at is null)`, in, id).Scan(into)
}

// InsertLocation writes a new location with the transaction.
func InsertLocation(tx *pg.Tx, in tenant.TenantID, l catalog.Location) {
	latitude, longitude := coordinates(l.Point)
	tx.Write(`
insert into locations (tenant_id, id, name, time_zone, address, latitude, longitude, channels, active, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		in, l.ID, l.Name, l.TimeZone, l.Address, latitude, longitude, l.Channels, l.Active, l.Version, l.CreatedAt, l.UpdatedAt)
	renewHouse(tx, in)
}

// UpdateLocation writes a location's edit with the transaction.
func UpdateLocation(tx *pg.Tx, in tenant.TenantID, l catalog.Location) {
	latitude, longitude := coordinates(l.Point)
	tx.Write(`
update locations set name = $3, time_zone = $4, address = $5, latitude = $6, longitude = $7, channels = $8, active = $9, version = $10, updated_at = $11
where tenant_id = $1 and id = $2`,
		in, l.ID, l.Name, l.TimeZone, l.Address, latitude, longitude, l.Channels, l.Active, l.Version, l.UpdatedAt)
	renewHouse(tx, in)
}

func coordinates(p *catalog.Point) (latitude, longitude *float64) {
	if p == nil {
		return nil, nil
	}
	return &p.Latitude, &p.Longitude
}

// ListLocationNames reads what all locations are called, by id.
func ListLocationNames(b *pg.Batch, in tenant.TenantID, into map[string]string) {
	listNames(b.Queue(`select id::text, name from locations where tenant_id = $1`, in), into)
}

// ListServiceNames reads what all services are called, by id.
func ListServiceNames(b *pg.Batch, in tenant.TenantID, into map[string]string) {
	listNames(b.Queue(`select id::text, name from services where tenant_id = $1`, in), into)
}

func listNames(s *pg.Statement, into map[string]string) {
	s.Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var id, name string
			if err := rows.Scan(&id, &name); err != nil {
				return err
			}
			into[id] = name
		}
		return rows.Err()
	})
}
