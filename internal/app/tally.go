package app

import (
	"time"

	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Tally counts what a use case did to waitlist entries and offers.
type Tally struct {
	Entries   map[waitlist.Status]int      // by new status; WAITING: joined
	Offers    map[waitlist.OfferStatus]int // by new status; LIVE: made
	Responses []time.Duration              // from an offer to its answer
	Depths    []int                        // offers of a round until one was accepted
	Mended    map[string]int               // repairs by the sweep, which should find nothing
}

func (t *Tally) empty() bool {
	return len(t.Entries) == 0 && len(t.Offers) == 0 && len(t.Mended) == 0
}

func (t *Tally) entry(as waitlist.Status) {
	if t.Entries == nil {
		t.Entries = make(map[waitlist.Status]int)
	}
	t.Entries[as]++
}

func (t *Tally) mended(what string) {
	if t.Mended == nil {
		t.Mended = make(map[string]int)
	}
	t.Mended[what]++
}

func (t *Tally) offer(o waitlist.Offer) {
	if t.Offers == nil {
		t.Offers = make(map[waitlist.OfferStatus]int)
	}
	t.Offers[o.Status]++
	if o.Status != waitlist.Accepted && o.Status != waitlist.Declined {
		return
	}
	t.Responses = append(t.Responses, o.ClosedAt.Sub(o.CreatedAt))
	if o.Status == waitlist.Accepted {
		t.Depths = append(t.Depths, o.Try)
	}
}

// Mends are the keys of Tally.Mended.
func Mends() []string { return []string{mendedOffer, mendedEntry, mendedRound, mendedTrigger} }
