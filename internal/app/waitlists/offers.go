package waitlists

import (
	"cmp"
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
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

var errNoOffer = fault.Missing(fault.WaitlistOfferNotFound, "Offer")

// AcceptWaitlistOffer books the seats of an offer. If the booking is refused, the offer stays live. With the zero
// subscription, the one named on joining pays.
func (s *Service) AcceptWaitlistOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, payWith tenant.SubscriptionID,
) (OfferAnswer, error) {
	accept := func(ctx context.Context, tx *engine.Tx, o waitlist.Offer) (OfferAnswer, error) {
		return s.accept(ctx, tx, o, payWith)
	}
	answered, err := onOffer(ctx, s, caller, "waitlist_offer.accept", id, true, accept)
	return answered, seats.ConstraintError(err)
}

// onOffer runs an operation on an offer that the caller may access, alone, under the locks of its session, queue and
// member.
func onOffer[R any](
	ctx context.Context, s *Service, caller tenant.Caller, name string, id tenant.OfferID, replay bool,
	run func(context.Context, *engine.Tx, waitlist.Offer) (R, error),
) (R, error) {
	runOn := func(ctx context.Context, tx *engine.Tx) (R, error) {
		o, err := s.findOffer(ctx, tx, id)
		if err != nil {
			var none R
			return none, err
		}
		return run(ctx, tx, o)
	}
	return engine.RunBatched(ctx, s.engine, caller, engine.Batched[R]{
		// An offer that ends fills its seats, which can lose to a booking.
		Name: name, Replay: replay,
		Locate: func(ctx context.Context, read engine.Reader) (engine.Located[R], error) {
			var o *waitlist.Offer
			var batch pg.Batch
			waitlistdb.FindOffer(&batch, caller.Tenant, id, &o)
			if err := read(ctx, &batch); err != nil {
				return engine.Located[R]{}, err
			}
			var locks engine.Locks
			if o != nil {
				locks.Together = []engine.Key{o.Session.UUID, seats.QueueKey(o.Queue)}
				locks.Single = []engine.Key{o.Member.UUID}
			}
			return engine.Alone(locks, runOn), nil
		},
	})
}

// findOffer loads an offer, if the caller may access it.
func (s *Service) findOffer(ctx context.Context, tx *engine.Tx, id tenant.OfferID) (waitlist.Offer, error) {
	o, err := engine.Find(ctx, tx, errNoOffer, func(b *pg.Batch, into **waitlist.Offer) {
		waitlistdb.FindOffer(b, tx.Tenant, id, into)
	})
	if err == nil && !tx.Caller.CanAccess(o.Member) {
		return waitlist.Offer{}, errNoOffer
	}
	return o, err
}

func (s *Service) accept(
	ctx context.Context, tx *engine.Tx, o waitlist.Offer, payWith tenant.SubscriptionID,
) (OfferAnswer, error) {
	var (
		before *booking.Booking
		entry  *waitlist.Entry
		slot   *booking.Slot
		member *booking.Member
		round  *waitlist.Round
		facts  booking.Facts
		batch  pg.Batch
	)
	key := bookingdb.SessionMember{Session: o.Session, Member: o.Member}
	bookingdb.FindBooking(&batch, tx.Tenant, o.Booking, &before)
	waitlistdb.FindEntry(&batch, tx.Tenant, o.Entry, &entry)
	bookingdb.FindSlot(&batch, tx.Tenant, o.Session, &slot)
	bookingdb.FindBookingMember(&batch, tx.Tenant, o.Member, &member)
	waitlistdb.FindRound(&batch, tx.Tenant, o.Round, &round)
	bookingdb.FindActiveIDs(&batch, tx.Tenant, key, func(ids bookingdb.ActiveIDs) { facts.Booking = ids.Booking })
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
	case member == nil || !member.Active:
		return OfferAnswer{}, seats.ErrNoMember
	}
	if payWith.IsZero() {
		payWith = entry.Subscription
	}
	ending := waitlist.Ending{Offer: o.Close(waitlist.Accepted, "", tx.Now), Entry: *entry, Round: *round}
	var payers pg.Batch
	bookingdb.ListPayers(&payers, tx.Tenant, key, payWith, &facts.Subscriptions)
	if err := tx.Load(ctx, &payers); err != nil {
		return OfferAnswer{}, err
	}
	// The reserved seats are open to this booking, and to no other.
	slot.SeatsTaken -= o.Seats
	facts.Slot, facts.Member = *slot, *member
	b := booking.Booking{
		ID: tenant.NextID[tenant.BookingID](tx.IDs), Session: slot.ID, Member: o.Member, Party: o.Seats,
		Channel: entry.Channel, ExternalRef: entry.ExternalRef, RequestHash: entry.RequestHash, Note: entry.Note,
		Promoted: true, CreatedBy: tx.Caller.Actor(),
	}
	result, err := booking.Decide(facts, booking.Request{
		ID: b.ID, Party: o.Seats, Subscription: payWith, Channel: entry.Channel, Free: entry.ByStaff, Promotion: true,
		Actor: tx.Caller.Actor(), FillUntil: &o.ExpiresAt, // an offer ends before booking closes
	}, tx.Now)
	if err != nil {
		return OfferAnswer{}, err
	}
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, slot.ID, bookingdb.Seats{Taken: -o.Seats})
	b = seats.Take(tx, facts, b, result)
	ending.Offer.Booking = b.ID
	confirmed := event.BookingConfirmed{Imported: false}
	offerEvent(tx, ending.Offer, tx.Caller.Actor(), confirmed, seats.FactsOf(b, result.Ledger))
	if _, err = s.endOffer(ctx, tx, ending); err == nil {
		err = s.settleOthers(ctx, tx, b)
	}
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

// DeclineWaitlistOffer ends an offer without a booking. With leave, its entry leaves the waitlist, too.
func (s *Service) DeclineWaitlistOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, leave bool, reason string,
) (OfferAnswer, error) {
	var options *waitlist.LeaveOptions
	if leave {
		options = &waitlist.LeaveOptions{Reason: reason}
	}
	decline := func(ctx context.Context, tx *engine.Tx, o waitlist.Offer) (OfferAnswer, error) {
		if o.Status == waitlist.Declined {
			entries, err := s.entriesOf(ctx, tx, []waitlist.Offer{o})
			if err != nil {
				return OfferAnswer{}, err
			}
			e, err := s.addPosition(ctx, tx, entries[o.Entry])
			return OfferAnswer{Offer: o, Entry: &e, Repeated: true}, err
		}
		if err := o.Answerable(tx.Now); err != nil {
			return OfferAnswer{}, err
		}
		return s.releaseOffer(ctx, tx, o.Close(waitlist.Declined, reason, tx.Now), options)
	}
	return onOffer(ctx, s, caller, "waitlist_offer.decline", id, true, decline)
}

// ExpireWaitlistOffer ends a live offer before its time.
func (s *Service) ExpireWaitlistOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID, reason string,
) (waitlist.Offer, error) {
	expire := func(ctx context.Context, tx *engine.Tx, o waitlist.Offer) (waitlist.Offer, error) {
		if o.Status == waitlist.RanOut {
			return o, nil
		}
		if o.Status != waitlist.Live {
			return waitlist.Offer{}, o.Answerable(tx.Now)
		}
		record.Audit(tx, "waitlist_offer.expired", "waitlist_offer", o.ID.UUID, reason, map[string]any{
			"member_id": o.Member.String(), "entry_id": o.Entry.String(),
		})
		answered, err := s.releaseOffer(ctx, tx, o.Close(waitlist.RanOut, reason, tx.Now), nil)
		return answered.Offer, err
	}
	return onOffer(ctx, s, caller, "waitlist_offer.expire", id, true, expire)
}

// releaseOffer ends an offer without a booking. Its seats go to the next entry.
func (s *Service) releaseOffer(
	ctx context.Context, tx *engine.Tx, o waitlist.Offer, options *waitlist.LeaveOptions,
) (OfferAnswer, error) {
	ending := waitlist.Ending{Offer: o, Leaving: options}
	var (
		entry  *waitlist.Entry
		round  *waitlist.Round
		layers []waitlist.Layer
		batch  pg.Batch
	)
	waitlistdb.FindEntry(&batch, tx.Tenant, o.Entry, &entry)
	waitlistdb.FindRound(&batch, tx.Tenant, o.Round, &round)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &layers)
	if err := tx.Load(ctx, &batch); err != nil {
		return OfferAnswer{}, err
	}
	ending.Entry, ending.Round, ending.Rules = *entry, *round, waitlist.RulesOf(layers)(o.Queue)
	e, err := s.endOffer(ctx, tx, ending)
	if err == nil {
		e, err = s.addPosition(ctx, tx, e)
	}
	if err != nil {
		return OfferAnswer{}, err
	}
	return OfferAnswer{Offer: o, Entry: &e}, nil
}

// alarmGrace is how late an alarm may be. A sweep that finds an expired offer within that time was only faster.
const alarmGrace = 5 * time.Second

// expiryCount counts expired offers, and those among them that an alarm should have ended before.
type expiryCount struct{ expired, overdue int }

// ExpireDueOffers ends a tenant's expired offers, each in a transaction of its own. It counts them, and those among
// them that an alarm should have ended before. Several nodes may run it at once: each offer ends once. An error with
// one offer does not stop the others of its page.
func (s *Service) ExpireDueOffers(ctx context.Context, id tenant.TenantID) (expired, overdue int, err error) {
	const page = 50
	caller := tenant.System(id)
	expire := func(ctx context.Context, tx *engine.Tx, o waitlist.Offer) (expiryCount, error) {
		if !o.Due(tx.Now) {
			return expiryCount{}, nil // another node was faster
		}
		count := expiryCount{expired: 1}
		if tx.Now.Sub(o.ExpiresAt) > alarmGrace {
			count.overdue = 1
		}
		_, err := s.releaseOffer(ctx, tx, o.Close(waitlist.RanOut, "", tx.Now), nil)
		return count, err
	}
	var failed error
	for {
		due, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]tenant.OfferID) {
			waitlistdb.ListDueOffers(b, id, s.engine.Now(), page, into)
		})
		if err != nil {
			return expired, overdue, err
		}
		for _, offer := range due {
			count, err := onOffer(ctx, s, caller, "waitlist_offer.run_out", offer, false, expire)
			failed = cmp.Or(failed, err)
			expired, overdue = expired+count.expired, overdue+count.overdue
		}
		if len(due) < page || failed != nil {
			return expired, overdue, failed
		}
	}
}
