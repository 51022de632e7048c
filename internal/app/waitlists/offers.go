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

// OfferAnswer is the result of an answer to an offer.
type OfferAnswer struct {
	Offer    waitlist.Offer
	Booking  *booking.Booking // if it was accepted
	Entry    *waitlist.Entry  // if it was not
	Repeated bool             // the same answer was given before
}

var noOffer = fault.Missing(fault.OfferNotFound, "Offer")

// AcceptOffer books the seats of an offer. If the booking is refused, the offer stays live. The zero subscription means
// the one that was named on joining.
func (s *Service) AcceptOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, with tenant.SubscriptionID,
) (OfferAnswer, error) {
	accept := func(ctx context.Context, tx *engine.Tx) (OfferAnswer, error) {
		o, err := s.offered(ctx, tx, id)
		if err != nil {
			return OfferAnswer{}, err
		}
		return s.accept(ctx, tx, o, with)
	}
	answered, err := onOffer(ctx, s, caller, "offer.accept", id, true, accept)
	return answered, seats.ConstraintError(err)
}

type endedOffer struct{ ended, late bool }

// onOffer runs an operation on an offer, alone, under the locks of its session, queue and member.
func onOffer[R any](
	ctx context.Context, a *Service, caller tenant.Caller, name string, id tenant.OfferID, replay bool,
	run func(context.Context, *engine.Tx) (R, error),
) (R, error) {
	return engine.Run(ctx, a.engine, caller, engine.Spec[R]{
		Name: name, Races: []engine.Race{seats.PromotionRace}, Replay: replay, // what it leaves goes to others
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
	if o == nil || !tx.Caller.CanAccess(o.Member) {
		return waitlist.Offer{}, noOffer
	}
	return *o, nil
}

func (s *Service) accept(
	ctx context.Context, tx *engine.Tx, o waitlist.Offer, with tenant.SubscriptionID,
) (OfferAnswer, error) {
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
		return OfferAnswer{}, err
	}
	if o.Status == waitlist.Accepted && before != nil {
		return OfferAnswer{Offer: o, Booking: before, Repeated: true}, nil
	}
	if err := o.Answerable(tx.Now); err != nil {
		return OfferAnswer{}, err
	}
	switch {
	case slot == nil:
		return OfferAnswer{}, seats.ErrNoSession
	case who == nil || !who.Active:
		return OfferAnswer{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	if with.IsZero() {
		with = entry.Subscription
	}
	ending := waitlist.Ending{Offer: o.Close(waitlist.Accepted, "", tx.Now), Entry: *entry, Round: *round}
	var payers pg.Batch
	bookingdb.ListPayers(
		&payers, tx.Tenant, o.Session, []tenant.MemberID{o.Member}, []tenant.SubscriptionID{with}, &facts.Subscriptions)
	if err := tx.Load(ctx, &payers); err != nil {
		return OfferAnswer{}, err
	}
	// The reserved seats are open to this booking, and to no other.
	slot.SeatsTaken -= o.Seats
	facts.Slot, facts.Member = *slot, *who
	if len(in) > 0 {
		facts.Booking = in[0].Booking
	}
	b := booking.Booking{
		ID: tenant.NextID[tenant.BookingID](tx.IDs), Session: slot.ID, Member: o.Member, Party: o.Seats, Channel: entry.Channel,
		ExternalRef: entry.ExternalRef, RequestHash: entry.RequestHash, Note: entry.Note, Promoted: true,
		CreatedBy: tx.Caller.Actor(),
	}
	plan, err := booking.Decide(facts, booking.Request{
		ID: b.ID, Party: o.Seats, Subscription: with, Channel: entry.Channel, Staff: entry.ByStaff, Promotion: true,
		Actor: tx.Caller.Actor(), FillUntil: &o.ExpiresAt, // an offer ends before booking closes
	}, tx.Now)
	if err != nil {
		return OfferAnswer{}, err
	}
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, slot.ID, bookingdb.Seats{Taken: -o.Seats})
	b = seats.Take(tx, facts, b, plan)
	seats.BookingEvent(tx, outbox.BookingConfirmed, b, map[string]any{
		"entry_id": entry.ID.String(), "offer_id": o.ID.String(),
	})
	ending.Offer.Booking = b.ID
	_, err = s.endOffer(ctx, tx, ending)
	return OfferAnswer{Offer: ending.Offer, Booking: &b}, err
}

// endOffer writes the end of an offer with its consequences, and returns its entry.
func (s *Service) endOffer(ctx context.Context, tx *engine.Tx, e waitlist.Ending) (entry waitlist.Entry, err error) {
	if e.Offer.Shared {
		var batch pg.Batch
		waitlistdb.ListLiveOffersIn(&batch, tx.Tenant, e.Offer.Round, &e.Live)
		if err := tx.Load(ctx, &batch); err != nil {
			return e.Entry, err
		}
	}
	if e.Entries, err = s.entriesOf(ctx, tx, e.Slower()); err != nil {
		return e.Entry, err
	}
	changes := e.Changes(tx.Now)
	return changes.Entries[0].Entry, s.Apply(ctx, tx, changes)
}

// DeclineOffer ends an offer without a booking. With leave, its entry leaves the waitlist, too.
func (s *Service) DeclineOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, leave bool, reason string,
) (OfferAnswer, error) {
	return onOffer(ctx, s, caller, "offer.decline", id, true, func(ctx context.Context, tx *engine.Tx) (OfferAnswer, error) {
		o, err := s.offered(ctx, tx, id)
		if err != nil {
			return OfferAnswer{}, err
		}
		return s.decline(ctx, tx, o, leave, reason)
	})
}

func (s *Service) decline(
	ctx context.Context, tx *engine.Tx, o waitlist.Offer, leave bool, reason string,
) (OfferAnswer, error) {
	if o.Status == waitlist.Declined {
		entries, err := s.entriesOf(ctx, tx, []waitlist.Offer{o})
		if err != nil {
			return OfferAnswer{}, err
		}
		e, err := s.standing(ctx, tx, entries[o.Entry])
		return OfferAnswer{Offer: o, Entry: &e, Repeated: true}, err
	}
	if err := o.Answerable(tx.Now); err != nil {
		return OfferAnswer{}, err
	}
	var leaving *waitlist.Leaving
	if leave {
		leaving = &waitlist.Leaving{Reason: reason}
	}
	return s.letGo(ctx, tx, o.Close(waitlist.Declined, reason, tx.Now), leaving)
}

// ExpireOffer ends a live offer before its time.
func (s *Service) ExpireOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, reason string,
) (waitlist.Offer, error) {
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
		tx.Audit("offer.expired", "offer", o.ID.UUID, reason, map[string]any{
			"member_id": o.Member.String(), "entry_id": o.Entry.String(),
		})
		answered, err := s.letGo(ctx, tx, o.Close(waitlist.RanOut, reason, tx.Now), nil)
		return answered.Offer, err
	}
	return onOffer(ctx, s, caller, "offer.expire", id, true, expire)
}

// letGo ends an offer without a booking. Its seats go to the next in line.
func (s *Service) letGo(
	ctx context.Context, tx *engine.Tx, o waitlist.Offer, leaving *waitlist.Leaving,
) (OfferAnswer, error) {
	ending := waitlist.Ending{Offer: o, Leaving: leaving}
	var (
		entry *waitlist.Entry
		round *waitlist.Round
		rules []waitlist.Layer
		batch pg.Batch
	)
	waitlistdb.FindEntry(&batch, tx.Tenant, o.Entry, &entry)
	waitlistdb.FindRound(&batch, tx.Tenant, o.Round, &round)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &rules)
	if err := tx.Load(ctx, &batch); err != nil {
		return OfferAnswer{}, err
	}
	ending.Entry, ending.Round, ending.Rules = *entry, *round, waitlist.RulesOf(rules)(o.Queue)
	e, err := s.endOffer(ctx, tx, ending)
	if err == nil {
		e, err = s.standing(ctx, tx, e)
	}
	if err != nil {
		return OfferAnswer{}, err
	}
	return OfferAnswer{Offer: o, Entry: &e}, nil
}

// ExpireOffers ends a tenant's offers that have run out, each in a transaction of its own, and returns how many.
// Several nodes may run it at once: each offer ends once. An error with one offer does not hold up the others of its
// page.
func (s *Service) ExpireOffers(ctx context.Context, id tenant.TenantID) (int, error) {
	expired, _, err := s.ExpireDueOffers(ctx, id)
	return expired, err
}

// alarmGrace is how late an alarm may be. A sweep that finds an offer within that time was only faster than the alarm.
const alarmGrace = 5 * time.Second

// ExpireDueOffers also returns how many an alarm should have ended before.
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
			expire := func(ctx context.Context, tx *engine.Tx) (endedOffer, error) {
				o, err := s.offered(ctx, tx, offer)
				if err != nil || !o.Due(tx.Now) {
					return endedOffer{}, err // another node was faster
				}
				_, err = s.letGo(ctx, tx, o.Close(waitlist.RanOut, "", tx.Now), nil)
				return endedOffer{ended: true, late: tx.Now.Sub(o.ExpiresAt) > alarmGrace}, err
			}
			ended, err := onOffer(ctx, s, caller, "offer.run_out", offer, false, expire)
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
