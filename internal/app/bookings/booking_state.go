package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// bookingState is a booking that an operation changes, with its session and items.
type bookingState struct {
	id      tenant.BookingID
	of      bookingdb.SessionMember // the session and member of the booking when the operation was queued
	frees   bool                    // the operation may free the booking's seats
	booking *booking.Booking
	slot    *booking.Slot // nil if the session is deleted
	lines   []bookingdb.BookedLine
}

// locate is Batched.Locate for operations on a booking. It reads which session and member the booking is of, takes
// their locks, and makes the operation for each attempt.
func locate[R any](
	in tenant.TenantID, l seats.Locator, newOperation func(bookingState) engine.Operation[R],
) func(context.Context, engine.Reader) (engine.Located[R], error) {
	return func(ctx context.Context, read engine.Reader) (engine.Located[R], error) {
		of, locks, err := l.Locate(ctx, in, read)
		return engine.Located[R]{Locks: locks, New: func() engine.Operation[R] {
			return newOperation(bookingState{id: l.ID, of: of, frees: l.Fills})
		}}, err
	}
}

// Load implements engine.Operation.
func (b *bookingState) Load(q *engine.Query) {
	bookingdb.FindBooking(q.Batch, q.Tenant, b.id, &b.booking)
	if b.frees {
		seats.LoadFreedSlot(q, b.of.Session, &b.slot)
	} else {
		seats.LoadSlot(q, b.of.Session, &b.slot)
	}
	bookingdb.ListLines(q.Batch, q.Tenant, []tenant.BookingID{b.id}, &b.lines)
}

// find returns the booking with its items, if the caller may access it.
func (b *bookingState) find(tx *engine.Tx) (booking.Booking, error) {
	switch {
	case b.booking == nil || !tx.Caller.CanAccessCreated(b.booking.Member, b.booking.CreatedBy):
		return booking.Booking{}, errNoBooking
	case b.booking.Session != b.of.Session:
		return booking.Booking{}, engine.ErrMoved
	}
	for _, l := range b.lines {
		b.booking.Items = append(b.booking.Items, l.Line)
	}
	return *b.booking, nil
}

// findOpen is find for operations that need the session to exist.
func (b *bookingState) findOpen(tx *engine.Tx) (booking.Booking, error) {
	found, err := b.find(tx)
	if err == nil && b.slot == nil {
		err = errNoBooking
	}
	return found, err
}
