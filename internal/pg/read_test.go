package pg_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// looks returns the tenant that a transaction has, and how many rows it sees.
func looks(ctx context.Context, tx querier) (scope string, n int, err error) {
	err = queryRow(ctx, tx, `select coalesce(current_setting('app.tenant_id', true), ''),
		(select count(*) from counters)`).Scan(&scope, &n)
	return scope, n, err
}

// The next user of a connection inherits no tenant, however the transaction before ended.
func TestTenant_EndsWithTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns, c.ReadConns = 1, 1 })
	b.insert(t)
	sees := func(ctx context.Context, tx querier, in string, want int) error {
		scope, n, err := looks(ctx, tx)
		test.EqOp(t, in, scope)
		test.EqOp(t, want, n)
		return err
	}
	own, other := b.scope.Tenant.String(), newScope()
	for name, use := range map[string]func() error{
		"committed": func() error {
			return b.inTx(t, func(ctx context.Context, tx *pg.Tx) error { return sees(ctx, tx, own, 1) })
		},
		"rolled back": func() error {
			refused := errors.New("refused")
			err := b.inTx(t, func(ctx context.Context, tx *pg.Tx) error { return errors.Join(sees(ctx, tx, own, 1), refused) })
			test.ErrorIs(t, err, refused)
			return nil
		},
		"failed": func() error {
			test.Error(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
				_ = execute(ctx, tx, "select 1/0") // which is logged, if there is a log
				return nil
			}))
			return nil
		},
		"read": func() error {
			return b.inRead(t, func(ctx context.Context, tx *pg.ReadTx) error { return sees(ctx, tx, own, 1) })
		},
		"failed read": func() error {
			test.Error(t, b.inRead(t, func(ctx context.Context, tx *pg.ReadTx) error { return execute(ctx, tx, "select 1/0") }))
			return nil
		},
		"read at once": func() error {
			var (
				n     int
				batch pg.Batch
			)
			batch.Queue("select count(*)::int from counters").Scan(&n)
			err := b.ReadBatch(t.Context(), b.scope, &batch)
			test.EqOp(t, 1, n)
			return err
		},
		"operator": func() error {
			return b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
				return execute(ctx, tx, "select 1")
			})
		},
	} {
		must.NoError(t, use(), must.Sprint(name))
		// Now another tenant's transaction uses the same connections, and sees nothing. Nor does one without a tenant.
		must.NoError(t, b.InTx(t.Context(), other, "test", func(ctx context.Context, tx *pg.Tx) error {
			return sees(ctx, tx, other.Tenant.String(), 0)
		}))
		must.NoError(t, b.Read(t.Context(), other, func(ctx context.Context, tx *pg.ReadTx) error {
			return sees(ctx, tx, other.Tenant.String(), 0)
		}))
		must.NoError(t, b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
			return sees(ctx, tx, "", 0)
		}))
	}
}

func TestConnections_UseRuntimeRoleAndSettings(t *testing.T) {
	t.Parallel()
	own := pgtest.NewFrom(t, schema())
	b := &fixture{DB: own, scope: newScope()}
	type settings struct {
		Role, Isolation, ReadOnly, SeqScan, HashJoin, MergeJoin, Plans, Name, Statement, Lock, Idle string
	}
	const show = `select current_user::text, current_setting('transaction_isolation'),
		current_setting('transaction_read_only'), current_setting('enable_seqscan'),
		current_setting('enable_hashjoin'), current_setting('enable_mergejoin'),
		current_setting('plan_cache_mode'), current_setting('application_name'),
		current_setting('statement_timeout'), current_setting('lock_timeout'),
		current_setting('idle_in_transaction_session_timeout')`
	for name, tt := range map[string]struct {
		config  pg.Config
		command settings
	}{
		"by default": {pg.Config{URL: own.URL}, settings{
			"berth_app", "serializable", "off", "off", "off", "off", "force_generic_plan", "berth", "10s", "5s", "15s",
		}},
		"as configured": {pg.Config{
			URL: own.URL, ApplicationName: "other", StatementTimeout: time.Second, LockTimeout: time.Microsecond,
			IdleTimeout: time.Minute,
		}, settings{
			"berth_app", "serializable", "off", "off", "off", "off", "force_generic_plan", "other", "1s", "1ms", "1min",
		}},
	} {
		read := tt.command
		read.Isolation, read.ReadOnly, read.Plans = "repeatable read", "on", "auto"
		read.SeqScan, read.HashJoin, read.MergeJoin = "on", "on", "on"
		b.DB.DB = expect.Value(pg.Open(t.Context(), tt.config))(t)
		var inTx, inRead, inBatch []settings
		load := func(into *[]settings) *pg.Batch {
			var batch pg.Batch
			pg.Collect(batch.Queue(show), into, pgx.RowToStructByPos[settings])
			return &batch
		}
		must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error { return tx.Load(ctx, load(&inTx)) }))
		must.NoError(t, b.inRead(t, func(ctx context.Context, tx *pg.ReadTx) error { return tx.Load(ctx, load(&inRead)) }))
		must.NoError(t, b.ReadBatch(t.Context(), b.scope, load(&inBatch)))
		test.Eq(t, [][]settings{{tt.command}, {read}, {read}}, [][]settings{inTx, inRead, inBatch}, test.Sprint(name))
		b.DB.DB.Close()
	}
}

// A page is built from one snapshot, with Read and with ReadBatch.
func TestReads_SeeOneSnapshot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	take := func(pgx.Row) error { return expect.Error(b.Owner.Exec(t.Context(), takeOne, b.scope.Tenant, id)) }
	var (
		before, after int
		// The result is longer than the server's buffer, so the second statement
		// runs after the row was updated.
		batch pg.Batch
	)
	batch.Queue(selectTaken, b.scope.Tenant, id).Scan(&before)
	batch.Queue("select repeat('x', 1000) from generate_series(1, 20000)").QueryRow(take)
	batch.Queue(selectTaken, b.scope.Tenant, id).Scan(&after)
	must.NoError(t, b.ReadBatch(t.Context(), b.scope, &batch))
	test.EqOp(t, 0, before, test.Sprint("ReadBatch"))
	test.EqOp(t, 0, after, test.Sprint("ReadBatch"))
	must.NoError(t, b.inRead(t, func(ctx context.Context, tx *pg.ReadTx) error {
		return errors.Join(
			queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&before), take(nil),
			queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&after),
		)
	}))
	test.EqOp(t, 1, before, test.Sprint("Read"))
	test.EqOp(t, 1, after, test.Sprint("Read"))
}

// A read cannot write, and it ends with its caller.
func TestReads_CannotWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	const readOnly = "25006"
	var batch pg.Batch
	batch.Queue(takeOne, b.scope.Tenant, id)
	test.EqOp(t, readOnly, pg.Code(b.ReadBatch(t.Context(), b.scope, &batch)))
	test.EqOp(t, readOnly, pg.Code(b.inRead(t, func(ctx context.Context, tx *pg.ReadTx) error {
		_ = execute(ctx, tx, takeOne, b.scope.Tenant, id)
		return nil
	})))
	over, cancel := context.WithCancel(t.Context())
	test.ErrorIs(t, b.Read(over, b.scope, func(ctx context.Context, tx *pg.ReadTx) error {
		cancel()
		return execute(ctx, tx, "select 1")
	}), context.Canceled)
	test.ErrorIs(t, b.ReadBatch(over, b.scope, &batch), context.Canceled)
	test.ErrorIs(t, b.Read(over, b.scope, nil), context.Canceled)
}

func TestReadAsOperator_SeesOnlyDirectory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insert(t)
	b.exec(t, "insert into directory values ($1), ($2)", b.scope.Tenant, newScope().Tenant)
	var tenants, counters int
	must.NoError(t, b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
		return queryRow(ctx, tx, "select (select count(*) from directory), (select count(*) from counters)").
			Scan(&tenants, &counters)
	}))
	test.EqOp(t, 2, tenants)
	test.EqOp(t, 0, counters)
}
