package waitlist

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Scoring is the score of an entry, and how it was computed.
type Scoring struct {
	Score int
	// Sum reports that the score is the sum of the fields below. Otherwise staff set it, or an expression computed it.
	Sum                        bool
	Base, TierBonus, EarlyBird int
}

// scoring returns the score that staff set, or else the one that the rules compute.
func (s *scene) scoring(c *Candidate) Scoring {
	switch {
	case c.Score != nil:
		return Scoring{Score: *c.Score}
	case s.Order == ByFormula:
		return Scoring{Score: s.formula(c)}
	}
	days := max(int(s.slot.StartsAt.Sub(c.Joined)/(24*time.Hour)), 0)
	w := Scoring{
		Sum: true, Base: s.BaseScore, TierBonus: s.TierBonuses[c.Tier],
		EarlyBird: min(days*s.EarlyBirdPointsPerDay, s.EarlyBirdMaxPoints),
	}
	w.Score = w.Base + w.TierBonus + w.EarlyBird
	return w
}

// rankedEntry is an entry with its score.
type rankedEntry struct {
	*Candidate
	score int
}

// ranked sorts entries: flagged ones first, then by score, unless the order is by joining, then by the time of joining.
func (s *scene) ranked(queue []Candidate) []rankedEntry {
	all := make([]rankedEntry, len(queue))
	for i := range queue {
		all[i] = rankedEntry{Candidate: &queue[i], score: s.scoring(&queue[i]).Score}
	}
	// Queues are mostly in the order of joining already, which makes the sort fast.
	slices.SortFunc(all, func(a, b rankedEntry) int {
		switch {
		case a.Flagged != b.Flagged:
			return btoi(b.Flagged) - btoi(a.Flagged)
		case a.score != b.score && s.Order != ByJoining:
			return cmp.Compare(b.score, a.score)
		case a.Key != b.Key:
			return cmp.Compare(a.Key, b.Key)
		}
		return bytes.Compare(a.Entry.UUID[:], b.Entry.UUID[:])
	})
	return all
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Rank is the position and the score of an entry in a queue.
type Rank struct {
	Position int // from 1; 0 if it is not in the queue
	Scoring  Scoring
}

// RankOf returns the rank of an entry in its whole queue.
func RankOf(entry tenant.EntryID, slot Slot, queue []Candidate, rules *CompiledRules, now time.Time) Rank {
	s := rules.scene(slot, Round{}, now)
	for i, at := range s.ranked(queue) {
		if at.Entry == entry {
			return Rank{Position: i + 1, Scoring: s.scoring(at.Candidate)}
		}
	}
	return Rank{}
}

// Move moves an entry of a queue directly before another one, or to its end for the zero id. It returns the entry, and
// the others whose keys make room for it. If the two share no queue, it is empty, and the error is INVALID_FIELD.
func (e Entry) Move(
	slot Slot, queue []Candidate, before tenant.EntryID, rules *CompiledRules, now time.Time,
) (moved Entry, others []Entry, err error) {
	switch {
	case len(queue) == 0:
		return e, nil, fault.Invalid("before_entry_id", "The other entry waits for something else.")
	case before == e.ID:
		return e, nil, nil
	}
	var order OrderChange
	if before.IsZero() {
		order = MoveLast(slot, queue, e.ID, rules, now)
	} else {
		order = MoveBefore(slot, queue, e.ID, before, rules, now)
	}
	e.Flagged, e.Score, e.Key = order.Flagged, order.Score, order.Keys[e.ID]
	for _, c := range queue {
		if key, makesRoom := order.Keys[c.Entry]; makesRoom && c.Entry != e.ID {
			others = append(others, Entry{ID: c.Entry, Flagged: c.Flagged, Key: key})
		}
	}
	return e, others, nil
}

// OrderChange is the new state of an entry that moves directly before another. It takes the other's flag and, if scores
// count, its score, and gets a key just below the other's. If there is no free key, its neighbors get new keys.
type OrderChange struct {
	Flagged bool
	Score   *int
	Keys    map[tenant.EntryID]int64 // of all whose keys change
}

// MoveBefore moves an entry of a queue directly before another one. The entry stays where it is if the other one is
// itself, or is not in the queue.
func MoveBefore(
	slot Slot, queue []Candidate, entry, before tenant.EntryID, rules *CompiledRules, now time.Time,
) OrderChange {
	moved := OrderChange{Keys: make(map[tenant.EntryID]int64)}
	if at := slices.IndexFunc(queue, func(c Candidate) bool { return c.Entry == entry }); at >= 0 {
		moved.Flagged, moved.Score = queue[at].Flagged, queue[at].Score
	}
	order := slices.DeleteFunc(
		rules.scene(slot, Round{}, now).ranked(queue), func(e rankedEntry) bool { return e.Entry == entry },
	)
	at := slices.IndexFunc(order, func(e rankedEntry) bool { return e.Entry == before })
	if at < 0 {
		return moved
	}
	target := order[at]
	moved.Flagged = target.Flagged
	if rules.Order != ByJoining {
		moved.Score = &target.score
	}
	// Only the keys of entries with the same flag and score matter.
	equal := func(e rankedEntry) bool {
		return e.Flagged == target.Flagged && (rules.Order == ByJoining || e.score == target.score)
	}
	if at == 0 || !equal(order[at-1]) {
		moved.Keys[entry] = target.Key - 1<<keyRoom
		return moved
	}
	low := order[at-1].Key
	if room := target.Key - low; room > 1 {
		moved.Keys[entry] = low + room/2
		return moved
	}
	last := low + 1
	moved.Keys[entry] = last
	for _, e := range order[at:] {
		if !equal(e) || e.Key > last {
			break
		}
		last++
		moved.Keys[e.Entry] = last
	}
	return moved
}

// MoveLast moves an entry to the end of its queue. It takes the flag of the last entry and, if scores count, its score.
// If it is the last one already, nothing changes.
func MoveLast(slot Slot, queue []Candidate, entry tenant.EntryID, rules *CompiledRules, now time.Time) OrderChange {
	order := rules.scene(slot, Round{}, now).ranked(queue)
	last := order[len(order)-1]
	moved := OrderChange{Flagged: last.Flagged, Score: last.Score, Keys: map[tenant.EntryID]int64{entry: last.Key}}
	if last.Entry == entry {
		return moved
	}
	moved.Keys[entry] = NextKey(now, last.Key)
	if rules.Order != ByJoining {
		moved.Score = &last.score
		return moved
	}
	moved.Score = nil
	for i := range queue {
		if queue[i].Entry == entry {
			moved.Score = queue[i].Score // it does not count in this order, and is the entry's own
		}
	}
	return moved
}
