// Package waitstats counts what happened on a waitlist.
package waitstats

import (
	"time"

	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Counts counts what happened on a waitlist in a period of time.
type Counts struct {
	Entries int // that joined
	Active  int // of those, still waiting
	Booked  int // of those, booked

	Offers    int // sent
	Accepted  int
	Declined  int
	RanOut    int
	Withdrawn int
	Live      int

	// ResponseTime is the sum over accepted and declined offers. Expired ones say nothing about how long members take.
	ResponseTime time.Duration
	// Tries is the sum, over accepted offers, of the number of the offer in its round, from 1.
	Tries int
}

// AcceptanceRate is the share of offers that were accepted, from 0 to 1; 0 if none was sent.
func (t Counts) AcceptanceRate() float64 { return share(t.Accepted, t.Offers) }

// ConversionRate is the share of entries that were booked, from 0 to 1; 0 if none joined.
func (t Counts) ConversionRate() float64 { return share(t.Booked, t.Entries) }

// CascadeDepth is the average number of offers until one is accepted; 0 if none was.
func (t Counts) CascadeDepth() float64 { return share(t.Tries, t.Accepted) }

// AverageResponse is the average time to accept or decline; 0 if no offer was answered.
func (t Counts) AverageResponse() time.Duration {
	if answered := t.Accepted + t.Declined; answered > 0 {
		return t.ResponseTime / time.Duration(answered)
	}
	return 0
}

// Add counts an entry.
func (t *Counts) Add(e waitlist.Entry) {
	t.Entries++
	if e.Status.Active() {
		t.Active++
	}
	if e.Status == waitlist.Booked {
		t.Booked++
	}
}

// AddOffer counts an offer.
func (t *Counts) AddOffer(o waitlist.Offer) {
	t.Offers++
	switch o.Status {
	case waitlist.Accepted:
		t.Accepted++
		t.Tries += o.Try
	case waitlist.Declined:
		t.Declined++
	case waitlist.RanOut:
		t.RanOut++
	case waitlist.Withdrawn:
		t.Withdrawn++
	case waitlist.Live:
		t.Live++
	}
	if o.ClosedAt != nil && (o.Status == waitlist.Accepted || o.Status == waitlist.Declined) {
		t.ResponseTime += o.ClosedAt.Sub(o.CreatedAt)
	}
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Sum adds counts up.
func (t Counts) Sum(o Counts) Counts {
	return Counts{
		Entries: t.Entries + o.Entries, Active: t.Active + o.Active, Booked: t.Booked + o.Booked,
		Offers: t.Offers + o.Offers, Accepted: t.Accepted + o.Accepted, Declined: t.Declined + o.Declined,
		RanOut: t.RanOut + o.RanOut, Withdrawn: t.Withdrawn + o.Withdrawn, Live: t.Live + o.Live,
		ResponseTime: t.ResponseTime + o.ResponseTime, Tries: t.Tries + o.Tries,
	}
}
