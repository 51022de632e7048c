package pg_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
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
		if n != 1 {
			t.Errorf("the tenant sees %d rows, want 1", n)
		}
		return err
	}
	uses := map[string]func() error{
		"committed": func() error {
			return b.InTx(t.Context(), b.scope, "test",
				func(ctx context.Context, tx *pg.Tx) error { return countAll(ctx, tx) })
		},
		"rolled back": func() error {
			_ = b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				if err := countAll(ctx, tx); err != nil {
					t.Error(err)
				}
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
			if n != 1 {
				t.Errorf("the tenant sees %d rows, want 1", n)
			}
			return err
		},
		"operator": func() error {
			return b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
				return execute(ctx, tx, "select 1")
			})
		},
	}
	for name, use := range uses {
		if err := use(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// Now another tenant's transaction uses the same connections, and sees nothing.
		other := newScope()
		look := func(ctx context.Context, tx querier) error {
			var scope string
			var n int
			var batch pg.Batch
			batch.Queue(currentTenant).Scan(&scope)
			batch.Queue("select count(*)::int from counters").Scan(&n)
			err := tx.Load(ctx, &batch)
			if scope != other.Tenant.String() || n != 0 {
				t.Errorf("after %s: tenant %q sees %d rows", name, scope, n)
			}
			return err
		}
		err := b.InTx(t.Context(), other, "test", func(ctx context.Context, tx *pg.Tx) error { return look(ctx, tx) })
		if err != nil {
			t.Fatal(err)
		}
		err = b.Read(t.Context(), other, func(ctx context.Context, tx *pg.ReadTx) error { return look(ctx, tx) })
		if err != nil {
			t.Fatal(err)
		}
		// Without a tenant a transaction sees nothing.
		err = b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
			var scope string
			var n int
			err := queryRow(ctx, tx, `select coalesce(current_setting('app.tenant_id', true), ''),
				count(*)::int from counters`).Scan(&scope, &n)
			if scope != "" || n != 0 {
				t.Errorf("after %s: tenant %q is left and sees %d rows", name, scope, n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
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
	err := b.InTx(t.Context(), b.scope, "test",
		func(ctx context.Context, tx *pg.Tx) error { return tx.Load(ctx, load(&inTx)) })
	if err != nil {
		t.Fatal(err)
	}
	err = b.Read(t.Context(), b.scope,
		func(ctx context.Context, tx *pg.ReadTx) error { return tx.Load(ctx, load(&inRead)) })
	if err != nil {
		t.Fatal(err)
	}
	if err := b.ReadBatch(t.Context(), b.scope, load(&inBatch)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]settings{{command}, {read}, {read}}, [][]settings{inTx, inRead, inBatch}); diff != "" {
		t.Error(diff)
	}
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
	if err := b.ReadBatch(t.Context(), b.scope, &batch); err != nil {
		t.Fatal(err)
	}
	if before != 0 || after != 0 {
		t.Errorf("ReadBatch saw %d, then %d", before, after)
	}
	err := b.Read(t.Context(), b.scope, func(ctx context.Context, tx *pg.ReadTx) error {
		if err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&before); err != nil {
			return err
		}
		if err := take(nil); err != nil {
			return err
		}
		return queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&after)
	})
	if err != nil {
		t.Fatal(err)
	}
	if before != 1 || after != 1 {
		t.Errorf("Read saw %d, then %d", before, after)
	}
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
	if pg.Code(err) != readOnly {
		t.Errorf("Read: %v", err)
	}
}

func TestReadAsOperator_SeesOnlyDirectory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insert(t)
	_, err := b.Owner.Exec(t.Context(), "insert into directory values ($1), ($2)", b.scope.Tenant, newScope().Tenant)
	if err != nil {
		t.Fatal(err)
	}
	var tenants []tenant.TenantID
	var counters int
	err = b.ReadAsOperator(t.Context(), func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		pg.Collect(batch.Queue("select tenant_id from directory"), &tenants, pgx.RowTo[tenant.TenantID])
		batch.Queue("select count(*)::int from counters").Scan(&counters)
		return tx.Load(ctx, &batch)
	})
	if err != nil || len(tenants) != 2 || counters != 0 {
		t.Errorf("%d tenants and %d counters (%v)", len(tenants), counters, err)
	}
}
