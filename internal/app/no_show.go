package app

import (
	"context"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// MarkNoShow notes that a party did not come, and frees its seats.
func (a *App) MarkNoShow(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	return a.changeAttendance(ctx, caller, "booking.no_show", id, func(ctx context.Context, t *tx, b booking.Booking, s booking.Slot) (booking.Booking, error) {
		b, changed, err := booking.MarkNoShow(b, t.now)
		if err != nil || !changed {
			return b, err
		}
		bookingdb.MoveSeats(t.Tx, t.in, b.Session, bookingdb.Seats{Taken: -b.Party})
		t.attended(b, outbox.BookingNoShow)
		s.SeatsTaken -= b.Party
		_, err = t.fill(ctx, &s, waitlist.ByNoShow)
		return b, err
	})
}

// UndoNoShow takes that back, if the seats are still open.
func (a *App) UndoNoShow(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	b, err := a.changeAttendance(ctx, caller, "booking.undo_no_show", id, func(_ context.Context, t *tx, b booking.Booking, s booking.Slot) (booking.Booking, error) {
		b, changed, err := booking.UndoNoShow(b, s)
		if err != nil || !changed {
			return b, err
		}
		bookingdb.MoveSeats(t.Tx, t.in, b.Session, bookingdb.Seats{Taken: b.Party})
		t.attended(b, outbox.BookingNoShowUndo)
		return b, nil
	})
	return b, refusal(err)
}

// changeAttendance loads a booking with its session and applies a change to it. More points to what the change gives beside it.
func (a *App) changeAttendance(ctx context.Context, caller tenant.Caller, name string, id tenant.BookingID,
	change func(ctx context.Context, t *tx, b booking.Booking, s booking.Slot) (booking.Booking, error), more ...any,
) (booking.Booking, error) {
	var changed booking.Booking
	err := a.write(ctx, caller, name, func(ctx context.Context, t *tx) (err error) {
		var b *booking.Booking
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindBooking(&batch, t.in, id, &b)
		bookingdb.FindSlotOf(&batch, t.in, id, &slot)
		if err := t.Load(ctx, &batch); err != nil {
			return err
		}
		if b == nil || slot == nil || !t.caller.MayTouch(b.Member) {
			return fault.Missing(fault.BookingNotFound, "Booking")
		}
		changed, err = change(ctx, t, *b, *slot)
		return err
	}, answers(append(more, &changed)...), losing(byPromotion))
	return changed, err
}

// attended writes a booking whose attendance changed, with its event.
func (t *tx) attended(b booking.Booking, what outbox.Type) {
	bookingdb.UpdateBooking(t.Tx, t.in, b, t.now)
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: what, Session: b.Session, Booking: b.ID, Member: b.Member,
		Actor: t.caller.Actor(), At: t.now,
	})
}
