package pg_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Transactions with a lock in common read the row one after the other, so none of them has to retry.
func TestQueueOn_AvoidsRetries(t *testing.T) {
	t.Parallel()
	const clients = 8
	b := setup(t, func(c *pg.Config) { c.CommandConns = clients })
	id := b.insert(t)
	must.NoError(t, b.Warm(t.Context()))
	var mu sync.Mutex
	attempts := 0
	errs := make(chan error)
	for range clients {
		go func() {
			errs <- b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				mu.Lock()
				attempts++
				mu.Unlock()
				var taken int
				if err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&taken); err != nil {
					return err
				}
				tx.Write("update counters set taken = $3 where tenant_id = $1 and id = $2",
					b.scope.Tenant, id, (taken+1)%3)
				return nil
			}, pg.WithLocks(42, -7, 42))
		}()
	}
	for range clients {
		test.NoError(t, <-errs)
	}
	test.EqOp(t, clients, attempts, test.Sprintf("%d attempts for %d transactions", attempts, clients))
	test.EqOp(t, clients%3, b.taken(t, id), test.Sprint("taken"))
}

// A transaction that cannot get a lock runs without it, and no lock is left behind.
func TestQueueOn_ContinuesWithoutLock(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.LockTimeout = 20 * time.Millisecond })
	id := b.insert(t)
	holder := expect.Value(b.Owner.Acquire(t.Context()))(t)
	defer holder.Release()
	expect.OK(t)(holder.Exec(t.Context(), "select pg_advisory_lock(2)"))
	outcomes := map[string]error{"committed": nil, "refused": errors.New("no")}
	for name, outcome := range outcomes {
		err := b.InTx(t.Context(), b.scope, "test", func(_ context.Context, tx *pg.Tx) error {
			tx.Write(takeOne, b.scope.Tenant, id)
			return outcome
		}, pg.WithLocks(1, 2, 3))
		test.ErrorIs(t, err, outcome, test.Sprint(name))
	}
	test.EqOp(t, 1, b.taken(t, id), test.Sprint("taken"))
	var kept int
	if err := holder.QueryRow(t.Context(), `select count(*)::int from pg_locks where locktype = 'advisory'
		and database = (select oid from pg_database where datname = current_database())
		and pid <> pg_backend_pid()`).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d locks are kept (%v)", kept, err)
	}
}
