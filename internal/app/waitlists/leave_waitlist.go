package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// LeaveQueue ends an entry for its member. The seats of its live offer go to the next in line.
func (s *Service) LeaveQueue(
	ctx context.Context, tx *engine.Tx, e waitlist.Entry, w seats.CancelOptions,
) (seats.Cancelled, error) {
	up := seats.Cancelled{Place: seats.Place{Entry: &e}}
	switch e.Status {
	case waitlist.Waiting, waitlist.Offered:
	case waitlist.Cancelled, waitlist.Expired:
		up.Repeated = true
		return up, nil
	default:
		return seats.Cancelled{}, fault.New(fault.FailedPrecondition, fault.BookingState,
			"The entry has got its place: cancel the booking.").
			WithMetadata("status", string(e.Status)).WithMetadata("booking_id", e.Booking.String())
	}
	if !tx.Caller.SelfOnly {
		tx.Audit("waitlist.removed", "waitlist_entry", e.ID.UUID, w.Reason, map[string]any{"member_id": e.Member.String()})
	}
	var err error
	e, err = s.Quit(ctx, tx, e, w)
	return up, err
}

// left appends the end of an entry to the event log.
func (s *Service) left(tx *engine.Tx, e waitlist.Entry, reason string, notify bool) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.WaitlistLeft, Session: e.Session, Member: e.Member,
		Actor: tx.Caller.Actor(), At: tx.Now,
		Data: map[string]any{"entry_id": e.ID.String(), "status": string(e.Status), "reason": reason, "notify": notify},
	})
}
