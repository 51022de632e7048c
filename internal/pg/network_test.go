package pg_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Round trips are the cost of a transaction.
func TestTransactions_TakeExpectedRoundTrips(t *testing.T) {
	t.Parallel()
	var n pgtest.Network
	b := setup(t, n.Use, func(c *pg.Config) { c.CommandConns, c.ReadConns = 1, 1 })
	id := b.insert(t)
	load := func(ctx context.Context, tx querier) error {
		var (
			taken, one int
			batch      pg.Batch
		)
		batch.Queue(selectTaken, b.scope.Tenant, id).Scan(&taken)
		batch.Queue("select 1").Scan(&one)
		return tx.Load(ctx, &batch)
	}
	write := func(ctx context.Context, tx *pg.Tx) error {
		tx.Write(insertValue, b.scope.Tenant, newID(), 1, 1)
		reset := writes(nil, "update counters set taken = 0 where tenant_id = $1 and id = $2", b.scope.Tenant, id)
		return reset(ctx, tx)
	}
	inTx := func(fn body, options ...pg.Option) func() error {
		return func() error { return b.inTx(t, fn, options...) }
	}
	loadAndWrite := func(ctx context.Context, tx *pg.Tx) error { return errors.Join(load(ctx, tx), write(ctx, tx)) }
	for name, tt := range map[string]struct {
		want int64
		run  func() error
	}{
		"nothing": {0, inTx(func(context.Context, *pg.Tx) error { return nil })},
		"writes":  {1, inTx(write)},
		"writes and load": {2, inTx(func(ctx context.Context, tx *pg.Tx) error {
			return errors.Join(write(ctx, tx), load(ctx, tx))
		})},
		"load, then write": {2, inTx(loadAndWrite)},
		"two loads, then writes": {3, inTx(func(ctx context.Context, tx *pg.Tx) error {
			return errors.Join(load(ctx, tx), loadAndWrite(ctx, tx))
		})},
		"load, flush": {3, inTx(func(ctx context.Context, tx *pg.Tx) error {
			return errors.Join(loadAndWrite(ctx, tx), tx.Flush(ctx))
		})},
		"advisory locks, load, then writes": {3, inTx(loadAndWrite, pg.WithLocks(7, 3))},
		"one batch of reads": {1, func() error {
			var batch pg.Batch
			batch.Queue(selectTaken, b.scope.Tenant, id)
			batch.Queue("select 1")
			return b.ReadBatch(t.Context(), b.scope, &batch)
		}},
		"a read": {2, func() error {
			return b.inRead(t, func(ctx context.Context, tx *pg.ReadTx) error { return load(ctx, tx) })
		}},
	} {
		test.EqOp(t, tt.want, cheapest(&n, func() { must.NoError(t, tt.run(), must.Sprint(name)) }), test.Sprint(name))
	}
}

// cheapest returns the round trips of the cheapest of several runs. The first run prepares the statements; all later
// ones cost the same. If the machine stalls for a second, the pool pings an idle connection.
func cheapest(n *pgtest.Network, run func()) int64 {
	fewest := int64(1000)
	for range 4 {
		before := n.Trips.Load()
		run()
		fewest = min(fewest, n.Trips.Load()-before)
	}
	return fewest
}

// A failed attempt must not make the next one prepare its statements again.
func TestInTx_KeepsPreparedStatementsOnConflict(t *testing.T) {
	t.Parallel()
	var n pgtest.Network
	b := setup(t, n.Use, func(c *pg.Config) { c.CommandConns = 1 })
	b.insertExample(t)
	trips := cheapest(&n, func() {
		attempts := 0
		must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
			err := b.read(ctx, tx)
			if attempts++; attempts == 1 {
				b.exec(t, addOne, b.scope.Tenant)
			}
			tx.Write(addOne, b.scope.Tenant).Each(func() {})
			return err
		}))
		test.EqOp(t, 2, attempts)
	})
	// Load, failing write, rollback, load, write; and one for the collision.
	test.LessEq(t, 6, trips)
}

// A lock that another transaction holds for too long says nothing about the statements, either.
func TestInTx_KeepsPreparedStatementsAfterLockTimeout(t *testing.T) {
	t.Parallel()
	var n pgtest.Network
	b := setup(t, n.Use, func(c *pg.Config) { c.CommandConns, c.LockTimeout = 1, 20*time.Millisecond })
	id := b.insert(t)
	holder := expect.Value(b.Owner.Begin(t.Context()))(t)
	defer func() { must.NoError(t, holder.Rollback(t.Context())) }()
	expect.OK(t)(holder.Exec(t.Context(), takeOne, b.scope.Tenant, id))
	trips := cheapest(&n, func() {
		test.EqOp(t, "55P03", pg.Code(b.inTx(t, writes(nil, takeOne, b.scope.Tenant, id))))
	})
	test.EqOp(t, 2, trips, test.Sprint("write, rollback"))
}

func TestInTx_RetriesOnlyIfNothingWasCommitted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		atCommit bool
		cut      pgtest.Cut
		attempts int
		want     error
		outcome  string
	}{
		"before a load":     {false, pgtest.Cut{}, 2, nil, "committed"},
		"during a load":     {false, pgtest.Cut{Deliver: true}, 2, nil, "committed"},
		"during the commit": {true, pgtest.Cut{Deliver: true}, 1, pg.ErrCommitUnknown, "unknown"},
		"before the commit": {true, pgtest.Cut{}, 2, nil, "committed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n pgtest.Network
			registry := prometheus.NewRegistry()
			b := setup(t, n.Use, func(c *pg.Config) { c.CommandConns, c.Registerer = 1, registry })
			id := b.insert(t)
			attempts := 0
			run := func(cut bool) error {
				attempts = 0
				return b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
					if attempts++; cut && attempts == 1 && !tt.atCommit {
						n.Break(tt.cut)
					}
					err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(new(int))
					tx.Write(takeOne, b.scope.Tenant, id)
					if cut && attempts == 1 && tt.atCommit {
						n.Break(tt.cut)
					}
					return err
				})
			}
			must.NoError(t, run(false)) // prepares the statements
			err := run(true)
			test.ErrorIs(t, err, tt.want)
			test.EqOp(t, "", fault.ReasonOf(err), test.Sprint("with a reason, the client would send it again"))
			test.EqOp(t, tt.attempts, attempts)
			test.NoError(t, run(false), test.Sprint("the next transaction"))
			test.EqOp(t, 3, b.taken(t, id), test.Sprint("taken"))
			got := expect.Metrics(t, registry, "berth_transaction")
			test.MapContainsKey(t, got, "berth_transactions_total outcome="+tt.outcome+" transaction=test")
			test.EqOp(t, float64(tt.attempts-1), got["berth_transaction_retries_total sqlstate=08006 transaction=test"],
				test.Sprint("retries counted"))
		})
	}
}

func TestInTx_TakesLocksAgainOnNewConnection(t *testing.T) {
	t.Parallel()
	var n pgtest.Network
	b := setup(t, n.Use)
	id := b.insert(t)
	for i, deliver := range []bool{false, true} {
		n.Break(pgtest.Cut{Text: "pg_advisory_lock", Deliver: deliver})
		test.NoError(t, b.inTx(t, writes(nil, takeOne, b.scope.Tenant, id), pg.WithLocks(1)))
		test.EqOp(t, i+1, b.taken(t, id), test.Sprint("taken"))
	}
}

// A server that restarts behind idle connections costs callers nothing:
// its FATAL error proves that nothing was committed.
func TestInTx_ReplacesTerminatedConnections(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]bool{"with a load": true, "all at once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(c *pg.Config) { c.CommandConns, c.MaxAttempts = 12, 3 })
			id := b.insert(t)
			must.NoError(t, b.Warm(t.Context()))
			b.exec(t, `select pg_terminate_backend(pid, 600000) from pg_stat_activity
				where datname = current_database() and pid <> pg_backend_pid()`)
			must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
				if tx.Write(takeOne, b.scope.Tenant, id); load {
					return tx.Flush(ctx)
				}
				return nil
			}))
			test.EqOp(t, 1, b.taken(t, id), test.Sprint("taken"))
			must.NoError(t, b.Warm(t.Context())) // none is kept
		})
	}
}

// mortalConn breaks when it is pinged.
type mortalConn struct {
	net.Conn

	pings *atomic.Int64
}

func (c mortalConn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("-- ping")) {
		c.pings.Add(1)
		return 0, errors.Join(net.ErrClosed, c.Close())
	}
	return c.Conn.Write(p)
}

// While all connections die, also new ones, it does not open more and more of them without a pause.
func TestInTx_ReplacesAsManyConnectionsAsThePoolHas(t *testing.T) {
	t.Parallel()
	var n pgtest.Network
	var pings atomic.Int64
	b := setup(t, n.Use, func(c *pg.Config) {
		c.CommandConns = 2
		dial := c.Dial
		c.Dial = func(ctx context.Context, kind, addr string) (net.Conn, error) {
			conn, err := dial(ctx, kind, addr)
			return mortalConn{conn, &pings}, err
		}
	})
	id := b.insert(t)
	n.Break(pgtest.Cut{Text: "app.tenant_id"})
	must.NoError(t, b.inTx(t, writes(nil, takeOne, b.scope.Tenant, id)))
	test.EqOp(t, 1, b.taken(t, id), test.Sprint("taken"))
	test.EqOp(t, 3, pings.Load(), test.Sprint("pings: one for each connection, and one more"))
}

// All connections are opened, and counted. Without a server the error says so.
func TestWarm_OpensAllConnections(t *testing.T) {
	t.Parallel()
	var n pgtest.Network
	registry := prometheus.NewRegistry()
	b := setup(t, n.Use, func(c *pg.Config) { c.CommandConns, c.ReadConns, c.Registerer = 5, 3, registry })
	must.NoError(t, b.Warm(t.Context()))
	test.EqOp(t, 8, n.Dials.Load(), test.Sprint("connections were opened"))
	test.Eq(t, map[string]float64{
		"berth_pool_connections pool=command state=acquired": 0, "berth_pool_connections pool=command state=idle": 5,
		"berth_pool_connections pool=command state=connecting": 0, "berth_pool_connections pool=read state=acquired": 0,
		"berth_pool_connections pool=read state=idle": 3, "berth_pool_connections pool=read state=connecting": 0,
		"berth_pool_connections_max pool=command": 5, "berth_pool_connections_max pool=read": 3,
	}, expect.Metrics(t, registry, "berth_pool_connections"))
	waits := expect.Metrics(t, registry, "berth_pool_wait")
	test.MapLen(t, 4, waits, test.Sprint(waits))
	nowhere := expect.Value(pg.Open(t.Context(), pg.Config{URL: "postgres://127.0.0.1:1/none?sslmode=disable"}))(t)
	defer nowhere.Close()
	err := nowhere.Warm(t.Context())
	test.True(t, pg.IsUnreachable(err), test.Sprint(err))
	test.True(t, pg.IsUnreachable(nowhere.CheckSchema(t.Context(), fstest.MapFS{})))
	test.True(t, pg.IsUnreachable(expect.Error(nowhere.Doctor(t.Context(), 1))))
	unreachable := expect.Error(nowhere.InTx(t.Context(), b.scope, "test", nil))
	test.True(t, pg.IsUnreachable(unreachable), test.Sprint(unreachable))
}
