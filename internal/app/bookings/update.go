package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// UpdateBooking edits the note and the contact of a booking. If a version is expected it must be the current one.
func (s *Service) UpdateBooking(
	ctx context.Context, caller tenant.Caller, id tenant.BookingID, expect *int, edit func(*booking.Details),
) (booking.Booking, error) {
	t := engine.Transaction{Name: "booking.update", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (booking.Booking, error) {
		var lines []bookingdb.BookedLine
		before, err := engine.Find(ctx, tx, errNoBooking, func(b *pg.Batch, into **booking.Booking) {
			bookingdb.FindBooking(b, tx.Tenant, id, into)
			bookingdb.ListLines(b, tx.Tenant, []tenant.BookingID{id}, &lines)
		})
		if err != nil {
			return booking.Booking{}, err
		}
		if !tx.Caller.CanAccessCreated(before.Member, before.CreatedBy) {
			return booking.Booking{}, errNoBooking
		}
		for _, l := range lines {
			before.Items = append(before.Items, l.Line)
		}
		if err := fault.CheckVersion(expect, before.Version); err != nil {
			return booking.Booking{}, err
		}
		after, err := booking.Edit(before, edit)
		if err != nil || after.Note == before.Note && after.Contact == before.Contact {
			return after, err
		}
		bookingdb.UpdateBooking(tx.Tx, tx.Tenant, &after, tx.Now)
		seats.BookingEvent(tx, after, event.BookingUpdated{})
		if !owns(tx.Caller, after) {
			record.Audit(tx, "booking.updated", "booking", after.ID.UUID, "", map[string]any{
				"member_id": after.Member.String(), "note": after.Note != before.Note,
				"contact": after.Contact != before.Contact,
			})
		}
		return after, nil
	})
}
