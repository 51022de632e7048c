package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// bookingColumns and bookingJoins read a booking `b` with what is shown beside it.
const bookingColumns = `
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

// FindBooking reads a booking; nil where there is none.
func FindBooking(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **booking.Booking) {
	b.Queue(`select`+bookingColumns+` from`+theBooking+bookingJoins, in, id).QueryRow(func(row pgx.Row) error {
		one, err := scanBooking(row)
		return found(into, one, err)
	})
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

// FindBookingByRef reads the booking with an external reference; nil where there is none.
func FindBookingByRef(b *pg.Batch, in tenant.TenantID, ref string, into **booking.Booking) {
	b.Queue(`select`+bookingColumns+` from bookings b`+bookingJoins+`
where b.tenant_id = $1 and b.external_ref = $2 and b.external_ref <> ''`, in, ref).QueryRow(func(row pgx.Row) error {
		one, err := scanBooking(row)
		return found(into, one, err)
	})
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

// FindBookingMember reads what a booking needs to know of a member; nil where there is none.
func FindBookingMember(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into **booking.Member) {
	b.Queue(`select id, name, tier, status = 'ACTIVE' from members where tenant_id = $1 and id = $2`, in, id).
		QueryRow(func(row pgx.Row) error {
			var m booking.Member
			err := row.Scan(&m.ID, &m.Name, &m.Tier, &m.Active)
			return found(into, m, err)
		})
}

// FindDoubles reads a member's active booking and entry in a session, as far as the
// answer depends on them: the booking where the session has no room for a party, so that nobody with a
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

// ListDueHolds reads the holds of a session that have run out and still stand as PENDING.
func ListDueHolds(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, now time.Time, into *[]booking.Booking) {
	pg.Collect(b.Queue(`select`+bookingColumns+` from bookings b`+bookingJoins+`
where b.tenant_id = $1 and b.session_id = $2 and b.status = 'PENDING' and b.hold_expires_at <= $3
order by b.id`, in, session, now), into, collectBooking)
}

// ListDueSessions names the sessions with holds that have run out, those that did longest ago first.
func ListDueSessions(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.SessionID) {
	pg.Collect(b.Queue(`select session_id from bookings
where tenant_id = $1 and status = 'PENDING' and hold_expires_at <= $2
group by session_id order by min(hold_expires_at) limit $3`, in, now, limit), into, pgx.RowTo[tenant.SessionID])
}

// FindNextExpiry reads when the next hold or offer of a tenant runs out; nil where there is none.
func FindNextExpiry(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	b.Queue(`
select least(
  (select min(hold_expires_at) from bookings where tenant_id = $1 and status = 'PENDING'),
  (select min(expires_at) from waitlist_offers where tenant_id = $1 and status = 'LIVE'))`, in).Scan(into)
}

// InsertBooking writes a new booking with the transaction.
func InsertBooking(tx *pg.Tx, in tenant.TenantID, b booking.Booking) {
	tx.Write(`
insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, subscription_id, credits, counted,
  external_ref, request_hash, note, promoted, grace_until, starts_at, ends_at, exclusive, created_by, created_at, updated_at,
  hold_expires_at, confirmed_at, contact_name, contact_email, contact_phone, guest_tier, has_items)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20, $21, $22, $23, $24, $25, $26, $27)`,
		in, b.ID, b.Session, b.Member, b.Party, b.Status, b.Channel, b.Subscription, b.Credits, b.Counted,
		b.ExternalRef, b.RequestHash, b.Note, b.Promoted, b.GraceUntil, b.StartsAt, b.EndsAt, b.Exclusive, b.CreatedBy, b.CreatedAt,
		b.HoldUntil, b.ConfirmedAt, b.Contact.Name, b.Contact.Email, b.Contact.Phone, b.GuestTier, b.HasItems)
}

// UpdateBooking writes what changes in a booking's life with the transaction.
func UpdateBooking(tx *pg.Tx, in tenant.TenantID, b booking.Booking, now time.Time) {
	tx.Write(`
update bookings set status = $3, credits = $4, counted = $5, late_cancelled = $6, cancel_reason = $7, cancelled_at = $8,
  checked_in_at = $9, check_in_method = nullif($10, ''), updated_at = $11, subscription_id = $12, exclusive = $13,
  hold_expires_at = $14, confirmed_at = $15, payment_status = $16, amount_currency = $17, amount_units = $18, amount_nanos = $19,
  payment_method = $20, paid_at = $21, benefit_code = nullif($22, ''), benefit_number = $23, benefit_percent = $24,
  session_id = $25, starts_at = $26, ends_at = $27, grace_until = $28
where tenant_id = $1 and id = $2`,
		in, b.ID, b.Status, b.Credits, b.Counted, b.LateCancelled, b.CancelReason, b.CancelledAt,
		b.CheckedInAt, b.CheckInMethod, now, b.Subscription, b.Exclusive,
		b.HoldUntil, b.ConfirmedAt, b.Payment.Status, b.Payment.Amount.Currency, b.Payment.Amount.Units, b.Payment.Amount.Nanos,
		b.Payment.Method, b.Payment.PaidAt, b.Benefit.Code, b.Benefit.Number, b.Benefit.Percent,
		b.Session, b.StartsAt, b.EndsAt, b.GraceUntil)
}
