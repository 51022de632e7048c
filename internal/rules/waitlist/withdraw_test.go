package waitlist_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// promises returns live offers, the youngest first, each written "seats", or "seats@round" if it shares what a round
// keeps, and rounds, each written "round:seats".
func promises(t *testing.T, offers, rounds string) ([]waitlist.Offer, []waitlist.Round, map[tenant.OfferID]string) {
	t.Helper()
	ids := make(map[string]tenant.RoundID)
	round := func(name string) tenant.RoundID {
		if _, ok := ids[name]; !ok {
			ids[name] = tenant.New[tenant.RoundID](time.Unix(0, 0))
		}
		return ids[name]
	}
	var live []waitlist.Offer
	called := make(map[tenant.OfferID]string)
	for i, text := range strings.Fields(offers) {
		seats, name, shared := strings.Cut(text, "@")
		o := waitlist.Offer{
			ID: tenant.New[tenant.OfferID](time.Unix(0, 0)), Round: round(name), Shared: shared, Status: waitlist.Live,
		}
		if !shared {
			o.Round = tenant.New[tenant.RoundID](time.Unix(0, 0))
		}
		expect.OK(t)(fmt.Sscan(seats, &o.Seats))
		called[o.ID] = fmt.Sprint(i + 1)
		live = append(live, o)
	}
	var keeping []waitlist.Round
	for text := range strings.FieldsSeq(rounds) {
		name, seats, _ := strings.Cut(text, ":")
		r := waitlist.Round{ID: round(name)}
		expect.OK(t)(fmt.Sscan(seats, &r.Keeps))
		keeping = append(keeping, r)
	}
	return live, keeping, called
}

func TestWithdrawSeats_WithdrawsLatestOffersFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		offers, rounds string
		wanted         int
		gone           string // the numbers of the withdrawn offers
		keeps          string // of rounds that change
		seats          int
	}{
		"nothing is wanted":                       {offers: "1 1", wanted: 0},
		"the youngest goes":                       {offers: "1 1 1", wanted: 1, gone: "1", seats: 1},
		"as many as it takes":                     {offers: "1 1 1", wanted: 2, gone: "1 2", seats: 2},
		"a party goes as a whole":                 {offers: "1 3 1", wanted: 2, gone: "1 2", seats: 4},
		"all there are, where that is not enough": {offers: "1 2", wanted: 9, gone: "1 2", seats: 3},
		"what all may claim: who needs too many": {
			offers: "1@a 3@a 2@a", rounds: "a:3", wanted: 1, gone: "2", keeps: "2", seats: 1,
		},
		"what all may claim: all of it": {
			offers: "1@a 1@a", rounds: "a:1", wanted: 1, gone: "1 2", keeps: "0", seats: 1,
		},
		"no more is kept than can be claimed": {
			offers: "1@a 3@a", rounds: "a:3", wanted: 1, gone: "2", keeps: "1", seats: 2,
		},
		"a younger offer goes before an older round": {offers: "1 1@a 1@a", rounds: "a:2", wanted: 1, gone: "1", seats: 1},
		"a younger round goes before an older offer": {
			offers: "1@a 1", rounds: "a:1", wanted: 1, gone: "1", keeps: "0", seats: 1,
		},
		"a round gives no more than an offer left open": {
			offers: "1 1@a 1@a", rounds: "a:2", wanted: 2, gone: "1", keeps: "1", seats: 2,
		},
		"seats that no offer can claim go first": {offers: "1", rounds: "a:2", wanted: 2, keeps: "0", seats: 2},
		"two rounds": {
			offers: "1@a 2@b 1@a", rounds: "a:2 b:2", wanted: 3, gone: "1 3 2", keeps: "0 0", seats: 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, keeping, called := promises(t, tt.offers, tt.rounds)
			taken := waitlist.WithdrawSeats(live, keeping, tt.wanted, time.Unix(1, 0))
			var gone, keeps []string
			for _, o := range taken.Offers {
				gone = append(gone, called[o.ID])
			}
			for _, r := range taken.Rounds {
				keeps = append(keeps, fmt.Sprint(r.Keeps))
				test.EqOp(t, (r.Keeps == 0), (r.Closed != nil),
					test.Sprintf("a round that keeps %d is closed: %v", r.Keeps, r.Closed))
			}
			if g, k := strings.Join(gone, " "), strings.Join(keeps, " "); g != tt.gone || k != tt.keeps ||
				taken.Seats != tt.seats {
				t.Errorf("offers %q go, rounds keep %q, %d seats; want %q, %q, %d", g, k, taken.Seats, tt.gone, tt.keeps, tt.seats)
			}
		})
	}
}

// For any offers and rounds: as many seats are released as are wanted, if there are so many; what stays reserved can
// still be claimed; and no offer is withdrawn needlessly.
func TestWithdrawSeats_WithdrawsOnlyWhatIsNeeded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var keeping []waitlist.Round
		for range rapid.IntRange(0, 3).Draw(t, "rounds") {
			keeping = append(
				keeping,
				waitlist.Round{ID: tenant.New[tenant.RoundID](time.Unix(0, 0)), Keeps: rapid.IntRange(1, 4).Draw(t, "keeps")},
			)
		}
		var live []waitlist.Offer
		promised := 0
		for range rapid.IntRange(0, 8).Draw(t, "offers") {
			o := waitlist.Offer{
				ID: tenant.New[tenant.OfferID](time.Unix(0, 0)), Seats: rapid.IntRange(1, 3).Draw(t, "seats"),
				Status: waitlist.Live,
			}
			if len(keeping) > 0 && rapid.Bool().Draw(t, "shared") {
				r := rapid.SampledFrom(keeping).Draw(t, "round")
				o.Round, o.Shared, o.Seats = r.ID, true, min(o.Seats, r.Keeps)
			}
			promised += o.Reserves()
			live = append(live, o)
		}
		for _, r := range keeping {
			promised += r.Keeps
		}
		wanted := rapid.IntRange(0, 20).Draw(t, "wanted")
		taken := waitlist.WithdrawSeats(live, keeping, wanted, time.Unix(1, 0))
		must.True(
			t, taken.Seats >= min(wanted, promised) && (wanted != 0 || taken.Seats+len(taken.Offers) <= 0),
			must.Sprintf("%d seats come back, %d of %d are wanted", taken.Seats, wanted, promised),
		)
		gone := func(o waitlist.Offer) bool {
			return slices.ContainsFunc(taken.Offers, func(g waitlist.Offer) bool { return g.ID == o.ID })
		}
		for _, r := range taken.Rounds {
			claimable := 0
			for _, o := range live {
				if o.Shared && o.Round == r.ID && !gone(o) {
					must.True(t, o.Seats <= r.Keeps, must.Sprintf("an offer of %d seats stays where %d are kept", o.Seats, r.Keeps))
					claimable += o.Seats
				}
			}
			must.True(t, r.Keeps <= claimable, must.Sprintf("%d seats are kept for offers of %d", r.Keeps, claimable))
		}
		// The last withdrawn offer was needed. A round can release more seats than that, because no offer can claim them any
		// more.
		for i, o := range slices.Backward(live) {
			if len(taken.Rounds) > 0 || !gone(o) {
				continue
			}
			must.True(
				t, taken.Seats-o.Seats < wanted,
				must.Sprintf(
					"offer %d of %d seats went for nothing: %d seats came back, %d are wanted",
					i, o.Seats, taken.Seats, wanted,
				),
			)
			break
		}
	})
}

// Entries that declined, let an offer expire, or could not be notified have had their turn. The others have not.
func TestVoid_DependsOnCause(t *testing.T) {
	t.Parallel()
	void := map[waitlist.Cause]bool{
		waitlist.TooSlow: true, waitlist.FewerSeats: true, waitlist.OffSale: true, waitlist.SessionMoved: true,
		waitlist.SessionGone: true,
		waitlist.Unsendable:  false, waitlist.EntryLeft: false,
	}
	live := waitlist.Offer{Status: waitlist.Live, ExpiresAt: now.Add(time.Hour)}
	words := make(map[string]bool)
	for why := waitlist.TooSlow; why.String() != ""; why++ {
		want, known := void[why]
		o := live.Withdraw(why, "", now)
		test.True(
			t, known && o.Void == want && o.Status == waitlist.Withdrawn && o.Reason == why.String() && o.ClosedAt != nil &&
				!live.Void,
			test.Sprintf("%q: %+v", why, o),
		)
		words[o.Reason] = true
	}
	test.EqOp(t, len(void), len(words), test.Sprintf("%d causes have words, and there are %d", len(words), len(void)))
	o := live.Withdraw(waitlist.SessionGone, "Burst pipe.", now)
	test.True(t, o.Reason == "Burst pipe." && o.Void, test.Sprintf("%+v", o))
	for _, as := range []waitlist.OfferStatus{waitlist.Accepted, waitlist.Declined, waitlist.RanOut} {
		test.False(t, live.Close(as, "", now).Void, test.Sprintf("an offer that is %s is as good as never made", as))
	}
	test.False(t, waitlist.Cause(0).Void(), test.Sprint("no cause at all makes offers void"))
}

func TestAddOffer_NumbersOffersOfRound(t *testing.T) {
	t.Parallel()
	// The second of three offers is void.
	before := waitlist.Round{Tried: append(make([]tenant.EntryID, 0, 3), entry(1), entry(3)), Offers: 3}
	after := before
	test.EqOp(t, 4, after.AddOffer(entry(2)), test.Sprint("it is offer"))
	test.True(
		t, slices.Equal(after.Tried, []tenant.EntryID{entry(1), entry(3), entry(2)}) && len(before.Tried) == 2 &&
			before.Tried[:3][2] != entry(2),
		test.Sprintf("tried %v, before %v", after.Tried, before.Tried),
	)
}
