package pg_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestInTx_CommitsWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	for want := range 3 {
		must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
			var taken int
			var batch pg.Batch
			batch.Queue(selectTaken, b.scope.Tenant, id).Scan(&taken)
			if err := tx.Load(ctx, &batch); err != nil {
				return err
			}
			test.EqOp(t, want, taken)
			tx.Write(takeOne, b.scope.Tenant, id)
			return nil
		}))
	}
	test.EqOp(t, 3, b.taken(t, id), test.Sprint("taken"))
}

func TestInTx_RollsBackOnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	refusal := fault.New(fault.FailedPrecondition, fault.SessionFull, "Full.")
	err := b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
		tx.Write(takeOne, b.scope.Tenant, id)
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		tx.Write(takeOne, b.scope.Tenant, id)
		return refusal
	})
	test.ErrorIs(t, err, refusal)
	test.EqOp(t, 0, b.taken(t, id), test.Sprint("taken"))
}

func TestTransactions_RequireTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, run := range map[string]func() error{
		"InTx":      func() error { return b.InTx(t.Context(), pg.Scope{}, "test", nil) },
		"Read":      func() error { return b.Read(t.Context(), pg.Scope{}, nil) },
		"ReadBatch": func() error { return b.ReadBatch(t.Context(), pg.Scope{}, nil) },
	} {
		err := run()
		test.EqOp(t, fault.InternalError, fault.ReasonOf(err), test.Sprintf("%s: %v", name, err))
	}
}

// Only a constraint can stop a write that is sent together with COMMIT.
func TestInTx_DoesNotCommitAfterRejectedWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, parent := b.insert(t), newID()
	expect.OK(t)(b.Owner.Exec(t.Context(), "insert into counters (tenant_id, id, taken) values ($1, $2, 3)",
		b.scope.Tenant, parent))
	full := parent
	tests := []struct {
		name  string
		sql   string
		args  []any
		check func(error) bool
	}{
		{"check", takeOne, []any{b.scope.Tenant, full},
			func(err error) bool { return pg.IsCheck(err, "counters_taken") && !pg.IsUnique(err) }},
		{"unique", "insert into counters (tenant_id, id) values ($1, $2)", []any{b.scope.Tenant, full},
			func(err error) bool { return pg.IsUnique(err, "counters_pkey") && !pg.IsCheck(err) }},
		// This constraint is deferred, so COMMIT itself raises the error.
		{"foreign key", "insert into things (tenant_id, id, parent_id) values ($1, $2, $3)",
			[]any{b.scope.Tenant, newID(), newID()},
			func(err error) bool { return pg.IsForeignKey(err, "things_parent") }},
		{"row security", "insert into counters (tenant_id, id) values ($1, $2)",
			[]any{newScope().Tenant, newID()},
			func(err error) bool { return pg.Code(err) == "42501" }},
		{"unreadable argument", takeOne, []any{b.scope.Tenant, struct{}{}},
			func(err error) bool { return err != nil && pg.Code(err) == "" }},
		{"syntax", "updat counters", nil,
			func(err error) bool { return pg.Code(err) == "42601" }},
	}
	for _, loads := range []bool{false, true} {
		for _, tt := range tests {
			attempts := 0
			err := b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				attempts++
				if loads {
					if err := execute(ctx, tx, "select 1"); err != nil {
						return err
					}
				}
				tx.Write(takeOne, b.scope.Tenant, id)
				tx.Write(tt.sql, tt.args...)
				return nil
			})
			test.True(t, tt.check(err) && !errors.Is(err, pg.ErrCommitUnknown), test.Sprintf("%s: %v", tt.name, err))
			test.EqOp(t, 1, attempts, test.Sprintf("%s: %d attempts: only conflicts are retried", tt.name, attempts))
			must.EqOp(t, 0, b.taken(t, id), must.Sprintf("%s: taken", tt.name))
		}
	}
}

func TestInTx_DoesNotCommitAfterIgnoredError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	overlook := map[string]func(ctx context.Context, tx *pg.Tx){
		"Load": func(ctx context.Context, tx *pg.Tx) { _ = execute(ctx, tx, "select 1/0") },
		"Scan": func(ctx context.Context, tx *pg.Tx) { _ = queryRow(ctx, tx, "select 1/0").Scan(new(int)) },
		"twice": func(ctx context.Context, tx *pg.Tx) {
			_ = execute(ctx, tx, "select 1/0")
			_ = execute(ctx, tx, "select 1")
		},
	}
	for name, fn := range overlook {
		err := b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
			tx.Write(takeOne, b.scope.Tenant, id)
			fn(ctx, tx)
			return nil
		})
		test.EqOp(t, "22012", pg.Code(err), test.Sprintf("%s: %v", name, err))
		test.EqOp(t, 0, b.taken(t, id), test.Sprintf("%s: taken", name))
	}
}

func TestLoad_ReaderErrorKeepsTransactionUsable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
		var one int
		var batch pg.Batch
		batch.Queue(selectTaken, b.scope.Tenant, newID()).Scan(&one)
		batch.Queue(takeOne, b.scope.Tenant, id)
		test.ErrorIs(t, tx.Load(ctx, &batch), pgx.ErrNoRows, test.Sprint("Load"))
		test.Error(t, queryRow(ctx, tx, "select 'x'").Scan(&one), test.Sprint("a text was read as a number"))
		if err := queryRow(ctx, tx, "select 7").Scan(&one); err != nil || one != 7 {
			t.Errorf("got %d (%v)", one, err)
		}
		tx.Write(takeOne, b.scope.Tenant, id)
		return nil
	}))
	test.EqOp(t, 2, b.taken(t, id), test.Sprint("taken"))
}

func TestTx_RunsStatementsInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	var seen []int
	see := func(tx *pg.Tx) {
		tx.Write(takeOne+" returning taken", b.scope.Tenant, id).
			QueryRow(func(row pgx.Row) error {
				var taken int
				err := row.Scan(&taken)
				seen = append(seen, taken)
				return err
			})
	}
	must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
		see(tx)
		var got int
		if err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&got); err != nil {
			return err
		}
		seen = append(seen, got*10)
		see(tx)
		var batch pg.Batch
		batch.Queue(selectTaken, b.scope.Tenant, id).QueryRow(func(pgx.Row) error {
			seen = append(seen, 20)
			return nil
		})
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		see(tx)
		return nil
	}))
	test.Eq(t, []int{1, 10, 2, 20, 3}, seen)
}

// A write's result is read once the transaction is durable, and not at all if it fails.
func TestWrite_RunsReadersAfterCommit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	type row struct {
		ID    tenant.SessionID
		Taken int
		None  *string
	}
	const returning = takeOne + " returning id, taken, null::text"
	var rows []row
	var values []any
	var tag string
	durable := false
	write := func(tx *pg.Tx) {
		pg.Collect(tx.Write(returning, b.scope.Tenant, id), &rows, pgx.RowToStructByPos[row])
		tx.Write("select 7, 'x'").Query(func(rows pgx.Rows) (err error) {
			for rows.Next() {
				values, err = rows.Values()
			}
			return err
		})
		tx.Write(takeOne, b.scope.Tenant, id).Exec(func(t pgconn.CommandTag) error { tag = t.String(); return nil })
		tx.Write("select").Exec(func(pgconn.CommandTag) error { durable = b.taken(t, id) == 2; return nil })
	}
	writeOnly := func(_ context.Context, tx *pg.Tx) error { write(tx); return nil }
	must.NoError(t, b.InTx(t.Context(), b.scope, "test", writeOnly))
	test.Eq(t, []row{{ID: id, Taken: 1}}, rows)
	test.Eq(t, []any{int32(7), "x"}, values)
	test.True(t, tag == "UPDATE 1" && durable, test.Sprintf("tag %q, durable %t", tag, durable))

	rows = nil
	err := b.InTx(t.Context(), b.scope, "test", writeOnly) // this takes a fourth, one too many
	test.True(
		t, pg.IsCheck(err, "counters_taken") && rows == nil,
		test.Sprintf("%v, read %v from a transaction that failed", err, rows),
	)

	misread := func(_ context.Context, tx *pg.Tx) error {
		tx.Write(returning, b.scope.Tenant, id).Scan(new(int), new(int), new(int))
		return nil
	}
	test.ErrorIs(t, b.InTx(t.Context(), b.scope, "test", misread), pg.ErrCommitted)
	test.EqOp(t, 3, b.taken(t, id), test.Sprint("taken"))
}

func TestInTx_PanicLeavesNoTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns = 1 })
	id := b.insert(t)
	func() {
		defer func() { _ = recover() }()
		_ = b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
			tx.Write(takeOne, b.scope.Tenant, id)
			test.NoError(t, tx.Flush(ctx))
			panic("a bug")
		})
	}()
	err := b.InTx(t.Context(), b.scope, "test", func(_ context.Context, tx *pg.Tx) error {
		tx.Write(takeOne, b.scope.Tenant, id)
		return nil
	})
	got := b.taken(t, id)
	test.True(t, err == nil && got == 1, test.Sprintf("taken is %d, want 1 (%v)", got, err))
}
