package app

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// testLanes are lanes whose batches end when the test says so.
type testLanes struct {
	*lanes
	t       *testing.T
	begun   chan []*waiting
	proceed chan []*waiting // those to give back
	callers sync.WaitGroup
}

func newTestLanes(t *testing.T, width, depth int) *testLanes {
	t.Helper()
	b := &testLanes{t: t, begun: make(chan []*waiting), proceed: make(chan []*waiting)}
	b.lanes = newLanes(width, width, depth, func(batch []*waiting) []*waiting {
		b.begun <- batch
		rejoin := <-b.proceed
		for _, w := range batch {
			if !slices.Contains(rejoin, w) {
				w.done <- nil
			}
		}
		return rejoin
	})
	t.Cleanup(b.callers.Wait)
	return b
}

func named(id byte) tenant.UUID { return tenant.UUID{15: id} }

func in(id byte) tenant.TenantID { return tenant.TenantID{UUID: tenant.UUID{0: 1, 15: id}} }

// ask queues a deal and returns when it stands in line.
func (b *testLanes) ask(ctx context.Context, of tenant.TenantID, name string, about subjects) chan error {
	b.t.Helper()
	w := &waiting{ctx: ctx, caller: tenant.Caller{Tenant: of}, name: name, about: about, done: make(chan error, 1)}
	if err := b.join(w); err != nil {
		b.t.Fatal(err)
	}
	return w.done
}

func at(session, member byte) subjects {
	return subjects{shared: []tenant.UUID{named(session)}, sole: []tenant.UUID{named(100 + member)}}
}

func names(batch []*waiting) (all []string) {
	for _, w := range batch {
		all = append(all, w.name)
	}
	return all
}

func want(t *testing.T, batch []*waiting, expected ...string) {
	t.Helper()
	if diff := cmp.Diff(expected, names(batch)); diff != "" {
		t.Errorf("batch (-want +got):\n%s", diff)
	}
}

func TestWhatWaitsGoesTogether(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	want(t, <-b.begun, "first")
	for i := range byte(5) {
		b.ask(ctx, in(1), strconv.Itoa(int(i)), at(2+i%2, 2+i))
	}
	b.proceed <- nil
	want(t, <-b.begun, "0", "1", "2", "3", "4")
	b.proceed <- nil
	b.drain()
}

func TestABatchIsBounded(t *testing.T) {
	t.Parallel()
	b := newTestLanes(t, 1, 1000)
	b.ask(t.Context(), in(1), "first", at(1, 1))
	<-b.begun
	for i := range 300 {
		b.ask(t.Context(), in(1), "", subjects{sole: []tenant.UUID{{0: byte(i), 1: byte(i >> 8), 2: 1}}})
	}
	for _, size := range []int{mostTogether, mostTogether, 300 - 2*mostTogether} {
		b.proceed <- nil
		if batch := <-b.begun; len(batch) != size {
			t.Errorf("%d together, want %d", len(batch), size)
		}
	}
	b.proceed <- nil
	b.drain()
}

// Two lanes never have the same session or member; what waits for one keeps its order, and lets others pass.
func TestASessionIsInOneLane(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 2, 100), t.Context()
	b.ask(ctx, in(1), "a1", at(1, 1))
	want(t, <-b.begun, "a1")
	b.ask(ctx, in(1), "a2", at(1, 2))
	b.ask(ctx, in(1), "same member", at(2, 1))
	b.ask(ctx, in(1), "behind it", at(2, 3))
	b.ask(ctx, in(1), "elsewhere", at(3, 4))
	want(t, <-b.begun, "elsewhere")
	b.proceed <- nil // either ends; the other is still busy
	b.proceed <- nil
	want(t, <-b.begun, "a2", "same member", "behind it")
	b.proceed <- nil
	b.drain()
}

// Who comes first in a session is served first, however long it takes. That a session is in one lane guards it: without
// that, whoever meets a faster lane is.
func TestTheOrderOfASessionIsThatOfItsLane(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		of    func(session, member byte) subjects
		order []string
	}{
		"guarded":   {at, []string{"first", "second"}},
		"unguarded": {func(_, member byte) subjects { return subjects{sole: []tenant.UUID{named(100 + member)}} }, []string{"second", "first"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var served []string
			slow, may := make(chan struct{}), make(chan struct{})
			l := newLanes(2, 2, 100, func(batch []*waiting) []*waiting {
				if batch[0].name == "first" {
					close(slow)
					<-may
				}
				for _, w := range batch {
					served = append(served, w.name) // one at a time: see may
					w.done <- nil
				}
				return nil
			})
			join := func(name string, member byte) chan error {
				w := &waiting{ctx: t.Context(), caller: tenant.Caller{Tenant: in(1)}, name: name, about: tt.of(1, member), done: make(chan error, 1)}
				if err := l.join(w); err != nil {
					t.Fatal(err)
				}
				return w.done
			}
			first := join("first", 1)
			<-slow
			second := join("second", 2)
			l.mu.Lock()
			overtakes := l.running == 2
			l.mu.Unlock()
			if overtakes {
				if err := <-second; err != nil {
					t.Error(err)
				}
			}
			close(may)
			if err := <-first; err != nil {
				t.Error(err)
			}
			l.drain()
			if diff := cmp.Diff(tt.order, served); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAMemberGoesOnceInABatch(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(9, 9))
	<-b.begun
	b.ask(ctx, in(1), "one", at(1, 1))
	b.ask(ctx, in(1), "one again", at(2, 1))
	b.ask(ctx, in(1), "behind in the session", at(2, 2))
	b.ask(ctx, in(1), "behind as a member", at(3, 2))
	b.ask(ctx, in(1), "beside", at(1, 3))
	b.proceed <- nil
	want(t, <-b.begun, "one", "beside")
	b.proceed <- nil
	want(t, <-b.begun, "one again", "behind in the session")
	b.proceed <- nil
	want(t, <-b.begun, "behind as a member")
	b.proceed <- nil
	b.drain()
}

// One tenant's thousands do not keep another's one waiting.
func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 1, 5000), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	<-b.begun
	for i := range 1000 {
		b.ask(ctx, in(1), "rush", subjects{sole: []tenant.UUID{{0: byte(i), 1: byte(i >> 8), 2: 1}}})
	}
	b.ask(ctx, in(2), "quiet", at(1, 1))
	b.ask(ctx, in(3), "quiet too", at(1, 1))
	var order []string
	for range 5 {
		b.proceed <- nil
		order = append(order, (<-b.begun)[0].name)
	}
	if diff := cmp.Diff([]string{"rush", "quiet", "quiet too", "rush", "rush"}, order); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	for range (1000 - 3*mostTogether + mostTogether - 1) / mostTogether {
		b.proceed <- nil
		<-b.begun
	}
	b.proceed <- nil
	b.drain()
}

// Where tenants have a deal each there is nothing to put together, and more lanes are open; but no tenant has more of them, and
// none is added to those that carry many deals.
func TestManyTenantsHaveMoreLanes(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 1, 100), t.Context()
	b.widest = 3
	running := func(expected int) {
		t.Helper()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.running != expected {
			t.Errorf("%d lanes, want %d", b.running, expected)
		}
	}
	b.ask(ctx, in(1), "first", at(1, 1))
	want(t, <-b.begun, "first")
	for i := range byte(4) {
		b.ask(ctx, in(1), "crowd", at(2, 2+i))
	}
	running(1)
	b.proceed <- nil
	want(t, <-b.begun, "crowd", "crowd", "crowd", "crowd")
	b.ask(ctx, in(2), "beside a crowd", at(1, 1))
	running(1)
	b.proceed <- nil
	want(t, <-b.begun, "beside a crowd")
	b.ask(ctx, in(3), "another", at(1, 1))
	want(t, <-b.begun, "another")
	b.ask(ctx, in(4), "and another", at(1, 1))
	want(t, <-b.begun, "and another")
	b.ask(ctx, in(5), "one too many", at(1, 1))
	running(3)
	b.proceed <- nil
	want(t, <-b.begun, "one too many")
	for range 3 {
		b.proceed <- nil
	}
	b.drain()
}

func TestAFullQueueRefuses(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 1, 2), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	<-b.begun
	b.ask(ctx, in(1), "second", at(1, 2))
	b.ask(ctx, in(1), "third", at(1, 3))
	b.pace = 3 * time.Second
	err := b.do(&waiting{ctx: ctx, caller: tenant.Caller{Tenant: in(1)}, about: at(1, 4)})
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.ResourceExhausted || f.Reason != fault.RateLimited || f.Metadata["retry_after"] != "6" {
		t.Errorf("%v", err)
	}
	b.ask(ctx, in(2), "another tenant's", at(1, 1))
	for range 2 {
		b.proceed <- nil
		<-b.begun
	}
	b.proceed <- nil
	b.drain()
}

// Who gives up before their batch begins is not in it; who does so later is.
func TestWhoGivesUp(t *testing.T) {
	t.Parallel()
	b := newTestLanes(t, 1, 100)
	b.ask(t.Context(), in(1), "first", at(1, 1))
	<-b.begun
	early, leaveEarly := context.WithCancel(t.Context())
	late, leaveLate := context.WithCancel(t.Context())
	gone := make(chan error, 2)
	for _, ctx := range []context.Context{early, late} {
		b.callers.Go(func() {
			gone <- b.do(&waiting{ctx: ctx, caller: tenant.Caller{Tenant: in(1)}, name: "leaves", about: subjects{}})
		})
	}
	b.await(in(1), 2)
	b.ask(t.Context(), in(1), "stays", at(1, 2))
	leaveEarly()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	b.proceed <- nil
	want(t, <-b.begun, "leaves", "stays")
	leaveLate()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	b.proceed <- nil // it is settled all the same, and nobody is blocked by it
	b.drain()
}

func (b *testLanes) await(id tenant.TenantID, n int) { (&App{lanes: b.lanes}).AwaitWaiting(id, n) }

// A deadline that has passed counts before its caller has noticed.
func TestADeadlineThatHasPassed(t *testing.T) {
	t.Parallel()
	q := &queue{taken: make(map[tenant.UUID]struct{})}
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	q.waiting = []*waiting{{ctx: over, name: "late", about: at(1, 1)}, {ctx: t.Context(), name: "in time", about: at(1, 1)}}
	want(t, q.take(), "in time")
}

// What comes back goes by itself, before all who came later about the same things.
func TestWhatComesBackGoesByItself(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(9, 9))
	<-b.begun
	for i, name := range []string{"a", "b", "c"} {
		b.ask(ctx, in(1), name, at(1, byte(i)))
	}
	b.proceed <- nil
	batch := <-b.begun
	b.ask(ctx, in(1), "d", at(1, 4))
	b.proceed <- batch[1:]
	want(t, <-b.begun, "b")
	b.proceed <- nil
	want(t, <-b.begun, "c")
	b.proceed <- nil
	want(t, <-b.begun, "d")
	b.proceed <- nil
	b.drain()
}

// What finds out in a lane that it is about something else, too, comes back and has its turn at that before all who came later about
// any of it; in the lane meanwhile others go on.
func TestWhatComesBackWaitsForWhatItWants(t *testing.T) {
	t.Parallel()
	l, q := newLanes(2, 2, 100, nil), &queue{taken: make(map[tenant.UUID]struct{})}
	line := named(50)
	ask := func(name string, session byte, alone bool, more ...tenant.UUID) {
		w := &waiting{ctx: t.Context(), caller: tenant.Caller{Tenant: in(1)}, name: name, about: at(session, session), alone: alone}
		w.about.sole[0][14] = byte(len(name)) // a member of their own
		w.about.shared = append(w.about.shared, more...)
		q.waiting = append(q.waiting, w)
	}
	ask("moves the line", 1, true, line)
	ask("finds out", 2, true)
	first, second := q.take(), q.take()
	want(t, first, "moves the line")
	want(t, second, "finds out")
	second[0].wants = []tenant.UUID{line}
	l.release(q, second, second)
	ask("behind in the session", 2, false)
	ask("beside", 3, false)
	ask("behind in the line", 4, true, line)
	want(t, q.take(), "beside")
	l.release(q, first, nil)
	third := q.take()
	want(t, third, "finds out")
	if _, taken := q.taken[line]; !taken {
		t.Error("the line is free for others meanwhile")
	}
	want(t, q.take())
	l.release(q, third, nil)
	want(t, q.take(), "behind in the session")
	want(t, q.take(), "behind in the line")
}

// Of what changes bookings one lane is full at a time; others go beside it, and so does what goes by itself. Nobody is kept back for that
// who does not change any.
func TestChangesAreInOneLane(t *testing.T) {
	t.Parallel()
	l, q := newLanes(2, 2, 100, nil), &queue{taken: make(map[tenant.UUID]struct{})}
	ask := func(name string, id byte, about func(*subjects), alone bool) {
		w := &waiting{ctx: t.Context(), caller: tenant.Caller{Tenant: in(1)}, name: name, about: at(id, id), alone: alone}
		about(&w.about)
		q.waiting = append(q.waiting, w)
	}
	changes, books := func(s *subjects) { s.changes = true }, func(*subjects) {}
	ask("moves", 1, changes, false)
	ask("confirms", 2, changes, false)
	first := q.take()
	want(t, first, "moves", "confirms")
	ask("confirms later", 3, changes, false)
	ask("behind it", 3, func(s *subjects) { s.sole = nil }, false)
	ask("books", 4, books, false)
	second := q.take()
	want(t, second, "books")
	l.release(q, second, nil)
	ask("by itself", 5, changes, true)
	second = q.take()
	want(t, second, "by itself")
	l.release(q, second, nil)
	want(t, q.take())
	l.release(q, first, nil)
	want(t, q.take(), "confirms later", "behind it")
}

func TestDraining(t *testing.T) {
	t.Parallel()
	b, ctx := newTestLanes(t, 1, 100), t.Context()
	b.ask(ctx, in(1), "first", at(1, 1))
	<-b.begun
	second := b.ask(ctx, in(1), "second", at(1, 2))
	drained := make(chan struct{})
	go func() { defer close(drained); b.drain() }()
	for closed := false; !closed; runtime.Gosched() {
		b.mu.Lock()
		closed = b.closed
		b.mu.Unlock()
	}
	if err := b.join(&waiting{ctx: ctx, caller: tenant.Caller{Tenant: in(2)}}); fault.ReasonOf(err) != fault.Contention {
		t.Errorf("while it stops: %v", err)
	}
	b.proceed <- nil
	want(t, <-b.begun, "second")
	select {
	case <-drained:
		t.Error("it did not wait")
	default:
	}
	b.proceed <- nil
	<-drained
	if err := <-second; err != nil {
		t.Error(err)
	}
	if len(b.queues) != 0 {
		t.Errorf("%d queues are left", len(b.queues))
	}
}

// Whatever comes and goes: nothing is in two lanes, what only one deal may be about is in a batch once, order within
// a session and for a member is the order of arrival, and everybody is served.
func TestTakingProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := &queue{taken: make(map[tenant.UUID]struct{})}
		l := newLanes(2, 2, 1000, nil)
		arrived, served := 0, 0
		order := make(map[*waiting]int)
		last := make(map[tenant.UUID]int) // the last one served about it
		var lanes [2][]*waiting
		take := func(lane int) {
			lanes[lane] = q.take()
			sole := make(map[tenant.UUID]bool)
			for _, w := range lanes[lane] {
				for _, id := range w.about.sole {
					if sole[id] {
						t.Fatalf("%v twice in a batch", id)
					}
					sole[id] = true
				}
				if w.about.anyIn(subjectsOf(lanes[1-lane])) || w.changesWith() && slices.ContainsFunc(lanes[1-lane], (*waiting).changesWith) {
					t.Fatal("in two lanes at once")
				}
				if w.alone && len(lanes[lane]) > 1 {
					t.Fatal("not by itself")
				}
				for id := range subjectsOf([]*waiting{w}) {
					if last[id] > order[w] {
						t.Fatalf("%d before %d", last[id], order[w])
					}
				}
			}
		}
		release := func(lane int) {
			var rejoin []*waiting
			for i, w := range lanes[lane] {
				if !w.alone && len(lanes[lane]) > 1 && (w.about.anyIn(subjectsOf(rejoin)) || rapid.IntRange(0, 9).Draw(t, "back") == 0) {
					rejoin = append(rejoin, lanes[lane][i])
					continue
				}
				served++
				for id := range subjectsOf([]*waiting{w}) {
					last[id] = max(last[id], order[w])
				}
			}
			l.release(q, lanes[lane], rejoin)
			lanes[lane] = nil
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				w := &waiting{ctx: context.Background(), caller: tenant.Caller{Tenant: in(1)},
					about: at(rapid.ByteRange(1, 4).Draw(t, "session"), rapid.ByteRange(1, 4).Draw(t, "member"))}
				w.about.changes = rapid.Bool().Draw(t, "changes")
				arrived++
				order[w] = arrived
				q.waiting = append(q.waiting, w)
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
		if served != arrived || len(q.taken) > 0 || q.changes {
			t.Fatalf("%d of %d served, %d things taken", served, arrived, len(q.taken))
		}
	})
}

func subjectsOf(batch []*waiting) map[tenant.UUID]struct{} {
	all := make(map[tenant.UUID]struct{})
	for _, w := range batch {
		w.about.addTo(all)
	}
	return all
}
