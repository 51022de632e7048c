package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// Answered is the result of an answer to an offer.
type Answered struct {
	Offer    waitlist.Offer
	Booking  *booking.Booking // if it was accepted
	Entry    *waitlist.Entry  // if it was not
	Repeated bool             // the same answer was given before
}

var noOffer = fault.Missing(fault.OfferNotFound, "Offer")

// AcceptOffer books the seats of an offer. If the booking is refused, the offer stays live. The zero subscription
// means the one that was named on joining.
func (a *App) AcceptOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, with tenant.SubscriptionID,
) (Answered, error) {
	var answered Answered
	err := a.dealOn(ctx, caller, "offer.accept", id, func(ctx context.Context, t *tx) error {
		o, err := t.offered(ctx, id)
		if err == nil {
			answered, err = t.accept(ctx, o, with)
		}
		return err
	}, answers(&answered), losing(byPromotion)) // seats that it leaves go to others
	if err != nil {
		return Answered{}, refusal(err)
	}
	return answered, nil
}

// offered loads an offer that the caller may touch.
func (t *tx) offered(ctx context.Context, id tenant.OfferID) (waitlist.Offer, error) {
	var o *waitlist.Offer
	var batch pg.Batch
	store.FindOffer(&batch, t.in, id, &o)
	if err := t.Load(ctx, &batch); err != nil {
		return waitlist.Offer{}, err
	}
	if o == nil || !t.caller.MayTouch(o.Member) {
		return waitlist.Offer{}, noOffer
	}
	return *o, nil
}

func (t *tx) accept(ctx context.Context, o waitlist.Offer, with tenant.SubscriptionID) (Answered, error) {
	var (
		before *booking.Booking
		entry  *waitlist.Entry
		slot   *booking.Slot
		who    *booking.Member
		round  *waitlist.Round
		in     []store.InSession
		facts  booking.Facts
		batch  pg.Batch
	)
	store.FindBooking(&batch, t.in, o.Booking, &before)
	store.FindEntry(&batch, t.in, o.Entry, &entry)
	store.FindSlot(&batch, t.in, o.Session, &slot)
	store.FindBookingMember(&batch, t.in, o.Member, &who)
	store.FindRound(&batch, t.in, o.Round, &round)
	store.ListInSession(&batch, t.in, o.Session, []tenant.MemberID{o.Member}, &in)
	if err := t.Load(ctx, &batch); err != nil {
		return Answered{}, err
	}
	if o.Status == waitlist.Accepted && before != nil {
		return Answered{Offer: o, Booking: before, Repeated: true}, nil
	}
	if err := o.Answerable(t.now); err != nil {
		return Answered{}, err
	}
	switch {
	case slot == nil:
		return Answered{}, noSession
	case who == nil || !who.Active:
		return Answered{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	if with.IsZero() {
		with = entry.Subscription
	}
	ending := waitlist.Ending{Offer: o.Close(waitlist.Accepted, "", t.now), Entry: *entry, Round: *round}
	var payers pg.Batch
	store.ListPayers(
		&payers, t.in, o.Session, []tenant.MemberID{o.Member}, []tenant.SubscriptionID{with}, &facts.Subscriptions)
	if err := t.Load(ctx, &payers); err != nil {
		return Answered{}, err
	}
	// The reserved seats are open to this booking, and to no other.
	slot.SeatsTaken -= o.Seats
	facts.Slot, facts.Member = *slot, *who
	if len(in) > 0 {
		facts.Booking = in[0].Booking
	}
	b := booking.Booking{
		ID: tenant.Next[tenant.BookingID](t.mint), Session: slot.ID, Member: o.Member, Party: o.Seats, Channel: entry.Channel,
		ExternalRef: entry.ExternalRef, RequestHash: entry.RequestHash, Note: entry.Note, Promoted: true,
		CreatedBy: t.caller.Actor(),
	}
	plan, err := booking.Decide(facts, booking.Command{
		ID: b.ID, Party: o.Seats, Subscription: with, Channel: entry.Channel, Staff: entry.ByStaff, Promotion: true,
		Actor: t.caller.Actor(), OpenUntil: &o.ExpiresAt, // an offer ends before booking closes
	}, t.now)
	if err != nil {
		return Answered{}, err
	}
	store.MoveSeats(t.Tx, t.in, slot.ID, store.Seats{Taken: -o.Seats})
	b = t.place(facts, b, plan)
	t.bookingEvent(outbox.BookingConfirmed, b, map[string]any{"entry_id": entry.ID.String(), "offer_id": o.ID.String()})
	ending.Offer.Booking = b.ID
	_, err = t.endOffer(ctx, ending)
	return Answered{Offer: ending.Offer, Booking: &b}, err
}

// endOffer writes the end of an offer with its consequences, and returns its entry.
func (t *tx) endOffer(ctx context.Context, e waitlist.Ending) (entry waitlist.Entry, err error) {
	if e.Offer.Shared {
		var batch pg.Batch
		store.ListLiveOffersIn(&batch, t.in, e.Offer.Round, &e.Live)
		if err := t.Load(ctx, &batch); err != nil {
			return e.Entry, err
		}
	}
	if e.Entries, err = t.entriesOf(ctx, e.Slower()); err != nil {
		return e.Entry, err
	}
	changes := e.Changes(t.now)
	return changes.Entries[0].Entry, t.apply(ctx, changes)
}

// DeclineOffer ends an offer without a booking. With leave, its entry leaves the waitlist, too.
func (a *App) DeclineOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, leave bool, reason string,
) (Answered, error) {
	var answered Answered
	err := a.dealOn(ctx, caller, "offer.decline", id, func(ctx context.Context, t *tx) error {
		o, err := t.offered(ctx, id)
		if err == nil {
			answered, err = t.decline(ctx, o, leave, reason)
		}
		return err
	}, answers(&answered), losing(byPromotion))
	if err != nil {
		return Answered{}, err
	}
	return answered, nil
}

func (t *tx) decline(ctx context.Context, o waitlist.Offer, leave bool, reason string) (Answered, error) {
	if o.Status == waitlist.Declined {
		entries, err := t.entriesOf(ctx, []waitlist.Offer{o})
		if err != nil {
			return Answered{}, err
		}
		e, err := t.standing(ctx, entries[o.Entry])
		return Answered{Offer: o, Entry: &e, Repeated: true}, err
	}
	if err := o.Answerable(t.now); err != nil {
		return Answered{}, err
	}
	var leaving *waitlist.Leaving
	if leave {
		leaving = &waitlist.Leaving{Reason: reason}
	}
	return t.letGo(ctx, o.Close(waitlist.Declined, reason, t.now), leaving)
}

// ExpireOffer ends a live offer before its time.
func (a *App) ExpireOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, reason string,
) (waitlist.Offer, error) {
	var expired waitlist.Offer
	err := a.dealOn(ctx, caller, "offer.expire", id, func(ctx context.Context, t *tx) error {
		o, err := t.offered(ctx, id)
		switch {
		case err != nil:
			return err
		case o.Status == waitlist.RanOut:
			expired = o
			return nil
		case o.Status != waitlist.Live:
			return o.Answerable(t.now)
		}
		t.audit("offer.expired", "offer", o.ID.UUID, reason, map[string]any{
			"member_id": o.Member.String(), "entry_id": o.Entry.String(),
		})
		answered, err := t.letGo(ctx, o.Close(waitlist.RanOut, reason, t.now), nil)
		expired = answered.Offer
		return err
	}, answers(&expired), losing(byPromotion))
	if err != nil {
		return waitlist.Offer{}, err
	}
	return expired, nil
}

// letGo ends an offer without a booking. Its seats go to the next in line.
func (t *tx) letGo(ctx context.Context, o waitlist.Offer, leaving *waitlist.Leaving) (Answered, error) {
	ending := waitlist.Ending{Offer: o, Leaving: leaving}
	var (
		entry *waitlist.Entry
		round *waitlist.Round
		rules []waitlist.Layer
		batch pg.Batch
	)
	store.FindEntry(&batch, t.in, o.Entry, &entry)
	store.FindRound(&batch, t.in, o.Round, &round)
	store.ListAllRules(&batch, t.in, &rules)
	if err := t.Load(ctx, &batch); err != nil {
		return Answered{}, err
	}
	ending.Entry, ending.Round, ending.Rules = *entry, *round, waitlist.RulesOf(rules)(o.Queue)
	e, err := t.endOffer(ctx, ending)
	if err == nil {
		e, err = t.standing(ctx, e)
	}
	if err != nil {
		return Answered{}, err
	}
	return Answered{Offer: o, Entry: &e}, nil
}

// ExpireOffers ends a tenant's offers that have run out, each in a transaction of its own, and returns how many.
// Several nodes may run it at once: each offer ends once. An error with one offer does not hold up the others of its
// page.
func (a *App) ExpireOffers(ctx context.Context, id tenant.TenantID) (int, error) {
	expired, _, err := a.expireOffers(ctx, id)
	return expired, err
}

// alarmGrace is how late an alarm may be. A sweep that finds an offer within that time was only faster than the alarm.
const alarmGrace = 5 * time.Second

// expireOffers also returns how many an alarm should have ended before.
func (a *App) expireOffers(ctx context.Context, id tenant.TenantID) (expired, overdue int, err error) {
	const page = 50
	caller := tenant.System(id)
	var failed error
	for {
		var due []tenant.OfferID
		var batch pg.Batch
		store.ListDueOffers(&batch, id, a.now(), page, &due)
		if err := a.read(ctx, caller, &batch); err != nil {
			return expired, overdue, err
		}
		for _, offer := range due {
			ended, late := 0, 0
			err := a.dealOn(ctx, caller, "offer.run_out", offer, func(ctx context.Context, t *tx) error {
				ended, late = 0, 0
				o, err := t.offered(ctx, offer)
				if err != nil || !o.Due(t.now) {
					return err // it was answered, or another node has ended it
				}
				if ended = 1; t.now.Sub(o.ExpiresAt) > alarmGrace {
					late = 1
				}
				_, err = t.letGo(ctx, o.Close(waitlist.RanOut, "", t.now), nil)
				return err
			}, losing(byPromotion))
			if err != nil {
				failed = cmp.Or(failed, err)
				continue
			}
			expired, overdue = expired+ended, overdue+late
		}
		if len(due) < page || failed != nil {
			return expired, overdue, failed
		}
	}
}

// awaitNext sets the alarm for the next hold or offer of a tenant that runs out.
func (a *App) awaitNext(ctx context.Context, id tenant.TenantID) error {
	var next *time.Time
	var batch pg.Batch
	store.FindNextExpiry(&batch, id, &next)
	if err := a.read(ctx, tenant.System(id), &batch); err != nil {
		return err
	}
	if next != nil {
		a.alarms.set(id, *next)
	}
	return nil
}

// expireDue ends the holds and offers of a tenant that have run out, and sets the alarm for the next. It returns how
// many holds it ended, and how many offers an alarm should have ended before.
func (a *App) expireDue(ctx context.Context, id tenant.TenantID) (holds, overdue int, err error) {
	holds, failed := a.ExpireHolds(ctx, id)
	_, overdue, err = a.expireOffers(ctx, id)
	if err := errors.Join(failed, err); err != nil {
		return holds, overdue, err
	}
	return holds, overdue, a.awaitNext(ctx, id)
}

// RunAlarms ends holds and offers at the moment they run out, until ctx ends: those that this node made, and those
// that its sweeps found. It also fills open seats after rules were edited on this node.
func (a *App) RunAlarms(ctx context.Context, log *slog.Logger) {
	var both sync.WaitGroup
	defer both.Wait()
	// In a goroutine of its own: there may be many seats to fill, and offers must still end in time.
	both.Go(func() {
		a.edited.run(ctx, a.now, func(id tenant.TenantID) {
			if err := a.wakeForRules(ctx, id); err != nil && ctx.Err() == nil {
				log.ErrorContext(ctx, "not all open seats were looked at after rules were edited; the next sweep will",
					slog.String("tenant_id", id.String()), slog.Any("error", err))
			}
		})
	})
	a.alarms.run(ctx, a.now, func(id tenant.TenantID) {
		if _, _, err := a.expireDue(ctx, id); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "holds and offers not ended; the next sweep will",
				slog.String("tenant_id", id.String()), slog.Any("error", err))
		}
	})
}
