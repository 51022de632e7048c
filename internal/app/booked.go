package app

import (
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// booked is a booking that a deal changes, with its session and items.
type booked struct {
	place   bookingdb.Visit // where it was when the deal was queued
	frees   bool            // the deal may free its seats
	booking *booking.Booking
	slot    *booking.Slot // nil: the session is deleted
	lines   []bookingdb.BookedLine
}

func (b *booked) load(t *tx, batch *pg.Batch, id tenant.BookingID) {
	bookingdb.FindBooking(batch, t.in, id, &b.booking)
	if b.frees {
		t.findAwaited(batch, b.place.Session, &b.slot)
	} else {
		t.findSlot(batch, b.place.Session, &b.slot)
	}
	bookingdb.ListLines(batch, t.in, []tenant.BookingID{id}, &b.lines)
}

func (b *booked) more(*tx, *pg.Batch) {}

// movesQueue reports whether it comes to whoever waits there.
func (b *booked) movesQueue() bool { return b.frees }

// find gives the booking, if the caller may touch it.
func (b *booked) find(t *tx) (booking.Booking, error) {
	switch {
	case b.booking == nil || !t.caller.MayTouchMade(b.booking.Member, b.booking.CreatedBy):
		return booking.Booking{}, fault.Missing(fault.BookingNotFound, "Booking")
	case b.booking.Session != b.place.Session:
		return booking.Booking{}, errMoved
	}
	for _, l := range b.lines {
		b.booking.Items = append(b.booking.Items, l.Line)
	}
	return *b.booking, nil
}

// findOpen is find for what can only be done while there is a session.
func (b *booked) findOpen(t *tx) (booking.Booking, error) {
	found, err := b.find(t)
	if err == nil && b.slot == nil {
		err = fault.Missing(fault.BookingNotFound, "Booking")
	}
	return found, err
}

// unlessAwaited lets a deal that frees seats go by itself where somebody waits for them: to fill them takes more looks.
func (t *tx) unlessAwaited(slots ...*booking.Slot) error {
	if !t.together() {
		return nil
	}
	var queues []waitlist.Queue
	for _, s := range slots {
		if s != nil && (s.Waiting > 0 || s.Queued == nil || *s.Queued > 0) {
			queues = append(queues, queueOf(*s))
		}
	}
	return t.takeTurn(queues...)
}
