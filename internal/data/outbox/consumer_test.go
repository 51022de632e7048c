package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// jobs creates a table into which consumers write each event that they handle, once.
func (l *log) jobs() {
	l.t.Helper()
	l.exec(`create table jobs (
			number bigint generated always as identity, tenant_id uuid not null, event_id uuid primary key, name text not null);
		grant select, insert on jobs to berth_app`)
}

func enqueue(_ context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
	for _, r := range records {
		tx.Write(`insert into jobs (tenant_id, event_id, name) values ($1, $2, $3)`, in, r.ID, r.Actor)
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
	var seen []string
	see := func(_ context.Context, _ *pg.Tx, _ tenant.TenantID, records []*outbox.Record) error {
		test.SliceNotEmpty(t, records)
		seen = append(seen, names(records)...)
		return nil
	}
	consumer := outbox.Consumer{Name: "test", Limit: 2, Handle: enqueue}
	first, other := outbox.Consumer{Name: "other", Limit: 1, Handle: see}, outbox.Consumer{Name: "other", Handle: see}
	broken := outbox.Consumer{Name: "test", Handle: func(
		ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record,
	) error {
		return errors.Join(enqueue(ctx, tx, in, records), errors.New("it broke"))
	}}
	commit := func() {}
	for i, step := range []struct {
		do   func()
		by   outbox.Consumer
		want string // names of the events, and what else is known
		held bool
	}{
		{func() { l.add("1", "2", "3") }, consumer, "1 2 more", false},
		{func() {}, first, "1 more", false},
		// A failure leaves nothing behind: the position stays, and the handler's writes are rolled back.
		{func() {}, broken, "it broke", false},
		{func() {}, consumer, "3", false},
		{func() { commit = l.slow("4"); l.add("5") }, consumer, "held", true},
		{func() { commit() }, consumer, "4 5 more", false},
		{func() {}, consumer, "", false},
		// Another consumer has its own position.
		{func() {}, other, "2 3 4 5", false},
		{func() { l.add(numbered(101)...) }, other, strings.Join(numbered(100), " ") + " more", false},
		{func() {}, other, "100", false},
		{func() {}, other, "", false},
	} {
		if step.do(); !step.held {
			l.settle()
		}
		done, err := outbox.Consume(t.Context(), l.db.DB, l.Tenant, step.by)
		got := names(done.Records)
		for word, so := range map[string]bool{"more": done.More, "held": done.Held, fmt.Sprint(err): err != nil} {
			if so {
				got = append(got, word)
			}
		}
		test.StrHasPrefix(t, strings.Join(got, " "), step.want, test.Sprint("step ", i))
	}
	test.Eq(t, strings.Fields("1 2 3 4 5"), l.done(l.Tenant))
	test.Eq(t, append(strings.Fields("1 2 3 4 5"), numbered(101)...), seen)
}

// While one node handles a tenant's events, another finds it busy and does not wait. So it does if another has handled
// them after it read them.
func TestConsume_ReportsBusyWhileAnotherNodeWorks(t *testing.T) {
	t.Parallel()
	var during atomic.Pointer[func()]
	l := newLog(t, func(c *pg.Config) {
		c.Tracer = &pgtest.Tracer{Batch: func(_ context.Context, _ *pgx.Conn, statements []*pgx.QueuedQuery) {
			if strings.HasPrefix(statements[0].SQL, "begin isolation level serializable") {
				if do := during.Swap(nil); do != nil {
					(*do)()
				}
			}
		}}
	})
	l.jobs()
	consumer := outbox.Consumer{Name: "test", Handle: enqueue}
	consume := func(c outbox.Consumer) outbox.ConsumeResult {
		return expect.Value(outbox.Consume(t.Context(), l.db.DB, l.Tenant, c))(t)
	}
	l.add("1")
	l.settle()
	consume(consumer)
	l.add("2")
	l.settle()
	slow := consumer
	slow.Handle = func(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
		test.True(t, consume(consumer).Busy, test.Sprint("the other is not busy"))
		return enqueue(ctx, tx, in, records)
	}
	test.Eq(t, []string{"2"}, names(consume(slow).Records))
	l.add("3")
	l.settle()
	during.Store(new(func() { test.False(t, consume(consumer).Busy) }))
	done := consume(consumer)
	test.True(t, done.Busy, test.Sprintf("%+v", done))
	test.SliceEmpty(t, done.Records)
	test.Eq(t, []string{"1", "2", "3"}, l.done(l.Tenant))
}

// A consumer looks again at once if there is more, soon if events are held back or another node is busy, and later if
// it failed. Otherwise it waits for a notice.
func TestConsume_SaysWhenToLookAgain(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	metrics := prometheus.NewRegistry()
	r := l.relay(func(c *outbox.RelayConfig) { c.Metrics = metrics })
	handle, why := enqueue, errors.New("it broke")
	consume := r.Consumption(l.Tenant, outbox.Consumer{Name: "test", Limit: 2, Handle: func(
		ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record,
	) error {
		return handle(ctx, tx, in, records)
	}})
	l.jobs()
	l.add("1", "2", "3")
	l.settle()
	test.EqOp(t, 0, consume(t.Context()), test.Sprint("more"))
	handle = func(ctx context.Context, _ *pg.Tx, in tenant.TenantID, _ []*outbox.Record) error {
		test.EqOp(t, time.Second, r.Consumption(in, outbox.Consumer{Name: "test"})(ctx), test.Sprint("busy"))
		return why
	}
	test.EqOp(t, time.Second, consume(t.Context()), test.Sprint("failed"))
	test.Between(t, 1, consume(t.Context()), time.Second, test.Sprint("too early"))
	consume = r.Consumption(l.Tenant, outbox.Consumer{Name: "test", Handle: enqueue})
	test.Less(t, 0, consume(t.Context()), test.Sprint("all is done"))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	test.Less(t, 0, consume(over), test.Sprint("it ends"))
	commit := l.slow("4")
	l.add("5")
	test.EqOp(t, 50*time.Millisecond, consume(t.Context()), test.Sprint("held"))
	commit()
	test.Eq(t, map[string]float64{
		"berth_event_consumed_total consumer=test": 3, "berth_event_consumer_failures_total consumer=test": 1,
		"berth_event_consumer_lag_seconds consumer=test": 3,
	}, expect.Metrics(t, metrics, "berth_event_consume"))
}

// With several nodes, many tenants, transactions of any length and handlers that sometimes fail,
// each event is handled once and in order.
func TestRunConsumer_HandlesEachEventOnceAcrossNodes(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.jobs()
	const each = 30
	tenants := []tenant.TenantID{l.Tenant, l.newTenant(), l.newTenant(), l.newTenant()}
	for i := range each { // before the start, and without a notice
		l.append(tenants[3], named(fmt.Sprint(i)))
	}
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
	for n, in := range tenants[:3] {
		writing.Go(func() {
			for i := range each {
				l.append(in, named(fmt.Sprint(i)))
				relays[(n+i)%2].NotifyCommit(in)
			}
		})
	}
	writing.Wait()
	for n, in := range tenants {
		l.eventually("all events are handled", func() bool { return len(l.done(in)) >= each })
		test.Eq(t, numbered(each), l.done(in), test.Sprintf("tenant %d", n))
	}
}
