package pg_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The example for serializability from the Postgres manual (13.2.3): two transactions each write
// the sum of what the other changes. The result must be that of one after the other.
const (
	sumOf       = "select coalesce(sum(value), 0)::int from mytab where tenant_id = $1 and class = $2"
	insertValue = "insert into mytab (tenant_id, id, class, value) values ($1, $2, $3, $4)"
)

func (f *fixture) insertExample(t *testing.T) {
	t.Helper()
	for _, dot := range [][2]int{{1, 10}, {1, 20}, {2, 100}, {2, 200}} {
		f.exec(t, insertValue, f.scope.Tenant, newID(), dot[0], dot[1])
	}
}

// added returns the values other than the first four, in ascending order.
func (f *fixture) added(t *testing.T) []int {
	t.Helper()
	rows, _ := f.Owner.Query(t.Context(), `select value from mytab
		where tenant_id = $1 and value not in (10, 20, 100, 200) order by value`, f.scope.Tenant)
	return expect.Value(pgx.CollectRows(rows, pgx.RowTo[int]))(t)
}

func TestInTx_IsSerializable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insertExample(t)
	var together sync.WaitGroup // on the first attempt both read before either writes
	together.Add(2)
	errs := make(chan error)
	for from := 1; from <= 2; from++ {
		go func() {
			var once sync.Once
			errs <- b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
				var value int
				err := queryRow(ctx, tx, sumOf, b.scope.Tenant, from).Scan(&value)
				once.Do(func() { together.Done(); together.Wait() })
				tx.Write(insertValue, b.scope.Tenant, newID(), 3-from, value)
				return err
			})
		}()
	}
	must.NoError(t, errors.Join(<-errs, <-errs))
	test.SliceContains(t, [][]int{{30, 330}, {300, 330}}, b.added(t), test.Sprint("no serial order produces this"))
}

// Negative control: at Postgres's default isolation level the same goes wrong.
func TestReadCommitted_IsNotSerializable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insertExample(t)
	ctx := t.Context()
	var (
		txs  [2]pgx.Tx
		sums [2]int
	)
	for i := range txs {
		txs[i] = expect.Value(b.Owner.Begin(ctx))(t)
		must.NoError(t, txs[i].QueryRow(ctx, sumOf, b.scope.Tenant, i+1).Scan(&sums[i]))
	}
	for i, tx := range txs {
		expect.OK(t)(tx.Exec(ctx, insertValue, b.scope.Tenant, newID(), 2-i, sums[i]))
		must.NoError(t, tx.Commit(ctx))
	}
	test.Eq(t, []int{30, 300}, b.added(t))
}

const addOne = "update mytab set value = value + 1 where tenant_id = $1"

// read has a transaction read all values.
func (f *fixture) read(ctx context.Context, tx querier) error {
	return execute(ctx, tx, "select from mytab where tenant_id = $1", f.scope.Tenant)
}

// interfere commits a transaction that conflicts with the one under test.
func (f *fixture) interfere(t *testing.T) {
	t.Helper()
	must.NoError(t, f.InTx(t.Context(), f.scope, "interfere", func(ctx context.Context, tx *pg.Tx) error {
		tx.Write(addOne, f.scope.Tenant)
		return f.read(ctx, tx)
	}))
}

// A transaction that another one made impossible runs again, wherever that shows. Metrics count it.
func TestInTx_RetriesSerializationFailures(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error{
		"in a load": func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error {
			interfere()
			return errors.Join(execute(ctx, tx, addOne, b.scope.Tenant)) // it adds to the error
		},
		"in a load, hidden by the body": func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error {
			interfere()
			if execute(ctx, tx, addOne, b.scope.Tenant) != nil {
				return fault.New(fault.Internal, fault.InternalError, "Something went wrong.")
			}
			return nil
		},
		"in a write": func(b *fixture, _ context.Context, tx *pg.Tx, interfere func()) error {
			interfere()
			tx.Write(addOne, b.scope.Tenant)
			return nil
		},
		"at the commit": func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error {
			tx.Write(insertValue, b.scope.Tenant, newID(), 3, 3)
			defer interfere() // only COMMIT can fail then
			return tx.Flush(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			var logged strings.Builder
			b := setup(t, func(c *pg.Config) {
				c.Registerer, c.Logger = registry, slog.New(slog.NewTextHandler(&logged, nil))
			})
			b.insertExample(t)
			attempts := 0
			must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
				attempts++
				if err := b.read(ctx, tx); err != nil {
					return err
				}
				return then(b, ctx, tx, func() {
					if attempts == 1 {
						b.interfere(t)
					}
				})
			}))
			test.EqOp(t, 2, attempts)
			test.EqOp(t, name == "in a load, hidden by the body", strings.Contains(logged.String(), "went on"))
			got := expect.Metrics(t, registry, "berth_transaction")
			for metric, want := range map[string]float64{
				"berth_transaction_retries_total sqlstate=40001 transaction=test": 1,
				"berth_transactions_total outcome=committed transaction=test":     1,
				"berth_transaction_attempts transaction=test":                     1,
				"berth_transaction_seconds transaction=test":                      1,
			} {
				test.EqOp(t, want, got[metric], test.Sprint(metric))
			}
		})
	}
}

// After a migration, statements that were prepared before it fail once.
func TestInTx_PreparesAgainAfterMigration(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns = 1 })
	load := func(ctx context.Context, tx *pg.Tx) error { return execute(ctx, tx, "select value from mytab") }
	must.NoError(t, b.inTx(t, load))
	b.exec(t, "alter table mytab alter value type bigint")
	test.EqOp(t, "0A000", pg.Code(b.inTx(t, load)))
	test.NoError(t, b.inTx(t, load))
}

func TestInTx_RetriesDeadlocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := []any{b.insert(t), b.insert(t)}
	// Postgres looks for a deadlock after a second by default. The first to look is the victim.
	b.exec(t, `do $$ begin
		execute format('alter database %I set deadlock_timeout = 10', current_database());
	end $$`)
	var together sync.WaitGroup
	together.Add(2)
	errs := make(chan error)
	for first := range 2 {
		go func() {
			var once sync.Once
			errs <- b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
				err := execute(ctx, tx, takeOne, b.scope.Tenant, ids[first])
				once.Do(func() { together.Done(); together.Wait() })
				tx.Write(takeOne, b.scope.Tenant, ids[1-first])
				return err
			})
		}()
	}
	must.NoError(t, errors.Join(<-errs, <-errs))
}

// collide makes each attempt fail with 40001, and then does something.
func (f *fixture) collide(t *testing.T, then func()) (attempts *int, _ body) {
	t.Helper()
	attempts = new(int)
	return attempts, func(ctx context.Context, tx *pg.Tx) error {
		defer then()
		*attempts++
		err := f.read(ctx, tx)
		f.interfere(t)
		tx.Write(addOne, f.scope.Tenant)
		return err
	}
}

func TestInTx_GivesUpAfterMaxAttempts(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := setup(t, func(c *pg.Config) { c.MaxAttempts, c.Registerer = 3, registry })
	b.insertExample(t)
	attempts, body := b.collide(t, func() {})
	err := b.inTx(t, body)
	f, ok := errors.AsType[*fault.Error](err)
	must.True(t, ok, must.Sprint(err))
	test.EqOp(t, fault.Contention, f.Reason)
	test.EqOp(t, fault.Unavailable, f.Kind)
	test.EqOp(t, "40001", pg.Code(err), test.Sprintf("the cause is lost: %v", err))
	test.EqOp(t, 3, *attempts)
	contended := "berth_transactions_total outcome=contended transaction=test"
	test.MapContainsKey(t, expect.Metrics(t, registry, contended), contended)
}

func TestInTx_DoesNotRetryAfterCancel(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	b := setup(t, func(c *pg.Config) {
		c.Tracer = &pgtest.Tracer{Done: func(of pgx.TraceBatchQueryData) {
			if of.SQL == "rollback" {
				leave() // before the pause
			}
		}}
	})
	b.insertExample(t)
	attempts, body := b.collide(t, func() {})
	err := b.InTx(ctx, b.scope, "test", body)
	test.ErrorIs(t, err, context.Canceled)
	test.EqOp(t, "40001", pg.Code(err))
	test.EqOp(t, 1, *attempts)
	ctx, leave = context.WithCancel(t.Context())
	attempts, body = b.collide(t, leave)
	test.ErrorIs(t, b.InTx(ctx, b.scope, "test", body), context.Canceled)
	test.EqOp(t, 1, *attempts)
}

// A caller that cancels a long statement gets its context's error, and the connection survives.
func TestInTx_KeepsConnectionOfCancelledStatement(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns = 1 })
	backend := func() (pid int) {
		must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
			return queryRow(ctx, tx, "select pg_backend_pid()").Scan(&pid)
		}))
		return pid
	}
	before := backend()
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- b.InTx(ctx, b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
			return execute(ctx, tx, "select pg_sleep(3600)")
		}, pg.WithLocks(1))
	}()
	for asleep := false; !asleep; { // an earlier cancellation gives another error
		must.EqOp(t, 0, len(ended), must.Sprint("it did not sleep"))
		b.scan(t, `select coalesce(wait_event, '') = 'PgSleep' from pg_stat_activity where pid = $1`, []any{before}, &asleep)
	}
	leave()
	err := <-ended
	test.ErrorIs(t, err, context.Canceled)
	test.EqOp(t, "57014", pg.Code(err))
	test.EqOp(t, before, backend(), test.Sprint("the connection was replaced"))
}
