package waitlist

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Worth is what an entry is worth, and why.
type Worth struct {
	Score int
	// Sum: the score is the sum of what follows. Else staff gave it, or an expression.
	Sum                        bool
	Base, TierBonus, EarlyBird int
}

// worth is what staff gave an entry, or else what the rules compute.
func (s *scene) worth(c *Candidate) Worth {
	switch {
	case c.Score != nil:
		return Worth{Score: *c.Score}
	case s.Order == ByFormula:
		return Worth{Score: s.formula(c)}
	}
	days := max(int(s.slot.StartsAt.Sub(c.Joined)/(24*time.Hour)), 0)
	w := Worth{
		Sum: true, Base: s.BaseScore, TierBonus: s.TierBonus[c.Tier], EarlyBird: min(days*s.EarlyBirdPerDay, s.EarlyBirdMax),
	}
	w.Score = w.Base + w.TierBonus + w.EarlyBird
	return w
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
		all[i] = standing{Candidate: &queue[i], score: s.worth(&queue[i]).Score}
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

// Standing is where an entry stands in line, and what it is worth there.
type Standing struct {
	Position int // from 1; 0: it does not
	Worth    Worth
}

// StandingOf tells where an entry of a queue stands among all of them.
func StandingOf(entry tenant.EntryID, slot Slot, queue []Candidate, rules *Compiled, now time.Time) Standing {
	s := rules.scene(slot, Round{}, now)
	for i, at := range s.inOrder(queue) {
		if at.Entry == entry {
			return Standing{Position: i + 1, Worth: s.worth(at.Candidate)}
		}
	}
	return Standing{}
}

// Moved is what an entry has to become to stand directly before another: it takes over the other's flag and, where
// scores count, its score, and gets a key just before the other's. Where there is no room for one, neighbours make
// room.
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
	order := slices.DeleteFunc(
		rules.scene(slot, Round{}, now).inOrder(queue), func(s standing) bool { return s.Entry == entry },
	)
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

// MoveLast moves an entry of a queue behind all others of it: it takes over the flag of the last and, where scores
// count, its score. An entry that is the last stays as it is.
func MoveLast(slot Slot, queue []Candidate, entry tenant.EntryID, rules *Compiled, now time.Time) Moved {
	order := rules.scene(slot, Round{}, now).inOrder(queue)
	last := order[len(order)-1]
	moved := Moved{Flagged: last.Flagged, Score: last.Score, Keys: map[tenant.EntryID]int64{entry: last.Key}}
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
			moved.Score = queue[i].Score // it does not count, and is theirs
		}
	}
	return moved
}
