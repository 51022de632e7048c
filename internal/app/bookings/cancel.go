package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// CancelAny is the permission to cancel any booking, and to override the cancellation window.
const CancelAny = "booking.cancel_any"

// CancelRequest cancels a booking.
type CancelRequest struct {
	ID             tenant.BookingID
	Reason         string
	OverrideWindow bool // needs CancelAny
	Notify         bool
}

// CancelBooking cancels a booking. Freed seats are filled from the waitlist in the same transaction.
func (s *Service) CancelBooking(
	ctx context.Context, caller tenant.Caller, r CancelRequest,
) (seats.CancelResult, error) {
	return engine.RunBatched(ctx, s.engine, caller, engine.Batched[seats.CancelResult]{
		Name: "booking.cancel", Replay: true,
		Locate: locate(caller.Tenant, seats.Locator{ID: r.ID, Fills: true},
			func(b bookingState) engine.Operation[seats.CancelResult] {
				return &cancel{service: s, req: r, bookingState: b}
			}),
	})
}

// cancel is one attempt at CancelBooking.
type cancel struct {
	service *Service
	req     CancelRequest
	bookingState
	payer *credit.Subscription
}

// Load implements engine.Operation. It reads nothing for the id of a waitlist entry: a predicate lock on a missing
// booking would conflict with every member who books.
func (c *cancel) Load(q *engine.Query) {
	if c.of.Waits {
		return
	}
	c.bookingState.Load(q)
	bookingdb.FindBookingSubscription(q.Batch, q.Tenant, c.id, &c.payer)
}

// Run implements engine.Operation.
func (c *cancel) Run(ctx context.Context, tx *engine.Tx) (seats.CancelResult, error) {
	b, err := c.find(tx)
	if err != nil {
		return seats.CancelResult{}, err
	}
	request := booking.CancelRequest{Actor: tx.Caller.Actor(), Reason: c.req.Reason, OverrideWindow: c.req.OverrideWindow}
	cancelled, err := booking.Cancel(b, c.payer, request, tx.Now)
	if err != nil {
		return seats.CancelResult{}, err
	}
	result := seats.CancelResult{
		Result:   seats.Result{Booking: &cancelled.Booking, Repeated: cancelled.Unchanged},
		Refunded: cancelled.Refunded, Late: cancelled.Late,
	}
	if cancelled.Unchanged {
		return result, nil
	}
	if err := c.service.waitlists.SoloIfAwaited(tx, c.slot); err != nil {
		return seats.CancelResult{}, err
	}
	seats.Cancel(tx, &cancelled, c.req.Notify)
	if c.req.OverrideWindow || !owns(tx.Caller, b) {
		record.Audit(tx, "booking.cancelled", "booking", b.ID.UUID, c.req.Reason, map[string]any{
			"member_id": b.Member.String(), "refunded": cancelled.Refunded,
		})
	}
	if c.slot != nil {
		c.slot.SeatsTaken -= cancelled.SeatsFreed
		result.Promoted, err = c.service.waitlists.Fill(ctx, tx, c.slot, waitlist.ByCancellation, b.Member)
	}
	return result, err
}

// owns reports whether a booking is the caller's own, whatever else they may access.
func owns(caller tenant.Caller, b booking.Booking) bool {
	caller.SelfOnly = true
	return caller.CanAccessCreated(b.Member, b.CreatedBy)
}
