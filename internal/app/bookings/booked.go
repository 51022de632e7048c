package bookings

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// bookingState is a booking that an operation changes, with its session and items.
type bookingState struct {
	id      tenant.BookingID
	visit   bookingdb.Visit // where it was when the operation was queued
	frees   bool            // the operation may free its seats
	booking *booking.Booking
	slot    *booking.Slot // nil: the session is deleted
	lines   []bookingdb.BookedLine
}

// Load implements engine.Operation.
func (b *bookingState) Load(q *engine.Query) {
	bookingdb.FindBooking(q.Batch, q.Tenant, b.id, &b.booking)
	if b.frees {
		seats.LoadFreedSlot(q, b.visit.Session, &b.slot)
	} else {
		seats.LoadSlot(q, b.visit.Session, &b.slot)
	}
	bookingdb.ListLines(q.Batch, q.Tenant, []tenant.BookingID{b.id}, &b.lines)
}

// find gives the booking, if the caller may touch it.
func (b *bookingState) find(tx *engine.Tx) (booking.Booking, error) {
	switch {
	case b.booking == nil || !tx.Caller.CanAccessCreated(b.booking.Member, b.booking.CreatedBy):
		return booking.Booking{}, fault.Missing(fault.BookingNotFound, "Booking")
	case b.booking.Session != b.visit.Session:
		return booking.Booking{}, engine.ErrMoved
	}
	for _, l := range b.lines {
		b.booking.Items = append(b.booking.Items, l.Line)
	}
	return *b.booking, nil
}

// findOpen is find for what can only be done while there is a session.
func (b *bookingState) findOpen(tx *engine.Tx) (booking.Booking, error) {
	found, err := b.find(tx)
	if err == nil && b.slot == nil {
		err = fault.Missing(fault.BookingNotFound, "Booking")
	}
	return found, err
}
