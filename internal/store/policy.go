package store

import (
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// ListPolicies reads what the tenant, a location and a service say for themselves, in the order in which they
// win. Zero ids, and levels at which nothing was ever said, are left out.
func ListPolicies(b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, into *[]catalog.Policy) {
	pg.Collect(b.Queue(`select`+policyColumns+` from policies
where tenant_id = $1 and version > 0
  and (level, scope_id) in (('TENANT', $1), ('LOCATION', $2), ('SERVICE', $3))
order by array_position('{TENANT,LOCATION,SERVICE}', level)`, in, location, service), into,
		func(row pgx.CollectableRow) (catalog.Policy, error) { return scanPolicy(row) })
}

const policyColumns = `
  level, scope_id, advance_seconds, booking_closes_seconds, cancellation_seconds, allow_late_cancellation, allow_reschedule,
  hold_ttl_seconds, check_in_opens_seconds, check_in_closes_seconds, gps_max_meters, auto_no_show, auto_no_show_seconds,
  tiers, version, updated_at`

func scanPolicy(row pgx.Row, more ...any) (catalog.Policy, error) {
	var p catalog.Policy
	var advance, closes, cancellation, holdTTL, checkInOpens, checkInCloses, autoNoShowAfter *int64
	var tiers []byte
	err := row.Scan(append([]any{
		&p.Level, &p.Scope, &advance, &closes, &cancellation, &p.AllowLateCancellation, &p.AllowReschedule,
		&holdTTL, &checkInOpens, &checkInCloses, &p.GPSMaxMeters, &p.AutoNoShow, &autoNoShowAfter,
		&tiers, &p.Version, &p.UpdatedAt,
	}, more...)...)
	if err != nil {
		return p, err
	}
	p.Advance, p.BookingCloses, p.Cancellation = duration(advance), duration(closes), duration(cancellation)
	p.HoldTTL, p.AutoNoShowAfter = duration(holdTTL), duration(autoNoShowAfter)
	p.CheckInOpens, p.CheckInCloses = duration(checkInOpens), duration(checkInCloses)
	p.Tiers, err = decodeTiers(tiers)
	return p, err
}

// PutPolicy writes what a level says for itself with the transaction, whether or not it
// has said anything before. Seats that are open may be somebody's then, as with its rules.
func PutPolicy(tx *pg.Tx, in tenant.TenantID, p catalog.Policy) {
	tx.Write(`
insert into policies (tenant_id, level, scope_id, advance_seconds, booking_closes_seconds, cancellation_seconds, allow_late_cancellation,
  allow_reschedule, hold_ttl_seconds, check_in_opens_seconds, check_in_closes_seconds, gps_max_meters, auto_no_show,
  auto_no_show_seconds, tiers, version, rules_due, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, true, $17)
on conflict (tenant_id, level, scope_id) do update set
  advance_seconds = excluded.advance_seconds, booking_closes_seconds = excluded.booking_closes_seconds,
  cancellation_seconds = excluded.cancellation_seconds, allow_late_cancellation = excluded.allow_late_cancellation,
  allow_reschedule = excluded.allow_reschedule, hold_ttl_seconds = excluded.hold_ttl_seconds,
  check_in_opens_seconds = excluded.check_in_opens_seconds, check_in_closes_seconds = excluded.check_in_closes_seconds,
  gps_max_meters = excluded.gps_max_meters, auto_no_show = excluded.auto_no_show,
  auto_no_show_seconds = excluded.auto_no_show_seconds, tiers = excluded.tiers, version = excluded.version,
  rules_due = true, updated_at = excluded.updated_at`,
		in, p.Level, p.Scope, seconds(p.Advance), seconds(p.BookingCloses), seconds(p.Cancellation), p.AllowLateCancellation,
		p.AllowReschedule, seconds(p.HoldTTL), seconds(p.CheckInOpens), seconds(p.CheckInCloses), p.GPSMaxMeters, p.AutoNoShow,
		seconds(p.AutoNoShowAfter), encodeTiers(p.Tiers), p.Version, p.UpdatedAt)
	renewHouse(tx, in)
}

// encodeTiers is decodeTiers in the other direction: no list is NULL, an empty one is not.
func encodeTiers(tiers map[string]catalog.TierPolicy) []byte {
	if tiers == nil {
		return nil
	}
	rows := make(map[string]tierRow, len(tiers))
	for name, says := range tiers {
		rows[name] = tierRow{CancellationSeconds: seconds(says.Cancellation), AllowReschedule: says.AllowReschedule}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		panic("store: policy tiers: " + err.Error()) // plain values
	}
	return text
}
