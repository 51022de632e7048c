package waitlist

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// score is what an entry is worth: what staff gave it, or else what the rules compute.
func (s *scene) score(c *Candidate) int {
	switch {
	case c.Score != nil:
		return *c.Score
	case s.Order == ByFormula:
		return s.formula(c)
	}
	days := max(int(s.slot.StartsAt.Sub(c.Joined)/(24*time.Hour)), 0)
	return s.BaseScore + s.TierBonus[c.Tier] + min(days*s.EarlyBirdPerDay, s.EarlyBirdMax)
}

// standing is an entry's place in fair order.
type standing struct {
	*Candidate
	score int
}

// inOrder puts entries in fair order: those that staff flagged first; then by score, unless the rules say by joining
// alone; then by joining.
func (s *scene) inOrder(queue []Candidate) []standing {
	all := make([]standing, len(queue))
	for i := range queue {
		all[i] = standing{Candidate: &queue[i], score: s.score(&queue[i])}
	}
	// Queues mostly come as they joined, which the sort notices.
	slices.SortFunc(all, func(a, b standing) int {
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

// Positions tells for each entry of a queue where it stands among all of them, from 1.
func Positions(slot Slot, queue []Candidate, rules *Compiled, now time.Time) map[tenant.EntryID]int {
	at := make(map[tenant.EntryID]int, len(queue))
	for i, s := range rules.scene(slot, Round{}, now).inOrder(queue) {
		at[s.Entry] = i + 1
	}
	return at
}

// Moved is what an entry has to become to stand directly before another: it takes over the other's flag and, where
// scores count, its score, and gets a key just before the other's. Where there is no room for one, neighbours make room.
type Moved struct {
	Flagged bool
	Score   *int
	Keys    map[tenant.EntryID]int64 // of all whose keys change
}

// MoveBefore moves an entry of a queue directly before another of it. An entry stays where it stands when it is to
// stand before itself, or before one that is not there.
func MoveBefore(slot Slot, queue []Candidate, entry, before tenant.EntryID, rules *Compiled, now time.Time) Moved {
	moved := Moved{Keys: make(map[tenant.EntryID]int64)}
	if at := slices.IndexFunc(queue, func(c Candidate) bool { return c.Entry == entry }); at >= 0 {
		moved.Flagged, moved.Score = queue[at].Flagged, queue[at].Score
	}
	order := slices.DeleteFunc(rules.scene(slot, Round{}, now).inOrder(queue), func(s standing) bool { return s.Entry == entry })
	at := slices.IndexFunc(order, func(s standing) bool { return s.Entry == before })
	if at < 0 {
		return moved
	}
	target := order[at]
	moved.Flagged = target.Flagged
	if rules.Order != ByJoining {
		moved.Score = &target.score
	}
	// Only keys of equals matter: those with the same flag and score.
	equal := func(s standing) bool {
		return s.Flagged == target.Flagged && (rules.Order == ByJoining || s.score == target.score)
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
	for _, s := range order[at:] {
		if !equal(s) || s.Key > last {
			break
		}
		last++
		moved.Keys[s.Entry] = last
	}
	return moved
}
