package waitlist_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
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
		text, err := json.Marshal(w.Case)
		if err != nil {
			t.Fatal(err)
		}
		var read waitlist.Case
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.Case, read, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(w.Decide(w.rules), read.Decide(w.rules)); diff != "" {
			t.Fatalf("decided again (-first +second):\n%s", diff)
		}
		again, err := json.Marshal(read)
		if err != nil || string(again) != string(text) {
			t.Fatalf("written again: %s", again)
		}
	})
}

func TestCase_StaysSmall(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(waitlist.Case{
		Slot: slot(1), Queue: queue(1_000), Trigger: waitlist.ByCancellation, Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if each := len(text) / 1_000; each > 200 {
		t.Errorf("%d bytes for each entry", each)
	}
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
		"nobody eligible": {func(r *waitlist.Rules) { r.EligibilityExpression = "false" },
			nil, []tenant.EntryID{entry(0), entry(1)}, 0, waitlist.NobodyFits, waitlist.OfferInTurn, 0, true},
		"all get offers": {func(r *waitlist.Rules) { r.Mode = waitlist.FirstToClaim },
			[]tenant.EntryID{entry(2), entry(3)}, nil, 2, waitlist.MakeOffer, waitlist.FirstToClaim, 2, true},
		"promoted": {
			func(r *waitlist.Rules) { r.Mode = waitlist.AutoPromote }, nil, nil, 2, waitlist.MakeOffer, waitlist.AutoPromote, 2,
			true,
		},
	}
	for name, test := range tests {
		d := waitlist.Compare(before, c.Decide(rules(t, test.rules)))
		if diff := cmp.Diff(test.gained, entries(d.Gained)); diff != "" {
			t.Errorf("%s: gained (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.lost, entries(d.Lost)); diff != "" {
			t.Errorf("%s: lost (-want +got):\n%s", name, diff)
		}
		if d.Kept != test.kept || d.MoveBefore != waitlist.MakeOffer || d.MoveAfter != test.move ||
			d.ModeBefore != waitlist.OfferInTurn ||
			d.ModeAfter != test.mode || d.GivenBefore != 2 || d.GivenAfter != test.given || d.Changes() != test.changes {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestCompare_AccountsForEveryGrant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		draft, err := waitlist.Compile(anyRules(t))
		if err != nil {
			t.Fatal(err)
		}
		before, after := w.Decide(w.rules), w.Decide(draft)
		d, back := waitlist.Compare(before, after), waitlist.Compare(after, before)
		if d.Kept+len(d.Lost) != len(before.Grants) || d.Kept+len(d.Gained) != len(after.Grants) {
			t.Fatalf(
				"%d kept, %d lost, %d gained, of %d and %d", d.Kept, len(d.Lost), len(d.Gained), len(before.Grants),
				len(after.Grants),
			)
		}
		if !slices.Equal(d.Gained, back.Lost) || !slices.Equal(d.Lost, back.Gained) || d.Changes() != back.Changes() {
			t.Fatal("the reverse comparison differs")
		}
		if waitlist.Compare(before, before).Changes() {
			t.Fatal("a decision differs from itself")
		}
	})
}
