// Package seats has the writes that take and free seats, and the state that operations of a batch share. Bookings,
// waitlists and schedules build on it.
package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Result is a booking or a waitlist entry: the result of making or cancelling one.
type Result struct {
	Booking *booking.Booking
	Entry   *waitlist.Entry
	// Repeated says that an earlier request did it, such as one with the same external reference.
	Repeated bool
}

// Found reports whether there is a booking or an entry.
func (r Result) Found() bool { return r.Booking != nil || r.Entry != nil }

// Cancelled is the result of cancelling a booking or a waitlist entry.
type Cancelled struct {
	Result
	Refunded bool
	Late     bool
	Promoted int // entries that were booked into the freed seats
}

// CancelOptions says why an entry or booking is cancelled, and whether the member is told.
type CancelOptions struct {
	Reason string
	Notify bool
}

// ErrNoSession and ErrNoMember reject requests that name a session or a member that does not exist.
var (
	ErrNoSession = fault.Missing(fault.SessionNotFound, "Session")
	ErrNoMember  = fault.Missing(fault.MemberNotFound, "Member")
)

// Take writes a booking: confirmed, unless it is a hold. It writes first what the database may reject.
func Take(tx *engine.Tx, f booking.Facts, b booking.Booking, result booking.BookResult) booking.Booking {
	seats := bookingdb.Seats{Taken: b.Party}
	if b.Status == booking.Pending {
		seats.Holds = 1
	} else {
		b.Status, b.ConfirmedAt = booking.Confirmed, &tx.Now
	}
	b.Payment.Status = payment.Unpaid
	b.Credits, b.Counted, b.Exclusive = result.Credits, result.Counted, result.Exclusive
	b.StartsAt, b.EndsAt, b.CreatedAt = f.Slot.StartsAt, f.Slot.EndsAt, tx.Now
	b.MemberName, b.MemberTier = f.Member.Name, f.Member.Tier
	b.SessionTitle, b.TimeZone, b.LocalDate, b.Policy = f.Slot.Title, f.Slot.TimeZone, f.Slot.LocalDate, f.Slot.Policy
	if result.Payer != nil {
		b.Subscription = result.Payer.ID
	}
	bookingdb.InsertBooking(tx.Tx, tx.Tenant, b)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, seats)
	if result.Payer != nil {
		credits.Write(tx, *result.Payer, result.Ledger)
		if result.Counted {
			bookingdb.CountBooking(tx.Tx, tx.Tenant, result.Payer.ID, f.Slot.LocalDate, +1)
		}
	}
	return b
}

// Cancel writes a cancellation: the booking, its seats, its credits and its quota.
func Cancel(tx *engine.Tx, c booking.CancelResult, notify bool) {
	b := c.Booking
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, b, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -c.SeatsFreed, Holds: -c.HoldsEnded})
	if b.HasItems {
		bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, nil, booking.ItemCancelled)
	}
	if c.Payer != nil {
		credits.Write(tx, *c.Payer, c.Ledger)
	}
	if c.ReleasesQuota {
		bookingdb.CountBooking(tx.Tx, tx.Tenant, b.Subscription, b.LocalDate, -1)
	}
	BookingEvent(tx, b, event.BookingCancelled{
		Refunded: c.Refunded, Late: c.Late, Reason: b.CancelReason, Notify: notify, SessionGone: c.SessionGone,
	})
}

// EndHold writes the end of a hold with its event, and frees its seats and items.
func EndHold(tx *engine.Tx, b *booking.Booking, data event.Data) {
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, *b, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -b.Party, Holds: -1})
	if b.HasItems {
		bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, nil, booking.ItemCancelled)
	}
	for i := range b.Items {
		b.Items[i].Status = booking.ItemCancelled
	}
	BookingEvent(tx, *b, data)
}

// BookingEvent appends an event of a booking to the event log.
func BookingEvent(tx *engine.Tx, b booking.Booking, data event.Data) {
	record.Event(tx, outbox.Event{Session: b.Session, Booking: b.ID, Member: b.Member, Data: data})
}

// LoadByRef asks for the booking or entry that an earlier request with an external reference made.
func LoadByRef(q *engine.Query, ref string, into *Result) {
	if ref != "" {
		bookingdb.FindBookingByRef(q.Batch, q.Tenant, ref, &into.Booking)
		waitlistdb.FindEntryByRef(q.Batch, q.Tenant, ref, &into.Entry)
	}
}

// RepeatedResult answers a request whose external reference is known: with what the first request made, if it asked for
// the same.
func RepeatedResult(made Result, hash []byte) (Result, error) {
	var before []byte
	if made.Booking != nil {
		before, made.Entry = made.Booking.RequestHash, nil // the booking of a promoted entry has its reference, too
	} else {
		before = made.Entry.RequestHash
	}
	if err := booking.CheckRepeated(before, hash); err != nil {
		return Result{}, err
	}
	made.Repeated = true
	return made, nil
}

// AlreadyBooked looks for a member's active booking and waitlist entry in a session. If there are any, it returns the
// error that names them.
func AlreadyBooked(
	ctx context.Context, e *engine.Engine, by tenant.Caller, session tenant.SessionID, member tenant.MemberID,
) error {
	var ids bookingdb.ActiveIDs
	var batch pg.Batch
	key := bookingdb.SessionMember{Session: session, Member: member}
	bookingdb.FindActiveIDs(&batch, by.Tenant, key, func(found bookingdb.ActiveIDs) { ids = found })
	if err := e.Read(ctx, by, &batch); err != nil {
		return err
	}
	if ids == (bookingdb.ActiveIDs{}) {
		return nil
	}
	return catalog.AlreadyBooked(ids.Booking, ids.Entry)
}
