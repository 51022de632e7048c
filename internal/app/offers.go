package app

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/notify"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
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

// noOffers is a waitlist without offers.
type noOffers struct{}

func (noOffers) Find(*pg.Batch, tenant.TenantID, []tenant.OfferID, map[tenant.OfferID]*OfferFacts) {}

func (noOffers) Begin(_ *pg.Tx, _ tenant.TenantID, _ OfferFacts, now time.Time) time.Time { return now }

func (noOffers) Unsendable(context.Context, tenant.TenantID, tenant.OfferID) error { return nil }

func (noOffers) ByCode(context.Context, tenant.TenantID, string, notify.Command) error {
	return fault.New(fault.FailedPrecondition, fault.OfferNotLive, "There is no such offer.")
}
