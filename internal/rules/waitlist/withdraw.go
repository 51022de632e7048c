package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Cause is why an offer is withdrawn.
type Cause string

// The causes.
const (
	TooSlow      Cause = "CLAIMED_BY_OTHERS" // others claimed the seats first
	FewerSeats   Cause = "FEWER_SEATS"       // the session has fewer seats
	OffSale      Cause = "SESSION_NOT_OPEN"  // the session was blocked or unpublished
	SessionMoved Cause = "SESSION_MOVED"     // the session changed its time, place or coach
	SessionGone  Cause = "SESSION_CANCELLED" // the session was cancelled or deleted
	Unsendable   Cause = "NOT_NOTIFIED"      // its message could not be sent in time
	EntryLeft    Cause = "ENTRY_LEFT"        // the member left the waitlist, or staff removed the entry
)

// Void reports whether an offer withdrawn for this cause counts as never made. Then it is not counted as a try, and its
// entry can get another offer in the same round. An entry that declined an offer, or let it expire, has had its turn.
// An entry of a void offer has not.
//
// A cause makes an offer void only if the same offer cannot follow automatically: first a seat of the round must be
// booked, or staff must edit the session. Otherwise the offer would be made and withdrawn forever.
func (c Cause) Void() bool {
	switch c {
	case TooSlow, FewerSeats, OffSale, SessionMoved, SessionGone:
		return true
	case Unsendable: // the next offer would fail the same way: same time, same member
		return false
	case EntryLeft: // the member had the offer, and leaving declines it
		return false
	}
	return false
}

// Withdraw ends a live offer that can no longer be answered. The reason is what staff said; empty, if nothing.
func (o Offer) Withdraw(why Cause, reason string, now time.Time) Offer {
	o = o.Close(Withdrawn, reason, now)
	o.Cause, o.Void = why, why.Void()
	return o
}

// WithdrawnSeats are the offers and seats that a session takes back.
type WithdrawnSeats struct {
	Offers []Offer
	Rounds []Round // with their new state: they keep fewer seats, or none
	Seats  int     // no longer reserved
}

// WithdrawSeats chooses offers and kept seats to take back, until as many seats as wanted are released, or none are
// left. The latest offers go first, and no more of them than needed. The live offers are ordered youngest first, and
// keeping are the rounds of the session that keep seats.
func WithdrawSeats(live []Offer, keeping []Round, wanted int, now time.Time) WithdrawnSeats {
	var taken WithdrawnSeats
	claimants := make(map[tenant.RoundID][]Offer)
	for _, o := range live {
		if o.Shared {
			claimants[o.Round] = append(claimants[o.Round], o)
		}
	}
	give := func(r Round) {
		before := r.Keeps
		r.Keeps -= min(before, max(wanted-taken.Seats, 0))
		claimable := 0
		for _, o := range claimants[r.ID] {
			if o.Seats > r.Keeps {
				taken.Offers = append(taken.Offers, o)
				continue
			}
			claimable += o.Seats
		}
		if r.Keeps = min(r.Keeps, claimable); r.Keeps == 0 {
			r.Closed = &now
		}
		taken.Rounds, taken.Seats = append(taken.Rounds, r), taken.Seats+before-r.Keeps
	}
	keeping = slices.DeleteFunc(slices.Clone(keeping), func(r Round) bool {
		orphan := len(claimants[r.ID]) == 0 // no offer can claim its seats
		if orphan && taken.Seats < wanted {
			give(r)
		}
		return orphan
	})
	for _, o := range live {
		switch at := slices.IndexFunc(keeping, func(r Round) bool { return r.ID == o.Round }); {
		case taken.Seats >= wanted:
			return taken
		case !o.Shared:
			taken.Offers, taken.Seats = append(taken.Offers, o), taken.Seats+o.Reserves()
		case at >= 0:
			give(keeping[at])
			keeping = slices.Delete(keeping, at, at+1)
		}
	}
	return taken
}

// Changes returns the consequences for the session: the offers end, and their entries wait again. The reason is what
// staff said. There is no Refill: the caller decides what the seats are for.
func (s WithdrawnSeats) Changes(
	in tenant.SessionID, entries map[tenant.EntryID]Entry, why Cause, reason string, now time.Time,
) Changes {
	c := Changes{Session: in, Rounds: s.Rounds, Seats: -s.Seats}
	for _, o := range s.Offers {
		c.Entries = append(c.Entries, Ending{Offer: o.Withdraw(why, reason, now), Entry: entries[o.Entry]}.entryChange(now))
	}
	return c
}
