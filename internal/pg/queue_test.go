package pg_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Transactions with a lock in common read the row one after the other, so none of them has to retry.
func TestWithLocks_AvoidsRetries(t *testing.T) {
	t.Parallel()
	const clients = 8
	b := setup(t, func(c *pg.Config) { c.CommandConns = clients })
	id := b.insert(t)
	must.NoError(t, b.Warm(t.Context()))
	var attempts atomic.Int64
	errs := make(chan error)
	for range clients {
		go func() {
			errs <- b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
				attempts.Add(1)
				var taken int
				err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&taken)
				tx.Write("update counters set taken = $3 where tenant_id = $1 and id = $2", b.scope.Tenant, id, (taken+1)%3)
				return err
			}, pg.WithLocks(42, -7, 42))
		}()
	}
	for range clients {
		test.NoError(t, <-errs)
	}
	test.EqOp(t, clients, attempts.Load(), test.Sprint("attempts"))
	test.EqOp(t, clients%3, b.taken(t, id), test.Sprint("taken"))
}

// A transaction that cannot get a lock runs without it, and no lock is left behind.
func TestWithLocks_ContinuesWithoutLock(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.LockTimeout = 20 * time.Millisecond })
	id := b.insert(t)
	holder := expect.Value(b.Owner.Acquire(t.Context()))(t)
	defer holder.Release()
	expect.OK(t)(holder.Exec(t.Context(), "select pg_advisory_lock(2)"))
	for name, outcome := range map[string]error{"committed": nil, "refused": errors.New("no")} {
		test.ErrorIs(t, b.inTx(t, writes(outcome, takeOne, b.scope.Tenant, id), pg.WithLocks(1, 2, 3)), outcome,
			test.Sprint(name))
	}
	test.NoError(t, b.inTx(t, func(context.Context, *pg.Tx) error { return nil }, pg.WithLocks(1, 2)))
	test.EqOp(t, 1, b.taken(t, id), test.Sprint("taken"))
	var kept int
	must.NoError(t, holder.QueryRow(t.Context(), `select count(*)::int from pg_locks where locktype = 'advisory'
		and database = (select oid from pg_database where datname = current_database())
		and pid <> pg_backend_pid()`).Scan(&kept))
	test.EqOp(t, 0, kept, test.Sprint("locks are kept"))
}
