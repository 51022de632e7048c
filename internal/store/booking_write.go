package store

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

type made = *booking.Booking // a booking is large, and every column is picked out of it

var bookingsMade = pg.Rows[made]{
	Rank: rankBookings,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []made) {
		tx.Write(`
insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, subscription_id, credits, counted,
  external_ref, request_hash, note, promoted, grace_until, starts_at, ends_at, exclusive, created_by, created_at, hold_expires_at,
  updated_at, confirmed_at, contact_name, contact_email, contact_phone, has_items, guest_tier)
select $1, x.id, x.session_id, x.member_id, x.party_size, x.status, x.channel, x.subscription_id, x.credits, x.counted,
  x.external_ref, x.request_hash, x.note, x.promoted, x.grace_until, x.starts_at, x.ends_at, x.exclusive, x.created_by, x.created_at, x.hold_expires_at,
  x.created_at, x.confirmed_at, x.contact_name, x.contact_email, x.contact_phone, x.has_items, x.guest_tier
from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::integer[], $6::text[], $7::text[], $8::uuid[], $9::integer[], $10::boolean[],
  $11::text[], $12::bytea[], $13::text[], $14::boolean[], $15::timestamptz[], $16::timestamptz[], $17::timestamptz[], $18::boolean[],
  $19::text[], $20::timestamptz[], $21::timestamptz[], $22::timestamptz[], $23::text[], $24::text[], $25::text[], $26::boolean[],
  $27::text[])
  as x (id, session_id, member_id, party_size, status, channel, subscription_id, credits, counted,
  external_ref, request_hash, note, promoted, grace_until, starts_at, ends_at, exclusive,
  created_by, created_at, hold_expires_at, confirmed_at, contact_name, contact_email, contact_phone, has_items,
  guest_tier)`, in,
			column(rows, func(b made) tenant.BookingID { return b.ID }),
			column(rows, func(b made) tenant.SessionID { return b.Session }),
			column(rows, func(b made) tenant.MemberID { return b.Member }),
			column(rows, func(b made) int32 { return int32(b.Party) }),
			column(rows, func(b made) string { return string(b.Status) }),
			column(rows, func(b made) string { return string(b.Channel) }),
			column(rows, func(b made) tenant.SubscriptionID { return b.Subscription }),
			column(rows, func(b made) int32 { return int32(b.Credits) }),
			column(rows, func(b made) bool { return b.Counted }),
			column(rows, func(b made) string { return b.ExternalRef }),
			column(rows, func(b made) []byte { return b.RequestHash }),
			column(rows, func(b made) string { return b.Note }),
			column(rows, func(b made) bool { return b.Promoted }),
			column(rows, func(b made) *time.Time { return b.GraceUntil }),
			column(rows, func(b made) time.Time { return b.StartsAt }),
			column(rows, func(b made) time.Time { return b.EndsAt }),
			column(rows, func(b made) bool { return b.Exclusive }),
			column(rows, func(b made) string { return b.CreatedBy }),
			column(rows, func(b made) time.Time { return b.CreatedAt }),
			column(rows, func(b made) *time.Time { return b.HoldUntil }),
			column(rows, func(b made) *time.Time { return b.ConfirmedAt }),
			column(rows, func(b made) string { return b.Contact.Name }),
			column(rows, func(b made) string { return b.Contact.Email }),
			column(rows, func(b made) string { return b.Contact.Phone }),
			column(rows, func(b made) bool { return b.HasItems }),
			column(rows, func(b made) string { return b.GuestTier }))
	},
}

// InsertBooking writes a new booking with the transaction.
func InsertBooking(tx *pg.Tx, in tenant.TenantID, b booking.Booking) { bookingsMade.Add(tx, in, &b) }

type changed struct {
	*booking.Booking
	at time.Time
}

var bookingsChanged = pg.Rows[changed]{
	Rank: rankUpdatedBookings,
	Key:  func(b changed) any { return b.ID },
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []changed) {
		tx.Write(`
update bookings b set status = x.status, credits = x.credits, counted = x.counted, late_cancelled = x.late_cancelled,
  cancel_reason = x.cancel_reason, cancelled_at = x.cancelled_at, checked_in_at = x.checked_in_at, check_in_method = nullif(x.check_in_method, ''),
  updated_at = x.updated_at, subscription_id = x.subscription_id, exclusive = x.exclusive, hold_expires_at = x.hold_expires_at,
  confirmed_at = x.confirmed_at, payment_status = x.payment_status, amount_currency = x.amount_currency, amount_units = x.amount_units,
  amount_nanos = x.amount_nanos, payment_method = x.payment_method, paid_at = x.paid_at, benefit_code = nullif(x.benefit_code, ''),
  benefit_number = x.benefit_number, benefit_percent = x.benefit_percent, session_id = x.session_id, starts_at = x.starts_at,
  ends_at = x.ends_at, grace_until = x.grace_until
from (select * from unnest($2::uuid[], $3::text[], $4::integer[], $5::boolean[], $6::boolean[], $7::text[], $8::timestamptz[], $9::timestamptz[],
  $10::text[], $11::timestamptz[], $12::uuid[], $13::boolean[], $14::timestamptz[], $15::timestamptz[], $16::text[], $17::text[],
  $18::bigint[], $19::integer[], $20::text[], $21::timestamptz[], $22::text[], $23::text[], $24::integer[], $25::uuid[],
  $26::timestamptz[], $27::timestamptz[], $28::timestamptz[])
  as x (id, status, credits, counted, late_cancelled, cancel_reason, cancelled_at, checked_in_at,
  check_in_method, updated_at, subscription_id, exclusive, hold_expires_at, confirmed_at, payment_status, amount_currency,
  amount_units, amount_nanos, payment_method, paid_at, benefit_code, benefit_number, benefit_percent, session_id,
  starts_at, ends_at, grace_until) limit cardinality($2)) as x
where b.tenant_id = $1 and b.id = x.id`, in,
			column(rows, func(b changed) tenant.BookingID { return b.ID }),
			column(rows, func(b changed) string { return string(b.Status) }),
			column(rows, func(b changed) int32 { return int32(b.Credits) }),
			column(rows, func(b changed) bool { return b.Counted }),
			column(rows, func(b changed) bool { return b.LateCancelled }),
			column(rows, func(b changed) string { return b.CancelReason }),
			column(rows, func(b changed) *time.Time { return b.CancelledAt }),
			column(rows, func(b changed) *time.Time { return b.CheckedInAt }),
			column(rows, func(b changed) string { return b.CheckInMethod }),
			column(rows, func(b changed) time.Time { return b.at }),
			column(rows, func(b changed) tenant.SubscriptionID { return b.Subscription }),
			column(rows, func(b changed) bool { return b.Exclusive }),
			column(rows, func(b changed) *time.Time { return b.HoldUntil }),
			column(rows, func(b changed) *time.Time { return b.ConfirmedAt }),
			column(rows, func(b changed) string { return string(b.Payment.Status) }),
			column(rows, func(b changed) string { return b.Payment.Amount.Currency }),
			column(rows, func(b changed) int64 { return b.Payment.Amount.Units }),
			column(rows, func(b changed) int32 { return b.Payment.Amount.Nanos }),
			column(rows, func(b changed) string { return b.Payment.Method }),
			column(rows, func(b changed) *time.Time { return b.Payment.PaidAt }),
			column(rows, func(b changed) string { return b.Benefit.Code }),
			column(rows, func(b changed) string { return b.Benefit.Number }),
			column(rows, func(b changed) int32 { return int32(b.Benefit.Percent) }),
			column(rows, func(b changed) tenant.SessionID { return b.Session }),
			column(rows, func(b changed) time.Time { return b.StartsAt }),
			column(rows, func(b changed) time.Time { return b.EndsAt }),
			column(rows, func(b changed) *time.Time { return b.GraceUntil }))
	},
}

// UpdateBooking writes what changes in a booking's life with the transaction. Of several changes to one booking the last holds.
func UpdateBooking(tx *pg.Tx, in tenant.TenantID, b booking.Booking, now time.Time) {
	bookingsChanged.Add(tx, in, changed{&b, now})
}
