package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// However an operation of a batch ends, the others end as if it had not been there.
func TestRun_OneOperationDoesNotHarmOthersOfItsBatch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ask  func(*Query)
		do   body
		want string // of the error
		runs int
		left int // events of its own
	}{
		"refuses":                 {nil, refuses, "refused", 1, 0},
		"refuses after a write":   {nil, then(writes, refuses), "refused", 2, 0},
		"panics":                  {nil, panics, "a bug", 1, 0},
		"panics after a write":    {nil, then(writes, panics), "a bug", 2, 0},
		"panics in Load":          {func(*Query) { panic("a bug") }, writes, "a bug", 0, 0},
		"panics in Then":          {func(q *Query) { q.Then(func(*Query) { panic("a bug") }) }, writes, "a bug", 0, 0},
		"must read":               {nil, reads, "<nil>", 2, 0},
		"must read after a write": {nil, then(writes, reads), "<nil>", 2, 1},
		"locks nothing":           {nil, func(_ context.Context, tx *Tx) error { return tx.Lock() }, "<nil>", 1, 0},
		"locks a key":             {nil, func(_ context.Context, tx *Tx) error { return tx.Lock(named(1)) }, "<nil>", 2, 0},
		"refused by the database": {nil, func(_ context.Context, tx *Tx) error {
			tx.Write("insert into directory (tenant_id, created_at) values (null, null)")
			return nil
		}, "42501", 2, 0},
		"rejected by a constraint": {nil, raises("unique_violation"), "23505", 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			runs, errs := s.together(t, act{do: writes}, act{ask: tt.ask, do: tt.do}, act{do: writes})
			test.NoError(t, errors.Join(errs[0], errs[2]), test.Sprint("the others"))
			says(t, errs[1], tt.want)
			test.EqOp(t, tt.runs, runs[1], test.Sprint("how often it ran"))
			test.EqOp(t, 2+tt.left, s.events(t), test.Sprint("events"))
		})
	}
}

// An operation that is left alone in its batch can still find keys that it has to wait for.
func TestRun_QueuesAgainWhoIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	runs, errs := s.together(t, act{do: then(writes, refuses)}, act{do: func(_ context.Context, tx *Tx) error {
		if tx.Shared() {
			return nil
		}
		return tx.Lock(named(1))
	}})
	says(t, errs[0], "refused")
	test.NoError(t, errs[1])
	test.Eq(t, []int{2, 2}, runs)
}

// An operation that cannot finish in its batch leaves it together with later ones that share its keys: they run in the
// order in which they arrived.
func TestRun_KeepsOrderWithinAKey(t *testing.T) {
	t.Parallel()
	mustRead, fails := then(writes, reads), then(writes, refuses)
	for name, tt := range map[string]struct {
		leave  []body // what each does in a shared transaction
		keys   []byte
		shared int   // transactions
		want   []int // the order of the commits
	}{
		"one must read":           {[]body{then(nothing, reads), nothing, nothing}, []byte{1, 1, 2}, 1, []int{2, 0, 1}},
		"one fails after a write": {[]body{fails, nothing, nothing}, []byte{1, 1, 2}, 1, []int{2, 0, 1}},
		"all but the first must read": {
			slices.Concat([]body{writes}, slices.Repeat([]body{mustRead}, 9)), []byte{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, 2,
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
		// A batch loses one after the other only a few times.
		"each of many must read": {
			slices.Repeat([]body{mustRead}, 6), []byte{1, 2, 3, 4, 5, 6}, 1 + maxSplits, []int{0, 1, 2, 3, 4, 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			var order []int // the only runner writes it
			shared, acts := make(map[*pg.Tx]bool), make([]act, len(tt.leave))
			for i, leave := range tt.leave {
				acts[i].locks = Locks{Together: []Key{named(tt.keys[i])}}
				acts[i].do = func(ctx context.Context, tx *Tx) error {
					tx.OnCommit(func() { order = append(order, i) })
					if tx.Shared() {
						shared[tx.Tx] = true
						return leave(ctx, tx)
					}
					return nil
				}
			}
			_, errs := s.together(t, acts...)
			test.NoError(t, errors.Join(errs...))
			test.Eq(t, tt.want, order)
			test.EqOp(t, tt.shared, len(shared), test.Sprint("shared transactions"))
		})
	}
}

// Every operation of a batch is asked and run for its own caller, all at one time. The results travel to the callers,
// whatever their types are.
func TestRun_SharesABatchAmongCallersAndTypesOfResult(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var subjects []string // the only runner writes them
	times := make(map[time.Time]bool)
	see := func(by tenant.Caller, now time.Time) {
		subjects = append(subjects, by.Subject)
		times[now] = true
	}
	ask := func(q *Query) { see(q.Caller, q.Now) }
	do := then(func(_ context.Context, tx *Tx) error {
		see(tx.Caller, tx.Now)
		return nil
	}, nothing)
	s.batch(t,
		func() { expect.OK(t)(s.run(t, act{by: " 1", ask: ask, do: do})) },
		func() { expect.OK(t)(s.run(t, act{by: " 2", ask: ask, do: do})) },
		func() { test.Eq(t, "text", answer(t, s, see, "text")) },
		func() { test.Eq(t, []int{1, 2}, answer(t, s, see, []int{1, 2})) })
	test.Eq(t, []string{"test 1", "test 2", "test 1", "test 2", "test", "test"}, subjects)
	test.EqOp(t, 1, len(times), test.Sprint("transactions"))
}

// answer runs an operation with a result of any type.
func answer[R any](t *testing.T, s *site, see func(tenant.Caller, time.Time), result R) R {
	t.Helper()
	return expect.Value(RunBatched(t.Context(), s.Engine, s.caller, Batched[R]{
		Name: "test", Locate: Known(Locks{}, func() Operation[R] {
			return alone[R](func(_ context.Context, tx *Tx) (R, error) {
				see(tx.Caller, tx.Now)
				return result, nil
			})
		}),
	}))(t)
}

// A batch reads in two round trips, however many operations it has. The second follows the completion of the shared
// state, and the first answers.
func TestQuery_OperationsOfABatchShareRoundTrips(t *testing.T) {
	t.Parallel()
	var (
		trips      [][]string
		log        []string
		incomplete error
	)
	tracer := &pgtest.Tracer{Batch: func(_ context.Context, _ *pgx.Conn, statements []*pgx.QueuedQuery) {
		var mine []string
		for _, s := range statements {
			if strings.Contains(s.SQL, "-- mine") {
				mine = append(mine, s.SQL)
			}
		}
		if mine != nil {
			trips = append(trips, mine)
		}
	}}
	s := newSite(t, func(c *Config) {
		c.DB = pgtest.New(t, func(c *pg.Config) { c.Tracer = tracer }).DB
		c.NewState = func() State { return &loggedState{&log, incomplete} }
	})
	a := act{do: nothing, ask: func(q *Query) {
		one := 0
		q.Queue("select 1 -- mine").Scan(&one)
		q.Then(func(q *Query) {
			test.EqOp(t, 1, one, test.Sprint("the first answer"))
			log = append(log, "then")
			q.Queue("select 2 -- mine").Scan(&one)
		})
	}}
	_, errs := s.together(t, a, a, a)
	test.NoError(t, errors.Join(errs...))
	test.Eq(t, [][]string{
		slices.Repeat([]string{"select 1 -- mine"}, 3), slices.Repeat([]string{"select 2 -- mine"}, 3),
	}, trips)
	// The state of the operation that kept the runner busy comes first.
	test.Eq(
		t, append(strings.Fields("load complete shared load complete shared"), slices.Repeat([]string{"then"}, 3)...), log,
	)
	fails := func() {
		incomplete = errRefused // then nothing runs, and not once more
		runs, err := s.run(t, a)
		test.EqOp(t, 0, runs)
		test.ErrorIs(t, err, errRefused)
	}
	s.batch(t, fails, fails)
	test.EqOp(t, 4, strings.Count(strings.Join(log, " "), "complete"))
	fails()
}

type loggedState struct {
	log *[]string
	err error
}

func (s *loggedState) Load(q *Query) {
	*s.log = append(*s.log, "load")
	q.Then(func(*Query) { *s.log = append(*s.log, "shared") })
}

func (s *loggedState) Complete(context.Context, *pg.Tx) error {
	*s.log = append(*s.log, "complete")
	return s.err
}

// Any constraint may have guarded what was not read: the operation runs once more, and reads all. It runs five times if
// it loses a race that it lists, and again if it has found a key that it has to wait for.
func TestRun_RunsAgainWhatMaySucceed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	is := func(code string) Race { return func(err error) bool { return pg.Code(err) == code } }
	locks := func(keys ...Key) body {
		return func(_ context.Context, tx *Tx) error { return errors.Join(tx.Lock(keys...)) }
	}
	key := NameKey("queue", "a")
	for name, tt := range map[string]struct {
		act    act
		do     body
		want   string // of the error
		strict []bool // each attempt
		exec   int    // attempts of Exec, which reads all at once and waits for no key
	}{
		"a listed race": {
			act{races: []Race{is("none"), is("22012")}}, raises("division_by_zero"), "22012",
			[]bool{false, true, true, true, true}, maxAttempts,
		},
		"another error":      {act{races: []Race{is("none")}}, raises("division_by_zero"), "22012", []bool{false}, 1},
		"a unique index":     {act{}, raises("unique_violation"), "23505", []bool{false, true}, 1},
		"an exclusion":       {act{}, raises("exclusion_violation"), "23P01", []bool{false, true}, 1},
		"a check":            {act{}, raises("check_violation"), "23514", []bool{false, true}, 1},
		"a refusal":          {act{}, refuses, "refused", []bool{false}, 1},
		"a new key":          {act{}, locks(key, key), "<nil>", []bool{false, false}, 1},
		"a key that it has":  {act{locks: Locks{Together: []Key{key}}}, locks(key), "<nil>", []bool{false}, 1},
		"no key":             {act{}, locks(), "<nil>", []bool{false}, 1},
		"it has to be alone": {act{}, reads, "<nil>", []bool{false}, 1},
	} {
		var strict []bool
		a := tt.act
		a.do, a.ask = tt.do, func(q *Query) { strict = append(strict, q.Strict) }
		_, err := s.run(t, a)
		says(t, err, tt.want)
		test.Eq(t, tt.strict, strict, test.Sprint(name))
		runs, err := s.exec(t, a)
		says(t, err, tt.want)
		test.EqOp(t, tt.exec, runs, test.Sprint("Exec, ", name))
	}
}

// An operation that has moved since it was located is located again, five times.
func TestRun_LocatesAgainWhatHasMoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for arrives, want := range map[int]error{3: nil, 5: nil, 6: ErrMoved} {
		located := 0
		got, err := RunBatched(t.Context(), s.Engine, s.caller, Batched[int]{
			Name: "test",
			Locate: func(context.Context, Reader) (Located[int], error) {
				located++
				return Alone(Locks{}, func(context.Context, *Tx) (int, error) {
					if located < arrives {
						return 0, ErrMoved
					}
					return located, nil
				}), nil
			},
		})
		test.ErrorIs(t, err, want)
		test.EqOp(t, min(arrives, maxAttempts), located)
		test.True(t, got == arrives || want != nil, test.Sprint(located, got))
	}
}

// What follows a commit is done for what was committed, and not for what was refused. The commit of a Quiet
// transaction is not reported as a change.
func TestTx_OnCommitRunsForCommittedOperationsOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at := time.Now().Add(time.Hour)
	var effects []string
	effect := func(name string, wake time.Time, quiet bool, err error) act {
		return act{quiet: quiet, do: func(_ context.Context, tx *Tx) error {
			tx.WakeAt(wake.Add(time.Minute))
			tx.WakeAt(wake)
			tx.WakeAt(wake.Add(2 * time.Minute))
			tx.OnCommit(func() { effects = append(effects, name) })
			return err
		}}
	}
	refused := effect("refused", at.Add(-time.Minute), false, errRefused)
	later := effect("later", at.Add(time.Minute), false, nil)
	_, errs := s.together(t, refused, effect("committed", at, false, nil), later)
	test.Eq(t, []error{errRefused, nil, nil}, errs, test.Cmp(cmpopts.EquateErrors()))
	test.Eq(t, []string{"committed", "later"}, effects)
	test.EqOp(t, 1, s.changes, test.Sprint("changes"))
	due, wait := s.Alarms.Next(at.Add(-time.Second))
	test.SliceEmpty(t, due, test.Sprint("the alarm goes off in ", wait))
	test.EqOp(t, time.Second, wait, test.Sprint("the alarm goes off in ", wait))
	for name, run := range map[string]func(*testing.T, act) (int, error){"Run": s.run, "Exec": s.exec} {
		effects, s.changes = nil, 0
		test.ErrorIs(t, expect.Error(run(t, refused)), errRefused)
		test.EqOp(t, 0, s.changes, test.Sprint(name, ": a refused operation made a change"))
		expect.OK(t)(run(t, effect("committed", at, false, nil)))
		test.Eq(t, []string{"committed"}, effects, test.Sprint(name))
		test.EqOp(t, 1, s.changes, test.Sprint(name, ": changes"))
	}
	expect.OK(t)(s.exec(t, effect("quiet", at, true, nil)))
	test.Eq(t, []string{"committed", "quiet"}, effects)
	test.EqOp(t, 1, s.changes, test.Sprint("changes after a quiet one"))
}

// Once an engine is drained nothing new begins.
func TestDrain_RefusesNewOperations(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Drain()
	runs, err := s.run(t, act{do: nothing})
	test.EqOp(t, fault.Contention, fault.ReasonOf(err))
	test.EqOp(t, 0, runs)
}
