package pg_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const currentTenant = "select coalesce(current_setting('app.tenant_id', true), '')"

// The next user of a connection inherits no tenant, however the transaction before ended.
func TestTenant_EndsWithTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns, c.ReadConns = 1, 1 })
	b.insert(t)
	countAll := func(ctx context.Context, tx querier) error {
		var n int
		err := queryRow(ctx, tx, "select count(*)::int from counters").Scan(&n)
		test.EqOp(t, 1, n, test.Sprintf("the tenant sees %d rows, want 1", n))
		return err
	}
	uses := map[string]func() error{
		"committed": func() error {
			return b.InTx(t.Context(), b.scope, "test",
				func(ctx context.Context, tx *pg.Tx) error { return countAll(ctx, tx) })
		},
		"rolled back": func() error {
			_ = b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				test.NoError(t, countAll(ctx, tx))
				return context.Canceled
			})
			return nil
		},
		"failed": func() error {
			_ = b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				return execute(ctx, tx, "select 1/0")
			})
			return nil
		},
		"read": func() error {
			return b.Read(t.Context(), b.scope,
				func(ctx context.Context, tx *pg.ReadTx) error { return countAll(ctx, tx) })
		},
		"read at once": func() error {
			var n int
			var batch pg.Batch
			batch.Queue("select count(*)::int from counters").Scan(&n)
			err := b.ReadBatch(t.Context(), b.scope, &batch)
			test.EqOp(t, 1, n, test.Sprintf("the tenant sees %d rows, want 1", n))
			return err
		},
		"operator": func() error {
			return b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
				return execute(ctx, tx, "select 1")
			})
		},
	}
	for name, use := range uses {
		must.NoError(t, use(), must.Sprint(name))
		// Now another tenant's transaction uses the same connections, and sees nothing.
		other := newScope()
		look := func(ctx context.Context, tx querier) error {
			var scope string
			var n int
			var batch pg.Batch
			batch.Queue(currentTenant).Scan(&scope)
			batch.Queue("select count(*)::int from counters").Scan(&n)
			err := tx.Load(ctx, &batch)
			test.True(
				t, scope == other.Tenant.String() && n == 0, test.Sprintf("after %s: tenant %q sees %d rows", name, scope, n),
			)
			return err
		}
		writing := func(ctx context.Context, tx *pg.Tx) error { return look(ctx, tx) }
		must.NoError(t, b.InTx(t.Context(), other, "test", writing))
		must.NoError(t, b.Read(t.Context(), other, func(ctx context.Context, tx *pg.ReadTx) error { return look(ctx, tx) }))
		// Without a tenant a transaction sees nothing.
		must.NoError(t, b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
			var scope string
			var n int
			err := queryRow(ctx, tx, `select coalesce(current_setting('app.tenant_id', true), ''),
				count(*)::int from counters`).Scan(&scope, &n)
			test.True(t, scope == "" && n == 0, test.Sprintf("after %s: tenant %q is left and sees %d rows", name, scope, n))
			return err
		}))
	}
}

func TestConnections_UseRuntimeRoleAndSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	type settings struct{ Role, Isolation, ReadOnly, SeqScan, HashJoin, MergeJoin, Plans, Name string }
	const show = `select current_user::text, current_setting('transaction_isolation'),
		current_setting('transaction_read_only'), current_setting('enable_seqscan'),
		current_setting('enable_hashjoin'), current_setting('enable_mergejoin'),
		current_setting('plan_cache_mode'), current_setting('application_name')`
	command := settings{"berth_app", "serializable", "off", "off", "off", "off", "force_generic_plan", "berth"}
	read := settings{"berth_app", "repeatable read", "on", "on", "on", "on", "auto", "berth"}

	var inTx, inRead, inBatch []settings
	load := func(into *[]settings) *pg.Batch {
		var batch pg.Batch
		pg.Collect(batch.Queue(show), into, pgx.RowToStructByPos[settings])
		return &batch
	}
	must.NoError(t, b.InTx(t.Context(), b.scope, "test",
		func(ctx context.Context, tx *pg.Tx) error { return tx.Load(ctx, load(&inTx)) }))
	must.NoError(t, b.Read(t.Context(), b.scope,
		func(ctx context.Context, tx *pg.ReadTx) error { return tx.Load(ctx, load(&inRead)) }))
	must.NoError(t, b.ReadBatch(t.Context(), b.scope, load(&inBatch)))
	test.Eq(t, [][]settings{{command}, {read}, {read}}, [][]settings{inTx, inRead, inBatch})
}

// A page is built from one snapshot, with Read and with ReadBatch.
func TestReads_SeeOneSnapshot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	take := func(pgx.Row) error {
		_, err := b.Owner.Exec(t.Context(), takeOne, b.scope.Tenant, id)
		return err
	}
	var before, after int
	// The result is longer than the server's buffer, so the second statement
	// runs after the row was updated.
	var batch pg.Batch
	batch.Queue(selectTaken, b.scope.Tenant, id).Scan(&before)
	batch.Queue("select repeat('x', 1000) from generate_series(1, 20000)").QueryRow(take)
	batch.Queue(selectTaken, b.scope.Tenant, id).Scan(&after)
	must.NoError(t, b.ReadBatch(t.Context(), b.scope, &batch))
	test.True(t, before == 0 && after == 0, test.Sprintf("ReadBatch saw %d, then %d", before, after))
	must.NoError(t, b.Read(t.Context(), b.scope, func(ctx context.Context, tx *pg.ReadTx) error {
		if err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&before); err != nil {
			return err
		}
		if err := take(nil); err != nil {
			return err
		}
		return queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&after)
	}))
	test.True(t, before == 1 && after == 1, test.Sprintf("Read saw %d, then %d", before, after))
}

func TestReads_CannotWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	const readOnly = "25006"
	var batch pg.Batch
	batch.Queue(takeOne, b.scope.Tenant, id)
	if err := b.ReadBatch(t.Context(), b.scope, &batch); pg.Code(err) != readOnly {
		t.Errorf("ReadBatch: %v", err)
	}
	err := b.Read(t.Context(), b.scope, func(ctx context.Context, tx *pg.ReadTx) error {
		_ = execute(ctx, tx, takeOne, b.scope.Tenant, id)
		return nil
	})
	test.EqOp(t, readOnly, pg.Code(err), test.Sprintf("Read: %v", err))
}

func TestReadAsOperator_SeesOnlyDirectory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insert(t)
	expect.OK(t)(b.Owner.Exec(t.Context(), "insert into directory values ($1), ($2)", b.scope.Tenant, newScope().Tenant))
	var tenants []tenant.TenantID
	var counters int
	err := b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		pg.Collect(batch.Queue("select tenant_id from directory"), &tenants, pgx.RowTo[tenant.TenantID])
		batch.Queue("select count(*)::int from counters").Scan(&counters)
		return tx.Load(ctx, &batch)
	})
	test.True(
		t, err == nil && len(tenants) == 2 && counters == 0,
		test.Sprintf("%d tenants and %d counters (%v)", len(tenants), counters, err),
	)
}
