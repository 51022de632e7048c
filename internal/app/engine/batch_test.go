package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// scripted is an operation that does what the test says.
type scripted struct {
	ask  func(*Query)
	do   func(context.Context, *Tx) error
	runs *int
}

func (s *scripted) Load(q *Query) {
	if s.ask != nil {
		s.ask(q)
	}
}

func (s *scripted) Run(ctx context.Context, tx *Tx) (int, error) {
	*s.runs++
	return *s.runs, s.do(ctx, tx)
}

func appendEvent(tx *Tx) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.RolesChanged, Actor: tx.Caller.Actor(), At: tx.Now,
	})
}

func writes(_ context.Context, tx *Tx) error {
	appendEvent(tx)
	return nil
}

func reads(ctx context.Context, tx *Tx) error {
	var batch pg.Batch
	batch.Queue("select 1")
	return tx.Load(ctx, &batch)
}

// site is an engine on a database of its own, with one transaction at a time.
type site struct {
	*Engine
	db     *pgtest.DB
	caller tenant.Caller
}

func newSite(t *testing.T, adjust ...func(*Config)) *site {
	t.Helper()
	db := pgtest.New(t)
	c := Config{DB: db.DB, Now: time.Now, Width: 1}
	for _, set := range adjust {
		set(&c)
	}
	return &site{New(c), db, tenant.Caller{Tenant: tenant.New[tenant.TenantID](time.Now()), Subject: "test"}}
}

// run runs an operation, and counts how often it was run.
func (s *site) run(ctx context.Context, o scripted, spec Spec[int]) (runs int, err error) {
	o.runs = &runs
	spec.Name, spec.New = "test", func() Operation[int] { return &o }
	_, err = Run(ctx, s.Engine, s.caller, spec)
	return runs, err
}

// busy keeps the only runner busy until the returned function is called, so that what is queued after it shares a
// batch.
func (s *site) busy(t *testing.T) (proceed func()) {
	t.Helper()
	started, release := make(chan struct{}), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		first := scripted{do: func(context.Context, *Tx) error {
			close(started)
			<-release
			return nil
		}}
		_, err := s.run(t.Context(), first, Spec[int]{})
		test.NoError(t, err)
	})
	<-started
	return func() {
		close(release)
		done.Wait()
	}
}

func (s *site) events(t *testing.T) (n int) {
	t.Helper()
	row := s.db.Owner.QueryRow(t.Context(), "select count(*) from events where type = $1", outbox.RolesChanged)
	must.NoError(t, row.Scan(&n))
	return n
}

var errRefused = errors.New("refused")

// However an operation of a batch ends, the others end as if it had not been there.
func TestRun_OneOperationDoesNotHarmOthersOfItsBatch(t *testing.T) {
	t.Parallel()
	type body = func(context.Context, *Tx) error
	then := func(body body) body {
		return func(ctx context.Context, tx *Tx) error {
			appendEvent(tx)
			return body(ctx, tx)
		}
	}
	refuses := func(context.Context, *Tx) error { return errRefused }
	panics := func(context.Context, *Tx) error { panic("a bug") }
	for name, tt := range map[string]struct {
		ask  func(*Query)
		do   body
		want string // of the error; empty: none
		runs int
		left int // events of its own
	}{
		"refuses":                 {nil, refuses, "refused", 1, 0},
		"refuses after a write":   {nil, then(refuses), "refused", 2, 0},
		"panics":                  {nil, panics, "a bug", 1, 0},
		"panics after a write":    {nil, then(panics), "a bug", 2, 0},
		"panics in Load":          {func(*Query) { panic("a bug") }, writes, "a bug", 0, 0},
		"panics in Then":          {func(q *Query) { q.Then(func(*Query) { panic("a bug") }) }, writes, "a bug", 0, 0},
		"must read":               {nil, reads, "", 2, 0},
		"must read after a write": {nil, then(reads), "", 2, 1},
		"refused by the database": {nil, func(_ context.Context, tx *Tx) error {
			tx.Write("insert into directory (tenant_id, created_at) values (null, null)")
			return nil
		}, "42501", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			proceed := s.busy(t)
			operations := []scripted{{do: writes}, {ask: tt.ask, do: tt.do}, {do: writes}}
			errs, runs := make([]error, len(operations)), make([]int, len(operations))
			var done sync.WaitGroup
			for i, o := range operations {
				done.Go(func() { runs[i], errs[i] = s.run(t.Context(), o, Spec[int]{}) })
				awaitQueued(s.Engine, s.caller.Tenant, i+1)
			}
			proceed()
			done.Wait()
			test.NoError(t, errors.Join(errs[0], errs[2]), test.Sprint("the others"))
			got := errs[1]
			test.True(
				t, (got == nil) == (tt.want == "") && (got == nil || strings.Contains(got.Error(), tt.want)),
				test.Sprintf("it: %v, want %q", got, tt.want),
			)
			test.EqOp(t, tt.runs, runs[1], test.Sprintf("it ran %d times, want %d", runs[1], tt.runs))
			test.EqOp(t, 2+tt.left, s.events(t), test.Sprintf("events, want %d", 2+tt.left))
		})
	}
}

// If most operations of a batch must read, all of them run alone, in order of arrival within a key.
func TestRun_KeepsOrderWhenABatchFallsApart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	proceed := s.busy(t)
	var order []int // the only runner appends to it
	var done sync.WaitGroup
	for i := range 10 {
		o := scripted{do: func(ctx context.Context, tx *Tx) error {
			appendEvent(tx)
			err := reads(ctx, tx)
			if err == nil {
				order = append(order, i)
			}
			return err
		}}
		if i == 0 {
			o.do = func(_ context.Context, tx *Tx) error {
				if !tx.Shared() {
					order = append(order, i)
				}
				appendEvent(tx)
				return nil
			}
		}
		done.Go(func() {
			locks := Locks{Together: []Key{{15: byte(i % 2)}}}
			_, err := s.run(t.Context(), o, Spec[int]{Locks: locks})
			test.NoError(t, err, test.Sprintf("%d", i))
		})
		awaitQueued(s.Engine, s.caller.Tenant, i+1)
	}
	proceed()
	done.Wait()
	for session := range 2 {
		var of []int
		for _, i := range order {
			if i%2 == session {
				of = append(of, i)
			}
		}
		test.True(t, slices.IsSorted(of), test.Sprintf("session %d ran in the order %v", session, of))
	}
	test.True(t, len(order) >= 9, test.Sprintf("ran alone: %v", order))
}

// The results of operations with different types travel through one batch.
func TestRun_SharesABatchAmongTypesOfResult(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	proceed := s.busy(t)
	var done sync.WaitGroup
	transactions := make(map[*pg.Tx]bool) // the only runner writes it
	done.Go(func() {
		got, err := Run(t.Context(), s.Engine, s.caller, Spec[string]{Name: "test", New: func() Operation[string] {
			return RunFunc[string](func(_ context.Context, tx *Tx) (string, error) {
				transactions[tx.Tx] = true
				return "text", nil
			})
		}})
		test.True(t, got == "text" && err == nil, test.Sprintf("%q, %v", got, err))
	})
	awaitQueued(s.Engine, s.caller.Tenant, 1)
	done.Go(func() {
		got, err := Run(t.Context(), s.Engine, s.caller, Spec[[]int]{Name: "test", New: func() Operation[[]int] {
			return RunFunc[[]int](func(_ context.Context, tx *Tx) ([]int, error) {
				transactions[tx.Tx] = true
				return []int{1, 2}, nil
			})
		}})
		test.True(t, slices.Equal(got, []int{1, 2}) && err == nil, test.Sprintf("%v, %v", got, err))
	})
	awaitQueued(s.Engine, s.caller.Tenant, 2)
	proceed()
	done.Wait()
	test.EqOp(t, 1, len(transactions), test.Sprintf("%d transactions, want 1", len(transactions)))
}

// All Then functions of a batch share one round trip, which follows the completion of the shared state.
func TestQuery_ThenRunsAfterTheStateIsComplete(t *testing.T) {
	t.Parallel()
	var log []string
	s := newSite(t, func(c *Config) {
		c.NewState = func() State { return &loggedState{&log} }
	})
	o := scripted{
		ask: func(q *Query) {
			log = append(log, "load")
			var one int
			q.Queue("select 1").Scan(&one)
			q.Then(func(q *Query) {
				log = append(log, "then")
				test.EqOp(t, 1, one, test.Sprint("the first answers are not there"))
				q.Queue("select 2").Scan(&one)
			})
		},
		do: func(context.Context, *Tx) error {
			log = append(log, "run")
			return nil
		},
	}
	expect.OK(t)(s.run(t.Context(), o, Spec[int]{}))
	if got, want := strings.Join(log, " "), "state load complete then run"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

type loggedState struct{ log *[]string }

func (s *loggedState) Load(*Query) { *s.log = append(*s.log, "state") }

func (s *loggedState) Complete(context.Context, *pg.Tx) error {
	*s.log = append(*s.log, "complete")
	return nil
}

// violate makes the database refuse the transaction at its commit.
func violate(_ context.Context, tx *Tx) error {
	tx.Write("select 1 / 0")
	return nil
}

func TestRun_RetriesLostRacesFiveTimes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	race := func(err error) bool { return pg.Code(err) == "22012" }
	runs, err := s.run(t.Context(), scripted{do: violate}, Spec[int]{Races: []Race{race}})
	test.True(t, race(err) && runs == maxAttempts, test.Sprintf("%d runs: %v", runs, err))
	if runs, err := s.run(t.Context(), scripted{do: violate}, Spec[int]{}); !race(err) || runs != 1 {
		t.Errorf("a race that is not listed: %d runs: %v", runs, err)
	}
	runs = 0
	_, err = Do(t.Context(), s.Engine, s.caller, Spec[int]{Name: "test", Races: []Race{race}},
		func(ctx context.Context, tx *Tx) (int, error) {
			runs++
			return 0, violate(ctx, tx)
		})
	test.True(t, race(err) && runs == maxAttempts, test.Sprintf("Do: %d runs: %v", runs, err))
}

// Any constraint may have guarded what was not read: the operation runs once more, and reads all.
func TestRun_RunsStrictOnceAfterAViolation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var strict []bool
	o := scripted{
		ask: func(q *Query) { strict = append(strict, q.Strict) },
		do: func(_ context.Context, tx *Tx) error {
			tx.Write(`do $$ begin raise exception using errcode = 'unique_violation'; end $$`)
			return nil
		},
	}
	_, err := s.run(t.Context(), o, Spec[int]{})
	test.True(t, pg.IsUnique(err), test.Sprint(err))
	test.SliceEqOp(t, []bool{false, true}, strict, test.Sprint("strict attempts"))
}

// An operation that has moved since it was located is located again.
func TestRun_LocatesAgainWhatHasMoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	located := 0
	got, err := Run(t.Context(), s.Engine, s.caller, Spec[int]{
		Name: "test",
		Locate: func(context.Context, Reader) (Locks, func() Operation[int], error) {
			located++
			at := located
			return Locks{}, func() Operation[int] {
				return RunFunc[int](func(context.Context, *Tx) (int, error) {
					if at < 3 {
						return 0, ErrMoved
					}
					return at, nil
				})
			}, nil
		},
	})
	test.True(t, got == 3 && err == nil, test.Sprintf("%d, %v", got, err))
}

// A key that is found while an operation runs is locked when it runs again, and others with that key wait.
func TestTx_LockRunsTheOperationAgainWithTheKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	key := NameKey("queue", "a")
	runs, err := s.run(
		t.Context(), scripted{do: func(_ context.Context, tx *Tx) error { return tx.Lock(key) }}, Spec[int]{},
	)
	test.True(t, runs == 2 && err == nil, test.Sprintf("%d runs, %v", runs, err))
	runs, err = s.run(t.Context(), scripted{do: func(_ context.Context, tx *Tx) error { return tx.Lock(key) }},
		Spec[int]{Locks: Locks{Together: []Key{key}}})
	test.True(t, runs == 1 && err == nil, test.Sprintf("a key that it has: %d runs, %v", runs, err))
}

// What follows a commit is done for what was committed, and not for what was refused.
func TestTx_OnCommitRunsForCommittedOperationsOnly(t *testing.T) {
	t.Parallel()
	var changed []tenant.TenantID
	s := newSite(t, func(c *Config) {
		c.Committed = func(id tenant.TenantID) { changed = append(changed, id) }
	})
	effects := 0
	effect := func(err error) scripted {
		return scripted{do: func(_ context.Context, tx *Tx) error {
			tx.OnCommit(func() { effects++ })
			return err
		}}
	}
	if _, err := s.run(t.Context(), effect(errRefused), Spec[int]{}); !errors.Is(err, errRefused) || effects != 0 ||
		len(changed) != 0 {
		t.Errorf("refused: %v, %d effects, %d changes", err, effects, len(changed))
	}
	if _, err := s.run(t.Context(), effect(nil), Spec[int]{}); err != nil || effects != 1 || len(changed) != 1 {
		t.Errorf("committed: %v, %d effects, %d changes", err, effects, len(changed))
	}
	if _, err := s.run(t.Context(), effect(nil), Spec[int]{Quiet: true}); err != nil || effects != 2 || len(changed) != 1 {
		t.Errorf("quiet: %v, %d effects, %d changes", err, effects, len(changed))
	}
}
