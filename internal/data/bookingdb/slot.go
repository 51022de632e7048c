package bookingdb

import (
	"bytes"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// slotColumns are the columns of a session `s` that a booking.Slot has.
func slotColumns(s *booking.Slot) []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &s.ID),
		pg.Read("s.service_id", &s.Service),
		pg.Read("s.location_id", &s.Location),
		pg.Read("s.title", &s.Title),
		pg.Read(coredb.CoachName, &s.CoachName),
		pg.Read("s.starts_at", &s.StartsAt),
		pg.Read("s.ends_at", &s.EndsAt),
		pg.Read("s.local_date", &s.LocalDate),
		pg.Read("s.capacity", &s.Capacity),
		pg.Read("s.seats_taken", &s.SeatsTaken),
		pg.Read("s.waitlist_capacity", &s.WaitlistCapacity),
		pg.Read("s.waiting", &s.Waiting),
		pg.Read("s.holds", &s.Holds),
		pg.Read("s.opening_due", &s.OpeningDue),
		pg.Read("s.state", (*string)(&s.State)),
		pg.Read("s.blocked", &s.Blocked),
	}
}

var (
	ownSlot = pg.NewReader(slotColumns)
	slots   = pg.ReadAs(func(r *coredb.SlotRow) []pg.Column {
		return append(slotColumns(&r.Slot), r.Joined()...)
	}, func(r *coredb.SlotRow) (booking.Slot, error) { return r.Value(), nil })
)

var ownSlots = pg.Lookup[tenant.SessionID, booking.Slot]{
	SQL: pg.SQL(`select ` + ownSlot.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (
  select * from sessions s where s.tenant_id = $1 and s.id = q.id and s.deleted_at is null offset 0) s`),
	Reader: ownSlot,
}

// FindOwnSlot reads only the session's own columns of a slot, unless the session is deleted. The tenant's snapshot
// completes it.
func FindOwnSlot(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, found func(booking.Slot)) {
	ownSlots.Find(b, in, id, found)
}

var (
	findSlot = pg.SQL(`select ` + slots.Columns() + ` from sessions s` + coredb.SlotJoins + `
where s.tenant_id = $1 and s.id = $2 and s.deleted_at is null`)
	findSlotOf = pg.SQL(`select ` + slots.Columns() + `
from (select * from bookings b where b.tenant_id = $1 and b.id = $2 offset 0) b
  cross join lateral (
    select * from sessions s where s.tenant_id = $1 and s.id = b.session_id offset 0) s` + coredb.SlotJoins + `
where s.deleted_at is null`)
)

// FindSlot reads a complete slot; nil if there is no session, or it is deleted. It joins what FindOwnSlot leaves to the
// snapshot, for transactions that have none.
func FindSlot(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into **booking.Slot) {
	slots.Find(b.Queue(findSlot, in, id), into)
}

// FindSlotOf is FindSlot for a booking's session.
func FindSlotOf(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **booking.Slot) {
	slots.Find(b.Queue(findSlotOf, in, id), into)
}

var (
	setOpening = pg.SQL(`update sessions set opening_due = $3 where tenant_id = $1 and id = any($2) and opening_due <> $3`)
	openings   = ` from sessions s` + coredb.PolicyJoins + `
cross join lateral (select s.starts_at - coalesce(pv.advance_window_seconds, pl.advance_window_seconds,
  pt.advance_window_seconds, $2) * interval '1 second' as opens) o
where s.tenant_id = $1 and s.opening_due`
	nextOpening  = pg.SQL(`select min(o.opens)` + openings)
	listOpenings = pg.SQL(`select s.id` + openings + `
  and o.opens <= $3 and ($4::uuid is null or s.id > $4)
order by s.id limit $5`)
)

// SetOpening says of sessions whether entries wait for booking to open.
func SetOpening(tx *pg.Tx, in tenant.TenantID, due bool, ids ...tenant.SessionID) {
	if len(ids) > 0 {
		tx.Write(setOpening, in, ids, due)
	}
}

// FindNextOpening finds when booking opens next, or has opened, for entries that wait for it; nil if none do.
func FindNextOpening(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	b.Queue(nextOpening, in, catalog.Defaults().AdvanceWindow).Scan(into)
}

// ListOpenings reads the ids of the sessions for which entries wait and whose booking has opened, in ascending order.
func ListOpenings(
	b *pg.Batch, in tenant.TenantID, now time.Time, after tenant.SessionID, limit int, into *[]tenant.SessionID,
) {
	pg.Collect(b.Queue(listOpenings, in, catalog.Defaults().AdvanceWindow, now, after, limit), into,
		pgx.RowTo[tenant.SessionID])
}

// Seats is a change of a session's counters. A constraint rejects more seats than the session has.
type Seats struct {
	Taken int // added to the taken seats
	Holds int // added to the number of PENDING bookings
}

// seatsOf is the change of one session.
type seatsOf struct {
	session tenant.SessionID
	Seats
}

var seatsMoved = pg.RowWriter[seatsOf]{
	Rank: coredb.RankCounters,
	Key:  func(s seatsOf) any { return s.session },
	Merge: func(before *seatsOf, s seatsOf) {
		before.Taken += s.Taken
		before.Holds += s.Holds
	},
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []seatsOf) {
		// All transactions lock sessions in the same order, so that no two wait for each other. The limit does not leave out
		// any row. It makes the planner expect a single row and look it up. If it expects more, and most tenants are small,
		// it reads all sessions of a large tenant.
		slices.SortFunc(rows, func(a, b seatsOf) int { return bytes.Compare(a.session.UUID[:], b.session.UUID[:]) })
		tx.Write(`
update sessions s set seats_taken = s.seats_taken + x.taken, holds = s.holds + x.holds
from (select * from unnest($2::uuid[], $3::integer[], $4::integer[]) as x (id, taken, holds) limit cardinality($2)) as x
where s.tenant_id = $1 and s.id = x.id`, in,
			pg.Array(rows, func(s seatsOf) tenant.SessionID { return s.session }),
			pg.Array(rows, func(s seatsOf) int32 { return int32(s.Taken) }),
			pg.Array(rows, func(s seatsOf) int32 { return int32(s.Holds) }))
	},
}

// MoveSeats applies the change with the transaction.
func MoveSeats(tx *pg.Tx, in tenant.TenantID, id tenant.SessionID, s Seats) {
	if s != (Seats{}) {
		seatsMoved.Add(tx, in, seatsOf{id, s})
	}
}

// RaiseCapacity adds seats to a session. It is written before the transaction takes them: see MoveSeats.
func RaiseCapacity(tx *pg.Tx, in tenant.TenantID, id tenant.SessionID, by int, now time.Time) {
	tx.Write(`
update sessions set capacity = capacity + $3, detached = series_id is not null, version = version + 1, updated_at = $4
where tenant_id = $1 and id = $2`, in, id, by, now)
}
