package waitlist

import "time"

// Tally counts what happened to a waitlist in a span of time.
type Tally struct {
	Entries int // that joined
	Active  int // of those, that still wait
	Booked  int // of those, that got a place

	Offers    int // sent
	Accepted  int
	Declined  int
	RanOut    int
	Withdrawn int
	Live      int

	// ResponseTime is the sum over offers that a person answered, by accepting or declining: what ran out says nothing
	// about how fast people are.
	ResponseTime time.Duration
	// Tries is the sum over accepted offers of which one of their round they were, from 1.
	Tries int
}

// AcceptanceRate is the share of offers that were accepted, 0 to 1; 0 where none was sent.
func (t Tally) AcceptanceRate() float64 { return share(t.Accepted, t.Offers) }

// ConversionRate is the share of entries that got a place, 0 to 1; 0 where nobody joined.
func (t Tally) ConversionRate() float64 { return share(t.Booked, t.Entries) }

// CascadeDepth is how many offers it takes on average until one is accepted; 0 where none was.
func (t Tally) CascadeDepth() float64 { return share(t.Tries, t.Accepted) }

// AverageResponse is how long people take to answer on average; 0 where nobody did.
func (t Tally) AverageResponse() time.Duration {
	if answered := t.Accepted + t.Declined; answered > 0 {
		return t.ResponseTime / time.Duration(answered)
	}
	return 0
}

// Add counts an entry.
func (t *Tally) Add(e Entry) {
	t.Entries++
	t.Active += btoi(e.Status.Active())
	t.Booked += btoi(e.Status == Booked)
}

// AddOffer counts an offer.
func (t *Tally) AddOffer(o Offer) {
	t.Offers++
	switch o.Status {
	case Accepted:
		t.Accepted++
		t.Tries += o.Try
	case Declined:
		t.Declined++
	case RanOut:
		t.RanOut++
	case Withdrawn:
		t.Withdrawn++
	case Live:
		t.Live++
	}
	if o.ClosedAt != nil && (o.Status == Accepted || o.Status == Declined) {
		t.ResponseTime += o.ClosedAt.Sub(o.CreatedAt)
	}
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
