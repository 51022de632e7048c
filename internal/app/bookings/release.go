package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ReleaseHold cancels a hold and fills its seats from the waitlist.
func (s *Service) ReleaseHold(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (seats.Result, error) {
	return engine.RunBatched(ctx, s.engine, caller, engine.Batched[seats.Result]{
		Name: "booking.release", Replay: true,
		Locate: locate(caller.Tenant, seats.Locator{ID: id, Fills: true},
			func(b bookingState) engine.Operation[seats.Result] { return &release{service: s, bookingState: b} }),
	})
}

// release is one attempt at ReleaseHold.
type release struct {
	service *Service
	bookingState
}

// Run implements engine.Operation.
func (r *release) Run(ctx context.Context, tx *engine.Tx) (seats.Result, error) {
	b, err := r.findOpen(tx)
	if err != nil {
		return seats.Result{}, err
	}
	after, changed, err := booking.Release(b, tx.Now)
	if err != nil {
		return seats.Result{}, err
	}
	result := seats.Result{Booking: &after, Repeated: !changed}
	if !changed {
		return result, nil
	}
	if err := r.service.waitlists.SoloIfAwaited(tx, r.slot); err != nil {
		return seats.Result{}, err
	}
	var data event.Data = event.BookingReleased{}
	why := waitlist.ByRelease
	if after.Status == booking.Expired {
		data, why = event.BookingExpired{}, waitlist.ByExpiredHold
	}
	seats.EndHold(tx, &after, data)
	r.slot.SeatsTaken -= after.Party
	_, err = r.service.waitlists.Fill(ctx, tx, r.slot, why, b.Member)
	return result, err
}
