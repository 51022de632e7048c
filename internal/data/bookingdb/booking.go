// Package bookingdb is the SQL of bookings, of the seats that they take, and of what pays for them.
package bookingdb

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

var bookings = pg.NewTable("b", func(b *booking.Booking) []pg.Column {
	return []pg.Column{
		pg.Key("id", &b.ID),
		pg.Col("session_id", &b.Session),
		pg.Fixed("member_id", &b.Member),
		pg.Fixed("party_size", &b.Party),
		pg.Col("status", (*string)(&b.Status)),
		pg.Fixed("channel", (*string)(&b.Channel)),
		pg.Col("subscription_id", &b.Subscription),
		pg.Col("credits", &b.Credits),
		pg.Col("counted", &b.Counted),
		pg.Fixed("external_ref", &b.ExternalRef),
		pg.Fixed("request_hash", &b.RequestHash),
		pg.Col("note", &b.Note),
		pg.Fixed("promoted", &b.Promoted),
		pg.Col("grace_until", &b.GraceUntil),
		pg.Later("late_cancelled", &b.LateCancelled),
		pg.Later("cancel_reason", &b.CancelReason),
		pg.Col("starts_at", &b.StartsAt),
		pg.Col("ends_at", &b.EndsAt),
		pg.Col("exclusive", &b.Exclusive),
		pg.Fixed("created_by", &b.CreatedBy),
		pg.Fixed("created_at", &b.CreatedAt),
		pg.Col("updated_at", &b.UpdatedAt),
		pg.Later("version", &b.Version),
		pg.Later("cancelled_at", &b.CancelledAt),
		pg.Later("checked_in_at", &b.CheckedInAt),
		pg.Later("check_in_method", pg.Null(&b.CheckInMethod)),
		pg.Col("hold_expires_at", &b.HoldUntil),
		pg.Col("confirmed_at", &b.ConfirmedAt),
		pg.Col("contact_name", &b.Contact.Name),
		pg.Col("contact_email", &b.Contact.Email),
		pg.Col("contact_phone", &b.Contact.Phone),
		pg.Fixed("guest_tier", &b.GuestTier),
		pg.Later("payment_status", (*string)(&b.Payment.Status)),
		pg.Later("amount_currency", &b.Payment.Amount.Currency),
		pg.Later("amount_units", &b.Payment.Amount.Units),
		pg.Later("amount_nanos", &b.Payment.Amount.Nanos),
		pg.Later("refunded_units", &b.Payment.Refunded.Units),
		pg.Later("refunded_nanos", &b.Payment.Refunded.Nanos),
		pg.Later("to_refund_units", &b.Payment.ToRefund.Units),
		pg.Later("to_refund_nanos", &b.Payment.ToRefund.Nanos),
		pg.Later("payment_method", &b.Payment.Method),
		pg.Later("paid_at", &b.Payment.PaidAt),
		pg.Later("benefit_code", pg.Null(&b.Benefit.Code)),
		pg.Later("benefit_number", &b.Benefit.Number),
		pg.Later("benefit_percent", &b.Benefit.Percent),
		pg.Later("benefit_verified", &b.Benefit.Verified),
		pg.Fixed("has_items", &b.HasItems),
	}
})

// bookingRow is a booking with what is read from other tables.
type bookingRow struct {
	booking.Booking
	rules coredb.PolicyRow
}

var booked = pg.ReadAs(bookedColumns, (*bookingRow).booking)

func bookedColumns(r *bookingRow) []pg.Column {
	return slices.Concat(bookings.Of(&r.Booking), []pg.Column{
		pg.Read("coalesce(m.name, b.contact_name)", &r.MemberName),
		pg.Read("coalesce(m.tier, b.guest_tier)", &r.MemberTier),
		pg.Read("s.title", &r.SessionTitle),
		pg.Read(coredb.CoachName, &r.CoachName),
		pg.Read("s.service_id", &r.Service),
		pg.Read("l.id", &r.Location),
		pg.Read("l.name", &r.LocationName),
		pg.Read("l.time_zone", &r.TimeZone),
		pg.Read("s.local_date", &r.LocalDate),
	}, r.rules.Columns())
}

func (r *bookingRow) booking() (booking.Booking, error) {
	r.Policy = r.rules.Policy()
	r.Payment.Refunded.Currency = r.Payment.Amount.Currency
	r.Payment.ToRefund.Currency = r.Payment.Amount.Currency
	return r.Booking, nil
}

// The subqueries make the planner use primary keys, whatever its statistics are. A scan over the tenant's sessions or
// members would take predicate locks on all of them, and bookings would conflict.
const bookingJoins = `
  cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = b.session_id offset 0) s
  left join lateral (select * from members m where m.tenant_id = $1 and m.id = b.member_id offset 0) m on true
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id` + coredb.PolicyJoins

// selectBookings reads bookings `b`.
var selectBookings = `select ` + booked.Columns() + ` from bookings b` + bookingJoins

var (
	bookingsByID = pg.Lookup[tenant.BookingID, booking.Booking]{
		SQL: pg.SQL(`select ` + booked.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from bookings b where b.tenant_id = $1 and b.id = q.id offset 0) b` + bookingJoins),
		Reader: booked,
	}
	bookingsByRef = pg.Lookup[string, booking.Booking]{
		SQL: pg.SQL(`select ` + booked.Columns() + `, q.n from unnest($2::text[]) with ordinality as q (ref, n)
cross join lateral (
  select * from bookings b
  where b.tenant_id = $1 and b.external_ref = q.ref and b.external_ref <> '' offset 0) b` + bookingJoins),
		Reader: booked,
	}
	dueHolds = pg.Lookup[dueBy, booking.Booking]{
		SQL: pg.SQL(`select ` + booked.Columns() + `, q.n
from unnest($2::uuid[], $3::timestamptz[]) with ordinality as q (session_id, now, n)
cross join lateral (
  select * from bookings b
  where b.tenant_id = $1 and b.session_id = q.session_id and b.status = 'PENDING' and b.hold_expires_at <= q.now
  offset 0) b` + bookingJoins + `
order by b.id`),
		Columns: func(keys []dueBy) []any {
			return []any{
				pg.Array(keys, func(k dueBy) tenant.SessionID { return k.session }),
				pg.Array(keys, func(k dueBy) time.Time { return k.now }),
			}
		},
		Reader: booked,
	}
)

type dueBy struct {
	session tenant.SessionID
	now     time.Time
}

// FindBooking reads a booking; nil if there is none.
func FindBooking(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **booking.Booking) {
	bookingsByID.One(b, in, id, into)
}

// SetGrace sets until when a promoted member can cancel for free, with the transaction. It is no change by which an
// edit of the booking's details would be out of date.
func SetGrace(tx *pg.Tx, in tenant.TenantID, id tenant.BookingID, until time.Time) {
	tx.Write(`update bookings set grace_until = $3 where tenant_id = $1 and id = $2`, in, id, until)
}

// FindBookingByRef reads the booking with an external reference; nil if there is none.
func FindBookingByRef(b *pg.Batch, in tenant.TenantID, ref string, into **booking.Booking) {
	bookingsByRef.One(b, in, ref, into)
}

// ListDueHolds reads the expired holds of a session that are still PENDING.
func ListDueHolds(
	b *pg.Batch, in tenant.TenantID, session tenant.SessionID, now time.Time, into *[]booking.Booking,
) {
	dueHolds.Many(b, in, dueBy{session, now}, into)
}

// active are the statuses of bookings that take seats.
const active = `('PENDING', 'CONFIRMED', 'ATTENDED')`

var (
	findLastBooking = pg.SQL(selectBookings + `
where b.tenant_id = $1 and b.session_id = $2 and b.member_id = $3
order by b.status in ` + active + ` desc, b.id desc limit 1`)
	listSessionBookings = pg.SQL(selectBookings + `
where b.tenant_id = $1 and b.session_id = $2 and b.status = any($3)
order by b.id`)
	listOpenBookings = pg.SQL(selectBookings + `
where b.tenant_id = $1 and b.session_id = any($2) and b.status not in ('CANCELLED', 'EXPIRED')
order by b.id`)
)

// FindLastBooking reads a member's active booking in a session, or else the one that they made last; nil if there is
// none.
func FindLastBooking(
	b *pg.Batch, in tenant.TenantID, session tenant.SessionID, member tenant.MemberID, into **booking.Booking,
) {
	booked.Find(b.Queue(findLastBooking, in, session, member), into)
}

// ListSessionBookings reads a session's bookings in any of the statuses, in the order in which they were made.
func ListSessionBookings(
	b *pg.Batch, in tenant.TenantID, session tenant.SessionID, statuses []booking.Status, into *[]booking.Booking,
) {
	booked.List(b.Queue(listSessionBookings, in, session, statuses), into)
}

// ListOpenBookings reads the bookings that are cancelled with their sessions: those that are not cancelled or expired
// yet.
func ListOpenBookings(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]booking.Booking) {
	booked.List(b.Queue(listOpenBookings, in, sessions), into)
}

// ListDueSessions reads the ids of sessions with expired holds, the longest expired first.
func ListDueSessions(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.SessionID) {
	// The inner order is that of the index on holds, so that no plan reads other bookings, whatever the statistics are.
	pg.Collect(b.Queue(`select session_id from (
  select session_id, hold_expires_at from bookings
  where tenant_id = $1 and status = 'PENDING' and hold_expires_at <= $2
  order by hold_expires_at) due
group by session_id order by min(hold_expires_at) limit $3`, in, now, limit), into, pgx.RowTo[tenant.SessionID])
}

// FindNextExpiry reads when the next hold or offer of a tenant expires; nil if there is none.
func FindNextExpiry(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	b.Queue(`
select least(
  (select min(hold_expires_at) from bookings where tenant_id = $1 and status = 'PENDING'),
  (select min(expires_at) from waitlist_offers where tenant_id = $1 and status = 'LIVE'))`, in).Scan(into)
}

// FindNextRenewal reads when the next subscription of a member who waits for seats is renewed, after a time; nil if
// none is.
func FindNextRenewal(b *pg.Batch, in tenant.TenantID, after time.Time, into **time.Time) {
	b.Queue(`
select min(u.period_ends_at) from members m
join subscriptions u on u.tenant_id = $1 and u.member_id = m.id
join plans p on p.tenant_id = $1 and p.id = u.plan_id
where m.tenant_id = $1 and m.waiting > 0 and u.status = 'ACTIVE' and u.period_ends_at > $2
  and p.period_seconds is not null`, in, after).Scan(into)
}

var (
	insertBookings = pg.SQL(`
insert into bookings ` + bookings.Rows())
	// The limit does not leave out any row: see seatsMoved.
	updateBookings = pg.SQL(`
update bookings b set ` + bookings.SetChanges() + `
from (select * from ` + bookings.Changes() + ` limit cardinality($2)) as x
where b.tenant_id = $1 and b.id = x.id`)
)

var bookingsMade = pg.RowWriter[*booking.Booking]{
	Rank: coredb.RankBookings,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []*booking.Booking) {
		tx.Write(insertBookings, bookings.InsertAll(in, rows)...)
	},
}

// InsertBooking writes a new booking with the transaction.
func InsertBooking(tx *pg.Tx, in tenant.TenantID, b booking.Booking) { bookingsMade.Add(tx, in, &b) }

var bookingsChanged = pg.RowWriter[*booking.Booking]{
	Rank: coredb.RankUpdatedBookings,
	Key:  func(b *booking.Booking) any { return b.ID },
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []*booking.Booking) {
		tx.Write(updateBookings, bookings.UpdateAll(in, rows)...)
	},
}

// UpdateBooking writes the columns of a booking that can change, with the transaction. It is a new version then. The
// last of several updates wins.
func UpdateBooking(tx *pg.Tx, in tenant.TenantID, b *booking.Booking, now time.Time) {
	b.UpdatedAt = now
	b.Version++
	bookingsChanged.Add(tx, in, new(*b))
}
