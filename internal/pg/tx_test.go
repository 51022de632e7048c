package pg_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestInTx_CommitsWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	for want := range 3 {
		must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
			var taken int
			err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&taken)
			test.EqOp(t, want, taken)
			tx.Write(takeOne, b.scope.Tenant, id)
			return err
		}))
	}
	test.EqOp(t, 3, b.taken(t, id))
}

// However a transaction ends without a commit, nothing is written, and metrics say why. The next one on the same
// connection works.
func TestInTx_RollsBackOnError(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := setup(t, func(c *pg.Config) { c.CommandConns, c.Registerer = 1, registry })
	id := b.insert(t)
	refusal := fault.New(fault.FailedPrecondition, fault.SessionFull, "Full.")
	take := writes(nil, takeOne, b.scope.Tenant, id)
	flush := func(ctx context.Context, tx *pg.Tx) error { return errors.Join(take(ctx, tx), tx.Flush(ctx)) }
	over, leave := context.WithCancel(t.Context())
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	for outcome, tt := range map[string]struct {
		body body
		ctx  context.Context
		want error
	}{
		"refused": {func(ctx context.Context, tx *pg.Tx) error {
			return errors.Join(flush(ctx, tx), take(ctx, tx), refusal)
		}, t.Context(), refusal},
		"failed": {writes(errors.New("a bug"), takeOne, b.scope.Tenant, id), t.Context(), nil},
		"cancelled": {func(ctx context.Context, tx *pg.Tx) error {
			defer leave()
			return flush(ctx, tx)
		}, over, context.Canceled},
		"late": {flush, late, context.DeadlineExceeded},
	} {
		err := b.InTx(tt.ctx, b.scope, outcome, tt.body)
		test.Error(t, err, test.Sprint(outcome, ": ", err))
		test.True(t, tt.want == nil || errors.Is(err, tt.want), test.Sprint(outcome, ": ", err))
		test.EqOp(t, 0, b.taken(t, id), test.Sprint(outcome))
	}
	func() {
		defer func() { _ = recover() }()
		_ = b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
			test.NoError(t, flush(ctx, tx))
			panic("a bug")
		})
	}()
	must.NoError(t, b.inTx(t, take))
	test.EqOp(t, 1, b.taken(t, id), test.Sprint("taken after a panic"))
	test.Eq(t, map[string]float64{
		"berth_transactions_total outcome=refused transaction=refused":     1,
		"berth_transactions_total outcome=failed transaction=failed":       1,
		"berth_transactions_total outcome=cancelled transaction=cancelled": 1,
		"berth_transactions_total outcome=cancelled transaction=late":      1,
		"berth_transactions_total outcome=committed transaction=test":      1,
	}, expect.Metrics(t, registry, "berth_transactions_total"))
}

func TestTransactions_RequireTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	expect.Reason(t, fault.InternalError)(b.InTx(t.Context(), pg.Scope{}, "test", nil))
	expect.Reason(t, fault.InternalError)(b.Read(t.Context(), pg.Scope{}, nil))
	expect.Reason(t, fault.InternalError)(b.ReadBatch(t.Context(), pg.Scope{}, nil))
}

// Only a constraint can stop a write that is sent together with COMMIT.
func TestInTx_DoesNotCommitAfterRejectedWrite(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.MaxAttempts = 2 })
	id, full := b.insert(t), newID()
	b.exec(t, "insert into counters (tenant_id, id, taken) values ($1, $2, 3)", b.scope.Tenant, full)
	insert := "insert into counters (tenant_id, id) values ($1, $2)"
	is := func(code string) func(error) bool {
		return func(err error) bool { return err != nil && pg.Code(err) == code }
	}
	for name, tt := range map[string]struct {
		sql   string
		args  []any
		check func(error) bool
	}{
		"check": {takeOne, []any{b.scope.Tenant, full}, func(err error) bool {
			return pg.IsCheck(err, "counters_taken") && !pg.IsUnique(err)
		}},
		"unique": {insert, []any{b.scope.Tenant, full}, func(err error) bool {
			return pg.IsUnique(err, "counters_pkey") && !pg.IsCheck(err)
		}},
		// This constraint is deferred, so COMMIT itself raises the error.
		"foreign key": {
			"insert into things (tenant_id, id, parent_id) values ($1, $2, $3)", []any{b.scope.Tenant, newID(), newID()},
			func(err error) bool { return pg.IsForeignKey(err, "things_parent") },
		},
		"row security":        {insert, []any{newScope().Tenant, newID()}, is("42501")},
		"unreadable argument": {takeOne, []any{b.scope.Tenant, struct{}{}}, is("")},
		"syntax":              {"updat counters", nil, is("42601")},
		"ends the session": {`do $$ begin
			set local role none;
			perform pg_terminate_backend(pg_backend_pid());
		end $$`, nil, is("57P01")},
	} {
		for _, loads := range []bool{false, true} {
			attempts := 0
			err := b.inTx(t, func(ctx context.Context, tx *pg.Tx) (err error) {
				if attempts++; loads {
					err = execute(ctx, tx, "select 1")
				}
				tx.Write(takeOne, b.scope.Tenant, id)
				tx.Write(tt.sql, tt.args...)
				return err
			})
			test.True(t, tt.check(err), test.Sprintf("%s: %v", name, err))
			test.False(t, errors.Is(err, pg.ErrCommitUnknown), test.Sprintf("%s: %v", name, err))
			// Only conflicts and lost connections are retried.
			test.EqOp(t, name == "ends the session", attempts > 1, test.Sprintf("%s: %d attempts", name, attempts))
			must.EqOp(t, 0, b.taken(t, id), must.Sprintf("%s: taken", name))
		}
	}
}

func TestInTx_DoesNotCommitAfterIgnoredError(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	b := setup(t, func(c *pg.Config) { c.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
	id := b.insert(t)
	// The reader's error comes first, and hides that of a later statement.
	hidden := func(first string) body {
		return func(ctx context.Context, tx *pg.Tx) error {
			var batch pg.Batch
			batch.Queue(first).Scan(new(int))
			batch.Queue("select 1/0")
			return tx.Load(ctx, &batch)
		}
	}
	for name, overlook := range map[string]body{
		"Load": func(ctx context.Context, tx *pg.Tx) error { return execute(ctx, tx, "select 1/0") },
		"Scan": func(ctx context.Context, tx *pg.Tx) error { return queryRow(ctx, tx, "select 1/0").Scan(new(int)) },
		"twice": func(ctx context.Context, tx *pg.Tx) error {
			_ = execute(ctx, tx, "select 1/0")
			return execute(ctx, tx, "select 1")
		},
		"hidden by a reader": hidden("select 1 where false"),
		"hidden by a text":   hidden("select 'x'"), // the driver drops what follows, and with it the server's error
	} {
		err := b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
			tx.Write(takeOne, b.scope.Tenant, id)
			err := overlook(ctx, tx)
			test.Error(t, err, test.Sprint(name))
			return map[string]error{"twice": err}[name]
		})
		test.ErrorIs(t, err, pg.ErrFailed)
		test.EqOp(t, (name != "hidden by a text"), (pg.Code(err) == "22012"))
		test.EqOp(t, 0, b.taken(t, id), test.Sprintf("%s: taken", name))
	}
	test.EqOp(t, 5, strings.Count(logged.String(), "went on after an error"))
}

func TestLoad_ReaderErrorKeepsTransactionUsable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.insert(t)
	must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
		var (
			one   int
			batch pg.Batch
		)
		batch.Queue(selectTaken, b.scope.Tenant, newID()).Scan(&one)
		batch.Queue(takeOne, b.scope.Tenant, id)
		test.ErrorIs(t, tx.Load(ctx, &batch), pgx.ErrNoRows, test.Sprint("Load"))
		test.Error(t, queryRow(ctx, tx, "select 'x'").Scan(&one), test.Sprint("a text was read as a number"))
		test.NoError(t, queryRow(ctx, tx, "select 7").Scan(&one))
		test.EqOp(t, 7, one)
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
		var taken int
		tx.Write(takeOne+" returning taken", b.scope.Tenant, id).Each(func() { seen = append(seen, taken) }, &taken)
	}
	must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
		for range 2 {
			var got int
			see(tx)
			if err := queryRow(ctx, tx, selectTaken, b.scope.Tenant, id).Scan(&got); err != nil {
				return err
			}
			seen = append(seen, got*10)
		}
		see(tx)
		return nil
	}))
	test.Eq(t, []int{1, 10, 2, 20, 3}, seen)
}

func TestTx_SendsNothingWithoutStatements(t *testing.T) {
	t.Parallel()
	sent := 0
	b := setup(t, func(c *pg.Config) {
		c.Tracer = &pgtest.Tracer{Batch: func(context.Context, *pgx.Conn, []*pgx.QueuedQuery) { sent++ }}
	})
	must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
		must.NoError(t, execute(ctx, tx, "select 1"))
		before := sent
		must.NoError(t, errors.Join(tx.Flush(ctx), tx.Load(ctx, new(pg.Batch))))
		test.EqOp(t, before, sent)
		return nil
	}))
}

// A write's result is read once the transaction is durable, and not at all if it fails.
func TestWrite_RunsReadersAfterCommit(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := setup(t, func(c *pg.Config) { c.Registerer = registry })
	id := b.insert(t)
	type row struct {
		ID    tenant.SessionID
		Taken int
		None  *string
	}
	const returning = takeOne + " returning id, taken, null::text"
	var (
		rows   []row
		values []any
		named  []map[string]any
		tag    string
		fields int
	)
	durable := false
	write := func(_ context.Context, tx *pg.Tx) error {
		pg.Collect(tx.Write(returning, b.scope.Tenant, id), &rows, pgx.RowToStructByPos[row])
		tx.Write("select 7, 'x'").Query(func(rows pgx.Rows) (err error) {
			for fields = len(rows.FieldDescriptions()); rows.Next(); {
				values, err = rows.Values()
			}
			return err
		})
		pg.Collect(tx.Write("select 8 as n"), &named, pgx.RowToMap)
		tx.Write(takeOne, b.scope.Tenant, id).Query(func(rows pgx.Rows) error {
			tag = rows.CommandTag().String()
			return nil
		})
		tx.Write("select").Query(func(pgx.Rows) error { durable = b.taken(t, id) == 2; return nil })
		return nil
	}
	must.NoError(t, b.inTx(t, write))
	test.Eq(t, []row{{ID: id, Taken: 1}}, rows)
	test.Eq(t, []any{int32(7), "x"}, values)
	test.Eq(t, []map[string]any{{"n": int32(8)}}, named)
	test.EqOp(t, "UPDATE 1", tag, test.Sprintf("tag %q, durable %t", tag, durable))
	test.True(t, durable, test.Sprintf("tag %q, durable %t", tag, durable))
	test.EqOp(t, 2, fields, test.Sprintf("tag %q, durable %t", tag, durable))

	rows = nil
	err := b.inTx(t, write) // this takes a fourth, one too many
	test.True(t, pg.IsCheck(err, "counters_taken"), test.Sprint(err))
	test.SliceEmpty(t, rows, test.Sprint("read from a transaction that failed"))

	// A reader that fails, or that has too few rows, does not undo the commit.
	numbers := pg.NewReader(func(n *int) []pg.Column { return []pg.Column{pg.Read("n", n)} })
	for _, read := range []func(s *pg.Statement){
		func(s *pg.Statement) { s.Scan(new(int), new(int), new(int)) },
		func(s *pg.Statement) { s.ScanAny(new(int), new(int), new(int)) },
		func(s *pg.Statement) { s.Each(func() {}, new(int), new(int), new(int)) },
		func(s *pg.Statement) { numbers.Scan(s, new(int)) },
		func(s *pg.Statement) { s.Query(func(pgx.Rows) error { return errors.New("misread") }) },
		func(s *pg.Statement) {
			s.Query(func(rows pgx.Rows) error {
				for rows.Next() {
					_ = rows.Scan(new(int), new(int), new(int))
				}
				return rows.Err()
			})
		},
	} {
		b.exec(t, "update counters set taken = 2")
		test.ErrorIs(t, b.inTx(t, func(_ context.Context, tx *pg.Tx) error {
			read(tx.Write(returning, b.scope.Tenant, id))
			return nil
		}), pg.ErrCommitted)
		test.EqOp(t, 3, b.taken(t, id), test.Sprint("taken"))
	}
	test.Eq(t, map[string]float64{
		"berth_transactions_total outcome=committed transaction=test": 7,
		"berth_transactions_total outcome=failed transaction=test":    1,
	}, expect.Metrics(t, registry, "berth_transactions_total"))
}

// A server that ends the session while it commits may have committed.
func TestInTx_DoesNotRetryWhatEndedInTheCommit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `create function leave() returns trigger language plpgsql security definer as
		'begin perform pg_terminate_backend(pg_backend_pid()); return null; end';
		create constraint trigger leave after update on counters deferrable initially deferred
		for each row execute function leave()`)
	err := b.inTx(t, writes(nil, takeOne, b.scope.Tenant, b.insert(t)))
	test.ErrorIs(t, err, pg.ErrCommitUnknown)
	test.EqOp(t, "57P01", pg.Code(err))
}
