package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// MarkNoShow records that a party did not come. It frees their seats and fills them from the waitlist.
func (s *Service) MarkNoShow(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	mark := func(ctx context.Context, tx *engine.Tx, b booking.Booking, slot booking.Slot) (booking.Booking, error) {
		b, changed, err := booking.MarkNoShow(b, tx.Now)
		if err != nil || !changed {
			return b, err
		}
		bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -b.Party})
		writeAttendance(tx, &b, event.BookingNoShow{})
		slot.SeatsTaken -= b.Party
		_, err = s.waitlists.Fill(ctx, tx, &slot, waitlist.ByNoShow)
		return b, err
	}
	return changeAttendance(ctx, s, caller, "booking.no_show", id, mark)
}

// UndoNoShow takes MarkNoShow back, if the seats are still open.
func (s *Service) UndoNoShow(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	undo := func(_ context.Context, tx *engine.Tx, b booking.Booking, slot booking.Slot) (booking.Booking, error) {
		b, changed, err := booking.UndoNoShow(b, slot)
		if err != nil || !changed {
			return b, err
		}
		bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: b.Party})
		writeAttendance(tx, &b, event.BookingNoShowUndone{})
		return b, nil
	}
	b, err := changeAttendance(ctx, s, caller, "booking.undo_no_show", id, undo)
	return b, seats.ConstraintError(err)
}

// changeAttendance loads a booking with its session and applies a change to it. The name is that of the transaction.
func changeAttendance[R any](
	ctx context.Context, s *Service, caller tenant.Caller, name string, id tenant.BookingID,
	change func(context.Context, *engine.Tx, booking.Booking, booking.Slot) (R, error),
) (R, error) {
	t := engine.Transaction{Name: name, Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (R, error) {
		var none R
		var b *booking.Booking
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindBooking(&batch, tx.Tenant, id, &b)
		bookingdb.FindSlotOf(&batch, tx.Tenant, id, &slot)
		if err := tx.Load(ctx, &batch); err != nil {
			return none, err
		}
		if b == nil || slot == nil || !tx.Caller.CanAccess(b.Member) {
			return none, errNoBooking
		}
		return change(ctx, tx, *b, *slot)
	})
}

// writeAttendance writes a booking whose attendance changed, with its event.
func writeAttendance(tx *engine.Tx, b *booking.Booking, data event.Data) {
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, b, tx.Now)
	seats.BookingEvent(tx, *b, data)
}
