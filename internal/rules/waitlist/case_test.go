package waitlist_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCase_RoundTripsThroughJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(0, 999_999_999).Draw(t, "ns")))
		for i := range w.Queue {
			w.Queue[i].Joined = w.Queue[i].Joined.Add(time.Duration(rapid.IntRange(0, 999_999_999).Draw(t, "ns")))
			w.Queue[i].Key = rapid.Int64().Draw(t, "key")
		}
		text := expect.Value(json.Marshal(w.Case))(t)
		var read waitlist.Case
		must.NoError(t, json.Unmarshal(text, &read))
		must.Eq(t, w.Case, read, must.Cmp(cmpopts.EquateEmpty()))
		must.Eq(t, w.Decide(w.rules), read.Decide(w.rules), must.Sprint("decided again (-first +second)"))
		again := expect.Value(json.Marshal(read))(t)
		must.EqOp(t, string(text), string(again), must.Sprintf("written again: %s", again))
	})
}

func TestCase_StaysSmall(t *testing.T) {
	t.Parallel()
	text := expect.Value(json.Marshal(waitlist.Case{
		Slot: slot(1), Queue: queue(1_000), Trigger: waitlist.ByCancellation, Now: now,
	}))(t)
	each := len(text) / 1_000
	test.True(t, each <= 200, test.Sprintf("%d bytes for each entry", each))
}

func TestCompare_ReturnsGainedLostAndKeptGrants(t *testing.T) {
	t.Parallel()
	c := waitlist.Case{Slot: slot(2), Queue: queue(4), Trigger: waitlist.ByCancellation, Now: now}
	c.Queue[0].Tier, c.Queue[2].Tier = "silver", "gold"
	before := c.Decide(rules(t, asIs)) // 0 and 1
	entries := func(grants []waitlist.Grant) (all []tenant.EntryID) {
		for _, g := range grants {
			all = append(all, g.Entry)
		}
		return all
	}
	tests := map[string]struct {
		rules        func(*waitlist.Rules)
		gained, lost []tenant.EntryID
		kept         int
		move         waitlist.Move
		mode         waitlist.Mode
		given        int
		changes      bool
	}{
		"the same rules": {asIs, nil, nil, 2, waitlist.MakeOffer, waitlist.OfferInTurn, 2, false},
		"a longer offer": {
			func(r *waitlist.Rules) { r.OfferWindow = time.Hour }, nil, nil, 2, waitlist.MakeOffer, waitlist.OfferInTurn, 2,
			false,
		},
		"tiers count": {func(r *waitlist.Rules) {
			r.Order, r.TierBonus = waitlist.ByPriority, map[string]int{"gold": 50, "silver": 20}
		},
			[]tenant.EntryID{entry(2)}, []tenant.EntryID{entry(1)}, 1, waitlist.MakeOffer, waitlist.OfferInTurn, 2, true},
		"no one eligible": {func(r *waitlist.Rules) { r.EligibilityExpression = "false" },
			nil, []tenant.EntryID{entry(0), entry(1)}, 0, waitlist.NobodyFits, waitlist.OfferInTurn, 0, true},
		"all get offers": {func(r *waitlist.Rules) { r.Mode = waitlist.FirstToClaim },
			[]tenant.EntryID{entry(2), entry(3)}, nil, 2, waitlist.MakeOffer, waitlist.FirstToClaim, 2, true},
		"promoted": {
			func(r *waitlist.Rules) { r.Mode = waitlist.AutoPromote }, nil, nil, 2, waitlist.MakeOffer, waitlist.AutoPromote, 2,
			true,
		},
	}
	for name, tc := range tests {
		d := waitlist.Compare(before, c.Decide(rules(t, tc.rules)))
		test.Eq(t, tc.gained, entries(d.Gained), test.Sprintf("%s: gained", name))
		test.Eq(t, tc.lost, entries(d.Lost), test.Sprintf("%s: lost", name))
		test.True(
			t, d.Kept == tc.kept && d.MoveBefore == waitlist.MakeOffer && d.MoveAfter == tc.move &&
				d.ModeBefore == waitlist.OfferInTurn && d.ModeAfter == tc.mode && d.GivenBefore == 2 &&
				d.GivenAfter == tc.given && d.Changes() == tc.changes,
			test.Sprintf("%s: %+v", name, d),
		)
	}
}

func TestCompare_AccountsForEveryGrant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		draft := expect.Value(waitlist.Compile(anyRules(t)))(t)
		before, after := w.Decide(w.rules), w.Decide(draft)
		d, back := waitlist.Compare(before, after), waitlist.Compare(after, before)
		must.True(
			t, d.Kept+len(d.Lost) == len(before.Grants) && d.Kept+len(d.Gained) == len(after.Grants),
			must.Sprintf(
				"%d kept, %d lost, %d gained, of %d and %d",
				d.Kept, len(d.Lost), len(d.Gained), len(before.Grants), len(after.Grants),
			),
		)
		must.True(
			t, slices.Equal(d.Gained, back.Lost) && slices.Equal(d.Lost, back.Gained) && d.Changes() == back.Changes(),
			must.Sprint("the reverse comparison differs"),
		)
		must.False(t, waitlist.Compare(before, before).Changes(), must.Sprint("a decision differs from itself"))
	})
}
