package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Ending is the end of a live offer, with the state that its consequences depend on.
type Ending struct {
	Offer   Offer // with its final state
	Entry   Entry
	Rules   Rules         // of its session
	Leaving *LeaveOptions // the entry leaves the waitlist; nil: it returns or closes, depending on the rules
	// Got is the booking by which the member got what the entry waits for, other than by this offer; zero if none.
	Got tenant.BookingID
	// Party is that of the booking, which may be smaller than the offer, and larger. 0: the offer's seats.
	Party int
	// For a shared offer: its round, and the live offers of that round.
	Round Round
	Live  []Offer
	// Entries are the entries of the offers that Slower returns.
	Entries map[tenant.EntryID]Entry
}

// triggers are the triggers of a fill after an offer has ended. When a shared offer is accepted, others are withdrawn.
var triggers = map[OfferStatus]Trigger{
	Accepted: ByWithdrawal, Declined: ByDecline, RanOut: ByExpiry, Withdrawn: ByWithdrawal,
}

// taken returns how many of the offer's seats its booking takes.
func (e Ending) taken() int {
	switch {
	case e.Offer.Status != Accepted:
		return 0
	case e.Party == 0:
		return e.Offer.Seats
	}
	return min(e.Party, e.Offer.Seats)
}

// Changes returns the consequences, with the offer's own entry first. The booking of an accepted offer takes the seats
// that the offer reserved: they are not part of Changes.Seats. Those that it leaves go to the next entry.
func (e Ending) Changes(now time.Time) Changes {
	c := Changes{Session: e.Offer.Session, Entries: []EntryChange{e.entryChange(now)}}
	by := triggers[e.Offer.Status]
	switch {
	case e.Offer.Shared:
		e.share(&c, by, now)
	default:
		c.free(e.Offer.Seats-e.taken(), e.Offer.Round, by)
	}
	return c
}

func (e Ending) entryChange(now time.Time) EntryChange {
	c := EntryChange{Entry: e.Entry, Offer: &e.Offer}
	next := Booked
	if e.Offer.Status != Accepted {
		if e.Offer.Status == Withdrawn {
			c.Entry.Tries-- // it could not be accepted
		}
		next = e.Rules.StatusAfter(c.Entry, e.Offer.Status)
		c.LeaveOptions = LeaveOptions{Reason: e.Offer.Reason, Notify: next == Expired}
	}
	got := e.Offer.Booking
	switch {
	case e.Leaving != nil:
		next, c.LeaveOptions = Cancelled, *e.Leaving
	case !e.Got.IsZero():
		next, got, c.Taken = Booked, e.Got, true
	}
	if next == Waiting {
		c.Entry.Status = next
	} else {
		c.Entry = c.Entry.Close(next, got, now)
	}
	return c
}

// Slower returns the other shared offers of the round that need more seats than it now keeps.
func (e Ending) Slower() []Offer {
	return slices.DeleteFunc(e.others(), func(o Offer) bool { return o.Seats <= e.keeps() })
}

func (e Ending) others() []Offer {
	return slices.DeleteFunc(slices.Clone(e.Live), func(o Offer) bool { return !o.Shared || o.ID == e.Offer.ID })
}

func (e Ending) keeps() int { return e.Round.Keeps - e.taken() }

// share withdraws the slower offers. If no other offer is left, it releases the seats that the round keeps.
func (e Ending) share(c *Changes, by Trigger, now time.Time) {
	slower := e.Slower()
	for _, o := range slower {
		c.Entries = append(c.Entries, Ending{Offer: o.Withdraw(TooSlow, "", now), Entry: e.Entries[o.Entry]}.entryChange(now))
	}
	r := e.Round
	r.Keeps = e.keeps()
	if len(slower) < len(e.others()) {
		c.Rounds = []Round{r}
	} else {
		c.closeRound(r, by, now)
	}
	if c.Refill == nil && len(slower) > 0 {
		// Their entries wait again, and may fit seats that are open but not in the round.
		c.Refill = &Refill{Session: r.Session, Trigger: by}
	}
}

// Claimable reports whether one of the live offers can claim the seats that the round keeps.
func (r Round) Claimable(live []Offer) bool {
	return slices.ContainsFunc(live, func(o Offer) bool { return o.Shared && o.Round == r.ID })
}

// ReleaseRound releases the seats that a round keeps, and refills them.
func ReleaseRound(r Round, by Trigger, now time.Time) Changes {
	c := Changes{Session: r.Session}
	c.closeRound(r, by, now)
	return c
}

func (c *Changes) closeRound(r Round, by Trigger, now time.Time) {
	c.free(r.Keeps, r.ID, by)
	r.Keeps, r.Closed = 0, &now
	c.Rounds = []Round{r}
}

// free releases seats, and refills them in the round in which they were offered.
func (c *Changes) free(seats int, in tenant.RoundID, by Trigger) {
	if seats > 0 {
		c.Seats, c.Refill = -seats, &Refill{Session: c.Session, Round: in, Trigger: by}
	}
}
