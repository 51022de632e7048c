package outbox_test

import (
	"context"
	"errors"
	"math"
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
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// An event is committed while an older transaction runs. The older one commits without telling this relay.
func TestWatcher_WaitsForSlowTransaction(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	metrics := prometheus.NewRegistry()
	r := l.relay(func(c *outbox.RelayConfig) { c.Metrics = metrics })
	first, second, commit := l.watch(r, nil), l.watch(r, nil), l.slow("A")
	l.commit(r, "B")
	l.commit(r, "C")
	l.eventually("it is held back", func() bool { return expect.Metrics(t, metrics, "berth_event_held")[held] > 0 })
	commit()
	first.gets("A", "B", "C")
	second.gets("A", "B", "C")
	l.commit(r, "D")
	first.gets("D")
}

const held = "berth_event_held_reads_total"

func TestWatcher_ResumesFromCursor(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	l.add("before")
	l.settle()
	w := l.watch(r, nil)
	l.add("1", "2")
	l.commit(r, "3")
	w.gets("1", "2", "3")
	at := w.At()
	l.add("4")
	r.Close() // as if the node stopped
	l.add("5")
	metrics := prometheus.NewRegistry()
	again := l.relay(func(c *outbox.RelayConfig) { c.Metrics = metrics })
	l.watch(again, &at).gets("4", "5")
	l.watch(again, new(outbox.Cursor)).gets("before", "1", "2", "3", "4", "5") // from the beginning
	expect.Reason(t, fault.InvalidField)(again.Watch(t.Context(), l.Tenant, &outbox.Cursor{XID: 1 << 40}))
	got := expect.Metrics(t, metrics, "berth_event_")
	test.True(t, got["berth_event_catch_up_reads_total"] >= 1, test.Sprint(got))
	test.EqOp(t, 3, got["berth_event_resumes_total"])
	test.EqOp(t, 2, got["berth_event_watchers"])
}

// An event is in the log before a notice of it is sent, so a watcher that starts at any moment misses none.
func TestWatch_MissesNothingAfterRead(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	want := numbered(100)
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		for _, name := range want {
			l.commit(r, name)
		}
	})
	for range 20 {
		all.Go(func() {
			page := expect.Value(outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{Limit: 1000}))(t)
			w, err := r.Watch(t.Context(), l.Tenant, &page.End)
			if test.NoError(t, err); err != nil {
				return
			}
			defer w.Close()
			read := names(page.Records)
			test.SliceEqOp(t, want[:len(read)], read)
			watcher{w, t}.gets(want[len(read):]...)
		})
	}
}

func TestWatchers_ShareReadsOfTenant(t *testing.T) {
	t.Parallel()
	// Empty reads can be many: a feed reads again and again while a transaction of another test holds events back.
	var reads atomic.Int64
	count := func(of pgx.TraceBatchQueryData) {
		if strings.Contains(of.SQL, "from events") && strings.Contains(of.SQL, "limit") && of.CommandTag.RowsAffected() > 0 {
			reads.Add(1)
		}
	}
	l := newLog(t, func(c *pg.Config) { c.Tracer = &pgtest.Tracer{Done: count} })
	r, other := l.relay(), l.newTenant()
	watchers := make([]watcher, 50)
	for i := range watchers {
		watchers[i] = l.watch(r, nil)
	}
	fewest := int64(math.MaxInt64)
	for _, name := range numbered(6) { // they are ready after the first
		before := reads.Load()
		l.append(other, named("unwatched"))
		l.commit(r, name)
		r.NotifyCommit(other)
		for _, w := range watchers {
			w.gets(name)
		}
		fewest = min(fewest, reads.Load()-before)
	}
	// A watcher that has just started may read by itself, and a transaction of another test
	// that holds events back causes more reads.
	test.Between(t, 1, fewest, 10, test.Sprint("reads of the log for one event and 50 watchers"))
}

// A watcher that does not read costs the others nothing. It has to resume, and then gets all events.
func TestWatcher_ReportsResumeIfTooSlow(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	metrics := prometheus.NewRegistry()
	r := l.relay(func(c *outbox.RelayConfig) { c.Metrics = metrics })
	r.SetMaxTail(10)
	slow, quick := l.watch(r, nil), l.watch(r, nil)
	l.commit(r, "ready")
	slow.gets("ready")
	quick.gets("ready")
	// There is nothing to read, so the watcher has caught up.
	tick := make(chan time.Time, 1)
	tick <- noon
	test.SliceEmpty(t, expect.Value(slow.Next(t.Context(), tick, nil))(t))
	want := numbered(60)
	for _, name := range want {
		l.commit(r, name)
		quick.gets(name)
	}
	r.SetMaxLag(0)
	err := expect.Error(slow.Next(t.Context(), nil, nil))
	f, ok := errors.AsType[*fault.Error](err)
	must.True(t, ok, must.Sprint(err))
	must.EqOp(t, fault.WatcherTooSlow, f.Reason)
	at := expect.Value(outbox.ParseCursor(l.Tenant, f.Metadata["cursor"]))(t)
	must.EqOp(t, slow.At(), at)
	l.watch(r, &at).gets(want...)
	got := expect.Metrics(t, metrics, "berth_event_")
	test.EqOp(t, 1, got["berth_event_slow_watchers_total"])
	test.Between(t, 1, got["berth_event_relay_lag_seconds"], 61) // a reading of several events counts some of them
}

// A burst that exceeds the tail in memory must not end a watcher.
func TestWatcher_SurvivesBurstLongerThanTail(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	r.SetMaxTail(10)
	w := l.watch(r, nil)
	l.commit(r, "ready")
	w.gets("ready")
	want := numbered(1100) // more than the relay or a watcher reads at once
	l.commit(r, want...)
	w.gets(want...)
}

func TestRelay_DeliversEventsOfOtherNodes(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	run := func(r *outbox.Relay) *outbox.Relay {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		t.Cleanup(func() { stop(); <-done })
		return r
	}
	here, there := run(l.relay()), run(l.relay())
	w := l.watch(there, nil)
	for _, name := range numbered(5) {
		l.commit(here, name)
		w.gets(name)
	}
	// This is more tenants than one notice can name.
	busy := l.relay()
	for range 300 {
		busy.NotifyCommit(tenant.New[tenant.TenantID](noon))
	}
	l.commit(busy, "one of many")
	run(busy)
	w.gets("one of many")
}

func TestRelay_PollsWithoutNotices(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	w := l.watch(l.relay(func(c *outbox.RelayConfig) { c.Poll = 10 * time.Millisecond }), nil)
	for _, name := range numbered(2) {
		l.add(name)
		w.gets(name)
	}
}

func TestWatcher_ReturnsNothingOnTick(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	w := l.watch(r, nil)
	tick := make(chan time.Time, 1)
	for _, next := range []func() ([]*outbox.Record, error){
		func() ([]*outbox.Record, error) { return w.Next(t.Context(), tick, nil) },
		func() ([]*outbox.Record, error) { return w.Next(t.Context(), nil, tick) },
	} {
		tick <- noon
		test.SliceEmpty(t, expect.Value(next())(t))
		test.EqOp(t, 0, len(tick), test.Sprint("it did not wait"))
	}
	l.commit(r, "x")
	w.gets("x")
}

func TestWatcher_EndsWithContextAndDrain(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	metrics := prometheus.NewRegistry()
	r := l.relay(func(c *outbox.RelayConfig) { c.Metrics = metrics })
	test.Error(t, expect.Error(outbox.NewRelay(outbox.RelayConfig{DB: l.db.DB, Metrics: metrics}))) // of another relay
	w := expect.Value(r.Watch(t.Context(), l.Tenant, nil))(t)
	why := errors.New("why")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	test.EqOp(t, why, expect.Error(w.Next(ctx, nil, nil)))
	test.Error(t, expect.Error(r.Watch(ctx, l.Tenant, nil)))
	test.EqOp(t, 1, r.WatchedTenants(), test.Sprint("tenants are read"))
	w.Close()
	test.EqOp(t, 0, r.WatchedTenants(), test.Sprint("tenants are read without a watcher"))
	test.EqOp(t, 0, expect.Metrics(t, metrics, "berth_event_watchers")["berth_event_watchers"])

	last := l.watch(r, nil)
	waiting := make(chan error, 1)
	go func() { waiting <- expect.Error(last.Next(t.Context(), nil, nil)) }()
	r.Drain()
	expect.Reason(t, fault.ShuttingDown)(<-waiting)
	expect.Reason(t, fault.ShuttingDown)(last.Next(t.Context(), nil, nil))
	expect.Reason(t, fault.ShuttingDown)(r.Watch(t.Context(), l.Tenant, nil))
	closed := l.relay()
	closed.Close()
	expect.Reason(t, fault.ShuttingDown)(closed.Watch(t.Context(), l.Tenant, nil))
}

// When a watcher sees that roles have changed, RolesChanged has been called. This holds for a read
// for all watchers and for one that is behind the others.
func TestRelay_ReportsRoleChangesBeforeEvents(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	var forgotten atomic.Int64
	r := l.relay(func(c *outbox.RelayConfig) { c.RolesChanged = func(tenant.TenantID) { forgotten.Add(1) } })
	w := l.watch(r, nil)
	for _, what := range []event.Data{event.AccessChanged{}, event.MemberChanged{}, event.AccessChanged{}} {
		before := forgotten.Load()
		e := named("x")
		e.Data = what
		l.append(l.Tenant, e)
		r.NotifyCommit(l.Tenant)
		w.gets("x")
		test.Greater(t, before, forgotten.Load(), test.Sprint(what.Type()))
	}
	// The relay is not told of this event.
	before, e := forgotten.Load(), named("unannounced")
	e.Data = event.AccessChanged{}
	l.append(l.Tenant, e)
	l.settle()
	l.watch(r, new(outbox.Cursor)).gets("x", "x", "x", "unannounced")
	test.Greater(t, before, forgotten.Load(), test.Sprint("for one that is behind"))
}
