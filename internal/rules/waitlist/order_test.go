package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func inOrder(s waitlist.Slot, all []waitlist.Candidate, r *waitlist.Compiled, at time.Time) []tenant.EntryID {
	order := make([]tenant.EntryID, len(all))
	for _, c := range all {
		order[waitlist.RankOf(c.Entry, s, all, r, at).Position-1] = c.Entry
	}
	return order
}

func TestDecide_SortsByFlagScoreAndJoining(t *testing.T) {
	t.Parallel()
	gold := func(c *waitlist.Candidate) { c.Tier = "gold" }
	flag := func(c *waitlist.Candidate) { c.Flagged = true }
	score := func(n int) func(*waitlist.Candidate) { return func(c *waitlist.Candidate) { c.Score = &n } }
	early := func(c *waitlist.Candidate) { c.Joined = starts.Add(-20 * 24 * time.Hour) }
	priority := func(r *waitlist.Rules) {
		r.Order, r.TierBonus, r.EarlyBirdPerDay = waitlist.ByPriority, map[string]int{"gold": 50}, 2
	}
	custom := func(text string) func(*waitlist.Rules) {
		return func(r *waitlist.Rules) { r.Order, r.PriorityExpression = waitlist.ByFormula, text }
	}
	tests := map[string]struct {
		rules  func(*waitlist.Rules)
		change []func(*waitlist.Candidate) // of the first entry, the second, and so on
		want   []int
	}{
		"the first to join":         {asIs, nil, []int{0, 1, 2}},
		"tiers say nothing to that": {asIs, []func(*waitlist.Candidate){1: gold}, []int{0, 1, 2}},
		"nor do scores":             {asIs, []func(*waitlist.Candidate){2: score(999)}, []int{0, 1, 2}},
		"a flag lifts above all":    {asIs, []func(*waitlist.Candidate){2: flag}, []int{2, 0, 1}},
		"flagged ones by joining":   {asIs, []func(*waitlist.Candidate){1: flag, 2: flag}, []int{1, 2, 0}},
		"a bonus for a tier":        {priority, []func(*waitlist.Candidate){1: gold}, []int{1, 0, 2}},
		"a bonus for joining early": {priority, []func(*waitlist.Candidate){2: early}, []int{2, 0, 1}},
		"ties by joining":           {priority, []func(*waitlist.Candidate){1: gold, 2: gold}, []int{1, 2, 0}},
		"flagged ones by score": {
			priority, []func(*waitlist.Candidate){0: flag, 2: func(c *waitlist.Candidate) { flag(c); gold(c) }}, []int{2, 0, 1},
		},
		"a flag is more than any score": {priority, []func(*waitlist.Candidate){0: gold, 2: flag}, []int{2, 0, 1}},
		"staff's own score": {
			priority, []func(*waitlist.Candidate){0: gold, 2: score(155)}, []int{2, 0, 1},
		},
		"staff's own score may be low": {priority, []func(*waitlist.Candidate){0: score(0)}, []int{1, 2, 0}},
		"a formula": {
			custom(`member.tier == "gold" ? 7 : 3`), []func(*waitlist.Candidate){1: gold}, []int{1, 0, 2},
		},
		"a formula with decimals": {
			custom(`entry.waiting_hours / 100.0`), []func(*waitlist.Candidate){2: early}, []int{2, 0, 1},
		},
		"a formula that fails ranks all alike":     {custom(`100 / entry.offers`), nil, []int{0, 1, 2}},
		"no formula ranks all alike":               {custom(""), []func(*waitlist.Candidate){1: gold}, []int{0, 1, 2}},
		"staff's own score comes before a formula": {custom(`7`), []func(*waitlist.Candidate){1: score(8)}, []int{1, 0, 2}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := queue(3)
			for i, change := range tc.change {
				if change != nil {
					change(&q[i])
				}
			}
			want := make([]tenant.EntryID, len(tc.want))
			for i, n := range tc.want {
				want[i] = entry(n)
			}
			test.Eq(t, want, inOrder(slot(1), q, rules(t, tc.rules), now))
		})
	}
}

func TestDecide_SortsEqualKeysByEntry(t *testing.T) {
	t.Parallel()
	q := queue(2)
	q[0].Key = q[1].Key
	slices.Reverse(q)
	test.EqOp(t, entry(0), inOrder(slot(1), q, rules(t, asIs), now)[0],
		test.Sprint("entries with the same key have no certain order"))
}

// Moving an entry changes the position of no other entry relative to the rest, however close their keys are.
func TestMove_PutsEntryBeforeAnotherOrLast(t *testing.T) {
	t.Parallel()
	all := []*waitlist.Compiled{
		rules(t, asIs), rules(t, func(r *waitlist.Rules) { r.Order = waitlist.ByPriority }),
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(all).Draw(t, "rules")
		entries, key := queue(rapid.IntRange(2, 8).Draw(t, "entries")), int64(0)
		for i := range entries {
			key += rapid.Int64Range(1, 3).Draw(t, "gap")
			entries[i].Key, entries[i].Flagged = key, rapid.Bool().Draw(t, "flagged")
			entries[i].Score = rapid.SampledFrom([]*int{nil, new(0), new(50)}).Draw(t, "score")
		}
		want := inOrder(slot(1), entries, r, now)
		moving := rapid.SampledFrom(want).Draw(t, "moving")
		before := rapid.SampledFrom(append(want, tenant.EntryID{})).Draw(t, "before")
		moved := waitlist.MoveBefore(slot(1), entries, moving, before, r, now)
		if before.IsZero() {
			moved = waitlist.MoveLast(slot(1), entries, moving, r, now)
		}
		if before != moving {
			want = slices.DeleteFunc(want, func(e tenant.EntryID) bool { return e == moving })
			want = slices.Insert(want, (slices.Index(want, before)+len(want)+1)%(len(want)+1), moving)
		}
		for i, e := range entries {
			if e.Entry == moving {
				entries[i].Flagged, entries[i].Score = moved.Flagged, moved.Score
			}
			if key, changed := moved.Keys[e.Entry]; changed {
				entries[i].Key = key
			}
		}
		must.Eq(t, want, inOrder(slot(1), entries, r, now))
	})
}

func TestDecide_ComputesScore(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rules  func(*waitlist.Rules)
		joined time.Duration // before the start
		tier   string
		want   int
	}{
		"100 by default": {func(*waitlist.Rules) {}, 100 * time.Hour, "gold", 100},
		"another base":   {func(r *waitlist.Rules) { r.BaseScore = 10 }, 0, "", 10},
		"the bonus of the tier": {
			func(r *waitlist.Rules) { r.TierBonus = map[string]int{"gold": 50} }, 0, "gold", 150,
		},
		"no bonus for another tier": {
			func(r *waitlist.Rules) { r.TierBonus = map[string]int{"gold": 50} }, 0, "silver", 100,
		},
		"points for each day": {func(r *waitlist.Rules) { r.EarlyBirdPerDay = 3 }, 48 * time.Hour, "", 106},
		"whole days alone": {
			func(r *waitlist.Rules) { r.EarlyBirdPerDay = 3 }, 48*time.Hour - time.Second, "", 103,
		},
		"at most 50 points by default": {
			func(r *waitlist.Rules) { r.EarlyBirdPerDay = 3 }, 365 * 24 * time.Hour, "", 150,
		},
		"another limit": {
			func(r *waitlist.Rules) { r.EarlyBirdPerDay, r.EarlyBirdMax = 3, 4 }, 365 * 24 * time.Hour, "", 104,
		},
		"none for joining after the start": {func(r *waitlist.Rules) { r.EarlyBirdPerDay = 3 }, -72 * time.Hour, "", 100},
		"all of it": {func(r *waitlist.Rules) {
			r.BaseScore, r.TierBonus, r.EarlyBirdPerDay = 20, map[string]int{"gold": 30}, 1
		}, 4 * 24 * time.Hour, "gold", 54},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := one(func(c *waitlist.Candidate) { c.Joined, c.Tier = starts.Add(-tt.joined), tt.tier })
			r := rules(t, func(r *waitlist.Rules) { r.Order = waitlist.ByPriority; tt.rules(r) })
			d := waitlist.Decide(slot(1), q, waitlist.Round{}, waitlist.ByCancellation, r, now)
			test.True(
				t, d.Verdicts[0].Score == tt.want && d.Grants[0].Score == tt.want,
				test.Sprintf("%d, and %d granted; want %d", d.Verdicts[0].Score, d.Grants[0].Score, tt.want),
			)
		})
	}
}

// The rank of an entry is the one that a decision would use, and a sum is the sum of its parts.
func TestRankOf_MatchesDecision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for i, v := range w.Decide(w.rules).Verdicts {
			c := w.Queue[slices.IndexFunc(w.Queue, func(c waitlist.Candidate) bool { return c.Entry == v.Entry })]
			s := waitlist.RankOf(v.Entry, w.Slot, w.Queue, w.rules, w.Now)
			must.True(
				t, s.Position == i+1 && s.Scoring.Score == v.Score,
				must.Sprintf("it stands at %d with %d, and was judged at %d with %d", s.Position, s.Scoring.Score, i+1, v.Score),
			)
			switch sum := s.Scoring.Base + s.Scoring.TierBonus + s.Scoring.EarlyBird; {
			case s.Scoring.Sum != (c.Score == nil && w.rules.Order != waitlist.ByFormula):
				t.Fatalf("%+v, of %+v", s.Scoring, c)
			case s.Scoring.Sum && sum != v.Score, !s.Scoring.Sum && sum != 0:
				t.Fatalf("the parts add up to %d: %+v", sum, s.Scoring)
			}
		}
		must.EqOp(t, (waitlist.Rank{}), waitlist.RankOf(entry(99), w.Slot, w.Queue, w.rules, w.Now),
			must.Sprint("one that is not there"))
	})
}

func TestMoveBefore_PutsEntryDirectlyBeforeAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		if len(w.Queue) < 2 {
			return
		}
		var room int64 = 1
		if rapid.Bool().Draw(t, "roomy") {
			room = 1 << 10
		}
		for i := range w.Queue {
			w.Queue[i].Key *= room
		}
		anyOf := func(name string) tenant.EntryID {
			return w.Queue[rapid.IntRange(0, len(w.Queue)-1).Draw(t, name)].Entry
		}
		moved, target := anyOf("moved"), anyOf("target")
		before := inOrder(w.Slot, w.Queue, w.rules, w.Now)

		apply(w.Queue, moved, waitlist.MoveBefore(w.Slot, w.Queue, moved, target, w.rules, w.Now))

		want := before
		if moved != target {
			want = slices.DeleteFunc(slices.Clone(before), func(e tenant.EntryID) bool { return e == moved })
			want = slices.Insert(want, slices.Index(want, target), moved)
		}
		must.Eq(t, want, inOrder(w.Slot, w.Queue, w.rules, w.Now))
	})
}

func apply(q []waitlist.Candidate, moved tenant.EntryID, m waitlist.Reordered) {
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
func TestMoveBefore_ChangesOneKeyIfThereIsRoom(t *testing.T) {
	t.Parallel()
	q := queue(5)
	for range 9 { // halves the room of 2^10 and the difference of two times
		m := waitlist.MoveBefore(slot(1), q, entry(4), entry(2), rules(t, asIs), now)
		must.EqOp(t, 1, len(m.Keys), must.Sprintf("%d keys change", len(m.Keys)))
		apply(q, entry(4), m)
		m = waitlist.MoveBefore(slot(1), q, entry(3), entry(4), rules(t, asIs), now)
		must.EqOp(t, 1, len(m.Keys), must.Sprintf("%d keys change", len(m.Keys)))
		apply(q, entry(3), m)
	}
}

// Without room, only the keys of entries directly next to each other change.
func TestMoveBefore_ChangesFewestKeysWithoutRoom(t *testing.T) {
	t.Parallel()
	q := queue(6)
	for i, key := range []int64{10, 11, 12, 40, 41, 60} {
		q[i].Key = key
	}
	m := waitlist.MoveBefore(slot(1), q, entry(5), entry(1), rules(t, asIs), now)
	want := map[tenant.EntryID]int64{entry(5): 11, entry(1): 12, entry(2): 13}
	test.Eq(t, want, m.Keys)

	// A flagged entry is another group: its key need not differ.
	q[0].Flagged = true
	test.MapLen(t, 1, waitlist.MoveBefore(slot(1), q, entry(5), entry(1), rules(t, asIs), now).Keys)
}

func TestMoveBefore_KeepsEntryWithoutOtherTarget(t *testing.T) {
	t.Parallel()
	q := queue(2)
	q[0].Flagged, q[0].Score = true, new(7)
	for name, before := range map[string]tenant.EntryID{"itself": entry(0), "one that is not there": entry(9)} {
		m := waitlist.MoveBefore(slot(1), q, entry(0), before, rules(t, asIs), now)
		test.True(
			t, len(m.Keys) == 0 && m.Flagged && m.Score != nil && *m.Score == 7, test.Sprintf("before %s: %+v", name, m),
		)
	}
}

func TestMoveLast_PutsEntryAtTheEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		if len(w.Queue) == 0 {
			return
		}
		i := rapid.IntRange(0, len(w.Queue)-1).Draw(t, "moved")
		before, own := inOrder(w.Slot, w.Queue, w.rules, w.Now), w.Queue[i]

		m := waitlist.MoveLast(w.Slot, w.Queue, own.Entry, w.rules, w.Now)
		apply(w.Queue, own.Entry, m)

		want := append(
			slices.DeleteFunc(slices.Clone(before), func(e tenant.EntryID) bool { return e == own.Entry }), own.Entry,
		)
		must.Eq(t, want, inOrder(w.Slot, w.Queue, w.rules, w.Now))
		must.EqOp(t, 1, len(m.Keys), must.Sprintf("%d keys change", len(m.Keys)))
		alreadyLast := before[len(before)-1] == own.Entry
		diff := cmp.Diff(own, w.Queue[i])
		must.False(t, alreadyLast && diff != "", must.Sprintf("the last entry changes:\n%s", diff))
		diff = cmp.Diff(own.Score, w.Queue[i].Score)
		must.False(
			t, w.rules.Order == waitlist.ByJoining && diff != "",
			must.Sprintf("a score that does not count changes:\n%s", diff),
		)
	})
}

func TestNextKey_ExceedsLastKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		last, at := int64(0), now
		for range rapid.IntRange(1, 50).Draw(t, "entries") {
			at = at.Add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "clock")))
			key := waitlist.NextKey(at, last)
			must.True(t, key > last && (last <= 0 || key-last >= 2), must.Sprintf("%d after %d", key, last))
			last = key
		}
	})
	if a, b := waitlist.NextKey(now, 0), waitlist.NextKey(now, waitlist.NextKey(now, 0)); b <= a {
		t.Error("two that join at the same moment stand side by side")
	}
}
