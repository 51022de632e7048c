package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// jobs creates a table into which consumers write each event that they handle, once.
func (l *log) jobs() {
	l.t.Helper()
	expect.OK(l.t)(l.db.Owner.Exec(l.t.Context(), `
		create table jobs (
			number bigint generated always as identity, tenant_id uuid not null, event_id uuid primary key, name text not null);
		grant select, insert on jobs to berth_app`))
}

func enqueue(_ context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
	for _, r := range records {
		tx.Write(`insert into jobs (tenant_id, event_id, name) values ($1, $2, $3)`, in, r.ID, r.Data["name"])
	}
	return nil
}

func (l *log) done(in tenant.TenantID) []string {
	l.t.Helper()
	var all []string
	must.NoError(l.t, l.db.Owner.QueryRow(l.t.Context(),
		`select coalesce(array_agg(name order by number), '{}') from jobs where tenant_id = $1`, in).Scan(&all))
	return all
}

func TestConsume_HandlesEachEventOnceInOrder(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.jobs()
	consumer := outbox.Consumer{Name: "test", Limit: 2, Handle: enqueue}
	step := func(c outbox.Consumer) outbox.ConsumeResult {
		t.Helper()
		l.settle()
		return expect.Value(outbox.Consume(t.Context(), l.db.DB, l.Tenant, c))(t)
	}
	l.add("1", "2", "3")
	if done := step(consumer); len(done.Records) != 2 || !done.More {
		t.Errorf("%+v", done)
	}

	// A failure leaves nothing behind: the position stays, and the handler's writes are rolled back.
	broken := consumer
	broken.Handle = func(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
		_ = enqueue(ctx, tx, in, records)
		return errors.New("it broke")
	}
	_, err := outbox.Consume(t.Context(), l.db.DB, l.Tenant, broken)
	test.Error(t, err, test.Sprint("no error"))
	if done := step(consumer); len(done.Records) != 1 || done.More {
		t.Errorf("%+v", done)
	}

	commit := l.slow("4")
	l.add("5")
	done := expect.Value(outbox.Consume(t.Context(), l.db.DB, l.Tenant, consumer))(t)
	test.True(t, len(done.Records) == 0 && done.Held, test.Sprintf("%+v", done))
	commit()
	step(consumer)
	if done := step(consumer); len(done.Records) != 0 || done.More || done.Held {
		t.Errorf("%+v", done)
	}
	// Another consumer has its own position.
	var seen []string
	see := func(_ context.Context, _ *pg.Tx, _ tenant.TenantID, records []*outbox.Record) error {
		seen = names(records)
		return nil
	}
	step(outbox.Consumer{Name: "other", Handle: see})
	want := []string{"1", "2", "3", "4", "5"}
	test.Eq(t, want, l.done(l.Tenant))
	test.Eq(t, want, seen)
}

// While one node handles a tenant's events, another finds it busy and does not wait.
func TestConsume_ReportsBusyWhileAnotherNodeWorks(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.jobs()
	l.add("1")
	l.settle()
	consumer := outbox.Consumer{Name: "test", Handle: enqueue}
	expect.OK(t)(outbox.Consume(t.Context(), l.db.DB, l.Tenant, consumer))
	l.add("2")
	l.settle()
	slow := consumer
	slow.Handle = func(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
		done := expect.Value(outbox.Consume(ctx, l.db.DB, l.Tenant, consumer))(t)
		test.True(t, done.Busy, test.Sprintf("%+v", done))
		return enqueue(ctx, tx, in, records)
	}
	done := expect.Value(outbox.Consume(t.Context(), l.db.DB, l.Tenant, slow))(t)
	test.EqOp(t, 1, len(done.Records), test.Sprintf("%+v", done))
}

// With several nodes, many tenants, transactions of any length and handlers that sometimes fail,
// each event is handled once and in order.
func TestRunConsumer_HandlesEachEventOnceAcrossNodes(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.jobs()
	tenants := []tenant.TenantID{l.Tenant, l.newTenant(), l.newTenant()}
	l.append(tenants[2], event("before the start"))

	const each = 30
	var handled atomic.Int64
	handle := func(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
		if handled.Add(1)%3 == 0 {
			return errors.New("it broke")
		}
		return enqueue(ctx, tx, in, records)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	relays := []*outbox.Relay{l.relay(), l.relay()}
	for _, r := range relays {
		running.Go(func() { r.Run(ctx) })
		running.Go(func() { r.RunConsumer(ctx, outbox.Consumer{Name: "test", Limit: 7, Handle: handle}) })
	}
	var writing sync.WaitGroup
	for n, in := range tenants {
		writing.Go(func() {
			for i := range each {
				l.append(in, event(fmt.Sprint(i)))
				relays[(n+i)%2].NotifyCommit(in)
			}
		})
	}
	writing.Wait()
	l.eventually("all events are handled", func() bool {
		return len(l.done(tenants[0]))+len(l.done(tenants[1]))+len(l.done(tenants[2])) == 3*each+1
	})
	for n, in := range tenants {
		want := numbered(each)
		if n == 2 {
			want = append([]string{"before the start"}, want...)
		}
		test.Eq(t, want, l.done(in), test.Sprintf("tenant %d", n))
	}
}
