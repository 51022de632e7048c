package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func inOrder(s waitlist.Slot, all []waitlist.Candidate, r *waitlist.CompiledRules, at time.Time) []tenant.EntryID {
	order := make([]tenant.EntryID, len(all))
	for _, c := range all {
		order[waitlist.RankOf(c.Entry, s, all, r, at).Position-1] = c.Entry
	}
	return order
}

func TestDecide_SortsByFlagScoreAndJoining(t *testing.T) {
	t.Parallel()
	gold, flag, flaggedGold := set{"Tier": "gold"}, set{"Flagged": true}, set{"Tier": "gold", "Flagged": true}
	score := func(n int) set { return set{"Score": n} }
	early := set{"Joined": starts.Add(-20 * 24 * time.Hour)}
	priority := set{"Order": waitlist.ByPriority, "TierBonuses": map[string]int{"gold": 50}, "EarlyBirdPointsPerDay": 2}
	custom := func(text string) set { return set{"Order": waitlist.ByFormula, "PriorityExpression": text} }
	for name, tt := range map[string]struct {
		rules  set
		differ []set // of the first entry, the second, and so on
		want   []int
	}{
		"the first to join":         {nil, []set{2: nil}, []int{0, 1, 2}},
		"tiers say nothing to that": {nil, []set{1: gold, 2: nil}, []int{0, 1, 2}},
		"nor do scores":             {nil, []set{2: score(999)}, []int{0, 1, 2}},
		"a flag lifts above all":    {nil, []set{2: flag}, []int{2, 0, 1}},
		"flagged ones by joining":   {nil, []set{1: flag, 2: flag}, []int{1, 2, 0}},
		"equal keys by entry": {
			nil, []set{{"Key": 7, "Entry": entry(3)}, {"Key": 7}, {"Key": 7}}, []int{1, 2, 3},
		},
		"a bonus for a tier":            {priority, []set{1: gold, 2: nil}, []int{1, 0, 2}},
		"a bonus for joining early":     {priority, []set{2: early}, []int{2, 0, 1}},
		"ties by joining":               {priority, []set{1: gold, 2: gold}, []int{1, 2, 0}},
		"flagged ones by score":         {priority, []set{0: flag, 2: flaggedGold}, []int{2, 0, 1}},
		"a flag is more than any score": {priority, []set{0: gold, 2: flag}, []int{2, 0, 1}},
		"staff's own score":             {priority, []set{0: gold, 2: score(155)}, []int{2, 0, 1}},
		"staff's own score may be low":  {priority, []set{0: score(0), 2: nil}, []int{1, 2, 0}},
		"a formula": {
			custom(`member.tier == "gold" ? 7 : 3`), []set{1: gold, 2: nil}, []int{1, 0, 2},
		},
		"a formula with decimals":                  {custom(`entry.waiting_hours / 100.0`), []set{2: early}, []int{2, 0, 1}},
		"a formula that fails ranks all alike":     {custom(`100 / entry.offers`), []set{2: nil}, []int{0, 1, 2}},
		"no formula ranks all alike":               {custom(""), []set{1: gold, 2: nil}, []int{0, 1, 2}},
		"staff's own score comes before a formula": {custom(`7`), []set{1: score(8), 2: nil}, []int{1, 0, 2}},
	} {
		test.Eq(t, some(tt.want...), inOrder(slot(1), queueOf(tt.differ...), rules(t, tt.rules), now), test.Sprint(name))
	}
}

// Moving an entry changes the position of no other entry relative to the rest, however close their keys are. A score
// that does not count stays the entry's own, and to move the last one last changes nothing.
func TestMove_PutsEntryBeforeAnotherOrLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		if len(w.Queue) == 0 {
			return
		}
		room := rapid.SampledFrom([]int64{1, 1 << 10}).Draw(t, "room")
		for i := range w.Queue {
			w.Queue[i].Key *= room
		}
		want := inOrder(w.Slot, w.Queue, w.rules, w.Now)
		wasLast := want[len(want)-1]
		moving := rapid.SampledFrom(want).Draw(t, "moving")
		before := rapid.OneOf(rapid.Just(tenant.EntryID{}), rapid.SampledFrom(want)).Draw(t, "before")
		own := w.Queue[slices.IndexFunc(w.Queue, func(c waitlist.Candidate) bool { return c.Entry == moving })]
		moved := waitlist.MoveBefore(w.Slot, w.Queue, moving, before, w.rules, w.Now)
		if before.IsZero() {
			moved = waitlist.MoveLast(w.Slot, w.Queue, moving, w.rules, w.Now)
			must.MapLen(t, 1, moved.Keys)
		}
		if before == moving || before.IsZero() && moving == wasLast {
			must.Eq(t, waitlist.OrderChange{Flagged: own.Flagged, Score: own.Score}, vary.From(moved, set{"Keys": nil}))
		} else if w.rules.Order == waitlist.ByJoining {
			must.Eq(t, own.Score, moved.Score)
		}
		if before != moving {
			want = slices.DeleteFunc(want, func(e tenant.EntryID) bool { return e == moving })
			want = slices.Insert(want, (slices.Index(want, before)+len(want)+1)%(len(want)+1), moving)
		}
		apply(w.Queue, moving, moved)
		must.Eq(t, want, inOrder(w.Slot, w.Queue, w.rules, w.Now))
	})
}

func TestDecide_ComputesScore(t *testing.T) {
	t.Parallel()
	gold := map[string]int{"gold": 50}
	for name, tt := range map[string]struct {
		rules  set
		joined time.Duration // before the start
		tier   string
		want   waitlist.Scoring
	}{
		"100 by default":        {nil, 100 * time.Hour, "gold", waitlist.Scoring{Base: 100}},
		"another base":          {set{"BaseScore": 10}, 0, "", waitlist.Scoring{Base: 10}},
		"the bonus of the tier": {set{"TierBonuses": gold}, 0, "gold", waitlist.Scoring{Base: 100, TierBonus: 50}},
		"no bonus for another":  {set{"TierBonuses": gold}, 0, "silver", waitlist.Scoring{Base: 100}},
		"points for each day": {
			set{"EarlyBirdPointsPerDay": 3}, 48 * time.Hour, "", waitlist.Scoring{Base: 100, EarlyBird: 6},
		},
		"whole days alone": {
			set{"EarlyBirdPointsPerDay": 3}, 48*time.Hour - time.Second, "", waitlist.Scoring{Base: 100, EarlyBird: 3},
		},
		"at most 50 points by default": {
			set{"EarlyBirdPointsPerDay": 3}, 365 * 24 * time.Hour, "", waitlist.Scoring{Base: 100, EarlyBird: 50},
		},
		"another limit": {
			set{"EarlyBirdPointsPerDay": 3, "EarlyBirdMaxPoints": 4}, 365 * 24 * time.Hour, "",
			waitlist.Scoring{Base: 100, EarlyBird: 4},
		},
		"none for joining after the start": {
			set{"EarlyBirdPointsPerDay": 3}, -72 * time.Hour, "", waitlist.Scoring{Base: 100},
		},
		"all of it": {
			set{"BaseScore": 20, "TierBonuses": map[string]int{"gold": 30}, "EarlyBirdPointsPerDay": 1},
			4 * 24 * time.Hour, "gold",
			waitlist.Scoring{Base: 20, TierBonus: 30, EarlyBird: 4},
		},
	} {
		q := queueOf(set{"Joined": starts.Add(-tt.joined), "Tier": tt.tier})
		r := rules(t, tt.rules)
		r.Order, tt.want.Sum = waitlist.ByPriority, true
		tt.want.Score = tt.want.Base + tt.want.TierBonus + tt.want.EarlyBird
		test.EqOp(
			t, waitlist.Rank{Position: 1, Scoring: tt.want}, waitlist.RankOf(entry(0), slot(1), q, r, now), test.Sprint(name),
		)
	}
}

// The rank of an entry is the one that a decision would use. Only a score of the rules is a sum.
func TestRankOf_MatchesDecision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for i, v := range w.Decide(w.rules).Verdicts {
			c := w.Queue[slices.IndexFunc(w.Queue, func(c waitlist.Candidate) bool { return c.Entry == v.Entry })]
			got := waitlist.RankOf(v.Entry, w.Slot, w.Queue, w.rules, w.Now)
			want := waitlist.Rank{Position: i + 1, Scoring: waitlist.Scoring{Score: v.Score}}
			if c.Score == nil && w.rules.Order != waitlist.ByFormula {
				want = got
				want.Position, want.Scoring.Score, want.Scoring.Sum = i+1, v.Score, true
			}
			must.EqOp(t, want, got)
		}
		must.EqOp(t, waitlist.Rank{}, waitlist.RankOf(entry(99), w.Slot, w.Queue, w.rules, w.Now))
	})
}

func apply(q []waitlist.Candidate, moved tenant.EntryID, m waitlist.OrderChange) {
	for i := range q {
		if q[i].Entry == moved {
			q[i].Flagged, q[i].Score = m.Flagged, m.Score
		}
		if key, ok := m.Keys[q[i].Entry]; ok {
			q[i].Key = key
		}
	}
}

// If there is room between neighbors, only the key of the moved entry changes.
func TestEntryMove_TakesTheNewOrder(t *testing.T) {
	t.Parallel()
	r := rules(t, set{"Order": waitlist.ByPriority})
	all := queue(3)
	all[1].Flagged = true
	e := waitlist.Entry{ID: entry(2), Key: all[2].Key}
	for name, tt := range map[string]struct {
		queue  []waitlist.Candidate
		before tenant.EntryID
		want   string
	}{
		"before another": {all, entry(0), ""},
		"to the end":     {all, tenant.EntryID{}, ""},
		"before itself":  {all, entry(2), ""},
		"without a queue in common": {
			nil, entry(0), "INVALID_FIELD @before_entry_id",
		},
		"before itself, and no longer in a queue": {nil, entry(2), "INVALID_FIELD @before_entry_id"},
	} {
		moved, others, err := e.Move(slot(1), tt.queue, tt.before, r, now)
		expect.Fault(t, tt.want, name)(err)
		want := e
		if tt.want == "" && tt.before != entry(2) {
			order := waitlist.MoveBefore(slot(1), all, entry(2), tt.before, r, now)
			if tt.before.IsZero() {
				order = waitlist.MoveLast(slot(1), all, entry(2), r, now)
			}
			want.Flagged, want.Score, want.Key = order.Flagged, order.Score, order.Keys[entry(2)]
		}
		test.Eq(t, want, moved, test.Sprint(name))
		test.SliceEmpty(t, others, test.Sprint(name))
	}
	// Without room between the keys, the others make it.
	tight := queue(3)
	for i := range tight {
		tight[i].Key = int64(i)
	}
	moved, others, err := e.Move(slot(1), tight, entry(1), r, now)
	expect.Fault(t, "")(err)
	test.EqOp(t, 1, moved.Key)
	test.Eq(t, []waitlist.Entry{{ID: entry(1), Key: 2}}, others)
}

func TestMoveBefore_ChangesOneKeyIfThereIsRoom(t *testing.T) {
	t.Parallel()
	q := queue(5)
	for range 9 { // halves the room of 2^10 and the difference of two times
		for _, move := range [][]int{{4, 2}, {3, 4}} {
			m := waitlist.MoveBefore(slot(1), q, entry(move[0]), entry(move[1]), rules(t, nil), now)
			must.MapLen(t, 1, m.Keys)
			apply(q, entry(move[0]), m)
		}
	}
}

// Without room, only the keys of entries directly next to each other change.
func TestMoveBefore_ChangesFewestKeysWithoutRoom(t *testing.T) {
	t.Parallel()
	for first, want := range map[bool]map[tenant.EntryID]int64{
		false: {entry(5): 11, entry(1): 12, entry(2): 13},
		true:  {entry(5): 11 - 1<<10}, // a flagged entry is another group: its key need not differ
	} {
		q := queueOf(
			set{"Key": 10, "Flagged": first}, set{"Key": 11}, set{"Key": 12}, set{"Key": 40}, set{"Key": 41}, set{"Key": 60},
		)
		test.Eq(t, want, waitlist.MoveBefore(slot(1), q, entry(5), entry(1), rules(t, nil), now).Keys)
	}
}

func TestMoveBefore_KeepsEntryWithoutOtherTarget(t *testing.T) {
	t.Parallel()
	for _, before := range []tenant.EntryID{entry(0), entry(9)} { // itself, and one that is not there
		got := waitlist.MoveBefore(
			slot(1), queueOf(set{"Flagged": true, "Score": 7}, nil), entry(0), before, rules(t, nil), now,
		)
		test.Eq(t, waitlist.OrderChange{Flagged: true, Score: new(7), Keys: map[tenant.EntryID]int64{}}, got)
	}
}

func TestNextKey_ExceedsLastKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		last, at := int64(0), now
		for range rapid.IntRange(1, 50).Draw(t, "entries") {
			at = at.Add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "clock")))
			key := waitlist.NextKey(at, last)
			must.Greater(t, last, key, must.Sprintf("%d after %d", key, last))
			must.True(t, last <= 0 || key-last >= 2, must.Sprintf("%d after %d", key, last))
			last = key
		}
	})
	key := waitlist.NextKey(now, 0)
	test.Greater(t, key, waitlist.NextKey(now, key), test.Sprint("two that join at the same moment"))
}
