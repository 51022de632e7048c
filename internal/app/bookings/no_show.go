package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// MarkNoShow notes that a party did not come, and frees its seats.
func (s *Service) MarkNoShow(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	return s.changeAttendance(ctx, caller, "booking.no_show", id, func(ctx context.Context, tx *engine.Tx, b booking.Booking, slot booking.Slot) (booking.Booking, error) {
		b, changed, err := booking.MarkNoShow(b, tx.Now)
		if err != nil || !changed {
			return b, err
		}
		bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -b.Party})
		attended(tx, b, outbox.BookingNoShow)
		slot.SeatsTaken -= b.Party
		_, err = s.waitlists.Fill(ctx, tx, &slot, waitlist.ByNoShow)
		return b, err
	})
}

// UndoNoShow takes that back, if the seats are still open.
func (s *Service) UndoNoShow(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	b, err := s.changeAttendance(ctx, caller, "booking.undo_no_show", id, func(_ context.Context, tx *engine.Tx, b booking.Booking, s booking.Slot) (booking.Booking, error) {
		b, changed, err := booking.UndoNoShow(b, s)
		if err != nil || !changed {
			return b, err
		}
		bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: b.Party})
		attended(tx, b, outbox.BookingNoShowUndone)
		return b, nil
	})
	return b, seats.ConstraintError(err)
}

// changeAttendance loads a booking with its session and applies a change to it. More points to what the change gives beside it.
func (s *Service) changeAttendance(ctx context.Context, caller tenant.Caller, name string, id tenant.BookingID,
	change func(ctx context.Context, tx *engine.Tx, b booking.Booking, s booking.Slot) (booking.Booking, error), more ...any,
) (booking.Booking, error) {
	var changed booking.Booking
	err := s.engine.Write(ctx, caller, name, func(ctx context.Context, tx *engine.Tx) (err error) {
		var b *booking.Booking
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindBooking(&batch, tx.Tenant, id, &b)
		bookingdb.FindSlotOf(&batch, tx.Tenant, id, &slot)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if b == nil || slot == nil || !tx.Caller.CanAccess(b.Member) {
			return fault.Missing(fault.BookingNotFound, "Booking")
		}
		changed, err = change(ctx, tx, *b, *slot)
		return err
	}, engine.Answers(append(more, &changed)...), engine.Losing(seats.PromotionRace))
	return changed, err
}

// attended writes a booking whose attendance changed, with its event.
func attended(tx *engine.Tx, b booking.Booking, what outbox.Type) {
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, b, tx.Now)
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: what, Session: b.Session, Booking: b.ID, Member: b.Member,
		Actor: tx.Caller.Actor(), At: tx.Now,
	})
}
