package app

import (
	"context"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
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
	g := &givingUp{CancelRequest: r}
	err := a.dealAt(ctx, caller, "booking.cancel", r.ID, g.at, answers(&g.up), losing(byPromotion))
	if err != nil {
		return GivenUp{}, err
	}
	return g.up, nil
}

// givingUp is CancelBooking on its way through a transaction.
type givingUp struct {
	CancelRequest
	booked
	payer *credit.Subscription
	entry *waitlist.Entry
	up    GivenUp
}

func (g *givingUp) at(place bookingdb.Visit) deal {
	g.booked = booked{place: place, frees: true}
	return g
}

// load does not look for an entry where there is none: that would conflict with everyone who joins a queue.
func (g *givingUp) load(t *tx, batch *pg.Batch) {
	g.entry, g.payer = nil, nil
	if g.place.Waits {
		waitlistdb.FindEntry(batch, t.in, tenant.EntryID{UUID: g.ID.UUID}, &g.entry)
		return
	}
	g.booked.load(t, batch, g.ID)
	bookingdb.FindBookingSubscription(batch, t.in, g.ID, &g.payer)
}

func (g *givingUp) settle(ctx context.Context, t *tx) (err error) {
	g.up, err = g.giveUp(ctx, t)
	return err
}

func (g *givingUp) giveUp(ctx context.Context, t *tx) (GivenUp, error) {
	switch {
	case g.entry == nil || !t.caller.MayTouchMade(g.entry.Member, g.entry.CreatedBy):
	case t.together():
		return GivenUp{}, errAlone // what changes a queue may lead to anything
	default:
		return t.leaveQueue(ctx, *g.entry, g.CancelRequest)
	}
	b, err := g.find(t)
	if err != nil {
		return GivenUp{}, err
	}
	c, err := booking.Cancel(b, g.payer, booking.Withdrawal{Actor: t.caller.Actor(), Reason: g.Reason, Admin: !t.caller.Own}, t.now)
	if err != nil {
		return GivenUp{}, err
	}
	up := GivenUp{Place: Place{Booking: &c.Booking, Repeated: c.Already}, Refunded: c.Refunded, Late: c.Late}
	if c.Already {
		return up, nil
	}
	if err := t.unlessAwaited(g.slot); err != nil {
		return GivenUp{}, err
	}
	t.cancel(c, g.Notify)
	if !t.caller.Own {
		t.audit("booking.cancelled", "booking", b.ID.UUID, g.Reason, map[string]any{"member_id": b.Member.String(), "refunded": c.Refunded})
	}
	if g.slot != nil {
		g.slot.SeatsTaken -= c.SeatsFreed
		g.slot.Holds -= c.HoldsEnded
		up.Promoted, err = t.fill(ctx, g.slot, waitlist.ByCancellation)
	}
	return up, err
}

// cancel writes a cancellation: the booking, its seats, its credits and its quota.
func (t *tx) cancel(c booking.Cancellation, notify bool) {
	b := c.Booking
	bookingdb.UpdateBooking(t.Tx, t.in, b, t.now)
	bookingdb.MoveSeats(t.Tx, t.in, b.Session, bookingdb.Seats{Taken: -c.SeatsFreed, Holds: -c.HoldsEnded})
	if b.HasItems {
		bookingdb.SetLines(t.Tx, t.in, b.ID, nil, booking.ItemCancelled)
	}
	if c.Payer != nil {
		t.settle(*c.Payer, c.Ledger)
	}
	if c.Uncount {
		bookingdb.CountBooking(t.Tx, t.in, b.Subscription, b.LocalDate, -1)
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
