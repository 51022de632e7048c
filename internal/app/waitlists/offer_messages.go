package waitlists

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Offers is what messages need from the waitlist. Service implements it; tests of messages script offers with another
// implementation.
type Offers interface {
	// ReadOffers reads offers. It adds to the map.
	ReadOffers(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts)
	// StartOffer returns the end of an offer's window if its member is told at a given time: now, because the message is
	// being sent, or when quiet hours end. The transaction extends the offer until then. It returns false if there is no
	// time left to answer.
	StartOffer(
		ctx context.Context, tx *pg.Tx, in tenant.TenantID, offer OfferFacts, zone *time.Location, now, at time.Time,
	) (time.Time, bool, error)
	// StartGrace returns until when a promoted member, who is told now, can cancel for free. The transaction starts the
	// booking's grace, unless they were told before.
	StartGrace(
		ctx context.Context, tx *pg.Tx, in tenant.TenantID, id tenant.BookingID, zone *time.Location, now time.Time,
	) (cancelBy time.Time, err error)
	// ModeOf returns what an entry would get now if a seat were freed.
	ModeOf(
		ctx context.Context, tx *pg.Tx, in tenant.TenantID, id tenant.EntryID, now time.Time,
	) (waitlist.Mode, error)
	// WithdrawUnsendable is called, after the commit, for a live offer whose member cannot be told in time. Its seats go
	// to the next entry.
	WithdrawUnsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error
	// OffersByCode reads the offers that a code from a phone number can mean, the latest first.
	OffersByCode(ctx context.Context, in tenant.TenantID, phone, code string) ([]CodedOffer, error)
	// AnswerOffer accepts or declines an offer for its member. Errors: WAITLIST_OFFER_NOT_LIVE, and those of a booking.
	AnswerOffer(ctx context.Context, in tenant.TenantID, offer CodedOffer, accept bool) error
}

// CodedOffer is an offer that was found by its code.
type CodedOffer struct {
	ID     tenant.OfferID
	Member tenant.MemberID
	Live   bool
}

// OfferFacts are an offer as a message describes it. Its window has no end until its member was told.
type OfferFacts struct {
	ID tenant.OfferID
	notify.Offer
	Kept     time.Time // its seats are reserved until then
	ClaimURL string    // the page that accepts or declines it
	Code     string    // for an answer by SMS

	made  waitlist.Offer
	rules waitlist.Rules
}

// ReadOffers implements Offers. The rules of its queue say when and how an offer's member is told.
func (s *Service) ReadOffers(
	b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts,
) {
	now := s.engine.Now()
	var layers []waitlist.Layer
	waitlistdb.ListAllRules(b, in, &layers)
	waitlistdb.ListOffersByID(b, in, ids, func(o waitlist.Offer) {
		r := waitlist.RulesOf(layers)(o.Queue)
		into[o.ID] = &OfferFacts{
			ID: o.ID, Code: s.claims.Code(o.ID), ClaimURL: s.ClaimURL(in, o.ID), Kept: o.ExpiresAt, made: o, rules: r,
			Offer: notify.Offer{
				Live: o.Answerable(now) == nil, EvenInQuiet: r.OffersInQuietHours, NoSMS: o.Score < r.SMSMinScore,
			},
		}
	})
	waitlistdb.ListNotifiedOffers(b, in, ids, func(id tenant.OfferID) {
		if o := into[id]; o != nil {
			o.ExpiresAt = o.Kept
		}
	})
}

// StartOffer implements Offers. If it extends the offer it appends an event, for clients that show a countdown.
func (*Service) StartOffer(
	ctx context.Context, tx *pg.Tx, in tenant.TenantID, o OfferFacts, zone *time.Location, now, at time.Time,
) (time.Time, bool, error) {
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, in, o.made.Session, &slot)
	if err := tx.Load(ctx, &batch); err != nil {
		return time.Time{}, false, err
	}
	if slot == nil {
		return o.Kept, o.Kept.After(at), nil
	}
	closes := o.rules.ClosesAt(timesOf(*slot), now)
	ends, inTime := o.made.EndWhenSent(o.rules, at, now, closes, zone)
	if !ends.Equal(o.Kept) {
		waitlistdb.ExtendOffer(tx, in, o.ID, ends)
		outbox.Append(tx, in, outbox.Event{
			ID: tenant.New[tenant.EventID](now), Session: o.made.Session, Member: o.made.Member, Entry: o.made.Entry,
			Offer: o.ID, Actor: credit.SystemActor, Data: event.OfferExtended{Expires: ends.UTC()}, At: now,
			Facts: offerFacts(o.made),
		})
	}
	return ends, inTime, nil
}

// WithdrawUnsendable implements Offers. An offer that staff made stays live, because they can tell the member
// themselves.
func (s *Service) WithdrawUnsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error {
	t := engine.Transaction{Name: "waitlist_offer.withdraw_unsendable"}
	return engine.Exec(ctx, s.engine, tenant.System(in), t, func(ctx context.Context, tx *engine.Tx) error {
		o, err := s.findOffer(ctx, tx, id)
		if err != nil || o.Status != waitlist.Live || o.ByHand {
			return err
		}
		_, err = s.releaseOffer(ctx, tx, o.Withdraw(waitlist.Unsendable, "", tx.Now), nil)
		return err
	})
}

// OffersByCode implements Offers.
func (s *Service) OffersByCode(ctx context.Context, in tenant.TenantID, phone, code string) ([]CodedOffer, error) {
	offers, err := engine.List(ctx, s.engine, tenant.System(in), func(b *pg.Batch, into *[]waitlist.Offer) {
		waitlistdb.ListOffersByCode(b, in, phone, s.claims.HashCode(in, code), into)
	})
	coded := make([]CodedOffer, len(offers))
	for i, o := range offers {
		coded[i] = CodedOffer{o.ID, o.Member, o.Answerable(s.engine.Now()) == nil}
	}
	return coded, err
}

// AnswerOffer implements Offers. If the offer was accepted before and its booking is cancelled now, it is not accepted
// again.
func (s *Service) AnswerOffer(ctx context.Context, in tenant.TenantID, o CodedOffer, accept bool) error {
	answered, err := s.answerAsMember(ctx, in, o.Member, o.ID, accept)
	if err == nil && accept && answered.Repeated && answered.Booking.Status == booking.Cancelled {
		err = errNoOffer
	}
	return err
}
