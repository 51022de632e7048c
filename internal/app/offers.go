package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Answered is what an answer to an offer led to.
type Answered struct {
	Offer    waitlist.Offer
	Booking  *booking.Booking // of an accepted one
	Entry    *waitlist.Entry  // of one that was let go
	Repeated bool             // it had been answered so before
}

var noOffer = fault.Missing(fault.OfferNotFound, "Offer")

// AcceptOffer books the seats of an offer. What a booking refuses it refuses, and the offer stays live. Zero
// pays with the subscription that was named on joining.
func (a *App) AcceptOffer(ctx context.Context, caller tenant.Caller, id tenant.OfferID, with tenant.SubscriptionID) (Answered, error) {
	var answered Answered
	err := a.dealOn(ctx, caller, "offer.accept", id, func(ctx context.Context, t *tx) error {
		o, err := t.offered(ctx, id)
		if err == nil {
			answered, err = t.accept(ctx, o, with)
		}
		return err
	}, answers(&answered), losing(byPromotion)) // what it leaves goes to others
	if err != nil {
		return Answered{}, refusal(err)
	}
	return answered, nil
}

// offered loads an offer that the caller may touch.
func (t *tx) offered(ctx context.Context, id tenant.OfferID) (waitlist.Offer, error) {
	var o *waitlist.Offer
	var batch pg.Batch
	waitlistdb.FindOffer(&batch, t.in, id, &o)
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
		in     []bookingdb.InSession
		facts  booking.Facts
		batch  pg.Batch
	)
	bookingdb.FindBooking(&batch, t.in, o.Booking, &before)
	waitlistdb.FindEntry(&batch, t.in, o.Entry, &entry)
	bookingdb.FindSlot(&batch, t.in, o.Session, &slot)
	bookingdb.FindBookingMember(&batch, t.in, o.Member, &who)
	waitlistdb.FindRound(&batch, t.in, o.Round, &round)
	bookingdb.ListInSession(&batch, t.in, o.Session, []tenant.MemberID{o.Member}, &in)
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
	var payers pg.Batch
	bookingdb.ListPayers(&payers, t.in, o.Session, []tenant.MemberID{o.Member}, []tenant.SubscriptionID{with}, &facts.Subscriptions)
	if err := t.Load(ctx, &payers); err != nil {
		return Answered{}, err
	}
	// The seats that were kept for this moment are open to nobody else.
	slot.SeatsTaken -= o.Seats
	facts.Slot, facts.Member = *slot, *who
	if len(in) > 0 {
		facts.Booking = in[0].Booking
	}
	b := booking.Booking{
		ID: tenant.Next[tenant.BookingID](t.mint), Session: slot.ID, Member: o.Member, Party: o.Seats, Channel: entry.Channel,
		ExternalRef: entry.ExternalRef, RequestHash: entry.RequestHash, Note: entry.Note, Promoted: true, CreatedBy: t.caller.Actor(),
	}
	plan, err := booking.Decide(facts, booking.Command{
		ID: b.ID, Party: o.Seats, Subscription: with, Channel: entry.Channel, Staff: entry.ByStaff, Promotion: true,
		Actor: t.caller.Actor(), OpenUntil: &o.ExpiresAt, // no offer outlives the time in which the session can be booked
	}, t.now)
	if err != nil {
		return Answered{}, err
	}
	bookingdb.MoveSeats(t.Tx, t.in, slot.ID, bookingdb.Seats{Taken: -o.Seats})
	b = t.place(facts, b, plan)
	t.bookingEvent(outbox.BookingConfirmed, b, map[string]any{"entry_id": entry.ID.String(), "offer_id": o.ID.String()})
	o = o.Close(waitlist.Accepted, "", t.now)
	o.Booking = b.ID
	waitlistdb.UpdateOffer(t.Tx, t.in, o)
	t.close(*entry, waitlist.Booked, b.ID)
	t.offerEvent(outbox.OfferAccepted, o, nil)
	if o.Shared {
		err = t.claimed(ctx, *round, o)
	}
	return Answered{Offer: o, Booking: &b}, err
}

// claimed takes an offer's seats out of those that its round keeps, and tells those who were slower.
func (t *tx) claimed(ctx context.Context, round waitlist.Round, taken waitlist.Offer) error {
	round.Keeps -= taken.Seats
	var others []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListLiveOffersIn(&batch, t.in, round.ID, &others)
	if err := t.Load(ctx, &batch); err != nil {
		return err
	}
	left, slower := 0, 0
	for _, o := range others {
		switch {
		case !o.Shared: // it has seats of its own
			continue
		case o.Seats <= round.Keeps:
			left++
			continue
		}
		slower++
		if _, err := t.end(ctx, o.Withdraw(waitlist.TooSlow, "", t.now), waitlist.Rules{}, nil); err != nil {
			return err
		}
	}
	switch {
	case t.keepOrFree(round, left):
		// What nobody claims goes on with all else that is open, to those who were slower, too.
		return t.rollOn(ctx, round, waitlist.ByWithdrawal)
	case slower > 0:
		// They wait again, and may fit seats that are open beside the round.
		_, _, err := t.wake(ctx, waitlist.ByWithdrawal, round.Session)
		return err
	}
	return nil
}

// keepOrFree lets a round keep its seats while anybody may still claim them. Where nobody may it gives them up, and reports that: they
// are to roll on.
func (t *tx) keepOrFree(round waitlist.Round, live int) (freed bool) {
	if live == 0 {
		if freed = round.Keeps > 0; freed {
			bookingdb.MoveSeats(t.Tx, t.in, round.Session, bookingdb.Seats{Taken: -round.Keeps})
		}
		round.Keeps, round.Closed = 0, &t.now
	}
	waitlistdb.UpdateRound(t.Tx, t.in, round)
	return freed
}

// rollOn gives the seats of a round that were let go to the next. The round is read as the writes so far leave it: whose offers were
// void may be asked again.
func (t *tx) rollOn(ctx context.Context, in waitlist.Round, trigger waitlist.Trigger) error {
	var slot *booking.Slot
	var round *waitlist.Round
	var batch pg.Batch
	bookingdb.FindSlot(&batch, t.in, in.Session, &slot)
	waitlistdb.FindRound(&batch, t.in, in.ID, &round)
	if err := t.Load(ctx, &batch); err != nil || slot == nil {
		return err
	}
	_, err := t.roll(ctx, slot, trigger, round)
	return err
}

// DeclineOffer lets an offer go; with leave, the entry too.
func (a *App) DeclineOffer(ctx context.Context, caller tenant.Caller, id tenant.OfferID, leave bool, reason string) (Answered, error) {
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
		e, err := t.entryOf(ctx, o)
		return Answered{Offer: o, Entry: &e, Repeated: true}, err
	}
	if err := o.Answerable(t.now); err != nil {
		return Answered{}, err
	}
	var leaving *CancelRequest
	if leave {
		leaving = &CancelRequest{Reason: reason}
	}
	return t.letGo(ctx, o.Close(waitlist.Declined, reason, t.now), leaving)
}

func (t *tx) entryOf(ctx context.Context, o waitlist.Offer) (waitlist.Entry, error) {
	var e *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindEntry(&batch, t.in, o.Entry, &e)
	if err := t.Load(ctx, &batch); err != nil || e == nil {
		return waitlist.Entry{}, err
	}
	return t.standing(ctx, *e)
}

// ExpireOffer ends a live offer before its time.
func (a *App) ExpireOffer(ctx context.Context, caller tenant.Caller, id tenant.OfferID, reason string) (waitlist.Offer, error) {
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
		t.audit("offer.expired", "offer", o.ID.UUID, reason, map[string]any{"member_id": o.Member.String(), "entry_id": o.Entry.String()})
		answered, err := t.letGo(ctx, o.Close(waitlist.RanOut, reason, t.now), nil)
		expired = answered.Offer
		return err
	}, answers(&expired), losing(byPromotion))
	if err != nil {
		return waitlist.Offer{}, err
	}
	return expired, nil
}

var triggerOf = map[waitlist.OfferStatus]waitlist.Trigger{
	waitlist.Declined: waitlist.ByDecline, waitlist.RanOut: waitlist.ByExpiry, waitlist.Withdrawn: waitlist.ByWithdrawal,
}

var eventOf = map[waitlist.OfferStatus]outbox.Type{
	waitlist.Declined: outbox.OfferDeclined, waitlist.RanOut: outbox.OfferExpired, waitlist.Withdrawn: outbox.OfferWithdrawn,
}

// letGo writes down that an offer ended without a booking, and gives its seats to the next.
func (t *tx) letGo(ctx context.Context, o waitlist.Offer, leave *CancelRequest) (Answered, error) {
	var slot *booking.Slot
	var round *waitlist.Round
	var live []waitlist.Offer
	var rules []waitlist.Layer
	var batch pg.Batch
	bookingdb.FindSlot(&batch, t.in, o.Session, &slot)
	waitlistdb.FindRound(&batch, t.in, o.Round, &round)
	waitlistdb.ListLiveOffersIn(&batch, t.in, o.Round, &live)
	waitlistdb.ListAllRules(&batch, t.in, &rules)
	if err := t.Load(ctx, &batch); err != nil {
		return Answered{}, err
	}
	var effective waitlist.Rules
	if slot != nil {
		effective = rulesAt(rules, slot.Location, slot.Service).Rules
	}
	e, err := t.end(ctx, o, effective, leave)
	if err != nil {
		return Answered{}, err
	}
	trigger := triggerOf[o.Status]
	switch {
	case o.Shared:
		if t.keepOrFree(*round, sharing(live)-1) {
			err = t.rollOn(ctx, *round, trigger)
		}
	case slot != nil:
		bookingdb.MoveSeats(t.Tx, t.in, o.Session, bookingdb.Seats{Taken: -o.Seats})
		slot.SeatsTaken -= o.Seats
		_, err = t.roll(ctx, slot, trigger, round)
	}
	if err != nil {
		return Answered{}, err
	}
	if e, err = t.standing(ctx, e); err != nil {
		return Answered{}, err
	}
	return Answered{Offer: o, Entry: &e}, nil
}

// sharing counts the offers that may claim what their round keeps. Rules may have changed since it began, so it may have others, too.
func sharing(live []waitlist.Offer) (n int) {
	for _, o := range live {
		if o.Shared {
			n++
		}
	}
	return n
}

// end writes down that an offer ended without a booking, and says what becomes of its entry; with leave it leaves the waitlist. The
// seats are the caller's to give up.
func (t *tx) end(ctx context.Context, o waitlist.Offer, rules waitlist.Rules, leave *CancelRequest) (waitlist.Entry, error) {
	var e *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindEntry(&batch, t.in, o.Entry, &e)
	if err := t.Load(ctx, &batch); err != nil {
		return waitlist.Entry{}, err
	}
	waitlistdb.UpdateOffer(t.Tx, t.in, o)
	t.offerEvent(eventOf[o.Status], o, because(o.Reason))
	if o.Status == waitlist.Withdrawn {
		e.Tries-- // it was not theirs to lose
	}
	next := rules.Returned(*e, o.Status)
	said := CancelRequest{Reason: o.Reason, Notify: next == waitlist.Expired}
	if leave != nil {
		next, said = waitlist.Cancelled, *leave
	}
	if next != waitlist.Waiting {
		closed := t.close(*e, next, tenant.BookingID{})
		t.left(closed, said.Reason, said.Notify)
		return closed, nil
	}
	e.Status = waitlist.Waiting
	waitlistdb.UpdateEntry(t.Tx, t.in, *e, t.now)
	return *e, nil
}

// ExpireOffers ends the offers of a tenant that have run out by now, each in a transaction of its own, and tells how
// many there were. It may run on several nodes at once: each offer ends once. One that cannot be ended does not keep the
// others of its page.
func (a *App) ExpireOffers(ctx context.Context, id tenant.TenantID) (int, error) {
	expired, _, err := a.expireOffers(ctx, id)
	return expired, err
}

// alarmGrace is how late an alarm may be without anything being wrong. A sweep that comes upon an offer within it was only faster.
const alarmGrace = 5 * time.Second

// expireOffers tells how many of them should have been ended before.
func (a *App) expireOffers(ctx context.Context, id tenant.TenantID) (expired, overdue int, err error) {
	const page = 50
	caller := tenant.System(id)
	var failed error
	for {
		var due []tenant.OfferID
		var batch pg.Batch
		waitlistdb.ListDueOffers(&batch, id, a.now(), page, &due)
		if err := a.read(ctx, caller, &batch); err != nil {
			return expired, overdue, err
		}
		for _, offer := range due {
			ended, late := 0, 0
			err := a.dealOn(ctx, caller, "offer.run_out", offer, func(ctx context.Context, t *tx) error {
				ended, late = 0, 0
				o, err := t.offered(ctx, offer)
				if err != nil || !o.Due(t.now) {
					return err // somebody was faster
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

// awaitNext sets the alarm for what runs out next in a tenant: a hold or an offer.
func (a *App) awaitNext(ctx context.Context, id tenant.TenantID) error {
	var next *time.Time
	var batch pg.Batch
	bookingdb.FindNextExpiry(&batch, id, &next)
	if err := a.read(ctx, tenant.System(id), &batch); err != nil {
		return err
	}
	if next != nil {
		a.alarms.set(id, *next)
	}
	return nil
}

// expireDue ends what has run out in a tenant, and sets the alarm for what runs out next. It tells how many holds it ended, and
// how many offers should have been ended before.
func (a *App) expireDue(ctx context.Context, id tenant.TenantID) (holds, overdue int, err error) {
	holds, failed := a.ExpireHolds(ctx, id)
	_, overdue, err = a.expireOffers(ctx, id)
	if err := errors.Join(failed, err); err != nil {
		return holds, overdue, err
	}
	return holds, overdue, a.awaitNext(ctx, id)
}

// RunAlarms ends holds and offers when they run out, on the moment, until ctx ends. It knows of those that
// this node made and of those that it found with a sweep. Beside that it gives seats that are open where rules were edited on this node.
func (a *App) RunAlarms(ctx context.Context, log *slog.Logger) {
	var both sync.WaitGroup
	defer both.Wait()
	// Apart: there may be many seats, and offers run out meanwhile.
	both.Go(func() {
		a.edited.run(ctx, a.now, func(id tenant.TenantID) {
			if err := a.wakeForRules(ctx, id); err != nil && ctx.Err() == nil {
				log.ErrorContext(ctx, "not all open seats were looked at after rules were edited; the next sweep will", slog.String("tenant_id", id.String()), slog.Any("error", err))
			}
		})
	})
	a.alarms.run(ctx, a.now, func(id tenant.TenantID) {
		if _, _, err := a.expireDue(ctx, id); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "holds and offers not ended; the next sweep will", slog.String("tenant_id", id.String()), slog.Any("error", err))
		}
	})
}
