package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A caller that leaves, or whose deadline is early, does not end the batch for the others.
func TestBatchContext_LastsUntilTheLatestDeadline(t *testing.T) {
	t.Parallel()
	soon, late, none := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), time.Time{}
	for _, tt := range []struct {
		deadlines []time.Time
		want      time.Time
	}{
		{[]time.Time{soon}, soon}, {[]time.Time{late, soon}, late}, {[]time.Time{soon, late}, late},
		{[]time.Time{none, soon}, none}, {[]time.Time{late, soon, none}, none},
	} {
		var batch []*task
		for _, deadline := range tt.deadlines {
			ctx, leave := context.WithCancel(t.Context())
			if !deadline.IsZero() {
				ctx, leave = context.WithDeadline(t.Context(), deadline)
			}
			leave()
			batch = append(batch, &task{Context: ctx})
		}
		ctx, cancel := batchContext(batch)
		got, _ := ctx.Deadline()
		test.True(t, got.Equal(tt.want), test.Sprintf("%s of %s", got, tt.deadlines))
		test.NoError(t, ctx.Err())
		cancel()
	}
}

// If the database asks for a transaction again, everything that enters it from outside is the same. Times are in UTC,
// to the microsecond, as the database keeps them.
func TestRun_KeepsTimeAndIDsWhenTheDatabaseRetries(t *testing.T) {
	t.Parallel()
	var s *site
	now := time.Date(2026, time.May, 4, 12, 0, 0, 1, time.FixedZone("", 3600))
	s = newSite(t, func(c *Config) { c.Now = func() time.Time { return now.Add(time.Duration(s.changes) * time.Minute) } })
	for name, run := range map[string]func(*testing.T, act) (int, error){"Run": s.run, "Exec": s.exec} {
		var seen []string
		expect.OK(t)(run(t, act{do: func(ctx context.Context, tx *Tx) error {
			seen = append(seen, fmt.Sprint(
				tx.Now, tenant.NextID[tenant.EventID](tx.IDs), tenant.NextID[tenant.EventID](tx.IDs)))
			s.changes++ // and time passes
			if len(seen) < 3 {
				return raises("serialization_failure")(ctx, tx)
			}
			return nil
		}}))
		test.Eq(t, slices.Repeat(seen[:1], 3), seen, test.Sprint(name))
		test.StrContains(t, seen[0], ":00 +0000 UTC")
	}
}

// Only operations with Replay happen once under an idempotency key. A refused operation gives its key back, even if its
// batch commits: the next request with the key runs.
func TestRun_UsesTheKeyOfWhatIsReplayed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, tt := range []struct {
		replay bool
		events int
	}{{false, 4}, {true, 6}} {
		for range 2 {
			expect.OK(t)(s.run(t, act{replay: tt.replay, key: "run", do: writes}))
			expect.OK(t)(s.exec(t, act{replay: tt.replay, key: "exec", do: writes}))
		}
		test.EqOp(t, tt.events, s.events(t), test.Sprint("events, with Replay ", tt.replay))
	}
	_, errs := s.together(t, act{replay: true, key: "k", do: refuses}, act{do: writes})
	test.Eq(t, []error{errRefused, nil}, errs, test.Cmp(cmpopts.EquateErrors()))
	// The answer of one must be stored before another request with the key looks for it.
	runs, errs := s.together(t, act{replay: true, key: "two", do: writes}, act{replay: true, key: "two", do: writes})
	test.NoError(t, errors.Join(errs...))
	test.Eq(t, []int{1, 0}, runs)
	for _, want := range []int{1, 0} {
		test.EqOp(t, want, expect.Value(s.run(t, act{replay: true, key: "k", do: writes}))(t),
			test.Sprint("runs of the next request"))
	}
}

// A transaction that lost to one of another node takes the advisory locks of the keys that it found when it runs again.
func TestTx_LockTakesAnAdvisoryLockOnRetry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	key := NameKey("queue", "a")
	var held []int // advisory locks in each attempt
	has := Locks{Together: []Key{key}}
	expect.OK(t)(s.run(t, act{locks: has, do: func(ctx context.Context, tx *Tx) error {
		var (
			locks int
			batch pg.Batch
		)
		batch.Queue(`select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`).Scan(&locks)
		err := errors.Join(tx.Load(ctx, &batch), tx.Lock(key))
		if held = append(held, locks); len(held) == 1 {
			return errors.Join(err, raises("serialization_failure")(ctx, tx))
		}
		return err
	}}))
	test.Eq(t, []int{0, 1}, held)
}

// A repeated request gets the result, whatever its type is, but not what is left out of its JSON.
func TestTransact_StoresResults(t *testing.T) {
	t.Parallel()
	type result struct {
		ID     int
		Names  []string
		Secret string `json:"-"`
	}
	s := newSite(t)
	repeats(t, s, "struct", result{1, []string{"a"}, "secret"}, result{ID: 1, Names: []string{"a"}})
	repeats(t, s, "nothing", struct{}{}, struct{}{})
	repeats(t, s, "no list", []string(nil), nil)
	repeats(t, s, "list", []string{"a"}, []string{"a"})
	repeats(t, s, "bytes", []byte("a"), []byte("a"))
}

// repeats runs a transaction with a result twice under one key, and compares what a repeated request gets.
func repeats[R any](t *testing.T, s *site, key string, result, repeated R) {
	t.Helper()
	run := func(result R) R {
		a := act{key: key}
		return expect.Value(Transact(a.context(t), s.Engine, s.caller, Transaction{Name: "test", Replay: true},
			func(context.Context, *Tx) (R, error) { return result, nil }))(t)
	}
	test.Eq(t, result, run(result), test.Sprint(key))
	var none R
	test.Eq(t, repeated, run(none), test.Sprint(key))
}
