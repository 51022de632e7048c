package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// TakenBack are the promises of a session that are taken back.
type TakenBack struct {
	Offers []Offer
	Rounds []Round // as they are then: they keep fewer seats, or none
	Seats  int     // that nobody is promised any more
}

// TakeBack chooses what a session takes back of its promises until nobody is promised as many seats as are wanted, or nobody is
// promised any. What was promised last goes first, and no more goes than has to. The live offers come youngest first, with the
// rounds of the session that keep seats.
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
