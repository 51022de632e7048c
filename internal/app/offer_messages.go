package app

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/notify"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

// Offers is the waitlist, as far as messages are concerned.
type Offers interface {
	// Find reads offers. It adds to the map.
	Find(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts)
	// Begin lets the window of an offer begin with the transaction, because it is being sent, and gives its end.
	Begin(tx *pg.Tx, in tenant.TenantID, offer OfferFacts, now time.Time) time.Time
	// Unsendable hears, after the commit, of a live offer whose recipient cannot be told in time, so that the next
	// person is asked.
	Unsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error
	// ByCode accepts or declines what was offered to the number's member under a code. Errors: OFFER_NOT_LIVE.
	ByCode(ctx context.Context, in tenant.TenantID, phone string, command notify.Command) error
}

// OfferFacts are an offer as a message tells it.
type OfferFacts struct {
	ID tenant.OfferID
	notify.Offer
	Window   time.Duration // how long it is to be kept once it is sent
	ClaimURL string        // the page with two buttons
	Code     string        // what an SMS is answered with
}

// told is the waitlist of the App itself.
type told struct{ app *App }

// Find reads offers with what the rules say about telling of them.
func (w told) Find(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*OfferFacts) {
	var rules []waitlist.Layer
	store.ListAllRules(b, in, &rules)
	store.ListOffersByID(b, in, ids, func(o waitlist.Offer) {
		r := rulesAt(rules, o.Queue.Location, o.Queue.Service).Rules
		into[o.ID] = &OfferFacts{
			ID: o.ID, Code: o.Code, ClaimURL: w.app.ClaimURL(in, o.ID), Window: o.ExpiresAt.Sub(o.CreatedAt),
			Offer: notify.Offer{
				Live: o.Status == waitlist.Live, ExpiresAt: o.ExpiresAt, EvenInQuiet: r.OffersInQuietHours, NoSMS: o.Score < r.SMSMinScore,
			},
		}
	})
}

// Begin gives the end of the window. It was reckoned without quiet hours when the offer was made: what is sent
// in the morning has all of it.
func (told) Begin(_ *pg.Tx, _ tenant.TenantID, offer OfferFacts, _ time.Time) time.Time {
	return offer.ExpiresAt
}

// Unsendable lets the next person be asked.
func (w told) Unsendable(ctx context.Context, in tenant.TenantID, id tenant.OfferID) error {
	return w.app.write(ctx, tenant.System(in), "offer.unsendable", func(ctx context.Context, t *tx) error {
		o, err := t.offered(ctx, id)
		if err != nil || o.Status != waitlist.Live {
			return err
		}
		_, err = t.letGo(ctx, o, waitlist.Withdrawn, "Nobody could be told in time.", nil)
		return err
	}, losing(byPromotion))
}

// ByCode answers for whichever member the number is of.
func (w told) ByCode(ctx context.Context, in tenant.TenantID, phone string, command notify.Command) error {
	var members []tenant.MemberID
	var batch pg.Batch
	store.ListMembersByPhone(&batch, in, phone, &members)
	if err := w.app.read(ctx, tenant.System(in), &batch); err != nil {
		return err
	}
	err := error(noOffer)
	for _, m := range members {
		if _, err = w.app.AnswerByCode(ctx, in, m, command.Code, command.Kind == notify.Accept); err == nil || fault.ReasonOf(err) != fault.OfferNotFound {
			return err
		}
	}
	return err
}
