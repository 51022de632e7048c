package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/app/quota"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A quota counts the rows that are there and those that are about to be inserted. The error names it and its limit.
func TestTx_GrowLimitsRows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	count := func(there int) func(*pg.Batch, tenant.TenantID, int, *int) {
		return func(b *pg.Batch, _ tenant.TenantID, _ int, rows *int) { b.Queue("select $1::int", there).Scan(rows) }
	}
	some := quota.Quota{Name: "some", Limit: 3, Count: count(1)}
	none := quota.Quota{Name: "none", Limit: 5, Count: count(0)}
	for i, step := range []struct {
		of    quota.Quota
		n     int
		limit string // of what it would exceed
	}{
		{some, 3, "3"}, {some, 2, ""}, {some, 1, "3"}, {some, 0, ""}, {none, 5, ""}, {none, 1, "5"},
	} {
		_, err := s.exec(t, act{do: func(ctx context.Context, tx *Tx) error { return tx.Grow(ctx, step.of, step.n) }})
		f, _ := errors.AsType[*fault.Error](err)
		if test.EqOp(t, step.limit != "", f != nil, test.Sprint("step ", i, ": ", err)); f != nil {
			test.EqOp(t, fault.QuotaExceeded, f.Reason)
			test.Eq(t, map[string]string{"quota": step.of.Name, "limit": step.limit}, f.Metadata)
		}
	}
}

// Callers have a limit of keys each, within a day. A request that repeats one is answered all the same.
func TestRun_LimitsKeysOfEachCaller(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	s := newSite(t, func(c *Config) { c.MaxKeys, c.Now = 2, func() time.Time { return now } })
	for i, step := range []struct {
		after   time.Duration
		by, key string
		runs    int
		reason  fault.Reason
	}{
		{0, "", "a", 1, ""}, {0, "", "b", 1, ""}, {0, "", "c", 0, fault.QuotaExceeded}, {0, " too", "c", 1, ""},
		{time.Second, "", "c", 0, fault.QuotaExceeded}, {time.Second, "", "a", 0, ""},
		{time.Second, "", "a/other", 0, fault.IdempotencyConflict}, {idempotency.Lifetime, "", "c", 1, ""},
	} {
		now = time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC).Add(step.after)
		runs, err := s.run(t, act{replay: true, by: step.by, key: step.key, do: nothing})
		test.EqOp(t, step.reason, fault.ReasonOf(err), test.Sprint("step ", i, ": ", err))
		test.EqOp(t, step.reason == fault.QuotaExceeded, strings.Contains(fmt.Sprint(err), "idempotency_keys"))
		test.EqOp(t, step.runs, runs, test.Sprint("step ", i))
	}
	a := act{key: "c"}
	over, end := context.WithCancel(a.context(t))
	end()
	test.ErrorIs(t, expect.Error(recall[int](over, s.Engine, s.caller, idempotency.Of(over))), context.Canceled)
	test.ErrorIs(t, expect.Error(s.Tenants(over)), context.Canceled)
	// What cannot be stored is not done.
	unstorable := act{key: "e"}
	test.ErrorContains(t, expect.Error(Transact(unstorable.context(t), s.Engine, s.caller,
		Transaction{Name: "unstorable", Replay: true},
		func(context.Context, *Tx) (chan int, error) { return make(chan int), nil })), "answer not stored")
	// What is stored must be what is read.
	ctx := a.context(t)
	test.ErrorContains(t, expect.Error(recall[string](ctx, s.Engine, s.caller, idempotency.Of(ctx))), "stored answer")
	expect.Value(recall[int](ctx, s.Engine, s.caller, idempotency.Of(ctx)))(t)
	a.key = "d"
	none := a.context(t)
	test.ErrorIs(t, expect.Error(recall[int](none, s.Engine, s.caller, idempotency.Of(none))), idempotency.ErrForgotten)
	expect.OK(t)(s.db.Owner.Exec(t.Context(), `update idempotency_keys set answer = '{}'`))
	test.ErrorContains(t, expect.Error(recall[int](ctx, s.Engine, s.caller, idempotency.Of(ctx))), "stored answer")
}
