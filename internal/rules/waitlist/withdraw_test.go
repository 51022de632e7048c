package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// own and shared are offers by their seats; a shared one is of a round. Younger ones have lower numbers.
func own(seats int) waitlist.Offer { return waitlist.Offer{Seats: seats, Status: waitlist.Live} }

func shared(round uint64, seats int) waitlist.Offer {
	return waitlist.Offer{Round: id[tenant.RoundID](round), Seats: seats, Shared: true, Status: waitlist.Live}
}

func keeping(round uint64, seats int) waitlist.Round {
	return waitlist.Round{ID: id[tenant.RoundID](round), Keeps: seats}
}

func TestWithdrawSeats_WithdrawsLatestOffersFirst(t *testing.T) {
	t.Parallel()
	type (
		offers []waitlist.Offer
		rounds []waitlist.Round
	)
	for name, tt := range map[string]struct {
		live    offers // the youngest first
		keeping rounds
		wanted  int
		gone    []int  // the numbers of the withdrawn offers
		keeps   rounds // that change
		seats   int
	}{
		"nothing is wanted":                       {offers{own(1), own(1)}, nil, 0, nil, nil, 0},
		"the youngest goes":                       {offers{own(1), own(1), own(1)}, nil, 1, []int{1}, nil, 1},
		"as many as it takes":                     {offers{own(1), own(1), own(1)}, nil, 2, []int{1, 2}, nil, 2},
		"a party goes as a whole":                 {offers{own(1), own(3), own(1)}, nil, 2, []int{1, 2}, nil, 4},
		"all there are, where that is not enough": {offers{own(1), own(2)}, nil, 9, []int{1, 2}, nil, 3},
		"what all may claim: who needs too many": {
			offers{shared(7, 1), shared(7, 3), shared(7, 2)}, rounds{keeping(7, 3)}, 1, []int{2}, rounds{keeping(7, 2)}, 1,
		},
		"what all may claim: all of it": {
			offers{shared(7, 1), shared(7, 1)}, rounds{keeping(7, 1)}, 1, []int{1, 2}, rounds{keeping(7, 0)}, 1,
		},
		"no more is kept than can be claimed": {
			offers{shared(7, 1), shared(7, 3)}, rounds{keeping(7, 3)}, 1, []int{2}, rounds{keeping(7, 1)}, 2,
		},
		"a younger offer goes before an older round": {
			offers{own(1), shared(7, 1), shared(7, 1)}, rounds{keeping(7, 2)}, 1, []int{1}, nil, 1,
		},
		"a younger round goes before an older offer": {
			offers{shared(7, 1), own(1)}, rounds{keeping(7, 1)}, 1, []int{1}, rounds{keeping(7, 0)}, 1,
		},
		"a round gives no more than an offer left open": {
			offers{own(1), shared(7, 1), shared(7, 1)}, rounds{keeping(7, 2)}, 2, []int{1}, rounds{keeping(7, 1)}, 2,
		},
		"seats that no offer can claim go first": {offers{own(1)}, rounds{keeping(7, 2)}, 2, nil, rounds{keeping(7, 0)}, 2},
		"two rounds": {
			offers{shared(7, 1), shared(8, 2), shared(7, 1)}, rounds{keeping(7, 2), keeping(8, 2)}, 3, []int{1, 3, 2},
			rounds{keeping(7, 0), keeping(8, 0)}, 4,
		},
	} {
		for i := range tt.live {
			tt.live[i].ID = id[tenant.OfferID](uint64(i + 1))
		}
		want := waitlist.WithdrawnSeats{Seats: tt.seats}
		for _, number := range tt.gone {
			want.Offers = append(want.Offers, tt.live[number-1])
		}
		for _, r := range tt.keeps {
			if r.Keeps == 0 {
				r.Closed = &now
			}
			want.Rounds = append(want.Rounds, r)
		}
		test.Eq(t, want, waitlist.WithdrawSeats(tt.live, tt.keeping, tt.wanted, now), test.Sprint(name))
	}
}

// For any offers and rounds: as many seats are released as are wanted, if there are so many; what stays reserved can
// still be claimed; and no offer is withdrawn needlessly.
func TestWithdrawSeats_WithdrawsOnlyWhatIsNeeded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rounds []waitlist.Round
		promised := 0
		for i := range rapid.IntRange(0, 3).Draw(t, "rounds") {
			rounds = append(rounds, keeping(uint64(i+1), rapid.IntRange(1, 4).Draw(t, "keeps")))
			promised += rounds[i].Keeps
		}
		var live []waitlist.Offer
		for i := range rapid.IntRange(0, 8).Draw(t, "offers") {
			o := own(rapid.IntRange(1, 3).Draw(t, "seats"))
			if len(rounds) > 0 && rapid.Bool().Draw(t, "shared") {
				r := rapid.SampledFrom(rounds).Draw(t, "round")
				o.Round, o.Shared, o.Seats = r.ID, true, min(o.Seats, r.Keeps)
			}
			o.ID = id[tenant.OfferID](uint64(i + 1))
			promised += o.Reserves()
			live = append(live, o)
		}
		wanted := rapid.IntRange(0, 20).Draw(t, "wanted")
		taken := waitlist.WithdrawSeats(live, rounds, wanted, now)
		must.GreaterEq(t, min(wanted, promised), taken.Seats,
			must.Sprintf("%d seats come back, %d of %d are wanted", taken.Seats, wanted, promised))
		must.True(t, wanted != 0 || taken.Seats+len(taken.Offers) == 0,
			must.Sprintf("%d seats come back, %d of %d are wanted", taken.Seats, wanted, promised))
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
		if n := len(taken.Offers); n > 0 && len(taken.Rounds) == 0 {
			must.True(t, taken.Seats-taken.Offers[n-1].Seats < wanted, must.Sprintf("%+v, %d are wanted", taken, wanted))
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
	for why, is := range void {
		want := vary.From(live, set{
			"Status": waitlist.Withdrawn, "Cause": why, "Reason": "Burst pipe.", "Void": is, "ClosedAt": now,
		})
		test.Eq(t, want, live.Withdraw(why, "Burst pipe.", now))
	}
}

func TestAddOffer_NumbersOffersOfRound(t *testing.T) {
	t.Parallel()
	// The second of three offers is void.
	ana := id[tenant.MemberID](1)
	before := waitlist.Round{Tried: append(make([]tenant.EntryID, 0, 3), entry(1), entry(3)), Offers: 3}
	after := before
	test.EqOp(t, 4, after.AddOffer(waitlist.Entry{ID: entry(2), Member: ana}))
	test.Eq(t, waitlist.Round{Tried: some(1, 3, 2), Offers: 4, Asked: []tenant.MemberID{ana}}, after)
	// A member with two entries is asked twice, and counts once. Guests count as no one.
	after.AddOffer(waitlist.Entry{ID: entry(5), Member: ana})
	after.AddOffer(waitlist.Entry{ID: entry(6)})
	test.Eq(t, []tenant.MemberID{ana}, after.Asked)
	test.Eq(t, some(1, 3), before.Tried)
	test.NotEqOp(t, entry(2), before.Tried[:3][2], test.Sprint("rounds share memory"))
}
