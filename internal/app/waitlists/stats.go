package waitlists

import (
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// What a sweep can have to repair. Each repair is counted, because none should be needed.
const (
	mendedOffer   = "overdue_offer"  // no alarm ended it
	MendedEntry   = "orphaned_entry" // OFFERED, without a live offer
	MendedRound   = "orphaned_round" // keeps seats that no live offer can claim
	MendedTrigger = "missed_trigger" // open seats fit an entry, and nothing was decided
)

// Stats counts what a use case changed in waitlist entries and offers.
type Stats struct {
	Entries   map[waitlist.Status]int      // by new status; WAITING: joined
	Offers    map[waitlist.OfferStatus]int // by new status; LIVE: made
	Responses []time.Duration              // time from an offer to its answer
	Depths    []int                        // number of offers in a round until one was accepted
	Repaired  map[string]int               // repairs by sweeps
}

func (s *Service) countEntry(tx *engine.Tx, as waitlist.Status) {
	tx.OnCommit(func() { s.tally(Stats{Entries: map[waitlist.Status]int{as: 1}}) })
}

// CountRepair counts a repair by a sweep, if the transaction commits.
func (s *Service) CountRepair(tx *engine.Tx, what string) {
	tx.OnCommit(func() { s.tally(Stats{Repaired: map[string]int{what: 1}}) })
}

func (s *Service) countOffer(tx *engine.Tx, o waitlist.Offer) {
	stats := Stats{Offers: map[waitlist.OfferStatus]int{o.Status: 1}}
	if o.Status == waitlist.Accepted || o.Status == waitlist.Declined {
		stats.Responses = []time.Duration{o.ClosedAt.Sub(o.CreatedAt)}
	}
	if o.Status == waitlist.Accepted {
		stats.Depths = []int{o.Try}
	}
	tx.OnCommit(func() { s.tally(stats) })
}

// RepairKinds are the keys of Stats.Repaired.
func RepairKinds() []string { return []string{mendedOffer, MendedEntry, MendedRound, MendedTrigger} }

// ReportOverdue counts offers that an alarm should have ended before.
func (s *Service) ReportOverdue(n int) { s.tally(Stats{Repaired: map[string]int{mendedOffer: n}}) }
