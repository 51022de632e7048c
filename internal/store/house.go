package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// FindHouseVersion reads which version of the tenant's house is in force. Bookings read it in the transaction in
// which they rely on a house that was read before.
func FindHouseVersion(b *pg.Batch, in tenant.TenantID, into *int64) {
	*into = 0
	b.Queue(`select house_version from tenants where tenant_id = $1`, in).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(into); err != nil && !isNoRows(err) {
			return err
		}
		return nil
	})
}

// FindHouse reads the tenant's house.
func FindHouse(b *pg.Batch, in tenant.TenantID, into *booking.House) {
	*into = booking.House{
		Locations: make(map[tenant.LocationID]booking.Place),
		Services:  make(map[tenant.ServiceID]booking.Offer),
		Policies:  make(map[tenant.UUID]*catalog.Layer),
		Plans:     make(map[tenant.PlanID]credit.Plan),
	}
	b.Queue(`select house_version, takes_payments from tenants where tenant_id = $1`, in).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&into.Version, &into.TakesPayments); err != nil && !isNoRows(err) {
			return err
		}
		return nil
	})
	b.Queue(`select id, time_zone, latitude, longitude, channels from locations where tenant_id = $1`, in).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var id tenant.LocationID
			var place booking.Place
			var latitude, longitude *float64
			if err := rows.Scan(&id, &place.TimeZone, &latitude, &longitude, &place.Channels); err != nil {
				return err
			}
			if latitude != nil && longitude != nil {
				place.Point = &catalog.Point{Latitude: *latitude, Longitude: *longitude}
			}
			into.Locations[id] = place
		}
		return rows.Err()
	})
	b.Queue(`select id, min_party, max_party, delivery from services where tenant_id = $1`, in).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var id tenant.ServiceID
			var offer booking.Offer
			if err := rows.Scan(&id, &offer.MinParty, &offer.MaxParty, &offer.Delivery); err != nil {
				return err
			}
			into.Services[id] = offer
		}
		return rows.Err()
	})
	b.Queue(`select`+policyColumns+` from policies where tenant_id = $1`, in).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			p, err := scanPolicy(rows)
			if err != nil {
				return err
			}
			into.Policies[p.Scope] = p.Layer()
		}
		return rows.Err()
	})
	b.Queue(`select`+planColumns+` from plans p where p.tenant_id = $1`, in).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			p, err := scanPlan(rows)
			if err != nil {
				return err
			}
			into.Plans[p.ID] = p
		}
		return rows.Err()
	})
}

// renewHouse lets whoever keeps the tenant's house read it again. Every write to what FindHouse reads goes with it.
func renewHouse(tx *pg.Tx, in tenant.TenantID) {
	tx.Write(`update tenants set house_version = house_version + 1 where tenant_id = $1`, in)
}
