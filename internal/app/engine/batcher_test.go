package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// testBatcher is a batcher whose batches end when the test says so.
type testBatcher struct {
	*batcher
	t       *testing.T
	started chan []*task
	proceed chan []*task // those to requeue
	callers sync.WaitGroup
}

func newTestBatcher(t *testing.T, width, depth int) *testBatcher {
	t.Helper()
	b := &testBatcher{t: t, started: make(chan []*task), proceed: make(chan []*task)}
	b.batcher = newBatcher(width, width, depth, func(batch []*task) []*task {
		b.started <- batch
		requeue := <-b.proceed
		for _, w := range batch {
			if !slices.Contains(requeue, w) {
				w.newAttempt()
				w.done(nil)
			}
		}
		return requeue
	})
	t.Cleanup(b.callers.Wait)
	return b
}

func named(id byte) Key { return Key{15: id} }

func in(id byte) tenant.TenantID { return tenant.TenantID{UUID: Key{0: 1, 15: id}} }

func newTask(ctx context.Context, of tenant.TenantID, name string, locks Locks) (*task, chan error) {
	done := make(chan error, 1)
	return &task{
		ctx: ctx, caller: tenant.Caller{Tenant: of}, name: name, locks: locks, done: func(err error) { done <- err },
		newAttempt: func() attempt { return nil },
	}, done
}

// do queues an operation and waits for it.
func (b *testBatcher) do(ctx context.Context, of tenant.TenantID, name string, locks Locks) error {
	never := func(context.Context, *Tx) (int, error) { return 0, errors.New("it ran") }
	_, err := enqueue(ctx, &Engine{batcher: b.batcher}, tenant.Caller{Tenant: of}, Spec[int]{Name: name}, locks,
		func() Operation[int] { return RunFunc[int](never) }, nil)
	return err
}

// ask queues an operation and returns when it is queued.
func (b *testBatcher) ask(ctx context.Context, of tenant.TenantID, name string, locks Locks) chan error {
	b.t.Helper()
	w, done := newTask(ctx, of, name, locks)
	must.NoError(b.t, b.enqueue(w))
	return done
}

func at(session, member byte) Locks {
	return Locks{Together: []Key{named(session)}, Single: []Key{named(100 + member)}}
}

func names(batch []*task) (all []string) {
	for _, w := range batch {
		all = append(all, w.name)
	}
	return all
}

func want(t *testing.T, batch []*task, expected ...string) {
	t.Helper()
	test.Eq(t, expected, names(batch), test.Sprint("batch"))
}

func TestBatcher_RunsWhatWaitsInOneBatch(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	want(t, <-b.started, "first")
	for i := range byte(5) {
		b.ask(ctx, in(1), strconv.Itoa(int(i)), at(2+i%2, 2+i))
	}
	b.proceed <- nil
	want(t, <-b.started, "0", "1", "2", "3", "4")
	b.proceed <- nil
	b.drain()
}

func TestBatcher_BoundsBatches(t *testing.T) {
	t.Parallel()
	b := newTestBatcher(t, 1, 1000)
	b.ask(t.Context(), in(1), "first", at(1, 1))
	<-b.started
	for i := range 300 {
		b.ask(t.Context(), in(1), "", Locks{Single: []Key{{0: byte(i), 1: byte(i >> 8), 2: 1}}})
	}
	for _, size := range []int{maxBatch, maxBatch, 300 - 2*maxBatch} {
		b.proceed <- nil
		batch := <-b.started
		test.EqOp(t, size, len(batch), test.Sprintf("%d together, want %d", len(batch), size))
	}
	b.proceed <- nil
	b.drain()
}

// Two transactions never share a key. What waits for a key keeps its order, and lets others pass.
func TestBatcher_RunsEachKeyInOneTransaction(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 2, 100), t.Context()
	b.ask(ctx, in(1), "a1", at(1, 1))
	want(t, <-b.started, "a1")
	b.ask(ctx, in(1), "a2", at(1, 2))
	b.ask(ctx, in(1), "same member", at(2, 1))
	b.ask(ctx, in(1), "behind it", at(2, 3))
	b.ask(ctx, in(1), "other tenant", at(3, 4))
	want(t, <-b.started, "other tenant")
	b.proceed <- nil // either ends; the other is still busy
	b.proceed <- nil
	want(t, <-b.started, "a2", "same member", "behind it")
	b.proceed <- nil
	b.drain()
}

// Operations of one session run in order of arrival, however long the first takes. The Together key guards it: without
// one, a later operation may meet a faster transaction.
func TestBatcher_KeepsArrivalOrderWithinSession(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		of    func(session, member byte) Locks
		order []string
	}{
		"guarded": {at, []string{"first", "second"}},
		"unguarded": {
			func(_, member byte) Locks { return Locks{Single: []Key{named(100 + member)}} }, []string{"second", "first"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var served []string
			slow, may := make(chan struct{}), make(chan struct{})
			l := newBatcher(2, 2, 100, func(batch []*task) []*task {
				if batch[0].name == "first" {
					close(slow)
					<-may
				}
				for _, w := range batch {
					served = append(served, w.name) // one at a time: see may
					w.done(nil)
				}
				return nil
			})
			join := func(name string, member byte) chan error {
				w, done := newTask(t.Context(), in(1), name, tt.of(1, member))
				must.NoError(t, l.enqueue(w))
				return done
			}
			first := join("first", 1)
			<-slow
			second := join("second", 2)
			l.mu.Lock()
			overtakes := l.runners == 2
			l.mu.Unlock()
			if overtakes {
				test.NoError(t, <-second)
			}
			close(may)
			test.NoError(t, <-first)
			l.drain()
			test.Eq(t, tt.order, served)
		})
	}
}

func TestBatcher_RunsSingleKeyOncePerBatch(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(9, 9))
	<-b.started
	b.ask(ctx, in(1), "one", at(1, 1))
	b.ask(ctx, in(1), "one again", at(2, 1))
	b.ask(ctx, in(1), "behind in the session", at(2, 2))
	b.ask(ctx, in(1), "behind as a member", at(3, 2))
	b.ask(ctx, in(1), "beside", at(1, 3))
	b.proceed <- nil
	want(t, <-b.started, "one", "beside")
	b.proceed <- nil
	want(t, <-b.started, "one again", "behind in the session")
	b.proceed <- nil
	want(t, <-b.started, "behind as a member")
	b.proceed <- nil
	b.drain()
}

// A tenant with thousands of operations does not delay another tenant's one.
func TestBatcher_AlternatesTenants(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 1, 5000), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	<-b.started
	for i := range 1000 {
		b.ask(ctx, in(1), "rush", Locks{Single: []Key{{0: byte(i), 1: byte(i >> 8), 2: 1}}})
	}
	b.ask(ctx, in(2), "quiet", at(1, 1))
	b.ask(ctx, in(3), "quiet too", at(1, 1))
	var order []string
	for range 5 {
		b.proceed <- nil
		order = append(order, (<-b.started)[0].name)
	}
	test.Eq(t, []string{"rush", "quiet", "quiet too", "rush", "rush"}, order, test.Sprint("turns"))
	for range (1000 - 3*maxBatch + maxBatch - 1) / maxBatch {
		b.proceed <- nil
		<-b.started
	}
	b.proceed <- nil
	b.drain()
}

// While tenants have one operation each, batches are small and more transactions run. No tenant gets more of them, and
// none is added while batches are large.
func TestBatcher_RunsMoreTransactionsWhileBatchesAreSmall(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 1, 100), t.Context()
	b.widest = 3
	running := func(expected int) {
		t.Helper()
		b.mu.Lock()
		defer b.mu.Unlock()
		test.EqOp(t, expected, b.runners, test.Sprintf("%d transactions, want %d", b.runners, expected))
	}
	b.ask(ctx, in(1), "first", at(1, 1))
	want(t, <-b.started, "first")
	for i := range byte(4) {
		b.ask(ctx, in(1), "crowd", at(2, 2+i))
	}
	running(1)
	b.proceed <- nil
	want(t, <-b.started, "crowd", "crowd", "crowd", "crowd")
	b.ask(ctx, in(2), "next to a crowd", at(1, 1))
	running(1)
	b.proceed <- nil
	want(t, <-b.started, "next to a crowd")
	b.ask(ctx, in(3), "another", at(1, 1))
	want(t, <-b.started, "another")
	b.ask(ctx, in(4), "and another", at(1, 1))
	want(t, <-b.started, "and another")
	b.ask(ctx, in(5), "one too many", at(1, 1))
	running(3)
	b.proceed <- nil
	want(t, <-b.started, "one too many")
	for range 3 {
		b.proceed <- nil
	}
	b.drain()
}

func TestBatcher_RefusesWhenQueueIsFull(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 1, 2), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	<-b.started
	b.ask(ctx, in(1), "second", at(1, 2))
	b.ask(ctx, in(1), "third", at(1, 3))
	b.pace = 3 * time.Second
	err := b.do(ctx, in(1), "", at(1, 4))
	f, ok := errors.AsType[*fault.Error](err)
	test.True(
		t, ok && f.Kind == fault.ResourceExhausted && f.Reason == fault.RateLimited && f.Metadata["retry_after"] == "6",
		test.Sprintf("%v", err),
	)
	b.ask(ctx, in(2), "another tenant's", at(1, 1))
	for range 2 {
		b.proceed <- nil
		<-b.started
	}
	b.proceed <- nil
	b.drain()
}

// A caller that leaves before its batch starts is not in it. One that leaves later is.
func TestBatcher_DropsCallersThatLeaveBeforeTheStart(t *testing.T) {
	t.Parallel()
	b := newTestBatcher(t, 1, 100)
	b.ask(t.Context(), in(1), "first", at(1, 1))
	<-b.started
	early, leaveEarly := context.WithCancel(t.Context())
	late, leaveLate := context.WithCancel(t.Context())
	gone := make(chan error, 2)
	for _, ctx := range []context.Context{early, late} {
		b.callers.Go(func() {
			gone <- b.do(ctx, in(1), "leaves", Locks{})
		})
	}
	b.await(in(1), 2)
	b.ask(t.Context(), in(1), "stays", at(1, 2))
	leaveEarly()
	test.ErrorIs(t, <-gone, context.Canceled)
	b.proceed <- nil
	want(t, <-b.started, "leaves", "stays")
	leaveLate()
	test.ErrorIs(t, <-gone, context.Canceled)
	b.proceed <- nil // it finishes, and its keys are free
	b.drain()
}

func (b *testBatcher) await(id tenant.TenantID, n int) {
	awaitQueued(&Engine{batcher: b.batcher}, id, n)
}

// awaitQueued returns when a transaction of the tenant is in progress and n operations wait.
func awaitQueued(e *Engine, id tenant.TenantID, n int) {
	for {
		if running, waiting := e.Queued(id); running > 0 && waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// A passed deadline counts before its caller has noticed.
func TestQueue_DropsExpiredCallers(t *testing.T) {
	t.Parallel()
	q := &queue{locked: make(map[Key]struct{})}
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	q.tasks = []*task{{ctx: over, name: "late", locks: at(1, 1)}, {ctx: t.Context(), name: "in time", locks: at(1, 1)}}
	want(t, q.nextBatch(), "in time")
}

// What is queued again runs alone, before all that arrived later with the same keys.
func TestBatcher_RunsRequeuedAloneAndFirst(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(9, 9))
	<-b.started
	for i, name := range []string{"a", "b", "c"} {
		b.ask(ctx, in(1), name, at(1, byte(i)))
	}
	b.proceed <- nil
	batch := <-b.started
	b.ask(ctx, in(1), "d", at(1, 4))
	b.proceed <- batch[1:]
	want(t, <-b.started, "b")
	b.proceed <- nil
	want(t, <-b.started, "c")
	b.proceed <- nil
	want(t, <-b.started, "d")
	b.proceed <- nil
	b.drain()
}

// An operation that finds another key while it runs is queued again, and has its turn at that key before all that
// arrived later with any of its keys. Others go on.
func TestBatcher_RequeuedWaitsForFoundKeys(t *testing.T) {
	t.Parallel()
	l, q := newBatcher(2, 2, 100, nil), &queue{locked: make(map[Key]struct{})}
	line := named(50)
	ask := func(name string, session byte, solo bool, more ...Key) {
		w := &task{ctx: t.Context(), caller: tenant.Caller{Tenant: in(1)}, name: name, locks: at(session, session)}
		w.locks.Solo = solo
		w.locks.Single[0][14] = byte(len(name)) // a member of their own
		w.locks.Together = append(w.locks.Together, more...)
		q.tasks = append(q.tasks, w)
	}
	ask("moves the line", 1, true, line)
	ask("finds out", 2, true)
	first, second := q.nextBatch(), q.nextBatch()
	want(t, first, "moves the line")
	want(t, second, "finds out")
	second[0].found = []Key{line}
	l.release(q, second, second)
	ask("behind in the session", 2, false)
	ask("beside", 3, false)
	ask("behind in the line", 4, true, line)
	want(t, q.nextBatch(), "beside")
	l.release(q, first, nil)
	third := q.nextBatch()
	want(t, third, "finds out")
	_, taken := q.locked[line]
	test.True(t, taken, test.Sprint("the found key is not locked"))
	want(t, q.nextBatch())
	l.release(q, third, nil)
	want(t, q.nextBatch(), "behind in the session")
	want(t, q.nextBatch(), "behind in the line")
}

// One batch with Changes runs per tenant at a time. Operations without Changes, and those that run alone, do not wait
// for it.
func TestBatcher_RunsOneBatchWithChangesAtATime(t *testing.T) {
	t.Parallel()
	l, q := newBatcher(2, 2, 100, nil), &queue{locked: make(map[Key]struct{})}
	ask := func(name string, id byte, adjust func(*Locks), solo bool) {
		w := &task{ctx: t.Context(), caller: tenant.Caller{Tenant: in(1)}, name: name, locks: at(id, id)}
		w.locks.Solo = solo
		adjust(&w.locks)
		q.tasks = append(q.tasks, w)
	}
	changes, books := func(s *Locks) { s.Changes = true }, func(*Locks) {}
	ask("moves", 1, changes, false)
	ask("confirms", 2, changes, false)
	first := q.nextBatch()
	want(t, first, "moves", "confirms")
	ask("confirms later", 3, changes, false)
	ask("behind it", 3, func(s *Locks) { s.Single = nil }, false)
	ask("books", 4, books, false)
	second := q.nextBatch()
	want(t, second, "books")
	l.release(q, second, nil)
	ask("by itself", 5, changes, true)
	second = q.nextBatch()
	want(t, second, "by itself")
	l.release(q, second, nil)
	want(t, q.nextBatch())
	l.release(q, first, nil)
	want(t, q.nextBatch(), "confirms later", "behind it")
}

func TestBatcher_DrainFinishesWhatWasTaken(t *testing.T) {
	t.Parallel()
	b, ctx := newTestBatcher(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	<-b.started
	second := b.ask(ctx, in(1), "second", at(1, 2))
	drained := make(chan struct{})
	go func() { defer close(drained); b.drain() }()
	for closed := false; !closed; runtime.Gosched() {
		b.mu.Lock()
		closed = b.closed
		b.mu.Unlock()
	}
	err := b.enqueue(&task{ctx: ctx, caller: tenant.Caller{Tenant: in(2)}})
	test.EqOp(t, fault.Contention, fault.ReasonOf(err), test.Sprintf("while it stops: %v", err))
	b.proceed <- nil
	want(t, <-b.started, "second")
	select {
	case <-drained:
		t.Error("it did not wait")
	default:
	}
	b.proceed <- nil
	<-drained
	test.NoError(t, <-second)
	test.EqOp(t, 0, len(b.queues), test.Sprintf("%d queues are left", len(b.queues)))
}

// For any sequence: no key is in two transactions, a Single key is in a batch once, operations with one key run in
// order of arrival, and all are run.
func TestBatcher_Properties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := &queue{locked: make(map[Key]struct{})}
		l := newBatcher(2, 2, 1000, nil)
		arrived, served := 0, 0
		order := make(map[*task]int)
		last := make(map[Key]int) // the last one served about it
		var lanes [2][]*task
		take := func(lane int) {
			lanes[lane] = q.nextBatch()
			sole := make(map[Key]bool)
			for _, w := range lanes[lane] {
				for _, id := range w.locks.Single {
					must.False(t, sole[id], must.Sprintf("%v twice in a batch", id))
					sole[id] = true
				}
				must.True(
					t, !w.locks.anyIn(keysOf(lanes[1-lane])) &&
						(!w.exclusiveChanges() || !slices.ContainsFunc(lanes[1-lane], (*task).exclusiveChanges)),
					must.Sprint("in two lanes at once"),
				)
				must.False(t, w.locks.Solo && len(lanes[lane]) > 1, must.Sprint("not by itself"))
				for id := range keysOf([]*task{w}) {
					must.True(t, last[id] <= order[w], must.Sprintf("%d before %d", last[id], order[w]))
				}
			}
		}
		release := func(lane int) {
			var requeue []*task
			for i, w := range lanes[lane] {
				if !w.locks.Solo && len(lanes[lane]) > 1 &&
					(w.locks.anyIn(keysOf(requeue)) || rapid.IntRange(0, 9).Draw(t, "back") == 0) {
					requeue = append(requeue, lanes[lane][i])
					continue
				}
				served++
				for id := range keysOf([]*task{w}) {
					last[id] = max(last[id], order[w])
				}
			}
			l.release(q, lanes[lane], requeue)
			lanes[lane] = nil
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				w := &task{ctx: context.Background(), caller: tenant.Caller{Tenant: in(1)},
					locks: at(rapid.ByteRange(1, 4).Draw(t, "session"), rapid.ByteRange(1, 4).Draw(t, "member"))}
				w.locks.Changes = rapid.Bool().Draw(t, "changes")
				arrived++
				order[w] = arrived
				q.tasks = append(q.tasks, w)
			},
			"turn": func(t *rapid.T) {
				lane := rapid.IntRange(0, 1).Draw(t, "lane")
				if lanes[lane] == nil {
					take(lane)
				} else {
					release(lane)
				}
			},
		})
		for range 3 * (arrived + 1) {
			release(0)
			release(1)
			take(0)
		}
		must.True(
			t, served == arrived && len(q.locked) == 0 && !q.changes,
			must.Sprintf("%d of %d served, %d things taken", served, arrived, len(q.locked)),
		)
	})
}

func keysOf(batch []*task) map[Key]struct{} {
	all := make(map[Key]struct{})
	for _, w := range batch {
		w.locks.addTo(all)
	}
	return all
}
