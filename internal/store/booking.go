package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// bookingColumns and bookingJoins read a booking `b` with what is shown beside it.
var bookingColumns = `
  b.id, b.session_id, b.member_id, b.party_size, b.status, b.channel, b.subscription_id, b.credits, b.counted,
  b.external_ref, b.request_hash, b.note, b.promoted, b.grace_until, b.late_cancelled, b.cancel_reason,
  b.starts_at, b.ends_at, b.exclusive, b.created_by, b.created_at, b.cancelled_at, b.checked_in_at,
  coalesce(b.check_in_method, ''), b.hold_expires_at, b.confirmed_at, b.contact_name, b.contact_email, b.contact_phone,
  b.payment_status, b.amount_currency, b.amount_units, b.amount_nanos, b.payment_method, b.paid_at,
  coalesce(b.benefit_code, ''), b.benefit_number, b.benefit_percent, b.has_items,
  b.guest_tier, coalesce(m.name, b.contact_name), coalesce(m.tier, b.guest_tier), s.title, l.time_zone, s.local_date,` + ruleColumns

// The subqueries keep the planner on primary keys, whatever it thinks of the tables: a scan over the
// tenant's sessions or members would lock them all against each other.
const bookingJoins = `
  cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = b.session_id offset 0) s
  left join lateral (select * from members m where m.tenant_id = $1 and m.id = b.member_id offset 0) m on true
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id` + ruleJoins

func scanBooking(row pgx.Row) (booking.Booking, error) {
	var b booking.Booking
	var localDate time.Time
	var rules ruleTargets
	err := row.Scan(append([]any{
		&b.ID, &b.Session, &b.Member, &b.Party, &b.Status, &b.Channel, &b.Subscription, &b.Credits, &b.Counted,
		&b.ExternalRef, &b.RequestHash, &b.Note, &b.Promoted, &b.GraceUntil, &b.LateCancelled, &b.CancelReason,
		&b.StartsAt, &b.EndsAt, &b.Exclusive, &b.CreatedBy, &b.CreatedAt, &b.CancelledAt, &b.CheckedInAt,
		&b.CheckInMethod, &b.HoldUntil, &b.ConfirmedAt, &b.Contact.Name, &b.Contact.Email, &b.Contact.Phone,
		&b.Payment.Status, &b.Payment.Amount.Currency, &b.Payment.Amount.Units, &b.Payment.Amount.Nanos, &b.Payment.Method, &b.Payment.PaidAt,
		&b.Benefit.Code, &b.Benefit.Number, &b.Benefit.Percent, &b.HasItems,
		&b.GuestTier, &b.MemberName, &b.MemberTier, &b.SessionTitle, &b.TimeZone, &localDate,
	}, rules.list()...)...)
	if err != nil {
		return b, err
	}
	b.LocalDate = day(localDate)
	b.Rules, err = rules.rules()
	return b, err
}

func collectBooking(row pgx.CollectableRow) (booking.Booking, error) { return scanBooking(row) }

var bookingsByID = pg.Lookup[tenant.BookingID, booking.Booking]{
	SQL: `select` + bookingColumns + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from bookings b where b.tenant_id = $1 and b.id = q.id offset 0) b` + bookingJoins,
	Columns: func(ids []tenant.BookingID) []any { return []any{ids} },
	Scan:    scanBooking,
}

// FindBooking reads a booking; nil where there is none.
func FindBooking(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **booking.Booking) {
	one(b, in, &bookingsByID, id, into)
}

// theBooking is the one whose id is $2, by its primary key.
const theBooking = ` (select * from bookings b where b.tenant_id = $1 and b.id = $2 offset 0) b`

// FindActiveBooking reads a member's active booking in a session; nil where there is none.
func FindActiveBooking(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, member tenant.MemberID, into **booking.Booking) {
	b.Queue(`select`+bookingColumns+` from bookings b`+bookingJoins+`
where b.tenant_id = $1 and b.session_id = $2 and b.member_id = $3 and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')`,
		in, session, member).QueryRow(func(row pgx.Row) error {
		one, err := scanBooking(row)
		return found(into, one, err)
	})
}

var bookingsByRef = pg.Lookup[string, booking.Booking]{
	SQL: `select` + bookingColumns + `, q.n from unnest($2::text[]) with ordinality as q (ref, n)
cross join lateral (
  select * from bookings b where b.tenant_id = $1 and b.external_ref = q.ref and b.external_ref <> '' offset 0) b` + bookingJoins,
	Columns: func(refs []string) []any { return []any{refs} },
	Scan:    scanBooking,
}

// FindBookingByRef reads the booking with an external reference; nil where there is none.
func FindBookingByRef(b *pg.Batch, in tenant.TenantID, ref string, into **booking.Booking) {
	one(b, in, &bookingsByRef, ref, into)
}

// ListSessionBookings reads a session's bookings in the order in which they were made.
func ListSessionBookings(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, inactive bool, into *[]booking.Booking) {
	pg.Collect(b.Queue(`select`+bookingColumns+` from bookings b`+bookingJoins+`
where b.tenant_id = $1 and b.session_id = $2 and ($3 or b.status not in ('CANCELLED', 'EXPIRED'))
order by b.id`, in, session, inactive), into, collectBooking)
}

// ListOpenBookings reads what cancelling sessions cancels: their bookings that are neither cancelled nor expired.
func ListOpenBookings(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]booking.Booking) {
	pg.Collect(b.Queue(`select`+bookingColumns+` from bookings b`+bookingJoins+`
where b.tenant_id = $1 and b.session_id = any($2) and b.status not in ('CANCELLED', 'EXPIRED')
order by b.id`, in, sessions), into, collectBooking)
}

// OwnBookings chooses bookings of one member, or those that one service account made.
type OwnBookings struct {
	Member   tenant.MemberID
	Account  string           // "sa:<id>", where Member is zero
	Statuses []booking.Status // empty: all
	// From and Until bound the session's start; zero is unbounded. EndsAfter leaves out what is over.
	From, Until, EndsAfter time.Time
	AfterStart             time.Time // keyset: the last start and id of the page before
	AfterID                tenant.BookingID
	Newest                 bool // latest start first
	Limit                  int
}

// ListOwnBookings reads them by the session's start, then id.
func ListOwnBookings(b *pg.Batch, in tenant.TenantID, q OwnBookings, into *[]booking.Booking) {
	statuses := make([]string, len(q.Statuses))
	for i, s := range q.Statuses {
		statuses[i] = string(s)
	}
	order, compare := "asc", ">"
	if q.Newest {
		order, compare = "desc", "<"
	}
	var who any = q.Member
	whose := `b.member_id = $2`
	if q.Member.IsZero() {
		who, whose = q.Account, `b.created_by = $2 and b.created_by like 'sa:%'` // the latter finds its index
	}
	pg.Collect(b.Queue(`select`+bookingColumns+` from bookings b`+bookingJoins+`
where b.tenant_id = $1 and `+whose+`
  and (cardinality($3::text[]) = 0 or b.status = any($3))
  and ($4::timestamptz is null or b.starts_at >= $4) and ($5::timestamptz is null or b.starts_at < $5)
  and ($6::timestamptz is null or b.ends_at > $6)
  and ($7::timestamptz is null or (b.starts_at, b.id) `+compare+` ($7, $8::uuid))
order by b.starts_at `+order+`, b.id `+order+` limit $9`,
		in, who, statuses, optional(q.From), optional(q.Until), optional(q.EndsAfter), optional(q.AfterStart), q.AfterID, q.Limit),
		into, collectBooking)
}

var bookingMembers = pg.Lookup[tenant.MemberID, booking.Member]{
	SQL: `select m.id, m.name, m.tier, m.status = 'ACTIVE', q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from members m where m.tenant_id = $1 and m.id = q.id offset 0) m`,
	Columns: func(ids []tenant.MemberID) []any { return []any{ids} },
	Scan: func(row pgx.Row) (booking.Member, error) {
		var m booking.Member
		err := row.Scan(&m.ID, &m.Name, &m.Tier, &m.Active)
		return m, err
	},
}

// FindBookingMember reads what a booking needs to know of a member; nil where there is none.
func FindBookingMember(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into **booking.Member) {
	one(b, in, &bookingMembers, id, into)
}

// Visit is a member in a session.
type Visit struct {
	Session tenant.SessionID
	Member  tenant.MemberID
	Waits   bool // with an entry; else booked
}

// FindVisit reads who has a booking or an entry, and in which session, if it is one; nil where there is none. The queue is the one
// there, or that of a window's first day; nil where nobody stands in it.
func FindVisit(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **Visit, queue **waitlist.Queue) {
	*queue = nil
	b.Queue(`
select v.session_id, v.member_id, v.waits, q.location_id, q.service_id, q.local_date
from (
  select session_id, member_id, false as waits, null::uuid as location_id, null::uuid as service_id, null::date as local_date
  from bookings where tenant_id = $1 and id = $2
  union all
  select coalesce(session_id, any_of[1]), member_id, true, location_id, service_id, first_date
  from waitlist_entries where tenant_id = $1 and id = $2) v
left join sessions s on s.tenant_id = $1 and s.id = v.session_id
left join waitlist_queues q on q.tenant_id = $1 and q.location_id = coalesce(v.location_id, s.location_id)
  and q.service_id = coalesce(v.service_id, s.service_id) and q.local_date = coalesce(v.local_date, s.local_date) and q.waiting > 0`,
		in, id).QueryRow(func(row pgx.Row) error {
		var v Visit
		var q waitlist.Queue
		var on *time.Time
		err := row.Scan(&v.Session, &v.Member, &v.Waits, &q.Location, &q.Service, &on)
		if on != nil {
			q.Date = day(*on)
			*queue = &q
		}
		return found(into, v, err)
	})
}

func visitColumns(visits []Visit) []any {
	return []any{
		column(visits, func(v Visit) tenant.SessionID { return v.Session }),
		column(visits, func(v Visit) tenant.MemberID { return v.Member }),
	}
}

// Double is a member's active booking and entry in a session; zero where there is none.
type Double struct {
	Booking tenant.BookingID
	Entry   tenant.EntryID
}

var doubles = pg.Lookup[Visit, Double]{
	SQL: `
select
  (select b.id from bookings b where b.tenant_id = $1 and b.session_id = q.session_id and b.member_id = q.member_id
    and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')),
  (select p.entry_id from waitlist_places p where p.tenant_id = $1 and p.session_id = q.session_id and p.member_id = q.member_id),
  q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (session_id, member_id, n)`,
	Columns: visitColumns,
	Scan: func(row pgx.Row) (Double, error) {
		var d Double
		err := row.Scan(&d.Booking, &d.Entry)
		return d, err
	},
}

// FindDouble reads a member's active booking and entry in a session.
func FindDouble(b *pg.Batch, in tenant.TenantID, v Visit, found func(Double)) {
	doubles.Find(b, in, v, found)
}

var busyAround = pg.Lookup[Visit, civil.Span]{
	SQL: `
select b.starts_at, b.ends_at, q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (session_id, member_id, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.session_id offset 0) s
cross join lateral (
  select * from bookings b where b.tenant_id = $1 and b.member_id = q.member_id and b.starts_at < s.ends_at and b.ends_at > s.starts_at
    and b.exclusive and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED') offset 0) b`,
	Columns: visitColumns,
	Scan: func(row pgx.Row) (civil.Span, error) {
		var s civil.Span
		err := row.Scan(&s.Start, &s.End)
		return s, err
	},
}

// FindBusy reads when a member's bookings that tolerate no overlap touch a session's span.
func FindBusy(b *pg.Batch, in tenant.TenantID, v Visit, found func(civil.Span)) {
	busyAround.Find(b, in, v, found)
}

// FindDoubles is FindDouble for whoever joins a queue, as far as the answer depends on it: the booking where the session has no room for a party, so that nobody with a
// place joins the queue, and the entry where anyone waits. The place itself is
// guarded by unique indexes, which take no predicate lock.
func FindDoubles(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, member tenant.MemberID, party int, booking *tenant.BookingID, entry *tenant.EntryID) {
	*booking, *entry = tenant.BookingID{}, tenant.EntryID{}
	// Where anyone holds seats there may be no room either: once a hold has run out, whoever waits may take its seats and all others.
	b.Queue(`
select
  case when s.capacity is not null and (s.seats_taken + $4 > s.capacity or s.holds > 0) then (
    select b.id from bookings b where b.tenant_id = $1 and b.session_id = $2 and b.member_id = $3
      and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')) end,
  case when s.waiting > 0 then (
    select p.entry_id from waitlist_places p where p.tenant_id = $1 and p.session_id = $2 and p.member_id = $3) end
from sessions s where s.tenant_id = $1 and s.id = $2`, in, session, member, party).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(booking, entry); err != nil && !isNoRows(err) {
			return err
		}
		return nil
	})
}

// InSession is a member's active booking in a session.
type InSession struct {
	Member  tenant.MemberID
	Booking tenant.BookingID
}

// ListInSession reads those of the members.
func ListInSession(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, members []tenant.MemberID, into *[]InSession) {
	pg.Collect(b.Queue(`
select member_id, id from bookings
where tenant_id = $1 and session_id = $2 and member_id = any($3) and status in ('PENDING', 'CONFIRMED', 'ATTENDED')`, in, session, members), into,
		func(row pgx.CollectableRow) (InSession, error) {
			var i InSession
			err := row.Scan(&i.Member, &i.Booking)
			return i, err
		})
}

// BusySpan is the span of a member's active booking that tolerates no overlap.
type BusySpan struct {
	Member tenant.MemberID
	Span   civil.Span
}

// ListBusy reads those of the members that touch a span of time.
func ListBusy(b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, span civil.Span, into *[]BusySpan) {
	pg.Collect(b.Queue(`select member_id, starts_at, ends_at from bookings
where tenant_id = $1 and member_id = any($2) and starts_at < $4 and ends_at > $3 and exclusive
  and status in ('PENDING', 'CONFIRMED', 'ATTENDED')`, in, members, span.Start, span.End), into,
		func(row pgx.CollectableRow) (BusySpan, error) {
			var s BusySpan
			err := row.Scan(&s.Member, &s.Span.Start, &s.Span.End)
			return s, err
		})
}

var dueHolds = pg.Lookup[dueBy, booking.Booking]{
	SQL: `select` + bookingColumns + `, q.n from unnest($2::uuid[], $3::timestamptz[]) with ordinality as q (session_id, now, n)
cross join lateral (
  select * from bookings b where b.tenant_id = $1 and b.session_id = q.session_id and b.status = 'PENDING' and b.hold_expires_at <= q.now
  offset 0) b` + bookingJoins + `
order by q.n, b.id`,
	Columns: func(keys []dueBy) []any {
		return []any{
			column(keys, func(k dueBy) tenant.SessionID { return k.session }),
			column(keys, func(k dueBy) time.Time { return k.now }),
		}
	},
	Scan: scanBooking,
}

type dueBy struct {
	session tenant.SessionID
	now     time.Time
}

// ListDueHolds reads the holds of a session that have run out and still stand as PENDING.
func ListDueHolds(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, now time.Time, into *[]booking.Booking) {
	many(b, in, &dueHolds, dueBy{session, now}, into)
}

// ListDueSessions names the sessions with holds that have run out, those that did longest ago first.
func ListDueSessions(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.SessionID) {
	// The inner order is that of the index of holds, so that no plan reads the other bookings, whatever the planner knows of the table.
	pg.Collect(b.Queue(`select session_id from (
  select session_id, hold_expires_at from bookings
  where tenant_id = $1 and status = 'PENDING' and hold_expires_at <= $2
  order by hold_expires_at) due
group by session_id order by min(hold_expires_at) limit $3`, in, now, limit), into, pgx.RowTo[tenant.SessionID])
}

// FindNextExpiry reads when the next hold or offer of a tenant runs out; nil where there is none.
func FindNextExpiry(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	b.Queue(`
select least(
  (select min(hold_expires_at) from bookings where tenant_id = $1 and status = 'PENDING'),
  (select min(expires_at) from waitlist_offers where tenant_id = $1 and status = 'LIVE'))`, in).Scan(into)
}
