// Package seats has the writes that take and free seats, and the state that operations of a batch share. Bookings,
// waitlists and schedules build on it.
package seats

import (
	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/waitlist"
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
	b = b.In(f.Slot)
	b.CreatedAt, b.UpdatedAt, b.Version = tx.Now, tx.Now, 1
	b.MemberName, b.MemberTier = f.Member.Name, f.Member.Tier
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

// RaiseCapacity gives a session more seats, for a booking in the same transaction. Like any edit of one session, it
// takes the session out of its series' edits.
func RaiseCapacity(tx *engine.Tx, slot *booking.Slot, by int) {
	was, is := *slot.Capacity, *slot.Capacity+by
	slot.Capacity = &is
	bookingdb.RaiseCapacity(tx.Tx, tx.Tenant, slot.ID, by, tx.Now)
	var edit event.SessionUpdated
	edit.Before.Capacity, edit.After.Capacity = event.Changed(&was), event.Changed(&is)
	record.Event(tx, outbox.Event{
		Session: slot.ID, Data: edit,
		Facts: event.Facts{Status: string(slot.State), Party: 0, ExternalRef: "", Payment: event.NoPayment},
	})
	record.Audit(tx, "session.updated", "session", slot.ID.UUID, "",
		record.Changes(map[string]any{"capacity": was}, map[string]any{"capacity": is}))
}

// BookingEvent appends an event of a booking to the event log, with the lines that it added to its payer's ledger.
func BookingEvent(tx *engine.Tx, b booking.Booking, data event.Data, ledger ...credit.Line) {
	record.Event(tx, outbox.Event{
		Session: b.Session, Booking: b.ID, Member: b.Member, Data: data, Facts: FactsOf(b, ledger),
	})
}

// FactsOf returns what an event says about a booking. Lines of the ledger that are not for the booking are ignored.
func FactsOf(b booking.Booking, ledger []credit.Line) event.Facts {
	facts := event.Facts{
		Status: string(b.Status), Party: b.Party, ExternalRef: b.ExternalRef,
		Payment: event.Payment{Status: string(b.Payment.Status), Credits: 0, Subscription: b.Subscription},
	}
	for _, l := range ledger {
		if l.Booking == b.ID {
			facts.Credits += l.Amount
		}
	}
	return facts
}

// LoadByRef asks for the booking or entry that an earlier request with an external reference made.
func LoadByRef(q *engine.Query, ref string, into *Result) {
	if ref != "" {
		bookingdb.FindBookingByRef(q.Batch, q.Tenant, ref, &into.Booking)
		waitlistdb.FindEntryByRef(q.Batch, q.Tenant, ref, &into.Entry)
	}
}

// RepeatedResult answers a request whose external reference is known: with what the first request made, if it asked for
// the same and the same caller sends it again.
func RepeatedResult(made Result, now booking.Referenced) (Result, error) {
	var before booking.Referenced
	switch {
	case made.Entry != nil: // a promoted entry has made the booking with its reference
		before = booking.Referenced{Actor: made.Entry.CreatedBy, Hash: made.Entry.RequestHash}
	default:
		before = booking.Referenced{Actor: made.Booking.CreatedBy, Hash: made.Booking.RequestHash}
	}
	if made.Booking != nil {
		made.Entry = nil
	}
	if err := booking.CheckRepeated(before, now); err != nil {
		return Result{}, err
	}
	made.Repeated = true
	return made, nil
}
