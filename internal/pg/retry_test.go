package pg_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The example for serializability from the Postgres manual (13.2.3): two transactions each write
// the sum of what the other changes. The result must be that of one after the other.
const (
	sumOf       = "select coalesce(sum(value), 0)::int from mytab where tenant_id = $1 and class = $2"
	insertValue = "insert into mytab (tenant_id, id, class, value) values ($1, $2, $3, $4)"
)

func (b *fixture) insertExample(t *testing.T) {
	t.Helper()
	for _, dot := range [][2]int{{1, 10}, {1, 20}, {2, 100}, {2, 200}} {
		expect.OK(t)(b.Owner.Exec(t.Context(), insertValue, b.scope.Tenant, newID(), dot[0], dot[1]))
	}
}

// added returns the values other than the first four, in ascending order.
func (b *fixture) added(t *testing.T) []int {
	t.Helper()
	rows, _ := b.Owner.Query(t.Context(), `select value from mytab
		where tenant_id = $1 and value not in (10, 20, 100, 200) order by value`, b.scope.Tenant)
	return expect.Value(pgx.CollectRows(rows, pgx.RowTo[int]))(t)
}

func TestInTx_IsSerializable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insertExample(t)
	var together sync.WaitGroup // on the first attempt both read before either writes
	together.Add(2)
	sum := func(from, to int) func() error {
		var once sync.Once
		return func() error {
			return b.InTx(t.Context(), b.scope, "sum", func(ctx context.Context, tx *pg.Tx) error {
				var value int
				if err := queryRow(ctx, tx, sumOf, b.scope.Tenant, from).Scan(&value); err != nil {
					return err
				}
				once.Do(func() { together.Done(); together.Wait() })
				tx.Write(insertValue, b.scope.Tenant, newID(), to, value)
				return nil
			})
		}
	}
	errs := make(chan error)
	for _, run := range []func() error{sum(1, 2), sum(2, 1)} {
		go func() { errs <- run() }()
	}
	must.NoError(t, errors.Join(<-errs, <-errs))
	got := b.added(t)
	test.False(
		t, !slices.Equal(got, []int{30, 330}) && !slices.Equal(got, []int{300, 330}),
		test.Sprintf("added %v, which no serial order produces", got),
	)
}

// Negative control: at Postgres's default isolation level the same goes wrong.
func TestReadCommitted_IsNotSerializable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insertExample(t)
	ctx := t.Context()
	var txs [2]pgx.Tx
	var sums [2]int
	for i := range txs {
		var err error
		if txs[i], err = b.Owner.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		must.NoError(t, txs[i].QueryRow(ctx, sumOf, b.scope.Tenant, i+1).Scan(&sums[i]))
	}
	for i, tx := range txs {
		expect.OK(t)(tx.Exec(ctx, insertValue, b.scope.Tenant, newID(), 2-i, sums[i]))
		must.NoError(t, tx.Commit(ctx))
	}
	test.Eq(t, []int{30, 300}, b.added(t))
}

// interfere commits a transaction that conflicts with the one under test.
func (b *fixture) interfere(t *testing.T, sql string, args ...any) {
	t.Helper()
	must.NoError(t, b.InTx(t.Context(), b.scope, "interfere", func(ctx context.Context, tx *pg.Tx) error {
		if err := execute(ctx, tx, "select from mytab where tenant_id = $1", b.scope.Tenant); err != nil {
			return err
		}
		tx.Write(sql, args...)
		return nil
	}))
}

func TestInTx_RetriesSerializationFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		body func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error
	}{
		{"in a load", func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error {
			if err := execute(ctx, tx, "select from mytab where tenant_id = $1", b.scope.Tenant); err != nil {
				return err
			}
			interfere()
			return execute(ctx, tx, "update mytab set value = value + 1 where tenant_id = $1", b.scope.Tenant)
		}},
		{"in a load, hidden by the body", func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error {
			if err := execute(ctx, tx, "select from mytab where tenant_id = $1", b.scope.Tenant); err != nil {
				return errors.New("something went wrong")
			}
			interfere()
			err := execute(ctx, tx, "update mytab set value = value + 1 where tenant_id = $1", b.scope.Tenant)
			if err != nil {
				return fault.New(fault.Internal, fault.InternalError, "Something went wrong.")
			}
			return nil
		}},
		{"in a write", func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error {
			if err := execute(ctx, tx, "select from mytab where tenant_id = $1", b.scope.Tenant); err != nil {
				return err
			}
			interfere()
			tx.Write("update mytab set value = value + 1 where tenant_id = $1", b.scope.Tenant)
			return nil
		}},
		{"at the commit", func(b *fixture, ctx context.Context, tx *pg.Tx, interfere func()) error {
			if err := execute(ctx, tx, "select from mytab where tenant_id = $1", b.scope.Tenant); err != nil {
				return err
			}
			tx.Write(insertValue, b.scope.Tenant, newID(), 3, 3)
			if err := tx.Flush(ctx); err != nil {
				return err
			}
			interfere()
			return nil // only COMMIT can fail now
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			b := setup(t, func(c *pg.Config) { c.Registerer = registry })
			b.insertExample(t)
			attempts := 0
			must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				attempts++
				return tt.body(b, ctx, tx, func() {
					if attempts == 1 {
						b.interfere(t, "update mytab set value = value + 1000 where tenant_id = $1", b.scope.Tenant)
					}
				})
			}))
			test.EqOp(t, 2, attempts, test.Sprintf("%d attempts, want 2", attempts))
			test.EqOp(t, 1, metric(t, registry, "berth_transaction_retries_total", "test", "40001"),
				test.Sprint("retries counted, want 1"))
			test.EqOp(t, 1, metric(t, registry, "berth_transactions_total", "test", "committed"),
				test.Sprint("commits counted, want 1"))
		})
	}
}

// metric returns the value of the counter with these label values, in any order.
func metric(t *testing.T, registry *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	families := expect.Value(registry.Gather())(t)
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			matched := 0
			for _, label := range m.GetLabel() {
				if slices.Contains(labels, label.GetValue()) {
					matched++
				}
			}
			if matched == len(labels) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func TestInTx_RetriesDeadlocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := []any{b.insert(t), b.insert(t)}
	// Postgres looks for a deadlock after a second by default. The first to look is the victim.
	expect.OK(t)(b.Owner.Exec(t.Context(), `do $$ begin
		execute format('alter database %I set deadlock_timeout = 10', current_database());
	end $$`))
	var together sync.WaitGroup
	together.Add(2)
	errs := make(chan error)
	for first := range 2 {
		go func() {
			var once sync.Once
			errs <- b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				if err := execute(ctx, tx, takeOne, b.scope.Tenant, ids[first]); err != nil {
					return err
				}
				once.Do(func() { together.Done(); together.Wait() })
				tx.Write(takeOne, b.scope.Tenant, ids[1-first])
				return nil
			})
		}()
	}
	must.NoError(t, errors.Join(<-errs, <-errs))
}

func TestInTx_GivesUpAfterMaxAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.MaxAttempts = 3 })
	b.insertExample(t)
	attempts := 0
	err := b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
		attempts++
		return b.collide(ctx, t, tx)
	})
	var f *fault.Error
	test.True(
		t, errors.As(err, &f) && f.Reason == fault.Contention && f.Kind == fault.Unavailable,
		test.Sprintf("got %v, want CONTENTION", err),
	)
	test.EqOp(t, "40001", pg.Code(err), test.Sprintf("the cause is lost: %v", err))
	test.EqOp(t, 3, attempts, test.Sprintf("%d attempts, want 3", attempts))
}

// collide makes this attempt fail with 40001.
func (b *fixture) collide(ctx context.Context, t *testing.T, tx *pg.Tx) error {
	t.Helper()
	if err := execute(ctx, tx, "select from mytab where tenant_id = $1", b.scope.Tenant); err != nil {
		return err
	}
	b.interfere(t, "update mytab set value = value + 1 where tenant_id = $1", b.scope.Tenant)
	tx.Write("update mytab set value = value + 1 where tenant_id = $1", b.scope.Tenant)
	return nil
}

func TestInTx_DoesNotRetryAfterCancel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.insertExample(t)
	ctx, leave := context.WithCancel(t.Context())
	attempts := 0
	err := b.InTx(ctx, b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
		attempts++
		defer leave()
		return b.collide(ctx, t, tx)
	})
	test.True(t, errors.Is(err, context.Canceled) && attempts == 1, test.Sprintf("%d attempts: %v", attempts, err))
}

// A caller that cancels a long statement gets its context's error, and the connection survives.
func TestInTx_KeepsConnectionOfCancelledStatement(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns = 1 })
	backend := func() (pid int) {
		must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
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
		})
	}()
	for asleep := false; !asleep; { // an earlier cancellation gives another error
		must.EqOp(t, 0, len(ended), must.Sprint("it did not sleep"))
		must.NoError(t, b.Owner.QueryRow(t.Context(), `select coalesce(wait_event, '') = 'PgSleep'
			from pg_stat_activity where pid = $1`, before).Scan(&asleep))
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) || pg.Code(err) != "57014" {
		t.Errorf("got %v", err)
	}
	test.EqOp(t, before, backend(), test.Sprintf("connection %d was replaced by", before))
}
