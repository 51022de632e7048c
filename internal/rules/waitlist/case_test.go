package waitlist_test

import (
	"cmp"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
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
		must.True(t, reflect.DeepEqual(w.Case, read), must.Sprintf("read again: %+v", read))
		must.True(t, reflect.DeepEqual(w.Decide(w.rules), read.Decide(w.rules)), must.Sprint("decided again"))
		again := expect.Value(json.Marshal(read))(t)
		must.EqOp(t, string(text), string(again), must.Sprintf("written again: %s", again))
	})
}

func TestCase_StaysSmall(t *testing.T) {
	t.Parallel()
	text := expect.Value(json.Marshal(caseOf(queue(1_000)...)))(t)
	test.LessEq(t, 200, len(text)/1_000, test.Sprint("bytes for each entry"))
}

func TestCompare_ReturnsGainedLostAndKeptGrants(t *testing.T) {
	t.Parallel()
	c := vary.From(caseOf(queueOf(set{"Tier": "silver"}, nil, set{"Tier": "gold"}, nil)...), set{"Slot.Seats": 2})
	before := c.Decide(rules(t, nil)) // 0 and 1
	grants := func(of ...int) (all []waitlist.Grant) {
		for _, i := range of {
			all = append(all, waitlist.Grant{Entry: entry(i)})
		}
		return all
	}
	for name, tt := range map[string]struct {
		rules   set
		want    waitlist.Difference
		changes bool
	}{
		"the same rules": {nil, waitlist.Difference{Kept: 2, GivenAfter: 2}, false},
		"a longer offer": {set{"OfferWindow": time.Hour}, waitlist.Difference{Kept: 2, GivenAfter: 2}, false},
		"tiers count": {
			set{"Order": waitlist.ByPriority, "TierBonuses": map[string]int{"gold": 50, "silver": 20}},
			waitlist.Difference{Gained: grants(2), Lost: grants(1), Kept: 1, GivenAfter: 2}, true,
		},
		"no one eligible": {
			set{"EligibilityExpression": "false"}, waitlist.Difference{MoveAfter: waitlist.NobodyFits, Lost: grants(0, 1)}, true,
		},
		"all get offers": {
			first, waitlist.Difference{ModeAfter: waitlist.FirstToClaim, Gained: grants(2, 3), Kept: 2, GivenAfter: 2}, true,
		},
		"promoted": {auto, waitlist.Difference{ModeAfter: waitlist.AutoPromote, Kept: 2, GivenAfter: 2}, true},
	} {
		tt.want.MoveBefore, tt.want.ModeBefore, tt.want.GivenBefore = waitlist.MakeOffer, waitlist.OfferInTurn, 2
		tt.want.MoveAfter = cmp.Or(tt.want.MoveAfter, waitlist.MakeOffer)
		tt.want.ModeAfter = cmp.Or(tt.want.ModeAfter, waitlist.OfferInTurn)
		d := waitlist.Compare(before, c.Decide(rules(t, tt.rules)))
		byEntry := test.Cmp(cmpopts.IgnoreFields(waitlist.Grant{}, "Member", "Seats", "Score", "Until"))
		test.Eq(t, tt.want, d, byEntry, test.Sprint(name))
		test.EqOp(t, tt.changes, d.Changes(), test.Sprint(name))
	}
}

func TestCompare_AccountsForEveryGrant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		before, after := w.Decide(w.rules), w.Decide(expect.Value(waitlist.Compile(anyRules(t)))(t))
		d, back := waitlist.Compare(before, after), waitlist.Compare(after, before)
		must.EqOp(t, len(before.Grants), d.Kept+len(d.Lost))
		must.EqOp(t, len(after.Grants), d.Kept+len(d.Gained))
		must.Eq(
			t, []any{d.Gained, d.Lost, d.Changes()}, []any{back.Lost, back.Gained, back.Changes()},
			must.Cmp(cmpopts.EquateEmpty()),
		)
		must.False(t, waitlist.Compare(before, before).Changes())
	})
}
