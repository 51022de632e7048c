package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// CancelRequest cancels a booking or a waitlist entry.
type CancelRequest struct {
	ID     tenant.BookingID // of the booking or the entry
	Reason string
	Notify bool
}

// CancelBooking cancels a booking or ends a waitlist entry. Its member can do that, and staff, who can cancel after the
// cancellation window, too. Freed seats are filled from the waitlist in the same transaction.
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
	entry *waitlist.Entry
}

// Load implements engine.Operation. It reads an entry only if there is one: a predicate lock on a missing entry would
// conflict with every member who joins a queue.
func (c *cancel) Load(q *engine.Query) {
	if c.of.Waits {
		waitlistdb.FindEntry(q.Batch, q.Tenant, tenant.EntryID{UUID: c.id.UUID}, &c.entry)
		return
	}
	c.bookingState.Load(q)
	bookingdb.FindBookingSubscription(q.Batch, q.Tenant, c.id, &c.payer)
}

// Run implements engine.Operation.
func (c *cancel) Run(ctx context.Context, tx *engine.Tx) (seats.CancelResult, error) {
	switch {
	case c.entry == nil || !tx.Caller.CanAccessCreated(c.entry.Member, c.entry.CreatedBy):
	case tx.Shared():
		return seats.CancelResult{}, engine.ErrSolo // ending an entry may fill seats
	default:
		options := seats.CancelOptions{Reason: c.req.Reason, Notify: c.req.Notify}
		return c.service.waitlists.Leave(ctx, tx, *c.entry, options)
	}
	b, err := c.find(tx)
	if err != nil {
		return seats.CancelResult{}, err
	}
	request := booking.CancelRequest{Actor: tx.Caller.Actor(), Reason: c.req.Reason, Admin: !tx.Caller.SelfOnly}
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
	seats.Cancel(tx, cancelled, c.req.Notify)
	if !tx.Caller.SelfOnly {
		record.Audit(tx, "booking.cancelled", "booking", b.ID.UUID, c.req.Reason, map[string]any{
			"member_id": b.Member.String(), "refunded": cancelled.Refunded,
		})
	}
	if c.slot != nil {
		c.slot.SeatsTaken -= cancelled.SeatsFreed
		result.Promoted, err = c.service.waitlists.Fill(ctx, tx, c.slot, waitlist.ByCancellation)
	}
	return result, err
}
