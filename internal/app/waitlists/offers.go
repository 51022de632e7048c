package waitlists

import (
	"cmp"
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
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
func (s *Service) AcceptOffer(ctx context.Context, caller tenant.Caller, id tenant.OfferID, with tenant.SubscriptionID) (Answered, error) {
	accept := func(ctx context.Context, tx *engine.Tx) (Answered, error) {
		o, err := s.offered(ctx, tx, id)
		if err != nil {
			return Answered{}, err
		}
		return s.accept(ctx, tx, o, with)
	}
	answered, err := onOffer(ctx, s, caller, "offer.accept", id, true, accept)
	return answered, seats.Refusal(err)
}

type endedOffer struct{ ended, late bool }

// onOffer runs an operation on an offer, alone, under the locks of its session, queue and member.
func onOffer[R any](
	ctx context.Context, a *Service, caller tenant.Caller, name string, id tenant.OfferID, replay bool,
	run func(context.Context, *engine.Tx) (R, error),
) (R, error) {
	return engine.Run(ctx, a.engine, caller, engine.Spec[R]{
		Name: name, Races: []engine.Race{seats.LostByPromotion}, Replay: replay, // what it leaves goes to others
		Locate: func(ctx context.Context, read engine.Reader) (engine.Locks, func() engine.Operation[R], error) {
			var o *waitlist.Offer
			var batch pg.Batch
			waitlistdb.FindOffer(&batch, caller.Tenant, id, &o)
			if err := read(ctx, &batch); err != nil {
				return engine.Locks{}, nil, err
			}
			locks := engine.Locks{Solo: true}
			if o != nil {
				locks.Together = []engine.Key{o.Session.UUID, seats.QueueKey(o.Queue)}
				locks.Single = []engine.Key{o.Member.UUID}
			}
			return locks, func() engine.Operation[R] { return engine.RunFunc[R](run) }, nil
		},
	})
}

// offered loads an offer that the caller may touch.
func (s *Service) offered(ctx context.Context, tx *engine.Tx, id tenant.OfferID) (waitlist.Offer, error) {
	var o *waitlist.Offer
	var batch pg.Batch
	waitlistdb.FindOffer(&batch, tx.Tenant, id, &o)
	if err := tx.Load(ctx, &batch); err != nil {
		return waitlist.Offer{}, err
	}
	if o == nil || !tx.Caller.MayTouch(o.Member) {
		return waitlist.Offer{}, noOffer
	}
	return *o, nil
}

func (s *Service) accept(ctx context.Context, tx *engine.Tx, o waitlist.Offer, with tenant.SubscriptionID) (Answered, error) {
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
	bookingdb.FindBooking(&batch, tx.Tenant, o.Booking, &before)
	waitlistdb.FindEntry(&batch, tx.Tenant, o.Entry, &entry)
	bookingdb.FindSlot(&batch, tx.Tenant, o.Session, &slot)
	bookingdb.FindBookingMember(&batch, tx.Tenant, o.Member, &who)
	waitlistdb.FindRound(&batch, tx.Tenant, o.Round, &round)
	bookingdb.ListInSession(&batch, tx.Tenant, o.Session, []tenant.MemberID{o.Member}, &in)
	if err := tx.Load(ctx, &batch); err != nil {
		return Answered{}, err
	}
	if o.Status == waitlist.Accepted && before != nil {
		return Answered{Offer: o, Booking: before, Repeated: true}, nil
	}
	if err := o.Answerable(tx.Now); err != nil {
		return Answered{}, err
	}
	switch {
	case slot == nil:
		return Answered{}, seats.NoSession
	case who == nil || !who.Active:
		return Answered{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	if with.IsZero() {
		with = entry.Subscription
	}
	var payers pg.Batch
	bookingdb.ListPayers(&payers, tx.Tenant, o.Session, []tenant.MemberID{o.Member}, []tenant.SubscriptionID{with}, &facts.Subscriptions)
	if err := tx.Load(ctx, &payers); err != nil {
		return Answered{}, err
	}
	// The seats that were kept for this moment are open to nobody else.
	slot.SeatsTaken -= o.Seats
	facts.Slot, facts.Member = *slot, *who
	if len(in) > 0 {
		facts.Booking = in[0].Booking
	}
	b := booking.Booking{
		ID: tenant.Next[tenant.BookingID](tx.IDs), Session: slot.ID, Member: o.Member, Party: o.Seats, Channel: entry.Channel,
		ExternalRef: entry.ExternalRef, RequestHash: entry.RequestHash, Note: entry.Note, Promoted: true, CreatedBy: tx.Caller.Actor(),
	}
	plan, err := booking.Decide(facts, booking.Command{
		ID: b.ID, Party: o.Seats, Subscription: with, Channel: entry.Channel, Staff: entry.ByStaff, Promotion: true,
		Actor: tx.Caller.Actor(), OpenUntil: &o.ExpiresAt, // no offer outlives the time in which the session can be booked
	}, tx.Now)
	if err != nil {
		return Answered{}, err
	}
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, slot.ID, bookingdb.Seats{Taken: -o.Seats})
	b = seats.Take(tx, facts, b, plan)
	seats.BookingEvent(tx, outbox.BookingConfirmed, b, map[string]any{"entry_id": entry.ID.String(), "offer_id": o.ID.String()})
	o = o.Close(waitlist.Accepted, "", tx.Now)
	o.Booking = b.ID
	waitlistdb.UpdateOffer(tx.Tx, tx.Tenant, o)
	s.Close(tx, *entry, waitlist.Booked, b.ID)
	s.offerEvent(tx, outbox.OfferAccepted, o, nil)
	if o.Shared {
		err = s.claimed(ctx, tx, *round, o)
	}
	return Answered{Offer: o, Booking: &b}, err
}

// claimed takes an offer's seats out of those that its round keeps, and tells those who were slower.
func (s *Service) claimed(ctx context.Context, tx *engine.Tx, round waitlist.Round, taken waitlist.Offer) error {
	round.Keeps -= taken.Seats
	var others []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListLiveOffersIn(&batch, tx.Tenant, round.ID, &others)
	if err := tx.Load(ctx, &batch); err != nil {
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
		if _, err := s.end(ctx, tx, o.Withdraw(waitlist.TooSlow, "", tx.Now), waitlist.Rules{}, nil); err != nil {
			return err
		}
	}
	switch {
	case s.KeepOrFree(tx, round, left):
		// What nobody claims goes on with all else that is open, to those who were slower, too.
		return s.RollOn(ctx, tx, round, waitlist.ByWithdrawal)
	case slower > 0:
		// They wait again, and may fit seats that are open beside the round.
		_, _, err := s.Wake(ctx, tx, waitlist.ByWithdrawal, round.Session)
		return err
	}
	return nil
}

// KeepOrFree lets a round keep its seats while anybody may still claim them. Where nobody may it gives them up, and reports that: they
// are to roll on.
func (s *Service) KeepOrFree(tx *engine.Tx, round waitlist.Round, live int) (freed bool) {
	if live == 0 {
		if freed = round.Keeps > 0; freed {
			bookingdb.MoveSeats(tx.Tx, tx.Tenant, round.Session, bookingdb.Seats{Taken: -round.Keeps})
		}
		round.Keeps, round.Closed = 0, &tx.Now
	}
	waitlistdb.UpdateRound(tx.Tx, tx.Tenant, round)
	return freed
}

// RollOn gives the seats of a round that were let go to the next. The round is read as the writes so far leave it: whose offers were
// void may be asked again.
func (s *Service) RollOn(ctx context.Context, tx *engine.Tx, in waitlist.Round, trigger waitlist.Trigger) error {
	var slot *booking.Slot
	var round *waitlist.Round
	var batch pg.Batch
	bookingdb.FindSlot(&batch, tx.Tenant, in.Session, &slot)
	waitlistdb.FindRound(&batch, tx.Tenant, in.ID, &round)
	if err := tx.Load(ctx, &batch); err != nil || slot == nil {
		return err
	}
	_, err := s.roll(ctx, tx, slot, trigger, round)
	return err
}

// DeclineOffer lets an offer go; with leave, the entry too.
func (s *Service) DeclineOffer(ctx context.Context, caller tenant.Caller, id tenant.OfferID, leave bool, reason string) (Answered, error) {
	return onOffer(ctx, s, caller, "offer.decline", id, true, func(ctx context.Context, tx *engine.Tx) (Answered, error) {
		o, err := s.offered(ctx, tx, id)
		if err != nil {
			return Answered{}, err
		}
		return s.decline(ctx, tx, o, leave, reason)
	})
}

func (s *Service) decline(ctx context.Context, tx *engine.Tx, o waitlist.Offer, leave bool, reason string) (Answered, error) {
	if o.Status == waitlist.Declined {
		e, err := s.entryOf(ctx, tx, o)
		return Answered{Offer: o, Entry: &e, Repeated: true}, err
	}
	if err := o.Answerable(tx.Now); err != nil {
		return Answered{}, err
	}
	var leaving *seats.Withdrawal
	if leave {
		leaving = &seats.Withdrawal{Reason: reason}
	}
	return s.letGo(ctx, tx, o.Close(waitlist.Declined, reason, tx.Now), leaving)
}

func (s *Service) entryOf(ctx context.Context, tx *engine.Tx, o waitlist.Offer) (waitlist.Entry, error) {
	var e *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindEntry(&batch, tx.Tenant, o.Entry, &e)
	if err := tx.Load(ctx, &batch); err != nil || e == nil {
		return waitlist.Entry{}, err
	}
	return s.standing(ctx, tx, *e)
}

// ExpireOffer ends a live offer before its time.
func (s *Service) ExpireOffer(ctx context.Context, caller tenant.Caller, id tenant.OfferID, reason string) (waitlist.Offer, error) {
	expire := func(ctx context.Context, tx *engine.Tx) (waitlist.Offer, error) {
		o, err := s.offered(ctx, tx, id)
		switch {
		case err != nil:
			return waitlist.Offer{}, err
		case o.Status == waitlist.RanOut:
			return o, nil
		case o.Status != waitlist.Live:
			return waitlist.Offer{}, o.Answerable(tx.Now)
		}
		tx.Audit("offer.expired", "offer", o.ID.UUID, reason, map[string]any{"member_id": o.Member.String(), "entry_id": o.Entry.String()})
		answered, err := s.letGo(ctx, tx, o.Close(waitlist.RanOut, reason, tx.Now), nil)
		return answered.Offer, err
	}
	return onOffer(ctx, s, caller, "offer.expire", id, true, expire)
}

var triggerOf = map[waitlist.OfferStatus]waitlist.Trigger{
	waitlist.Declined: waitlist.ByDecline, waitlist.RanOut: waitlist.ByExpiry, waitlist.Withdrawn: waitlist.ByWithdrawal,
}

var eventOf = map[waitlist.OfferStatus]outbox.Type{
	waitlist.Declined: outbox.OfferDeclined, waitlist.RanOut: outbox.OfferExpired, waitlist.Withdrawn: outbox.OfferWithdrawn,
}

// letGo writes down that an offer ended without a booking, and gives its seats to the next.
func (s *Service) letGo(ctx context.Context, tx *engine.Tx, o waitlist.Offer, leave *seats.Withdrawal) (Answered, error) {
	var slot *booking.Slot
	var round *waitlist.Round
	var live []waitlist.Offer
	var rules []waitlist.Layer
	var batch pg.Batch
	bookingdb.FindSlot(&batch, tx.Tenant, o.Session, &slot)
	waitlistdb.FindRound(&batch, tx.Tenant, o.Round, &round)
	waitlistdb.ListLiveOffersIn(&batch, tx.Tenant, o.Round, &live)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &rules)
	if err := tx.Load(ctx, &batch); err != nil {
		return Answered{}, err
	}
	var effective waitlist.Rules
	if slot != nil {
		effective = waitlist.RulesAt(rules, slot.Location, slot.Service).Rules
	}
	e, err := s.end(ctx, tx, o, effective, leave)
	if err != nil {
		return Answered{}, err
	}
	trigger := triggerOf[o.Status]
	switch {
	case o.Shared:
		if s.KeepOrFree(tx, *round, Sharing(live)-1) {
			err = s.RollOn(ctx, tx, *round, trigger)
		}
	case slot != nil:
		bookingdb.MoveSeats(tx.Tx, tx.Tenant, o.Session, bookingdb.Seats{Taken: -o.Seats})
		slot.SeatsTaken -= o.Seats
		_, err = s.roll(ctx, tx, slot, trigger, round)
	}
	if err != nil {
		return Answered{}, err
	}
	if e, err = s.standing(ctx, tx, e); err != nil {
		return Answered{}, err
	}
	return Answered{Offer: o, Entry: &e}, nil
}

// Sharing counts the offers that may claim what their round keeps. Rules may have changed since it began, so it may have others, too.
func Sharing(live []waitlist.Offer) (n int) {
	for _, o := range live {
		if o.Shared {
			n++
		}
	}
	return n
}

// end writes down that an offer ended without a booking, and says what becomes of its entry; with leave it leaves the waitlist. The
// seats are the caller's to give up.
func (s *Service) end(ctx context.Context, tx *engine.Tx, o waitlist.Offer, rules waitlist.Rules, leave *seats.Withdrawal) (waitlist.Entry, error) {
	var e *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindEntry(&batch, tx.Tenant, o.Entry, &e)
	if err := tx.Load(ctx, &batch); err != nil {
		return waitlist.Entry{}, err
	}
	waitlistdb.UpdateOffer(tx.Tx, tx.Tenant, o)
	s.offerEvent(tx, eventOf[o.Status], o, engine.Because(o.Reason))
	if o.Status == waitlist.Withdrawn {
		e.Tries-- // it was not theirs to lose
	}
	next := rules.Returned(*e, o.Status)
	said := seats.Withdrawal{Reason: o.Reason, Notify: next == waitlist.Expired}
	if leave != nil {
		next, said = waitlist.Cancelled, *leave
	}
	if next != waitlist.Waiting {
		closed := s.Close(tx, *e, next, tenant.BookingID{})
		s.Left(tx, closed, said.Reason, said.Notify)
		return closed, nil
	}
	e.Status = waitlist.Waiting
	waitlistdb.UpdateEntry(tx.Tx, tx.Tenant, *e, tx.Now)
	return *e, nil
}

// ExpireOffers ends the offers of a tenant that have run out by now, each in a transaction of its own, and tells how
// many there were. It may run on several nodes at once: each offer ends once. One that cannot be ended does not keep the
// others of its page.
func (s *Service) ExpireOffers(ctx context.Context, id tenant.TenantID) (int, error) {
	expired, _, err := s.ExpireDueOffers(ctx, id)
	return expired, err
}

// alarmGrace is how late an alarm may be without anything being wrong. A sweep that comes upon an offer within it was only faster.
const alarmGrace = 5 * time.Second

// ExpireDueOffers tells how many of them should have been ended before.
func (s *Service) ExpireDueOffers(ctx context.Context, id tenant.TenantID) (expired, overdue int, err error) {
	const page = 50
	caller := tenant.System(id)
	var failed error
	for {
		var due []tenant.OfferID
		var batch pg.Batch
		waitlistdb.ListDueOffers(&batch, id, s.engine.Now(), page, &due)
		if err := s.engine.Read(ctx, caller, &batch); err != nil {
			return expired, overdue, err
		}
		for _, offer := range due {
			ended, err := onOffer(ctx, s, caller, "offer.run_out", offer, false, func(ctx context.Context, tx *engine.Tx) (endedOffer, error) {
				o, err := s.offered(ctx, tx, offer)
				if err != nil || !o.Due(tx.Now) {
					return endedOffer{}, err // another node was faster
				}
				_, err = s.letGo(ctx, tx, o.Close(waitlist.RanOut, "", tx.Now), nil)
				return endedOffer{ended: true, late: tx.Now.Sub(o.ExpiresAt) > alarmGrace}, err
			})
			if err != nil {
				failed = cmp.Or(failed, err)
				continue
			}
			if ended.ended {
				expired++
			}
			if ended.late {
				overdue++
			}
		}
		if len(due) < page || failed != nil {
			return expired, overdue, failed
		}
	}
}
