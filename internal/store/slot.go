package store

import (
	"bytes"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ownColumns are what a session `s` says of itself as a booking.Slot. With slotColumns and slotJoins
// the rest is read along, and the policy in force. All joins follow primary keys.
const ownColumns = `
  s.id, s.service_id, s.location_id, s.title, s.starts_at, s.ends_at, s.local_date,
  s.capacity, s.seats_taken, s.waitlist_capacity, s.waiting, s.holds, s.state, s.blocked`

var slotColumns = ownColumns + `,
  l.time_zone, v.min_party, v.max_party, v.delivery, l.latitude, l.longitude, l.channels, t.takes_payments,` + ruleColumns

const slotJoins = `
  join services v on v.tenant_id = s.tenant_id and v.id = s.service_id
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
  join tenants t on t.tenant_id = s.tenant_id` + ruleJoins

// ownTargets receives ownColumns.
type ownTargets struct {
	slot      booking.Slot
	localDate time.Time
}

func (t *ownTargets) list() []any {
	s := &t.slot
	return []any{
		&s.ID, &s.Service, &s.Location, &s.Title, &s.StartsAt, &s.EndsAt, &t.localDate,
		&s.Capacity, &s.SeatsTaken, &s.WaitlistCapacity, &s.Waiting, &s.Holds, &s.State, &s.Blocked,
	}
}

func (t *ownTargets) value() booking.Slot {
	t.slot.LocalDate = day(t.localDate)
	return t.slot
}

func scanSlot(row pgx.Row, more ...any) (booking.Slot, error) {
	var own ownTargets
	var latitude, longitude *float64
	var rules ruleTargets
	s := &own.slot
	targets := append(own.list(), &s.TimeZone, &s.MinParty, &s.MaxParty, &s.Delivery, &latitude, &longitude, &s.Channels, &s.TakesPayments)
	targets = append(targets, rules.list()...)
	if err := row.Scan(append(targets, more...)...); err != nil {
		return *s, err
	}
	if latitude != nil && longitude != nil {
		s.Point = &catalog.Point{Latitude: *latitude, Longitude: *longitude}
	}
	var err error
	s.Rules, err = rules.rules()
	return own.value(), err
}

var ownSlots = pg.Lookup[tenant.SessionID, booking.Slot]{
	SQL: `select` + ownColumns + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (
  select * from sessions s where s.tenant_id = $1 and s.id = q.id and s.deleted_at is null offset 0) s`,
	Columns: func(ids []tenant.SessionID) []any { return []any{ids} },
	Scan: func(row pgx.Row) (booking.Slot, error) {
		var own ownTargets
		err := row.Scan(own.list()...)
		return own.value(), err
	},
}

// FindOwnSlot reads what a session that is not deleted says of itself. The rest booking.House knows.
func FindOwnSlot(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, found func(booking.Slot)) {
	ownSlots.Find(b, in, id, found)
}

// FindSlot reads a session for booking; nil where there is none that is not deleted.
func FindSlot(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into **booking.Slot) {
	b.Queue(`select`+slotColumns+` from sessions s`+slotJoins+`
where s.tenant_id = $1 and s.id = $2 and s.deleted_at is null`, in, id).QueryRow(func(row pgx.Row) error {
		s, err := scanSlot(row)
		return found(into, s, err)
	})
}

// FindSlotOf is FindSlot for the session of a booking.
func FindSlotOf(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **booking.Slot) {
	b.Queue(`select`+slotColumns+` from`+theBooking+`
  cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = b.session_id offset 0) s`+slotJoins+`
where s.deleted_at is null`, in, id).QueryRow(func(row pgx.Row) error {
		s, err := scanSlot(row)
		return found(into, s, err)
	})
}

// ListSlots reads sessions for booking, in no particular order; those that are deleted or absent are left out.
func ListSlots(b *pg.Batch, in tenant.TenantID, ids []tenant.SessionID, into *[]booking.Slot) {
	pg.Collect(b.Queue(`select`+slotColumns+` from sessions s`+slotJoins+`
where s.tenant_id = $1 and s.id = any($2) and s.deleted_at is null`, in, ids), into,
		func(row pgx.CollectableRow) (booking.Slot, error) { return scanSlot(row) })
}

// Seats changes a session's counters. The database refuses what does not fit.
type Seats struct {
	Taken int // added to the seats taken
	Holds int // added to the bookings that are PENDING
}

// seatsOf is what changes for one session.
type seatsOf struct {
	session tenant.SessionID
	Seats
}

var seatsMoved = pg.Rows[seatsOf]{
	Rank: rankCounters,
	Key:  func(s seatsOf) any { return s.session },
	Merge: func(before *seatsOf, s seatsOf) {
		before.Taken += s.Taken
		before.Holds += s.Holds
	},
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []seatsOf) {
		// In one order, whoever moves which way: nobody waits in a circle. The limit leaves nothing out, but lets the planner
		// expect a single row, and look it up; expecting more it reads all sessions of a large tenant where most tenants have few.
		slices.SortFunc(rows, func(a, b seatsOf) int { return bytes.Compare(a.session.UUID[:], b.session.UUID[:]) })
		tx.Write(`
update sessions s set seats_taken = s.seats_taken + x.taken, holds = s.holds + x.holds
from (select * from unnest($2::uuid[], $3::integer[], $4::integer[]) as x (id, taken, holds) limit cardinality($2)) as x
where s.tenant_id = $1 and s.id = x.id`, in,
			column(rows, func(s seatsOf) tenant.SessionID { return s.session }),
			column(rows, func(s seatsOf) int32 { return int32(s.Taken) }),
			column(rows, func(s seatsOf) int32 { return int32(s.Holds) }))
	},
}

// MoveSeats applies the change with the transaction.
func MoveSeats(tx *pg.Tx, in tenant.TenantID, id tenant.SessionID, s Seats) {
	if s != (Seats{}) {
		seatsMoved.Add(tx, in, seatsOf{id, s})
	}
}

// FindWaitSlot reads a session as the waitlist sees it, without its seats.
func FindWaitSlot(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into *waitlist.Slot) {
	b.Queue(`
select s.id, s.service_id, s.location_id, s.resource_id, s.coach_id, s.starts_at, s.ends_at, l.time_zone, v.name, l.name
from sessions s
join services v on v.tenant_id = s.tenant_id and v.id = s.service_id
join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
where s.tenant_id = $1 and s.id = $2`, in, id).
		Scan(&into.Session, &into.Service, &into.Location, &into.Resource, &into.Coach, &into.StartsAt, &into.EndsAt, &into.Zone, &into.ServiceName, &into.LocationName)
}
