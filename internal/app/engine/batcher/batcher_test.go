package batcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A script has a batcher whose batches end when the test says so. It runs in a bubble of synctest.
type script struct {
	*Batcher[*op]
	t *testing.T

	mu    sync.Mutex
	begun []string // batches that began since they were last asked for
	ends  map[string]chan []string
	leave map[string]func()
}

// An op is a task of a script.
type op struct {
	name  string
	locks Locks
	of    byte  // its tenant
	found []Key // that it finds while it runs
	done  chan error
}

// A step of a script: tasks are queued one by one, a caller leaves, and a batch ends. They are named by their tasks,
// the batch by its first.
type step struct {
	ask    []op
	leave  string
	end    string
	again  []string // those of the batch that are queued again
	begins []string // the batches that begin then, each with its operations
}

func newScript(t *testing.T, width, widest, depth int) *script {
	t.Helper()
	s := &script{
		t: t, ends: make(map[string]chan []string), leave: make(map[string]func()),
	}
	s.Batcher = New(Config{Width: width, Widest: widest, Depth: depth}, s.run)
	return s
}

func (s *script) run(batch []*Task[*op]) (again []*Task[*op]) {
	s.mu.Lock()
	end := make(chan []string)
	s.begun, s.ends[batch[0].Work.name] = append(s.begun, describe(batch)), end
	s.mu.Unlock()
	back := <-end
	for _, t := range batch {
		if slices.Contains(back, t.Work.name) {
			t.Found, again = t.Work.found, append(again, t)
			continue
		}
		t.Work.done <- nil
	}
	return again
}

// describe names the tasks of a batch. Many of one name are counted.
func describe(batch []*Task[*op]) string {
	names := make([]string, len(batch))
	for i, t := range batch {
		names[i] = t.Work.name
	}
	if len(names) > 2 && len(slices.Compact(slices.Clone(names))) == 1 {
		return fmt.Sprint(len(names), " ", names[0])
	}
	return strings.Join(names, ", ")
}

// ask queues a task, and returns where its error will be.
func (s *script) ask(o op) chan error {
	ctx, cancel := context.WithCancel(s.t.Context())
	o.done = make(chan error, 1)
	t := &Task[*op]{Tenant: in(o.of), Context: ctx, Locks: o.locks, Work: &o}
	s.leave[o.name] = func() {
		cancel()
		s.Leave(t)
	}
	if err := s.Enqueue(t); err != nil {
		o.done <- err
	}
	synctest.Wait()
	return o.done
}

// play does one step after the other, and checks which batches begin after each. In the end nothing may be left.
func (s *script) play(steps ...step) {
	s.t.Helper()
	for i, step := range steps {
		for _, o := range step.ask {
			s.ask(o)
		}
		if step.leave != "" {
			s.leave[step.leave]()
		}
		if step.end != "" {
			s.ends[step.end] <- step.again
		}
		synctest.Wait()
		test.Eq(s.t, step.begins, s.begun, test.Sprintf("step %d", i))
		s.begun = nil
	}
	s.Drain()
	must.MapEmpty(s.t, s.queues, must.Sprint("something is left"))
	must.SliceEmpty(s.t, s.turns, must.Sprint("something is left"))
	test.EqOp(s.t, 0, s.inFlight, test.Sprint("something is left"))
}

func named(id byte) Key { return Key{15: id} }

func in(id byte) tenant.TenantID { return tenant.TenantID{UUID: Key{0: 1, 15: id}} }

func at(shared, own byte, more ...Key) Locks {
	return Locks{Together: append([]Key{named(shared)}, more...), Single: []Key{named(100 + own)}}
}

// solo and updating are locks with Solo and Updates.
func solo(l Locks) Locks {
	l.Solo = true
	return l
}

func updating(l Locks) Locks {
	l.Updates = true
	return l
}

// many are operations with the same name that have no other keys in common.
func many(n int, name string, together ...Key) []op {
	all := make([]op, n)
	for i := range all {
		all[i] = op{name: name, locks: Locks{Together: together, Single: []Key{{0: byte(i), 1: byte(i >> 8), 2: 1}}}}
	}
	return all
}

func TestBatcher_StartsWhatMayRun(t *testing.T) {
	t.Parallel()
	line := named(50)
	first := step{ask: []op{{name: "first", locks: at(9, 9)}}, begins: []string{"first"}}
	for name, tt := range map[string]struct {
		width, widest int
		steps         []step
	}{
		"what waits runs in one batch": {1, 1, []step{
			first,
			{ask: []op{
				{name: "0", locks: at(2, 2)}, {name: "1", locks: at(3, 3)}, {name: "2", locks: at(2, 4)},
				{name: "3", locks: at(3, 5)}, {name: "4", locks: at(2, 6)},
			}},
			{end: "first", begins: []string{"0, 1, 2, 3, 4"}},
			{end: "0"},
		}},
		"batches are bounded": {1, 1, []step{
			first,
			{ask: many(300, "small")},
			{end: "first", begins: []string{"128 small"}},
			{end: "small", begins: []string{"128 small"}},
			{end: "small", begins: []string{"44 small"}},
			{end: "small"},
		}},
		// Two transactions never share a key. What waits for a key keeps its order, and lets others pass.
		"a key is in one transaction": {2, 2, []step{
			{ask: []op{{name: "a1", locks: at(1, 1)}}, begins: []string{"a1"}},
			{ask: []op{
				{name: "a2", locks: at(1, 2)}, {name: "same own key", locks: at(2, 1)}, {name: "behind it", locks: at(2, 3)},
			}},
			{ask: []op{{name: "other", locks: at(3, 4)}}, begins: []string{"other"}},
			{ask: []op{{name: "too many", locks: at(4, 5)}}},
			{end: "other", begins: []string{"too many"}},
			{end: "a1", begins: []string{"a2, same own key, behind it"}},
			{end: "too many"},
			{end: "a2"},
		}},
		"a Single key is in a batch once": {1, 1, []step{
			first,
			{ask: []op{
				{name: "one", locks: at(1, 1)}, {name: "one again", locks: at(2, 1)},
				{name: "behind the shared key", locks: at(2, 2)}, {name: "behind the own key", locks: at(3, 2)},
				{name: "next to it", locks: at(1, 3)},
			}},
			{end: "first", begins: []string{"one, next to it"}},
			{end: "one", begins: []string{"one again, behind the shared key"}},
			{end: "one again", begins: []string{"behind the own key"}},
			{end: "behind the own key"},
		}},
		// A tenant with thousands of operations does not delay another tenant's one: that has a place of its own, and turns
		// at it.
		"tenants take turns": {1, 1, []step{
			first,
			{ask: many(3*maxBatch, "rush")},
			{ask: []op{{name: "quiet", of: 2}, {name: "quiet too", of: 3}}, begins: []string{"quiet"}},
			{end: "first", begins: []string{"128 rush"}},
			{end: "quiet", begins: []string{"quiet too"}},
			{end: "rush", begins: []string{"128 rush"}},
			{end: "quiet too"},
			{end: "rush", begins: []string{"128 rush"}},
			{end: "rush"},
		}},
		"the place of its own is for one batch": {2, 2, []step{
			first,
			{ask: []op{{name: "second", locks: at(2, 2)}}, begins: []string{"second"}},
			{ask: []op{{name: "third", locks: at(3, 3)}}},
			{ask: []op{{name: "quiet", of: 2}}, begins: []string{"quiet"}},
			{ask: []op{{name: "quiet again", of: 2}}},
			{end: "quiet", begins: []string{"quiet again"}},
			{end: "first"}, // three would run again
			{end: "quiet again", begins: []string{"third"}},
			{end: "second"},
			{end: "third"},
		}},
		// No tenant gets more of them, and none is added while batches are large.
		"more transactions run while batches are small": {1, 3, []step{
			first,
			{ask: many(4, "crowd")},
			{end: "first", begins: []string{"4 crowd"}},
			{ask: []op{{name: "next to a crowd", of: 2}}, begins: []string{"next to a crowd"}},
			{ask: []op{{name: "waits", of: 3}}},
			{leave: "waits"},
			{end: "crowd"},
			{ask: []op{{name: "another", of: 3}}, begins: []string{"another"}},
			{ask: []op{{name: "and another", of: 4}}, begins: []string{"and another"}},
			{ask: []op{{name: "one too many", of: 5}}},
			{end: "next to a crowd", begins: []string{"one too many"}},
			{end: "another"},
			{end: "and another"},
			{end: "one too many"},
		}},
		"a tenant has no more transactions than its width": {1, 3, []step{
			first,
			{ask: []op{{name: "second", locks: at(2, 2)}}},
			{ask: []op{{name: "of another tenant", of: 2}}, begins: []string{"of another tenant"}},
			{end: "of another tenant"},
			{end: "first", begins: []string{"second"}},
			{end: "second"},
		}},
		"what is queued again runs alone and first": {1, 1, []step{
			first,
			{ask: []op{{name: "a", locks: at(1, 1)}, {name: "b", locks: at(1, 2)}, {name: "c", locks: at(1, 3)}}},
			{end: "first", begins: []string{"a, b, c"}},
			{ask: []op{{name: "d", locks: at(1, 4)}}},
			{end: "a", again: []string{"b", "c"}, begins: []string{"b"}},
			{end: "b", begins: []string{"c"}},
			{end: "c", begins: []string{"d"}},
			{end: "d"},
		}},
		// It has its turn at a key that it found before all that arrived later with any of its keys. Others go on.
		"what is queued again waits for the keys that it found": {2, 2, []step{
			{ask: []op{{name: "moves the line", locks: solo(at(1, 1, line))}}, begins: []string{"moves the line"}},
			{ask: []op{{name: "finds out", locks: solo(at(2, 2)), found: []Key{line}}}, begins: []string{"finds out"}},
			{end: "finds out", again: []string{"finds out"}},
			{ask: []op{{name: "behind the shared key", locks: at(2, 3)}}},
			{ask: []op{{name: "next to it", locks: at(3, 4)}}, begins: []string{"next to it"}},
			{ask: []op{{name: "behind in the line", locks: solo(at(4, 5, line))}}},
			{end: "next to it"},
			{end: "moves the line", begins: []string{"finds out"}},
			{end: "finds out", begins: []string{"behind the shared key", "behind in the line"}},
			{end: "behind the shared key"},
			{end: "behind in the line"},
		}},
		// Operations without Updates, and those that run alone, do not wait for it.
		"one batch with Updates runs at a time": {2, 2, []step{
			{ask: []op{{name: "updates", locks: updating(at(1, 1))}}, begins: []string{"updates"}},
			{ask: []op{
				{name: "updates next", locks: updating(at(2, 2))}, {name: "updates too", locks: updating(at(3, 3))},
				{name: "behind it", locks: at(3, 4)},
			}},
			{ask: []op{{name: "another", locks: at(4, 5)}}, begins: []string{"another"}},
			{end: "another"},
			{ask: []op{{name: "alone", locks: solo(updating(at(5, 6)))}}, begins: []string{"alone"}},
			{end: "alone"},
			{end: "updates", begins: []string{"updates next, updates too, behind it"}},
			{end: "updates next"},
		}},
		"a queue that all callers have left is gone": {1, 1, []step{
			first,
			{ask: []op{{name: "of another tenant", of: 2}}, begins: []string{"of another tenant"}},
			{ask: []op{{name: "of a third", of: 3}}},
			{leave: "of a third"},
			{end: "of another tenant"},
			{end: "first"},
		}},
		// One that leaves later is in it, and finishes.
		"a caller that leaves before its batch begins is not in it": {1, 1, []step{
			first,
			{ask: []op{{name: "early"}, {name: "late"}, {name: "stays"}}},
			{leave: "early"},
			{end: "first", begins: []string{"late, stays"}},
			{leave: "late"},
			{end: "late"},
		}},
		"a long queue is searched": {2, 2, slices.Concat([]step{
			first,
			{ask: many(maxLookahead-1, "behind", named(9))},
			{ask: []op{{name: "free", locks: at(2, 3)}}, begins: []string{"free"}},
			{end: "free"},
			{end: "first", begins: []string{"128 behind"}},
		}, slices.Repeat([]step{{end: "behind", begins: []string{"128 behind"}}}, 6), []step{
			{end: "behind", begins: []string{"127 behind"}},
			{end: "behind"},
		})},
		"only the start of a longer queue is searched": {2, 2, slices.Concat([]step{
			first,
			{ask: many(maxLookahead, "behind", named(9))},
			{ask: []op{{name: "free", locks: at(2, 3)}}},
			{end: "first", begins: []string{"128 behind", "free"}},
			{end: "free"},
		}, slices.Repeat([]step{{end: "behind", begins: []string{"128 behind"}}}, 7), []step{{end: "behind"}})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newScript(t, tt.width, tt.widest, 2000).play(tt.steps...) })
		})
	}
}

// Operations with one key run in order of arrival, however long the first takes. The Together key guards it: without
// one, a later operation may meet a faster transaction.
func TestBatcher_KeepsArrivalOrderWithinAKey(t *testing.T) {
	t.Parallel()
	unguarded := func(own byte) Locks { return Locks{Single: []Key{named(100 + own)}} }
	for name, steps := range map[string][]step{
		"guarded": {
			{ask: []op{{name: "first", locks: at(1, 1)}}, begins: []string{"first"}},
			{ask: []op{{name: "second", locks: at(1, 2)}}},
			{end: "first", begins: []string{"second"}},
			{end: "second"},
		},
		"unguarded": {
			{ask: []op{{name: "first", locks: unguarded(1)}}, begins: []string{"first"}},
			{ask: []op{{name: "second", locks: unguarded(2)}}, begins: []string{"second"}},
			{end: "second"},
			{end: "first"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newScript(t, 2, 2, 100).play(steps...) })
		})
	}
}

// The error says when there will be room, as fast as operations were done so far.
func TestBatcher_RefusesWhenQueueIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, 2, 2, 2)
		for i, name := range []string{"a", "b", "b too", "c", "c too", "d", "d too"} {
			s.ask(op{name: name, locks: at(1, byte(i))})
			if end, full := map[string]string{"b too": "a", "c too": "b"}[name]; full {
				<-time.After(time.Minute)
				s.ends[end] <- nil // a minute for one operation, then for two
				synctest.Wait()
			}
		}
		f, ok := errors.AsType[*fault.Error](<-s.ask(op{name: "one too many"}))
		must.True(t, ok, must.Sprint(f))
		test.EqOp(t, fault.ResourceExhausted, f.Kind)
		test.EqOp(t, fault.RateLimited, f.Reason)
		test.Eq(t, map[string]string{"retry_after": "11"}, f.Metadata)
		s.begun = nil
		s.play(
			step{ask: []op{{name: "of another tenant", of: 2}}, begins: []string{"of another tenant"}},
			step{end: "of another tenant"}, step{end: "c", begins: []string{"d, d too"}}, step{end: "d"},
		)
	})
}

// A caller may notice that it has left only after its operation is done, and its tenant's queue is gone. A passed
// deadline counts before its caller has noticed.
func TestBatcher_DropsExpiredCallers(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	late := &Task[*op]{Context: over, Work: &op{name: "late"}, Locks: at(1, 1)}
	New[*op](Config{1, 1, 100}, nil).Leave(late)
	inTime := &Task[*op]{Context: t.Context(), Work: &op{name: "in time"}, Locks: at(1, 1)}
	q := &queue[*op]{locked: make(KeySet), tasks: []*Task[*op]{late, inTime}}
	test.EqOp(t, "in time", describe(q.nextBatch()))
}

func TestBatcher_DrainFinishesWhatWasTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, 1, 1, 100)
		s.ask(op{name: "first", locks: at(1, 1)})
		second := s.ask(op{name: "second", locks: at(1, 2)})
		drained := false
		go func() {
			s.Drain()
			drained = true
		}()
		synctest.Wait()
		expect.Reason(t, fault.Contention)(<-s.ask(op{name: "while it stops", of: 2}))
		s.ends["first"] <- nil
		synctest.Wait()
		test.False(t, drained, test.Sprint("it did not wait"))
		s.begun = nil
		s.play(step{end: "second"})
		test.NoError(t, <-second)
		test.True(t, drained, test.Sprint("it waits"))
	})
}

// For any sequence: no key is in two batches, a Single key is in a batch once, tasks with one key run in order of
// arrival, and all are run.
func TestBatcher_Properties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := &queue[*op]{locked: make(KeySet)}
		b := New[*op](Config{2, 2, 1000}, nil)
		arrived, served := 0, 0
		order, last := make(map[*Task[*op]]int), make(map[Key]int) // the last one that was served
		var batches [2][]*Task[*op]
		take := func(n int) {
			batches[n] = q.nextBatch()
			sole := make(map[Key]bool)
			for _, task := range batches[n] {
				for _, id := range task.Locks.Single {
					must.False(t, sole[id], must.Sprintf("%v twice in a batch", id))
					sole[id] = true
				}
				must.False(t, keysOf(batches[1-n]).HasAny(task.Locks), must.Sprint("in two batches at once"))
				must.True(t, !excludesUpdates(task) || !slices.ContainsFunc(batches[1-n], excludesUpdates),
					must.Sprint("in two batches at once"))
				must.False(t, task.Locks.Solo && len(batches[n]) > 1, must.Sprint("not by itself"))
				for id := range keysOf([]*Task[*op]{task}) {
					must.True(t, last[id] <= order[task], must.Sprintf("%d before %d", last[id], order[task]))
				}
			}
		}
		release := func(n int) {
			var requeue []*Task[*op]
			for i, task := range batches[n] {
				if !task.Locks.Solo && len(batches[n]) > 1 &&
					(keysOf(requeue).HasAny(task.Locks) || rapid.IntRange(0, 9).Draw(t, "back") == 0) {
					requeue = append(requeue, batches[n][i])
					continue
				}
				served++
				for id := range keysOf([]*Task[*op]{task}) {
					last[id] = max(last[id], order[task])
				}
			}
			b.release(q, batches[n], requeue)
			batches[n] = nil
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				task := &Task[*op]{Context: context.Background(), Tenant: in(1),
					Locks: at(rapid.ByteRange(1, 4).Draw(t, "shared"), rapid.ByteRange(1, 4).Draw(t, "own"))}
				task.Locks.Updates = rapid.Bool().Draw(t, "updates")
				arrived++
				order[task] = arrived
				q.tasks = append(q.tasks, task)
			},
			"turn": func(t *rapid.T) {
				n := rapid.IntRange(0, 1).Draw(t, "batch")
				if batches[n] == nil {
					take(n)
				} else {
					release(n)
				}
			},
		})
		for range 3 * (arrived + 1) {
			release(0)
			release(1)
			take(0)
		}
		must.EqOp(t, arrived, served, must.Sprintf("%d of %d served, %d things taken", served, arrived, len(q.locked)))
		must.MapEmpty(t, q.locked, must.Sprintf("%d of %d served, %d things taken", served, arrived, len(q.locked)))
		must.False(t, q.updates, must.Sprintf("%d of %d served, %d things taken", served, arrived, len(q.locked)))
	})
}

func keysOf(batch []*Task[*op]) KeySet {
	all := make(KeySet)
	for _, task := range batch {
		all.Add(task.Locks)
	}
	return all
}
