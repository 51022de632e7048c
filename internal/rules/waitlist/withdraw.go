package waitlist

import (
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Cause is why an offer is withdrawn.
type Cause int

// The causes.
const (
	TooSlow      Cause = iota + 1 // others claimed the seats first
	FewerSeats                    // the session has fewer
	OffSale                       // the session is
	SessionMoved                  // it is at another time or place, or with another coach
	SessionGone                   // it was cancelled or deleted
	Unsendable                    // nobody could tell its member in time
	EntryLeft                     // its member left the waitlist, or staff removed them
)

// Void reports whether an offer that is withdrawn for this cause is as good as never made: it is no try for its
// seats, and its entry may be asked for them again in the same round. Whoever said no, or let an offer run out, has
// had their turn; who did neither has not.
//
// A cause makes an offer void only if the same offer cannot come again by itself: somebody has to book seats of the
// round first, or staff have to edit the session. Otherwise it would be made and withdrawn without end.
func (c Cause) Void() bool {
	switch c {
	case TooSlow, FewerSeats, OffSale, SessionMoved, SessionGone:
		return true
	case Unsendable: // as it would be again: it is the same hour, and the same member
		return false
	case EntryLeft: // they were asked, and that is a no
		return false
	}
	return false
}

func (c Cause) String() string {
	switch c {
	case TooSlow:
		return "The seats were taken by somebody faster."
	case FewerSeats:
		return "The session has fewer seats."
	case OffSale:
		return "The session is off sale."
	case SessionMoved:
		return "The session was moved."
	case SessionGone:
		return "The session does not take place."
	case Unsendable:
		return "Nobody could be told in time."
	case EntryLeft:
		return "The entry has left the waitlist."
	}
	return ""
}

// Withdraw ends a live offer that is nobody's to answer any more. Words say why; where there are none, those of the
// cause.
func (o Offer) Withdraw(why Cause, words string, now time.Time) Offer {
	o = o.Close(Withdrawn, cmp.Or(words, why.String()), now)
	o.Void = why.Void()
	return o
}

// TakenBack are the promises of a session that are taken back.
type TakenBack struct {
	Offers []Offer
	Rounds []Round // as they are then: they keep fewer seats, or none
	Seats  int     // that nobody is promised any more
}

// TakeBack chooses what a session takes back of its promises until nobody is promised as many seats as are wanted, or
// nobody is promised any. What was promised last goes first, and no more goes than has to. The live offers come
// youngest first, with the rounds of the session that keep seats.
func TakeBack(live []Offer, keeping []Round, wanted int, now time.Time) TakenBack {
	var taken TakenBack
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
		orphan := len(claimants[r.ID]) == 0 // nobody may claim its seats
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

// Changes are the consequences for the session: the offers end, and their entries wait again. Words give the reason,
// if the cause does not. There is no Refill: the caller knows what the seats are for.
func (t TakenBack) Changes(
	in tenant.SessionID, entries map[tenant.EntryID]Entry, why Cause, words string, now time.Time,
) Changes {
	c := Changes{Session: in, Rounds: t.Rounds, Seats: -t.Seats}
	for _, o := range t.Offers {
		c.Entries = append(c.Entries, Ending{Offer: o.Withdraw(why, words, now), Entry: entries[o.Entry]}.entryChange(now))
	}
	return c
}
