package pg_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
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
		if _, err := b.Owner.Exec(t.Context(), insertValue, b.scope.Tenant, newID(), dot[0], dot[1]); err != nil {
			t.Fatal(err)
		}
	}
}

// added returns the values other than the first four, in ascending order.
func (b *fixture) added(t *testing.T) []int {
	t.Helper()
	rows, _ := b.Owner.Query(t.Context(), `select value from mytab
		where tenant_id = $1 and value not in (10, 20, 100, 200) order by value`, b.scope.Tenant)
	values, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return values
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
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	got := b.added(t)
	if !slices.Equal(got, []int{30, 330}) && !slices.Equal(got, []int{300, 330}) {
		t.Errorf("added %v, which no serial order produces", got)
	}
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
		if err := txs[i].QueryRow(ctx, sumOf, b.scope.Tenant, i+1).Scan(&sums[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i, tx := range txs {
		if _, err := tx.Exec(ctx, insertValue, b.scope.Tenant, newID(), 2-i, sums[i]); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{30, 300}, b.added(t)); diff != "" {
		t.Error(diff)
	}
}

// interfere commits a transaction that conflicts with the one under test.
func (b *fixture) interfere(t *testing.T, sql string, args ...any) {
	t.Helper()
	err := b.InTx(t.Context(), b.scope, "interfere", func(ctx context.Context, tx *pg.Tx) error {
		if err := execute(ctx, tx, "select from mytab where tenant_id = $1", b.scope.Tenant); err != nil {
			return err
		}
		tx.Write(sql, args...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
			err := b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
				attempts++
				return tt.body(b, ctx, tx, func() {
					if attempts == 1 {
						b.interfere(t, "update mytab set value = value + 1000 where tenant_id = $1", b.scope.Tenant)
					}
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if attempts != 2 {
				t.Errorf("%d attempts, want 2", attempts)
			}
			if got := metric(t, registry, "berth_transaction_retries_total", "test", "40001"); got != 1 {
				t.Errorf("%v retries counted, want 1", got)
			}
			if got := metric(t, registry, "berth_transactions_total", "test", "committed"); got != 1 {
				t.Errorf("%v commits counted, want 1", got)
			}
		})
	}
}

// metric returns the value of the counter with these label values, in any order.
func metric(t *testing.T, registry *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := b.Owner.Exec(t.Context(), `do $$ begin
		execute format('alter database %I set deadlock_timeout = 10', current_database());
	end $$`); err != nil {
		t.Fatal(err)
	}
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
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
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
	if !errors.As(err, &f) || f.Reason != fault.Contention || f.Kind != fault.Unavailable {
		t.Errorf("got %v, want CONTENTION", err)
	}
	if pg.Code(err) != "40001" {
		t.Errorf("the cause is lost: %v", err)
	}
	if attempts != 3 {
		t.Errorf("%d attempts, want 3", attempts)
	}
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
	if !errors.Is(err, context.Canceled) || attempts != 1 {
		t.Errorf("%d attempts: %v", attempts, err)
	}
}

// A caller that cancels a long statement gets its context's error, and the connection survives.
func TestInTx_KeepsConnectionOfCancelledStatement(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns = 1 })
	backend := func() (pid int) {
		err := b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
			return queryRow(ctx, tx, "select pg_backend_pid()").Scan(&pid)
		})
		if err != nil {
			t.Fatal(err)
		}
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
		if len(ended) > 0 {
			t.Fatalf("it did not sleep: %v", <-ended)
		}
		if err := b.Owner.QueryRow(t.Context(), `select coalesce(wait_event, '') = 'PgSleep'
			from pg_stat_activity where pid = $1`, before).Scan(&asleep); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) || pg.Code(err) != "57014" {
		t.Errorf("got %v", err)
	}
	if after := backend(); after != before {
		t.Errorf("connection %d was replaced by %d", before, after)
	}
}
