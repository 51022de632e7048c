package outbox_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// timeout is how long a test waits for something quick. Only a failing test waits that long.
const timeout = 10 * time.Minute

var noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// log is a tenant's event log in its own database.
type log struct {
	t      *testing.T
	db     *pgtest.DB
	Tenant tenant.TenantID
}

func newLog(t *testing.T, options ...func(*pg.Config)) *log {
	t.Helper()
	l := &log{t: t, db: pgtest.New(t, options...)}
	l.Tenant = l.newTenant()
	return l
}

func (l *log) newTenant() tenant.TenantID {
	l.t.Helper()
	id := tenant.New[tenant.TenantID](noon)
	l.exec(`insert into directory values ($1, $2)`, id, noon)
	return id
}

func (l *log) exec(sql string, args ...any) {
	l.t.Helper()
	expect.OK(l.t)(l.db.Owner.Exec(context.WithoutCancel(l.t.Context()), sql, args...))
}

// named returns an event with a name, as its actor.
func named(name string) outbox.Event {
	return outbox.Event{
		ID: tenant.New[tenant.EventID](time.Now()), Actor: name, Data: event.BookingConfirmed{}, At: time.Now(),
	}
}

// add appends events in one transaction of the tenant, like a use case.
func (l *log) add(names ...string) {
	l.t.Helper()
	events := make([]outbox.Event, len(names))
	mint := tenant.NewIDs(time.Now())
	for i, name := range names {
		events[i] = named(name)
		events[i].ID = tenant.NextID[tenant.EventID](mint)
	}
	l.append(l.Tenant, events...)
}

func (l *log) append(in tenant.TenantID, events ...outbox.Event) {
	l.t.Helper()
	ctx := context.WithoutCancel(l.t.Context())
	must.NoError(l.t, l.db.InTx(ctx, pg.Scope{Tenant: in}, "test", func(_ context.Context, tx *pg.Tx) error {
		outbox.Append(tx, in, events...)
		return nil
	}))
}

// commit adds events and tells a relay of this node.
func (l *log) commit(r *outbox.Relay, names ...string) {
	l.t.Helper()
	l.add(names...)
	r.NotifyCommit(l.Tenant)
}

func (l *log) read(of outbox.Range) outbox.Page {
	l.t.Helper()
	return expect.Value(outbox.Read(l.t.Context(), l.db.DB, l.Tenant, of))(l.t)
}

// settle waits until no event is held back. Transactions of other tests may do so.
func (l *log) settle() {
	l.t.Helper()
	l.eventually("no event is held back", func() bool { return !l.read(outbox.Range{}).Held })
}

// eventually waits for a condition that others will make true.
func (l *log) eventually(what string, so func() bool) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), timeout)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-ctx.Done():
			l.t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// slow starts a transaction that has appended an event. It commits when the returned function is called.
func (l *log) slow(name string) (commit func()) {
	l.t.Helper()
	tx := expect.Value(l.db.Owner.Begin(l.t.Context()))(l.t)
	l.t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(l.t.Context())) })
	e := named(name)
	expect.OK(l.t)(tx.Exec(l.t.Context(),
		`insert into events (tenant_id, id, type, actor, occurred_at) values ($1, $2, $3, $4, $5)`,
		l.Tenant, e.ID, e.Data.Type(), e.Actor, e.At))
	return func() { must.NoError(l.t, tx.Commit(l.t.Context())) }
}

func (l *log) relay(adapt ...func(*outbox.RelayConfig)) *outbox.Relay {
	l.t.Helper()
	// The poll interval is long, so no test passes because of polling.
	c := outbox.RelayConfig{DB: l.db.DB, Log: slog.New(slog.NewTextHandler(l.t.Output(), nil)), Poll: time.Hour}
	for _, f := range adapt {
		f(&c)
	}
	r := expect.Value(outbox.NewRelay(c))(l.t)
	l.t.Cleanup(r.Close)
	return r
}

// watcher checks the names of the events that a watcher gets.
type watcher struct {
	*outbox.Watcher
	t *testing.T
}

func (l *log) watch(r *outbox.Relay, after *outbox.Cursor) watcher {
	l.t.Helper()
	w := expect.Value(r.Watch(l.t.Context(), l.Tenant, after))(l.t)
	l.t.Cleanup(w.Close)
	return watcher{w, l.t}
}

// gets waits for as many events as are wanted.
func (w watcher) gets(want ...string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), timeout)
	defer cancel()
	var got []string
	for len(got) < len(want) {
		got = append(got, names(expect.Value(w.Next(ctx, nil, nil))(w.t))...)
	}
	test.SliceEqOp(w.t, want, got)
}

func names(records []*outbox.Record) (all []string) {
	for _, r := range records {
		all = append(all, r.Actor)
	}
	return all
}

func numbered(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return all
}

// naive reads every durable event after a position, even if older transactions are still running.
func (l *log) naive(at outbox.Cursor) (found []string, end outbox.Cursor) {
	l.t.Helper()
	rows := expect.Value(l.db.Owner.Query(l.t.Context(), `
		select xid, id, actor from events where tenant_id = $1 and (xid, id) > ($2, $3) order by xid, id`,
		l.Tenant, at.XID, at.ID))(l.t)
	var name string
	expect.OK(l.t)(pgx.ForEachRow(rows, []any{&end.XID, &end.ID, &name}, func() error {
		found = append(found, name)
		return nil
	}))
	return found, end
}
