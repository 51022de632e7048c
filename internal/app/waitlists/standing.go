package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// LoadStanding asks how a member waits around a session, if they wait at all.
func LoadStanding(
	b *pg.Batch, in tenant.TenantID, session tenant.SessionID, member booking.Member, into *waitlist.Standing,
) {
	*into = waitlist.Standing{}
	if member.Waits {
		waitlistdb.FindWaitSlot(b, in, session, &into.Slot)
		waitlistdb.ListOwn(b, in, member.ID, &into.Entries)
		waitlistdb.ListRivalOffers(b, in, waitlistdb.RivalQuery{Member: member.ID}, &into.Offers)
	}
}

// Standing is LoadStanding, at once. It reads nothing for those who do not wait; for others a shared transaction gets
// engine.ErrSolo.
func (s *Service) Standing(
	ctx context.Context, tx *engine.Tx, session tenant.SessionID, member booking.Member,
) (waitlist.Standing, error) {
	var st waitlist.Standing
	if !member.Waits {
		return st, nil
	}
	var batch pg.Batch
	LoadStanding(&batch, tx.Tenant, session, member, &st)
	err := tx.Load(ctx, &batch)
	return st, err
}

// OfferedSeats returns the seats that an offer keeps, as the rules of booking see them.
func OfferedSeats(o *waitlist.Offer) *booking.OfferedSeats {
	if o == nil {
		return nil
	}
	return &booking.OfferedSeats{Offer: o.ID, Seats: o.Seats, Until: o.ExpiresAt, Shared: o.Shared}
}

// TakeOffered makes the seats of an offer open to the booking that accepts it.
func TakeOffered(tx *engine.Tx, slot *booking.Slot, offered *booking.OfferedSeats, party int) {
	if seats := offered.Of(party); seats > 0 {
		bookingdb.MoveSeats(tx.Tx, tx.Tenant, slot.ID, bookingdb.Seats{Taken: -seats})
		slot.SeatsTaken -= seats
	}
}

// PrepareSettle comes before the first write of a booking that Settle follows. It takes the locks of the queues whose
// offers end. If entries or offers end at all, a shared transaction gets engine.ErrSolo: its other operations may have
// read them.
func (s *Service) PrepareSettle(tx *engine.Tx, st waitlist.Standing, accepted *waitlist.Offer) error {
	closed, endings := st.Booked(tenant.BookingID{}, 0, accepted, tx.Now)
	queues := make([]waitlist.Queue, len(endings))
	for i, e := range endings {
		queues[i] = e.Offer.Queue
	}
	if err := lockQueues(tx, queues...); err != nil {
		return err
	}
	if tx.Shared() && len(closed.Entries)+len(endings) > 0 {
		return engine.ErrSolo
	}
	return nil
}

// Settle ends the entries of a member who has booked what they wait for. It accepts the offer whose seats the booking
// took, and withdraws those of other entries that end. Freed seats go to the next entries.
func (s *Service) Settle(
	ctx context.Context, tx *engine.Tx, st waitlist.Standing, b booking.Booking, accepted *waitlist.Offer,
) error {
	closed, endings := st.Booked(b.ID, b.Party, accepted, tx.Now)
	s.Write(tx, closed)
	for _, e := range endings {
		var round *waitlist.Round
		var batch pg.Batch
		waitlistdb.FindRound(&batch, tx.Tenant, e.Offer.Round, &round)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		e.Round = *round
		if _, err := s.endOffer(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// settleOthers is Settle for those whom the waitlist itself has booked.
func (s *Service) settleOthers(ctx context.Context, tx *engine.Tx, booked ...booking.Booking) error {
	for _, b := range booked {
		member := booking.Member{ID: b.Member, Waits: true} // perhaps: their entry for this session was one
		st, err := s.Standing(ctx, tx, b.Session, member)
		if err != nil {
			return err
		}
		if err := s.PrepareSettle(tx, st, nil); err != nil {
			return err
		}
		if err := s.Settle(ctx, tx, st, b, nil); err != nil {
			return err
		}
	}
	return nil
}
