package app

import (
	"context"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

// CancelRequest gives a booking, or a place in the queue, up.
type CancelRequest struct {
	ID     tenant.BookingID // a booking's or an entry's
	Reason string
	Notify bool
}

// GivenUp is what came of it.
type GivenUp struct {
	Place
	Refunded bool
	Late     bool
	Promoted int // from the waitlist into the seats that it freed
}

// CancelBooking gives a booking or an entry up, for its member, or for an admin, who may do so past the window.
// Freed seats go to whoever waits, in the same transaction.
func (a *App) CancelBooking(ctx context.Context, caller tenant.Caller, r CancelRequest) (GivenUp, error) {
	var up GivenUp
	err := a.write(ctx, caller, "booking.cancel", func(ctx context.Context, t *tx) (err error) {
		up, err = t.giveUp(ctx, r)
		return err
	}, answers(&up), losing(byPromotion))
	return up, err
}

func (t *tx) giveUp(ctx context.Context, r CancelRequest) (GivenUp, error) {
	var (
		b     *booking.Booking
		slot  *booking.Slot
		payer *credit.Subscription
		entry *waitlist.Entry
		queue int
		batch pg.Batch
	)
	store.FindBooking(&batch, t.in, r.ID, &b)
	store.FindSlotOf(&batch, t.in, r.ID, &slot)
	store.FindBookingSubscription(&batch, t.in, r.ID, &payer)
	store.FindQueueSizeOf(&batch, t.in, r.ID, &queue)
	if err := t.Load(ctx, &batch); err != nil {
		return GivenUp{}, err
	}
	if b == nil {
		// Only now: looking for an entry that is not there conflicts with everyone who joins a queue.
		var entries pg.Batch
		store.FindEntry(&entries, t.in, tenant.EntryID{UUID: r.ID.UUID}, &entry)
		if err := t.Load(ctx, &entries); err != nil {
			return GivenUp{}, err
		}
	}
	switch {
	case entry != nil && t.caller.MayTouchMade(entry.Member, entry.CreatedBy):
		return t.leaveQueue(ctx, *entry, r)
	case b == nil || !t.caller.MayTouchMade(b.Member, b.CreatedBy):
		return GivenUp{}, fault.Missing(fault.BookingNotFound, "Booking")
	}
	if err := t.readLines(ctx, b); err != nil {
		return GivenUp{}, err
	}
	c, err := booking.Cancel(*b, payer, booking.Withdrawal{Actor: t.caller.Actor(), Reason: r.Reason, Admin: !t.caller.Own}, t.now)
	if err != nil {
		return GivenUp{}, err
	}
	up := GivenUp{Place: Place{Booking: &c.Booking, Repeated: c.Already}, Refunded: c.Refunded, Late: c.Late}
	if c.Already {
		return up, nil
	}
	t.cancel(c, r.Notify)
	if !t.caller.Own {
		t.audit("booking.cancelled", "booking", b.ID.UUID, r.Reason, map[string]any{"member_id": b.Member.String(), "refunded": c.Refunded})
	}
	if slot != nil {
		slot.SeatsTaken -= c.SeatsFreed
		slot.Queued = &queue
		up.Promoted, err = t.fill(ctx, slot, waitlist.ByCancellation)
	}
	return up, err
}

// cancel writes a cancellation: the booking, its seats, its credits and its quota.
func (t *tx) cancel(c booking.Cancellation, notify bool) {
	b := c.Booking
	store.UpdateBooking(t.Tx, t.in, b, t.now)
	store.MoveSeats(t.Tx, t.in, b.Session, store.Seats{Taken: -c.SeatsFreed, Holds: -c.HoldsEnded})
	if b.HasItems {
		store.SetLines(t.Tx, t.in, b.ID, nil, booking.ItemCancelled)
	}
	if c.Payer != nil {
		t.settle(*c.Payer, c.Ledger)
	}
	if c.Uncount {
		store.CountBooking(t.Tx, t.in, b.Subscription, b.LocalDate, -1)
	}
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: outbox.BookingCancelled, Session: b.Session, Booking: b.ID, Member: b.Member,
		Actor: t.caller.Actor(), At: t.now,
		Data: map[string]any{
			"credit_refunded": c.Refunded, "late": c.Late, "reason": b.CancelReason, "notify": notify, "session_gone": c.SessionGone,
		},
	})
}

// leaveQueue gives a place in the queue up. Its live offer goes to the next.
func (t *tx) leaveQueue(ctx context.Context, e waitlist.Entry, r CancelRequest) (GivenUp, error) {
	up := GivenUp{Place: Place{Entry: &e}}
	switch e.Status {
	case waitlist.Waiting, waitlist.Offered:
	case waitlist.Cancelled, waitlist.Expired:
		up.Repeated = true
		return up, nil
	default:
		return GivenUp{}, fault.New(fault.FailedPrecondition, fault.BookingState, "The entry has got its place: cancel the booking.").
			With("status", string(e.Status)).With("booking_id", e.Booking.String())
	}
	if !t.caller.Own {
		t.audit("waitlist.removed", "waitlist_entry", e.ID.UUID, r.Reason, map[string]any{"member_id": e.Member.String()})
	}
	var err error
	e, err = t.quit(ctx, e, r)
	return up, err
}

func (t *tx) left(e waitlist.Entry, reason string, notify bool) {
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: outbox.WaitlistLeft, Session: e.Session, Member: e.Member,
		Actor: t.caller.Actor(), At: t.now,
		Data: map[string]any{"entry_id": e.ID.String(), "status": string(e.Status), "reason": reason, "notify": notify},
	})
}
