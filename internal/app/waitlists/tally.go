package waitlists

import (
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// What a sweep may have to mend. Each is counted: something else should have seen to it.
const (
	mendedOffer   = "overdue_offer"  // no alarm ended it
	MendedEntry   = "orphaned_entry" // OFFERED, without a live offer
	MendedRound   = "orphaned_round" // keeps seats, and nobody may claim them
	MendedTrigger = "missed_trigger" // seats are open, somebody waits for them, and nobody was woken
)

// Tally counts what a use case did to waitlist entries and offers.
type Tally struct {
	Entries   map[waitlist.Status]int      // that came to be so; WAITING: that joined
	Offers    map[waitlist.OfferStatus]int // likewise; LIVE: that were made
	Responses []time.Duration              // from an offer to its answer
	Depths    []int                        // offers of a round until one was accepted
	Mended    map[string]int               // by the sweep, which should find nothing
}

func (s *Service) countEntry(tx *engine.Tx, as waitlist.Status) {
	tx.OnCommit(func() { s.tally(Tally{Entries: map[waitlist.Status]int{as: 1}}) })
}

// CountMended counts what a sweep had to repair, once the transaction is committed.
func (s *Service) CountMended(tx *engine.Tx, what string) {
	tx.OnCommit(func() { s.tally(Tally{Mended: map[string]int{what: 1}}) })
}

func (s *Service) countOffer(tx *engine.Tx, what outbox.Type, o waitlist.Offer) {
	t := Tally{Offers: map[waitlist.OfferStatus]int{o.Status: 1}}
	if o.ClosedAt != nil && (what == outbox.OfferAccepted || what == outbox.OfferDeclined) {
		t.Responses = []time.Duration{o.ClosedAt.Sub(o.CreatedAt)}
		if what == outbox.OfferAccepted {
			t.Depths = []int{o.Try}
		}
	}
	tx.OnCommit(func() { s.tally(t) })
}

// Mends are all that Tally.Mended may speak of.
func Mends() []string { return []string{mendedOffer, MendedEntry, MendedRound, MendedTrigger} }

// ReportOverdue counts offers that should have been ended before.
func (s *Service) ReportOverdue(n int) { s.tally(Tally{Mended: map[string]int{mendedOffer: n}}) }
