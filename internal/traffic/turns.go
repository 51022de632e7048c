package traffic

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Turns decides who may work next. A key works at most width times at once, or half as often if another key has come in
// the last seconds: the processors that it leaves free are for the others. If half of its width is one place, the key
// then also rests as long as it works, for a moment at a time: with the connection and the database, one piece of work
// keeps more than one processor busy. All keys together work at most total times.
//
// Those that wait are let in by turns: one of each key. A key that has none at work goes before those that had their
// turn, once in each of their turns. So a key that sends little waits until a place is free, however much others send,
// and those still get every second place. It is safe for concurrent use.
type Turns[K comparable] struct {
	width, total, depth int

	mu      sync.Mutex
	latest  visit[K] // of the key that came last
	other   visit[K] // the latest of another key than that
	working int
	lines   map[K]*line[K]
	turns   []*line[K] // those in which someone waits, the next first
}

// line is what one key has at work and waiting.
type line[K comparable] struct {
	key     K
	working int
	waiting []chan struct{} // closed when it is let in
	firm    bool            // no other may go before it in this turn
	rested  time.Time       // when the key will have rested as long as it has worked
}

// visit is when a key has come.
type visit[K comparable] struct {
	key K
	at  time.Time
}

// presence is how long a key that has come counts as present.
const presence = 10 * time.Second

// effort is how much longer than it rested a key may have worked. Only those who send for long need to rest: an app
// that starts, or a page that loads, is done sooner.
const effort = 100 * time.Millisecond

// maxRest is the longest rest. What works for longer is few pieces of work, which wait for the database most of the
// time: the others of its key wait long enough for those.
const maxRest = 100 * time.Millisecond

// NewTurns returns turns for keys of which each may have depth waiting.
func NewTurns[K comparable](width, total, depth int) *Turns[K] {
	return &Turns[K]{width: width, total: total, depth: depth, lines: make(map[K]*line[K])}
}

// Enter waits for the turn of a key. It returns false if too many of the key wait already, and an error if ctx ends.
// Call leave when the work is done.
func (t *Turns[K]) Enter(ctx context.Context, key K) (leave func(), ok bool, err error) {
	l, turn := t.join(key, time.Now())
	if turn == nil {
		return nil, false, nil
	}
	select {
	case <-turn:
	case <-ctx.Done():
		if now := time.Now(); !t.stepOut(l, turn, now) {
			t.leave(l, now, now)
		}
		return nil, true, ctx.Err()
	}
	began := time.Now()
	return func() { t.leave(l, began, time.Now()) }, true, nil
}

// join adds one to the line of a key and returns the channel on which it waits, or nil if too many do.
func (t *Turns[K]) join(key K, now time.Time) (*line[K], chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key != t.latest.key {
		t.other = t.latest
	}
	t.latest = visit[K]{key, now}
	l := t.lines[key]
	if l == nil {
		l = &line[K]{key: key}
		t.lines[key] = l
	}
	if len(l.waiting) >= t.depth {
		t.letIn(now) // the other key may count as gone by now
	}
	if len(l.waiting) >= t.depth {
		return nil, nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	if len(l.waiting) == 1 {
		t.queue(l)
	}
	t.letIn(now)
	return l, turn
}

// queue adds a line to the turns.
func (t *Turns[K]) queue(l *line[K]) {
	i := len(t.turns)
	if l.firm = l.working == 0; l.firm {
		for ; i > 0 && !t.turns[i-1].firm; i-- {
			t.turns[i-1].firm = true
		}
	}
	t.turns = slices.Insert(t.turns, i, l)
}

// stepOut removes one that waits from its line. It returns false if it has been let in already.
func (t *Turns[K]) stepOut(l *line[K], turn chan struct{}, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(l.waiting, turn)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if len(l.waiting) == 0 {
		t.turns = slices.DeleteFunc(t.turns, func(other *line[K]) bool { return other == l })
	}
	t.drop(l)
	t.letIn(now) // a key that is alone again may use more places
	return true
}

// leave ends the work of a key that began at a time.
func (t *Turns[K]) leave(l *line[K], began, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working--
	l.working--
	if _, rest := t.places(); rest {
		if l.rested.Before(began) {
			l.rested = began
		}
		l.rested = l.rested.Add(2 * now.Sub(began)) // the work and the rest
		if latest := now.Add(effort + maxRest); l.rested.After(latest) {
			l.rested = latest
		}
		if wait := l.rested.Sub(now) - effort; wait > 0 {
			time.AfterFunc(wait, t.resume)
		}
	}
	t.drop(l)
	t.letIn(now)
}

// resume lets in those that have rested.
func (t *Turns[K]) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.letIn(time.Now())
}

// letIn lets in as many as may work now.
func (t *Turns[K]) letIn(now time.Time) {
	places, rest := t.places()
	for t.working < t.total {
		i := slices.IndexFunc(t.turns, func(l *line[K]) bool {
			return l.working < places && (!rest || l.rested.Sub(now) <= effort)
		})
		if i < 0 {
			return
		}
		l := t.turns[i]
		t.turns = slices.Delete(t.turns, i, i+1)
		t.working++
		l.working++
		close(l.waiting[0])
		if l.waiting = l.waiting[1:]; len(l.waiting) > 0 {
			t.queue(l)
		}
	}
}

// places returns how many of one key may work now, and whether it rests between them.
func (t *Turns[K]) places() (n int, rest bool) {
	if len(t.lines) > 1 || t.latest.at.Sub(t.other.at) < presence {
		return max(1, t.width/2), t.width/2 <= 1
	}
	return t.width, false
}

// drop forgets a line that is empty.
func (t *Turns[K]) drop(l *line[K]) {
	if l.working == 0 && len(l.waiting) == 0 {
		delete(t.lines, l.key)
	}
}
