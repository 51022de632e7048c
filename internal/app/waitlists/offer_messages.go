package waitlists

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Offers is what messages need from the waitlist.
type Offers interface {
	// Find reads offers. It adds to the map.
	Find(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts)
	// Begin gives the end of an offer's window if its member is told at a moment: now, because it is being sent, or when
	// quiet hours end. The transaction extends the offer until then. False: there is no time left to answer.
	Begin(
		ctx context.Context, tx *pg.Tx, in tenant.TenantID, offer OfferFacts, zone *time.Location, now, at time.Time,
	) (time.Time, bool, error)
	// Unsendable is called, after the commit, for a live offer whose member cannot be told in time: its seats go to the
	// next.
	Unsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error
	// Coded finds the offers that a code from a phone number may mean, the latest first.
	Coded(ctx context.Context, in tenant.TenantID, phone, code string) ([]CodedOffer, error)
	// Answer accepts or declines an offer for its member. Errors: OFFER_NOT_LIVE, and those of a booking.
	Answer(ctx context.Context, in tenant.TenantID, offer CodedOffer, accept bool) error
}

// CodedOffer is an offer that is found by its code.
type CodedOffer struct {
	ID     tenant.OfferID
	Member tenant.MemberID
	Live   bool
}

// OfferFacts are an offer as a message describes it. It has no end before its member was told.
type OfferFacts struct {
	ID tenant.OfferID
	notify.Offer
	Kept     time.Time // its seats are reserved until then
	ClaimURL string    // the page with two buttons
	Code     string    // a reply by SMS has it

	made  waitlist.Offer
	rules waitlist.Rules
}

// OfferNotifier is the Offers of a Service.
type OfferNotifier struct{ Waitlists *Service }

// Find reads offers, with what the rules say about their messages.
func (w OfferNotifier) Find(
	b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts,
) {
	now := w.Waitlists.engine.Now()
	var rules []waitlist.Layer
	waitlistdb.ListAllRules(b, in, &rules)
	waitlistdb.ListOffersByID(b, in, ids, func(o waitlist.Offer) {
		r := waitlist.RulesOf(rules)(o.Queue)
		into[o.ID] = &OfferFacts{
			ID: o.ID, Code: o.Code, ClaimURL: w.Waitlists.ClaimURL(in, o.ID), Kept: o.ExpiresAt, made: o, rules: r,
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

// Begin extends an offer that is told later than planned. An event says so, for clients that show a countdown.
func (OfferNotifier) Begin(
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
	closes := o.rules.ClosesAt(slot.StartsAt, slot.EndsAt, slot.Rules.BookingCloses, now)
	ends, inTime := o.made.EndWhenSent(o.rules, at, now, closes, zone)
	if !ends.Equal(o.Kept) {
		waitlistdb.ExtendOffer(tx, in, o.ID, ends)
		outbox.Append(tx, in, outbox.Event{
			ID: tenant.New[tenant.EventID](now), Type: outbox.OfferExtended, Session: o.made.Session, Member: o.made.Member,
			Actor: credit.SystemActor, At: now,
			Data: map[string]any{"offer_id": o.ID.String(), "entry_id": o.made.Entry.String(), "expire_time": ends.UTC()},
		})
	}
	return ends, inTime, nil
}

// Unsendable withdraws an offer, so that its seats go to the next in line. An offer by hand stays: staff may tell the
// member themselves.
func (w OfferNotifier) Unsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error {
	withdraw := func(ctx context.Context, tx *engine.Tx) error {
		o, err := w.Waitlists.offered(ctx, tx, id)
		if err != nil || o.Status != waitlist.Live || o.ByHand {
			return err
		}
		_, err = w.Waitlists.letGo(ctx, tx, o.Withdraw(waitlist.Unsendable, "", tx.Now), nil)
		return err
	}
	lost := engine.Losing(seats.PromotionRace)
	return w.Waitlists.engine.Write(ctx, tenant.System(in), "offer.unsendable", withdraw, lost)
}

// Coded reads offers by their code.
func (w OfferNotifier) Coded(ctx context.Context, in tenant.TenantID, phone, code string) ([]CodedOffer, error) {
	var offers []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListOffersByCode(&batch, in, phone, code, &offers)
	err := w.Waitlists.engine.Read(ctx, tenant.System(in), &batch)
	coded := make([]CodedOffer, len(offers))
	for i, o := range offers {
		coded[i] = CodedOffer{o.ID, o.Member, o.Answerable(w.Waitlists.engine.Now()) == nil}
	}
	return coded, err
}

// Answer answers as the offer's member. An offer that was accepted before does not count as accepted if its booking was
// cancelled since.
func (w OfferNotifier) Answer(ctx context.Context, in tenant.TenantID, o CodedOffer, accept bool) error {
	answered, err := w.Waitlists.answerAsMember(ctx, in, o.Member, o.ID, accept)
	if err == nil && accept && answered.Repeated && answered.Booking.Status == booking.Cancelled {
		err = noOffer
	}
	return err
}
