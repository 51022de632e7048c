package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/tenant"
)

// Wants reports whether a slot is what an entry wishes for, to the letter: without the flexibility that rules may
// allow.
func (e Entry) Wants(slot Slot) bool {
	exact := (&Compiled{}).scene(slot, Round{}, slot.StartsAt)
	return exact.outside(e.Window) == "" && (e.Coach.IsZero() || e.Coach == slot.Coach)
}

// Place is where an entry stands in line.
type Place struct {
	Queue
	Session tenant.SessionID // zero: a day of a window
	Starts  time.Time        // of the session
	Gone    bool             // the session is cancelled or deleted
	Zone    string           // IANA, of the location
}

// Over reports whether nothing can come of a place any more.
func (p Place) Over(rules Rules, now time.Time) bool {
	if p.Session.IsZero() {
		return civil.DateOf(now, place(p.Zone)).After(p.Date)
	}
	return p.Gone || !now.Before(p.Starts.Add(rules.FillAfterStart))
}

// MinStale is the least that rules may take for too long.
const MinStale = time.Hour

// Stale reports whether an entry has waited for too long.
func (r Rules) Stale(e Entry, now time.Time) bool {
	return r.ExpireStale && !now.Before(e.CreatedAt.Add(r.StaleAfter))
}

// EndStale ends an entry once the time of all its places has passed, or once it has waited too long by the rules of
// each of them. It returns no changes if the entry stays.
func EndStale(e Entry, places []Place, rules func(Queue) Rules, now time.Time) Changes {
	over := !slices.ContainsFunc(places, func(p Place) bool { return !p.Over(rules(p.Queue), now) })
	stale := !slices.ContainsFunc(places, func(p Place) bool { return !rules(p.Queue).Stale(e, now) })
	if e.Status != Waiting || !over && !stale {
		return Changes{}
	}
	said := Leaving{Reason: "Its time has passed.", Notify: stale}
	if !over {
		said.Reason = "It has waited for too long."
	}
	return closing(e, Expired, said, now)
}

// ByChoice is the grant to an entry that staff choose: for as long as the rules say, and until the slot closes where
// by their lights too little time is left.
func ByChoice(c Candidate, slot Slot, rules *Compiled, now time.Time) Grant {
	s := rules.scene(slot, Round{}, now)
	until, late := s.offerEnd(&c)
	if late != "" {
		until = slot.Closes
	}
	return Grant{Entry: c.Entry, Member: c.Member, Seats: c.Party, Score: s.worth(&c).Score, Until: until}
}

// Chosen is the decision of staff who chose an entry. Seats that it does not take stay as they were, open to all.
func Chosen(c Candidate, grant Grant) Decision {
	seats := grant.Seats
	return Decision{
		Mode: OfferInTurn, Move: MakeOffer, Grants: []Grant{grant}, Seats: &seats, Given: grant.Seats,
		Verdicts: []Verdict{{Entry: c.Entry, Member: c.Member, Reason: WasOffered, Score: grant.Score, Party: c.Party}},
	}
}

// Sum adds counts up.
func (t Tally) Sum(o Tally) Tally {
	return Tally{
		Entries: t.Entries + o.Entries, Active: t.Active + o.Active, Booked: t.Booked + o.Booked,
		Offers: t.Offers + o.Offers, Accepted: t.Accepted + o.Accepted, Declined: t.Declined + o.Declined,
		RanOut: t.RanOut + o.RanOut, Withdrawn: t.Withdrawn + o.Withdrawn, Live: t.Live + o.Live,
		ResponseTime: t.ResponseTime + o.ResponseTime, Tries: t.Tries + o.Tries,
	}
}
