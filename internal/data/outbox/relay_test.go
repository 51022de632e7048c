package outbox_test

import (
	"context"
	"errors"
	"math"
	"slices"
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
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// An event is committed while an older transaction runs. The older one commits without telling this relay.
func TestWatcher_WaitsForSlowTransaction(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	first, second := l.watch(r, nil), l.watch(r, nil)
	commit := l.slow("A")
	l.add("B")
	r.NotifyCommit(l.Tenant)
	l.add("C")
	r.NotifyCommit(l.Tenant)
	commit()
	for _, w := range []*outbox.Watcher{first, second} {
		test.Eq(t, []string{"A", "B", "C"}, take(t, w, 3))
	}
}

func TestWatcher_ResumesFromCursor(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	l.add("before")
	l.settle()
	w := l.watch(r, nil)
	l.add("1", "2")
	l.add("3")
	r.NotifyCommit(l.Tenant)
	got := take(t, w, 3)
	at := w.At()
	l.add("4")
	r.Close() // as if the node stopped
	l.add("5")
	again := l.relay()
	got = append(got, take(t, l.watch(again, &at), 2)...)
	test.Eq(t, []string{"1", "2", "3", "4", "5"}, got)
	test.Eq(t, append([]string{"before"}, got...), take(t, l.watch(again, new(outbox.Cursor)), 6),
		test.Sprint("from the beginning"))
	_, err := again.Watch(t.Context(), l.Tenant, &outbox.Cursor{XID: 1 << 40})
	test.EqOp(t, fault.InvalidField, fault.ReasonOf(err), test.Sprintf("behind the end: %v", err))
}

// An event is in the log before a notice of it is sent, so a watcher that starts at any moment misses none.
func TestWatch_MissesNothingAfterRead(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	const events = 100
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() {
		for _, name := range numbered(events) {
			l.add(name)
			r.NotifyCommit(l.Tenant)
		}
	})
	var watching sync.WaitGroup
	for range 20 {
		watching.Go(func() {
			page, err := outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{Limit: 1000})
			if err != nil {
				t.Error(err)
				return
			}
			w, err := r.Watch(t.Context(), l.Tenant, &page.End)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			got := append(names(page.Records), take(t, w, events-len(page.Records))...)
			test.Eq(t, numbered(events), got)
		})
	}
	watching.Wait()
}

// statements counts the reads of the log that return events. Empty reads can be many:
// a feed reads again and again while a transaction of another test holds events back.
type statements struct {
	reads atomic.Int64
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if strings.Contains(data.SQL, "from events") && strings.Contains(data.SQL, "limit") &&
		data.CommandTag.RowsAffected() > 0 {
		s.reads.Add(1)
	}
}
func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func TestWatchers_ShareReadsOfTenant(t *testing.T) {
	t.Parallel()
	count := new(statements)
	l := newLog(t, func(c *pg.Config) { c.Tracer = count })
	r := l.relay()
	other := l.newTenant()
	watchers := make([]*outbox.Watcher, 50)
	for i := range watchers {
		watchers[i] = l.watch(r, nil)
	}
	l.add("ready")
	r.NotifyCommit(l.Tenant)
	for _, w := range watchers {
		take(t, w, 1)
	}
	fewest := int64(math.MaxInt64)
	for _, name := range numbered(5) {
		before := count.reads.Load()
		l.add(name)
		l.append(other, event("unwatched"))
		r.NotifyCommit(l.Tenant)
		r.NotifyCommit(other)
		for _, w := range watchers {
			got := take(t, w, 1)
			must.EqOp(t, name, got[0], must.Sprintf("%v, want", got))
		}
		fewest = min(fewest, count.reads.Load()-before)
	}
	// A watcher that has just started may read by itself, and a transaction of another test
	// that holds events back causes more reads.
	test.True(
		t, fewest >= 1 && fewest <= 10,
		test.Sprintf("%d reads of the log for one event and %d watchers", fewest, len(watchers)),
	)
}

// A watcher that does not read costs the others nothing. It has to resume, and then gets all events.
func TestWatcher_ReportsResumeIfTooSlow(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	r.SetMaxTail(10)
	slow, quick := l.watch(r, nil), l.watch(r, nil)
	l.add("ready")
	r.NotifyCommit(l.Tenant)
	take(t, slow, 1)
	take(t, quick, 1)
	// There is nothing to read, so the watcher has caught up.
	tick := make(chan time.Time, 1)
	tick <- noon
	got := expect.Value(slow.Next(t.Context(), tick, nil))(t)
	must.Nil(t, got, must.Sprintf("%v", got))
	want := numbered(60)
	for _, name := range want {
		l.add(name)
		r.NotifyCommit(l.Tenant)
		got := take(t, quick, 1)
		must.EqOp(t, name, got[0], must.Sprintf("%v, want", got))
	}
	r.SetMaxLag(0)
	_, err := slow.Next(t.Context(), nil, nil)
	f, ok := errors.AsType[*fault.Error](err)
	must.True(t, ok && f.Reason == fault.WatcherTooSlow, must.Sprintf("%v", err))
	at := expect.Value(outbox.ParseCursor(l.Tenant, f.Metadata["cursor"]))(t)
	must.EqOp(t, slow.At(), at, must.Sprintf("%v", at))
	test.Eq(t, want, take(t, l.watch(r, &at), len(want)))
}

// A burst that exceeds the tail in memory must not end a watcher.
func TestWatcher_SurvivesBurstLongerThanTail(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	r.SetMaxTail(10)
	w := l.watch(r, nil)
	l.add("ready")
	r.NotifyCommit(l.Tenant)
	take(t, w, 1)
	want := numbered(1100) // more than the relay or a watcher reads at once
	l.add(want...)
	r.NotifyCommit(l.Tenant)
	test.Eq(t, want, take(t, w, len(want)))
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
		l.add(name)
		here.NotifyCommit(l.Tenant)
		got := take(t, w, 1)
		must.EqOp(t, name, got[0], must.Sprintf("%v, want", got))
	}
	// This is more tenants than one notice can name.
	for range 300 {
		here.NotifyCommit(tenant.New[tenant.TenantID](noon))
	}
	l.add("one of many")
	here.NotifyCommit(l.Tenant)
	take(t, w, 1)
}

func TestRelay_PollsWithoutNotices(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay(func(c *outbox.RelayConfig) { c.Poll = 10 * time.Millisecond })
	w := l.watch(r, nil)
	l.add("without a notice")
	take(t, w, 1)
}

func TestWatcher_ReturnsNothingOnTick(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	w := l.watch(r, nil)
	tick := make(chan time.Time)
	for range 3 {
		go func() { tick <- noon }()
		got := expect.Value(w.Next(t.Context(), tick, nil))(t)
		test.Nil(t, got, test.Sprintf("%v", got))
	}
	l.add("x")
	r.NotifyCommit(l.Tenant)
	got := expect.Value(w.Next(t.Context(), tick, nil))(t)
	test.True(t, slices.Equal(names(got), []string{"x"}), test.Sprintf("%v", names(got)))
}

func TestWatcher_EndsWithContextAndDrain(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	metrics := prometheus.NewRegistry()
	r := l.relay(func(c *outbox.RelayConfig) { c.Metrics = metrics })
	w := expect.Value(r.Watch(t.Context(), l.Tenant, nil))(t)
	why := errors.New("why")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	_, err := w.Next(ctx, nil, nil)
	test.EqOp(t, why, err)
	test.EqOp(t, 1, r.WatchedTenants(), test.Sprint("tenants are read"))
	w.Close()
	test.EqOp(t, 0, r.WatchedTenants(), test.Sprint("tenants are read without a watcher"))

	w = l.watch(r, nil)
	waiting := make(chan error, 1)
	go func() {
		_, err := w.Next(t.Context(), nil, nil)
		waiting <- err
	}()
	r.Drain()
	err = <-waiting
	test.EqOp(t, fault.ShuttingDown, fault.ReasonOf(err), test.Sprint(err))
	_, err = r.Watch(t.Context(), l.Tenant, nil)
	test.EqOp(t, fault.ShuttingDown, fault.ReasonOf(err), test.Sprint(err))
}

// When a watcher sees that roles have changed, RolesChanged has been called. This holds for a read
// for all watchers and for one that is behind the others.
func TestRelay_ReportsRoleChangesBeforeEvents(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	var forgotten atomic.Int64
	r := l.relay(func(c *outbox.RelayConfig) { c.RolesChanged = func(tenant.TenantID) { forgotten.Add(1) } })
	w := l.watch(r, nil)
	for _, what := range []outbox.Type{outbox.RolesChanged, outbox.MemberChanged, outbox.RolesChanged} {
		before := forgotten.Load()
		e := event("x")
		e.Type = what
		l.append(l.Tenant, e)
		r.NotifyCommit(l.Tenant)
		take(t, w, 1)
		test.NotEqOp(t, before, forgotten.Load(), test.Sprintf("RolesChanged was not called for %s", what))
	}
}
