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

// Offers is the waitlist, as far as messages are concerned.
type Offers interface {
	// Find reads offers. It adds to the map.
	Find(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts)
	// Begin gives the end of an offer's window if it is told at a moment: now, because it is being sent, or when quiet hours end. With
	// the transaction its seats are kept until then. False: nobody could answer in time.
	Begin(ctx context.Context, tx *pg.Tx, in tenant.TenantID, offer OfferFacts, zone *time.Location, now, at time.Time) (time.Time, bool, error)
	// Unsendable hears, after the commit, of a live offer whose recipient cannot be told in time, so that the next
	// person is asked.
	Unsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error
	// Coded finds the offers to whoever has a number that a code may mean, the latest first.
	Coded(ctx context.Context, in tenant.TenantID, phone, code string) ([]CodedOffer, error)
	// Answer accepts or declines an offer for its member. Errors: OFFER_NOT_LIVE, and what a booking may be refused for.
	Answer(ctx context.Context, in tenant.TenantID, offer CodedOffer, accept bool) error
}

// CodedOffer is an offer that is found by its code.
type CodedOffer struct {
	ID     tenant.OfferID
	Member tenant.MemberID
	Live   bool
}

// OfferFacts are an offer as a message tells it. It has no end before somebody was told.
type OfferFacts struct {
	ID tenant.OfferID
	notify.Offer
	Kept     time.Time // until when its seats are, as it stands
	ClaimURL string    // the page with two buttons
	Code     string    // what an SMS is answered with

	made  waitlist.Offer
	rules waitlist.Rules
}

// Told is the waitlist of the App itself.
type Told struct{ App *Service }

// Find reads offers with what the rules say about telling of them.
func (w Told) Find(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts) {
	now := w.App.engine.Now()
	var rules []waitlist.Layer
	waitlistdb.ListAllRules(b, in, &rules)
	waitlistdb.ListOffersByID(b, in, ids, func(o waitlist.Offer) {
		r := waitlist.RulesAt(rules, o.Queue.Location, o.Queue.Service).Rules
		into[o.ID] = &OfferFacts{
			ID: o.ID, Code: o.Code, ClaimURL: w.App.ClaimURL(in, o.ID), Kept: o.ExpiresAt, made: o, rules: r,
			Offer: notify.Offer{Live: o.Answerable(now) == nil, EvenInQuiet: r.OffersInQuietHours, NoSMS: o.Score < r.SMSMinScore},
		}
	})
	waitlistdb.ListToldOffers(b, in, ids, func(id tenant.OfferID) {
		if o := into[id]; o != nil {
			o.ExpiresAt = o.Kept
		}
	})
}

// late is how much later than its making an offer may be told without its window beginning anew.
const late = 30 * time.Second

// Begin lets the window begin anew where the offer is told later than was reckoned when it was made: quiet hours may be the
// tenant's or the member's own, and a provider may have been away. An end that staff have chosen stays. Whoever watches a countdown hears
// of an end that moves.
func (Told) Begin(ctx context.Context, tx *pg.Tx, in tenant.TenantID, o OfferFacts, zone *time.Location, now, at time.Time) (time.Time, bool, error) {
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, in, o.made.Session, &slot)
	if err := tx.Load(ctx, &batch); err != nil {
		return time.Time{}, false, err
	}
	ends := o.Kept
	if slot == nil || o.made.ByHand {
		return ends, ends.After(at), nil
	}
	until, why := o.rules.OfferUntil(at, closes(*slot, o.rules, now), zone)
	switch {
	case why != "" && at.After(now):
		return ends, false, nil
	case why == "" && until.After(ends.Add(late)):
		ends = until
		waitlistdb.KeepOffer(tx, in, o.ID, ends)
		outbox.Append(tx, in, outbox.Event{
			ID: tenant.New[tenant.EventID](now), Type: outbox.OfferExtended, Session: o.made.Session, Member: o.made.Member, Actor: credit.SystemActor, At: now,
			Data: map[string]any{"offer_id": o.ID.String(), "entry_id": o.made.Entry.String(), "expire_time": ends.UTC()},
		})
	}
	return ends, ends.After(at), nil
}

// Unsendable lets the next person be asked, but for an offer by hand: whom staff have chosen they may tell themselves.
func (w Told) Unsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error {
	return w.App.engine.Write(ctx, tenant.System(in), "offer.unsendable", func(ctx context.Context, tx *engine.Tx) error {
		o, err := w.App.offered(ctx, tx, id)
		if err != nil || o.Status != waitlist.Live || o.ByHand {
			return err
		}
		_, err = w.App.letGo(ctx, tx, o.Withdraw(waitlist.Unsendable, "", tx.Now), nil)
		return err
	}, engine.Losing(seats.LostByPromotion))
}

// Coded reads offers by their code.
func (w Told) Coded(ctx context.Context, in tenant.TenantID, phone, code string) ([]CodedOffer, error) {
	var offers []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListOffersByCode(&batch, in, phone, code, &offers)
	err := w.App.engine.Read(ctx, tenant.System(in), &batch)
	coded := make([]CodedOffer, len(offers))
	for i, o := range offers {
		coded[i] = CodedOffer{o.ID, o.Member, o.Answerable(w.App.engine.Now()) == nil}
	}
	return coded, err
}

// Answer does what the offer's member may. That it was accepted before is no yes to who has cancelled since.
func (w Told) Answer(ctx context.Context, in tenant.TenantID, o CodedOffer, accept bool) error {
	caller := tenant.Caller{Tenant: in, Member: o.Member, Own: true}
	if !accept {
		_, err := w.App.DeclineOffer(ctx, caller, o.ID, false, "")
		return err
	}
	answered, err := w.App.AcceptOffer(ctx, caller, o.ID, tenant.SubscriptionID{})
	if err == nil && answered.Repeated && answered.Booking.Status == booking.Cancelled {
		err = noOffer
	}
	return err
}
