package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// together runs operations in one batch, each for a caller of its own, and returns their errors.
func (s *site) together(t *testing.T, operations ...scripted) []error {
	t.Helper()
	proceed := s.busy(t)
	errs := make([]error, len(operations))
	var done sync.WaitGroup
	for i, o := range operations {
		caller := s.caller
		caller.Subject = fmt.Sprint("caller ", i)
		o.runs = new(int)
		spec := Spec[int]{Name: "test", New: func() Operation[int] { return &o }}
		done.Go(func() { _, errs[i] = Run(t.Context(), s.Engine, caller, spec) })
		awaitQueued(s.Engine, s.caller.Tenant, i+1)
	}
	proceed()
	done.Wait()
	return errs
}

// A caller that leaves, or whose deadline is early, does not end the batch for the others.
func TestBatchContext_LastsUntilTheLatestDeadline(t *testing.T) {
	t.Parallel()
	soon, late := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	callerUntil := func(deadline time.Time) *task {
		if deadline.IsZero() {
			return &task{ctx: t.Context()}
		}
		ctx, cancel := context.WithDeadline(t.Context(), deadline)
		cancel() // the caller has left
		return &task{ctx: ctx}
	}
	for name, tt := range map[string]struct {
		deadlines []time.Time
		want      time.Time
	}{
		"one":                 {[]time.Time{soon}, soon},
		"the first is later":  {[]time.Time{late, soon}, late},
		"the second is later": {[]time.Time{soon, late}, late},
		"the first has none":  {[]time.Time{{}, soon}, time.Time{}},
		"the last has none":   {[]time.Time{late, soon, {}}, time.Time{}},
	} {
		var batch []*task
		for _, deadline := range tt.deadlines {
			batch = append(batch, callerUntil(deadline))
		}
		ctx, cancel := batchContext(batch)
		got, _ := ctx.Deadline()
		test.True(t, got.Equal(tt.want), test.Sprintf("%s: the deadline is %s, want %s", name, got, tt.want))
		test.NoError(t, ctx.Err(), test.Sprint(name))
		cancel()
	}
}

// Every operation of a batch is asked and run for its own caller, all at one time.
func TestQuery_KnowsCallerAndTime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var subjects []string
	times := make(map[time.Time]bool)
	o := scripted{
		ask: func(q *Query) {
			subjects = append(subjects, q.Caller.Subject)
			times[q.Now] = true
		},
		do: func(_ context.Context, tx *Tx) error {
			subjects = append(subjects, tx.Caller.Subject)
			times[tx.Now] = true
			return nil
		},
	}
	must.NoError(t, errors.Join(s.together(t, o, o)...))
	want := []string{"caller 0", "caller 1", "caller 0", "caller 1"}
	diff := cmp.Diff(want, subjects)
	test.True(t, diff == "" && len(times) == 1, test.Sprintf("at %d times; callers (-want +got):\n%s", len(times), diff))
}

// trips logs the statements of each round trip that has a statement of a test.
type trips struct {
	mu  sync.Mutex
	all [][]string
}

func (l *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	var of []string
	for _, q := range data.Batch.QueuedQueries {
		if slices.Contains([]string{"select 1", "select 2"}, q.SQL) {
			of = append(of, q.SQL)
		}
	}
	if of != nil {
		l.all = append(l.all, of)
	}
	return ctx
}

func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (*trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A batch reads in two round trips, however many operations it has.
func TestQuery_OperationsOfABatchShareRoundTrips(t *testing.T) {
	t.Parallel()
	log := new(trips)
	db := pgtest.New(t, func(c *pg.Config) { c.Tracer = log })
	s := newSite(t, func(c *Config) { c.DB = db.DB })
	o := scripted{
		ask: func(q *Query) {
			q.Queue("select 1")
			q.Then(func(q *Query) { q.Queue("select 2") })
		},
		do: func(context.Context, *Tx) error { return nil },
	}
	must.NoError(t, errors.Join(s.together(t, o, o, o)...))
	want := [][]string{{"select 1", "select 1", "select 1"}, {"select 2", "select 2", "select 2"}}
	test.Eq(t, want, log.all, test.Sprint("round trips"))
}

// If the database asks for a transaction again, everything that enters it from outside is the same.
func TestRun_KeepsTimeAndIDsWhenTheDatabaseRetries(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	s := newSite(t, func(c *Config) {
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Minute)
			return now
		}
	})
	var seen []string
	body := func(_ context.Context, tx *Tx) error {
		seen = append(seen, fmt.Sprint(tx.Now, tenant.NextID[tenant.EventID](tx.IDs), tenant.NextID[tenant.EventID](tx.IDs)))
		if len(seen) < 3 {
			tx.Write(`do $$ begin raise exception using errcode = 'serialization_failure'; end $$`)
		}
		return nil
	}
	check := func(name string, err error) {
		t.Helper()
		test.True(
			t, err == nil && len(seen) == 3 && seen[0] == seen[1] && seen[1] == seen[2],
			test.Sprintf("%s: %v, %q", name, err, seen),
		)
		seen = nil
	}
	_, err := s.run(t.Context(), scripted{do: body}, Spec[int]{})
	check("Run", err)
	check("Do", Exec(t.Context(), s.Engine, s.caller, Spec[struct{}]{Name: "test"}, body))
}

// Only operations with Replay happen once under an idempotency key.
func TestRun_IgnoresTheKeyWithoutReplay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	with := func(procedure string) context.Context {
		return WithIdempotencyKey(t.Context(), &IdempotencyKey{Text: "k", Procedure: procedure, Hash: make([]byte, 32)})
	}
	before := 0
	for _, tt := range []struct {
		replay bool
		events int
	}{{false, 4}, {true, 2}} {
		for range 2 {
			_, err := s.run(with("run"), scripted{do: writes}, Spec[int]{Replay: tt.replay})
			spec := Spec[struct{}]{Name: "test", Replay: tt.replay}
			must.NoError(t, errors.Join(err, Exec(with("do"), s.Engine, s.caller, spec, writes)))
		}
		n := s.events(t)
		test.EqOp(t, tt.events, n-before,
			test.Sprintf("with Replay %t there are %d events, want %d", tt.replay, n-before, tt.events))
		before = s.events(t)
	}
}

// Of a batch, only what was committed sets alarms and has effects.
func TestTx_ForgetsEffectsOfRefusedOperationsOfABatch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at := time.Now().Add(time.Hour)
	var effects []string
	operation := func(name string, wake time.Time, err error) scripted {
		return scripted{do: func(_ context.Context, tx *Tx) error {
			tx.WakeAt(wake)
			tx.OnCommit(func() { effects = append(effects, name) })
			return err
		}}
	}
	errs := s.together(t,
		operation("refused", at.Add(-time.Minute), errRefused), operation("committed", at, nil),
		operation("later", at.Add(time.Minute), nil))
	must.True(t, errors.Is(errs[0], errRefused) && errs[1] == nil && errs[2] == nil, must.Sprint(errs))
	test.SliceEqOp(t, []string{"committed", "later"}, effects, test.Sprint("effects of"))
	due, _ := s.Alarms.next(at.Add(-time.Second))
	test.EqOp(t, 0, len(due), test.Sprint("a refused operation set an alarm"))
	due, _ = s.Alarms.next(at)
	test.EqOp(t, 1, len(due), test.Sprint("no alarm is set for the committed operation"))
}

// The answer of one idempotency key must be stored before another request with the key looks for it.
func TestBatcher_RunsAnIdempotencyKeyOncePerBatch(t *testing.T) {
	t.Parallel()
	b := newTestBatcher(t, 1, 100)
	b.ask(t.Context(), in(1), "first", at(1, 1))
	<-b.started
	for i, text := range []string{"a", "a", "b"} {
		b.callers.Go(func() {
			key := &IdempotencyKey{Text: text, Procedure: "p"}
			none := func(context.Context, *Tx) (int, error) { return 0, nil }
			_, err := enqueue(t.Context(), &Engine{batcher: b.batcher}, tenant.Caller{Tenant: in(1)}, Spec[int]{Name: text},
				Locks{}, func() Operation[int] { return RunFunc[int](none) }, key)
			test.NoError(t, err)
		})
		b.await(in(1), i+1)
	}
	b.proceed <- nil
	want(t, <-b.started, "a", "b")
	b.proceed <- nil
	want(t, <-b.started, "a")
	b.proceed <- nil
	b.drain()
}

// A batch loses one operation after the other only a few times. Then each of its operations runs alone.
func TestRun_RunsEachAloneAfterAFewSplits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	batches := make(map[*pg.Tx]bool) // the only runner writes it
	shared := 0
	fails := scripted{do: func(_ context.Context, tx *Tx) error {
		if tx.Shared() && !batches[tx.Tx] {
			batches[tx.Tx] = true
			shared++
		}
		appendEvent(tx)
		return errRefused
	}}
	errs := s.together(t, fails, fails, fails, fails, fails, fails)
	for i, err := range errs {
		test.ErrorIs(t, err, errRefused, test.Sprintf("%d", i))
	}
	test.EqOp(t, 1+maxSplits, shared, test.Sprintf("%d transactions were shared, want %d", shared, 1+maxSplits))
}

// A transaction that lost to one of another node takes the advisory locks of the keys that it found when it runs again.
func TestTx_LockTakesAnAdvisoryLockOnRetry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	key := NameKey("queue", "a")
	var held []int // advisory locks in each attempt
	o := scripted{do: func(ctx context.Context, tx *Tx) error {
		var locks int
		var batch pg.Batch
		batch.Queue(`select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`).Scan(&locks)
		if err := errors.Join(tx.Load(ctx, &batch), tx.Lock(key)); err != nil {
			return err
		}
		held = append(held, locks)
		if len(held) == 1 {
			tx.Write(`do $$ begin raise exception using errcode = 'serialization_failure'; end $$`)
		}
		return nil
	}}
	expect.OK(t)(s.run(t.Context(), o, Spec[int]{Locks: Locks{Together: []Key{key}}}))
	test.SliceEqOp(t, []int{0, 1}, held, test.Sprint("advisory locks in each attempt"))
}

// A refused operation gives its key back, even if the batch commits: the next request with the key runs.
func TestRun_GivesTheKeyOfARefusedOperationOfABatchBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	with := func() context.Context {
		return WithIdempotencyKey(t.Context(), &IdempotencyKey{Text: "k", Procedure: "p", Hash: make([]byte, 32)})
	}
	refuses := scripted{do: func(context.Context, *Tx) error { return errRefused }}
	proceed := s.busy(t)
	var done sync.WaitGroup
	done.Go(func() {
		_, err := s.run(with(), refuses, Spec[int]{Replay: true})
		test.ErrorIs(t, err, errRefused)
	})
	awaitQueued(s.Engine, s.caller.Tenant, 1)
	done.Go(func() {
		_, err := s.run(t.Context(), scripted{do: writes}, Spec[int]{})
		test.NoError(t, err)
	})
	awaitQueued(s.Engine, s.caller.Tenant, 2)
	proceed()
	done.Wait()
	runs := expect.Value(s.run(with(), scripted{do: writes}, Spec[int]{Replay: true}))(t)
	test.EqOp(t, 1, runs, test.Sprintf("the next request ran %d times", runs))
}

// An operation that cannot finish in its batch leaves it together with later ones that share its keys: they run in the
// order in which they arrived.
func TestRun_KeepsOrderWithinAKeyWhenOneLeavesTheBatch(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(context.Context, *Tx) error{
		"it must read": reads,
		"it fails after a write": func(_ context.Context, tx *Tx) error {
			appendEvent(tx)
			return errRefused
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			locks := Locks{Together: []Key{named(1)}}
			var order []string // the only runner appends to it
			proceed := s.busy(t)
			var done sync.WaitGroup
			for i, tt := range []struct {
				name  string
				locks Locks
			}{{"first", locks}, {"second", locks}, {"other", Locks{}}} {
				o := scripted{do: func(ctx context.Context, tx *Tx) error {
					if i == 0 && tx.Shared() {
						return leave(ctx, tx)
					}
					order = append(order, tt.name)
					return nil
				}}
				done.Go(func() {
					_, err := s.run(t.Context(), o, Spec[int]{Locks: tt.locks})
					test.NoError(t, err)
				})
				awaitQueued(s.Engine, s.caller.Tenant, i+1)
			}
			proceed()
			done.Wait()
			test.SliceEqOp(t, []string{"other", "first", "second"}, order, test.Sprint("the order"))
		})
	}
}

// The commit of a Quiet operation is not reported as a change.
func TestDo_ReportsCommitsUnlessQuiet(t *testing.T) {
	t.Parallel()
	changes := 0
	s := newSite(t, func(c *Config) { c.Committed = func(tenant.TenantID) { changes++ } })
	for _, tt := range []struct {
		quiet bool
		want  int
	}{{false, 1}, {true, 1}} {
		must.NoError(t, Exec(t.Context(), s.Engine, s.caller, Spec[struct{}]{Name: "test", Quiet: tt.quiet}, writes))
		test.EqOp(t, tt.want, changes, test.Sprintf("Quiet %t: %d changes, want %d", tt.quiet, changes, tt.want))
	}
}

// A caller may notice that it has left only after its operation is done, and its tenant's queue is gone.
func TestBatcher_IgnoresCallersThatLeaveAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := newTestBatcher(t, 1, 100)
	left, _ := newTask(t.Context(), in(1), "left", at(1, 1))
	b.leave(left)
	b.ask(t.Context(), in(1), "next", at(1, 2))
	want(t, <-b.started, "next")
	b.proceed <- nil
	b.drain()
}
