package waitlists

import (
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// What a sweep may have to mend. Each repair is counted: another part should have prevented it.
const (
	mendedOffer   = "overdue_offer"  // no alarm ended it
	MendedEntry   = "orphaned_entry" // OFFERED, without a live offer
	MendedRound   = "orphaned_round" // keeps seats that no live offer may claim
	MendedTrigger = "missed_trigger" // seats are open that fit an entry, and nothing was decided
)

// Stats counts what a use case did to waitlist entries and offers.
type Stats struct {
	Entries   map[waitlist.Status]int      // by new status; WAITING: joined
	Offers    map[waitlist.OfferStatus]int // by new status; LIVE: made
	Responses []time.Duration              // from an offer to its answer
	Depths    []int                        // offers of a round until one was accepted
	Repaired  map[string]int               // repairs by the sweep, which should find nothing
}

func (s *Service) countEntry(tx *engine.Tx, as waitlist.Status) {
	tx.OnCommit(func() { s.tally(Stats{Entries: map[waitlist.Status]int{as: 1}}) })
}

// CountRepair counts what a sweep had to repair, once the transaction is committed.
func (s *Service) CountRepair(tx *engine.Tx, what string) {
	tx.OnCommit(func() { s.tally(Stats{Repaired: map[string]int{what: 1}}) })
}

func (s *Service) countOffer(tx *engine.Tx, o waitlist.Offer) {
	t := Stats{Offers: map[waitlist.OfferStatus]int{o.Status: 1}}
	if o.Status == waitlist.Accepted || o.Status == waitlist.Declined {
		t.Responses = []time.Duration{o.ClosedAt.Sub(o.CreatedAt)}
	}
	if o.Status == waitlist.Accepted {
		t.Depths = []int{o.Try}
	}
	tx.OnCommit(func() { s.tally(t) })
}

// RepairKinds are the keys of Tally.Repaired.
func RepairKinds() []string { return []string{mendedOffer, MendedEntry, MendedRound, MendedTrigger} }

// ReportOverdue counts offers that should have been ended before.
func (s *Service) ReportOverdue(n int) { s.tally(Stats{Repaired: map[string]int{mendedOffer: n}}) }
