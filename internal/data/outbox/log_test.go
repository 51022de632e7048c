package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The transaction that began first commits last. A reader of all durable events misses its event, because the reader's
// position is past it by then. A reader that stops at the horizon waits for it.
func TestRead_DoesNotLoseEventOfSlowTransaction(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	var none outbox.Cursor
	none.ID = tenant.EventID{UUID: tenant.UUID{1}} // not null

	commit := l.slow("A")
	l.add("B")
	hasty, passed := l.naive(none)
	waits := l.read(outbox.Range{Limit: 10})
	must.SliceEmpty(t, waits.Records, must.Sprintf("%v while A is running", names(waits.Records)))
	test.True(t, waits.Held, test.Sprintf("%v while A is running", names(waits.Records)))
	commit()
	l.settle()
	late, _ := l.naive(passed)
	test.SliceEqOp(t, []string{"B"}, slices.Concat(hasty, late),
		test.Sprintf("negative control: without the horizon %v and %v were seen, A was not lost", hasty, late))

	page := l.read(outbox.Range{From: waits.End, Limit: 10})
	must.False(t, page.Held, must.Sprintf("%+v", page))
	must.False(t, page.More, must.Sprintf("%+v", page))
	test.Eq(t, []string{"A", "B"}, names(page.Records))
}

// Many writers run transactions of any length at the same time, some roll back, and one reader reads all the time.
func TestRead_KeepsAllEventsInOrderWithManyWriters(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	const writers, each = 4, 40
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				tx := expect.Value(l.db.Owner.Begin(t.Context()))(t)
				for part := range 2 {
					e := named(fmt.Sprintf("%d/%d/%d", w, i, part))
					_, err := tx.Exec(t.Context(), `
						insert into events (tenant_id, id, type, actor, occurred_at) values ($1, $2, $3, $4, $5)`,
						l.Tenant, e.ID, e.Data.Type(), e.Actor, e.At)
					test.NoError(t, err)
					for range rand.N(3) {
						_, _ = tx.Exec(t.Context(), "select 1")
					}
				}
				if i%5 == 4 {
					_ = tx.Rollback(t.Context())
				} else if err := tx.Commit(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	var (
		got []string
		at  outbox.Cursor
	)
	for last := false; ; {
		page := l.read(outbox.Range{From: at, Limit: 7})
		got, at = append(got, names(page.Records)...), page.End
		if last && !page.More && !page.Held {
			break
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
	want, _ := l.naive(outbox.Cursor{ID: tenant.EventID{UUID: tenant.UUID{1}}})
	test.EqOp(t, writers*each*4/5*2, len(want), test.Sprintf("%d events are durable", len(want)))
	test.Eq(t, want, got, test.Sprint("(-durable +read)"))
}

func TestRead_PagesForwardAndBackward(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.add("a", "b")
	l.add("c")
	l.add("d", "e", "f")
	l.append(l.newTenant(), named("another tenant's"))
	l.settle()
	end := l.read(outbox.Range{}).End
	for _, c := range []struct {
		name string
		from outbox.Range
		want string
	}{
		{"forward", outbox.Range{Limit: 2}, "ab cd ef "},
		{"forward in one", outbox.Range{Limit: 7}, "abcdef"},
		{"forward without context", outbox.Range{Limit: 4, NoContext: true}, "abcd ef"},
		{"backward", outbox.Range{From: outbox.EndOfLog, Backwards: true, Limit: 4}, "fedc ba"},
		{"from the end", outbox.Range{From: end, Limit: 4}, ""},
	} {
		var got []string
		at := c.from
		for more := true; more; {
			page := l.read(at)
			got = append(got, strings.Join(names(page.Records), ""))
			at.From, more = page.End, page.More
		}
		test.Eq(t, c.want, strings.Join(got, " "), test.Sprint(c.name))
		test.EqOp(t, c.from.Backwards, at.From == outbox.Cursor{}, test.Sprint(c.name, " ends at the beginning"))
	}
	// Everything later starts at the End of a page.
	l.add("g")
	l.settle()
	test.Eq(t, []string{"g"}, names(l.read(outbox.Range{From: end, Limit: 5}).Records))
	must.NoError(t, l.db.InTx(t.Context(), pg.Scope{Tenant: l.Tenant}, "test", func(ctx context.Context, tx *pg.Tx) error {
		defer func() { test.EqOp(t, 0, tx.WriteCount(), test.Sprint("statements for no event")) }()
		outbox.Append(tx, l.Tenant)
		return tx.Flush(ctx)
	}))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	test.ErrorIs(t, expect.Error(outbox.Read(over, l.db.DB, l.Tenant, outbox.Range{})), context.Canceled)
}

// Records carry what is not in the row: IDs from the data, and of the sessions the location, whether it is a draft, and
// how many seats are open, unless there is no limit. Consumers need no more than the IDs.
func TestRead_FillsIDsAndSession(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	entry, left := tenant.New[tenant.EntryID](noon), tenant.New[tenant.SessionID](noon)
	offer := tenant.New[tenant.OfferID](noon)
	location, service := tenant.New[tenant.LocationID](noon), tenant.New[tenant.ServiceID](noon)
	session := tenant.New[tenant.SessionID](noon)
	for _, sql := range []string{
		`insert into tenants (tenant_id, name, time_zone, locale, currency, created_at, updated_at)
		 values ($1, 'x', 'UTC', 'en', 'EUR', $5, $5)`,
		`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'x', 'UTC', $5, $5)`,
		`insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at)
		 values ($1, $3, 'x', 60, $5, $5)`,
		`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, state,
		   capacity, seats_taken, created_at, updated_at)
		 select $1, id, $3, $2, 'x', $5, $5::timestamptz + interval '1 hour', '2026-03-16', state, capacity, 1, $5, $5
		 from (values ($4, 'DRAFT', null), ($6, 'PUBLISHED', 3)) as s (id, state, capacity)`,
	} {
		sql = "with given as (select $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::timestamptz, $6::uuid) " + sql
		l.exec(sql, l.Tenant, location, service, session, noon, left)
	}
	moved := named("moved")
	moved.Session = session
	moved.Entry, moved.Offer = entry, offer
	moved.Data = event.BookingRescheduled{FromSession: left, FromStart: noon}
	moved.Facts = event.Facts{
		Status: "CONFIRMED", Party: 2, ExternalRef: "x-1",
		Payment: event.Payment{Status: "PAID", Credits: -2, Subscription: tenant.New[tenant.SubscriptionID](noon)},
	}
	l.append(l.Tenant, moved)
	l.settle()
	for plain, context := range map[bool]outbox.Context{
		true: {}, false: {
			To:   outbox.SessionContext{Location: location, Draft: true},
			From: outbox.SessionContext{Location: location, SeatsOpen: new(2)},
		},
	} {
		r := l.read(outbox.Range{Limit: 1, NoContext: plain}).Records[0]
		test.Eq(t, moved, r.Event, test.Cmp(cmpopts.EquateApproxTime(time.Microsecond)))
		test.Eq(t, context, r.Context)
		test.EqOp(t, left, r.FromSession)
	}
	expect.OK(t)(outbox.Consume(t.Context(), l.db.DB, l.Tenant, outbox.Consumer{Name: "test", Handle: func(
		_ context.Context, _ *pg.Tx, _ tenant.TenantID, records []*outbox.Record,
	) error {
		test.Eq(t, outbox.Context{}, records[0].Context)
		return nil
	}}))
}

func TestParseCursor_AcceptsOnlyOwnTokens(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	other := l.newTenant()
	at := outbox.Cursor{XID: 7, ID: tenant.New[tenant.EventID](noon)}
	for _, c := range []outbox.Cursor{at, {}, {XID: 9}} {
		test.EqOp(t, c, expect.Value(outbox.ParseCursor(l.Tenant, c.Token(l.Tenant)))(t))
	}
	good := at.Token(l.Tenant)
	for name, text := range map[string]string{
		"of another tenant": at.Token(other),
		"empty":             "",
		"too short":         good[:len(good)-1],
		"too long":          good + "A",
		"no base64":         "%" + good[1:],
		"another version":   "Ag" + good[2:],
		"changed":           good[:20] + string(good[20]^1) + good[21:],
		"padded":            good + "=",
	} {
		test.EqOp(t, fault.InvalidField, fault.ReasonOf(expect.Error(outbox.ParseCursor(l.Tenant, text))), test.Sprint(name))
	}
	// Clients keep their positions when the service is updated.
	id := tenant.MustParse[tenant.EventID]("018f5e6e-0000-7000-8000-000000000001")
	test.EqOp(t, "AQAAAAAAAAAHAY9ebgAAcACAAAAAAAAAATBXeKk", outbox.Cursor{XID: 7, ID: id}.Token(tenant.TenantID(id)))
	// A position past the end of this database's log comes from another database.
	for _, xid := range []uint64{1 << 40, math.MaxInt64} {
		err := expect.Error(outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{From: outbox.Cursor{XID: xid, ID: id}}))
		f, ok := errors.AsType[*fault.Error](err)
		must.True(t, ok, must.Sprint(err))
		test.EqOp(t, fault.InvalidField, f.Reason)
		test.EqOp(t, "cursor", f.Field)
	}
}

// Who lists and watches gets what a newer version wrote, without its data. A consumer waits for the newer version.
func TestRead_PassesUnknownTypesOnExceptToConsumers(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	entry := tenant.New[tenant.EntryID](noon)
	l.exec(`insert into events (tenant_id, id, type, actor, data, occurred_at) values ($1, $2, $3, '', $4, $5)`,
		l.Tenant, tenant.New[tenant.EventID](noon), "booking.vanished",
		`{"entry_id": "`+entry.String()+`", "party_size": 2, "depth": {"metres": 2}}`, noon)
	l.settle()
	for _, from := range []outbox.Range{{Limit: 1}, {From: outbox.EndOfLog, Backwards: true, Limit: 1}} {
		r := l.read(from).Records[0]
		test.Eq[event.Data](t, event.Unknown{Of: "booking.vanished"}, r.Data)
		test.EqOp(t, entry, r.Entry)
		test.EqOp(t, 2, r.Facts.Party)
	}
	refused := expect.Error(outbox.Read(t.Context(), l.db.DB, l.Tenant, outbox.Range{Limit: 1, NoContext: true}))
	test.ErrorContains(t, refused, `no type "booking.vanished" is known`)
}

// What is broken is an error for readers of the log. It is not skipped.
func TestRead_RefusesWhatIsBroken(t *testing.T) {
	t.Parallel()
	for what, data := range map[string]string{
		"waitlist.joined": `{"position": "first"}`, "booking.held": `{"entry_id": "x"}`,
		"booking.confirmed": `[]`,
	} {
		l := newLog(t)
		l.exec(`insert into events (tenant_id, id, type, actor, data, occurred_at) values ($1, $2, $3, '', $4, $5)`,
			l.Tenant, tenant.New[tenant.EventID](noon), what, data, noon)
		l.settle()
		for _, from := range []outbox.Range{
			{Limit: 1}, {Limit: 1, NoContext: true}, {From: outbox.EndOfLog, Backwards: true, Limit: 1},
		} {
			err := expect.Error(outbox.Read(t.Context(), l.db.DB, l.Tenant, from))
			test.ErrorContains(t, err, "event ", test.Sprint(what))
		}
	}
}

// A log that cannot be read is an error for everyone. A watcher continues afterwards.
func TestLog_ReportsErrorsOfReads(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	r := l.relay()
	l.add("1")
	l.settle()
	w := l.watch(r, new(outbox.Cursor))
	ctx := t.Context()
	l.exec(`revoke select on events, event_consumers from berth_app`)
	for name, err := range map[string]error{
		"Read":    expect.Error(outbox.Read(ctx, l.db.DB, l.Tenant, outbox.Range{Limit: 1})),
		"Watch":   expect.Error(r.Watch(ctx, l.Tenant, nil)),
		"Next":    expect.Error(w.Next(ctx, nil, nil)),
		"Consume": expect.Error(outbox.Consume(ctx, l.db.DB, l.Tenant, outbox.Consumer{Name: "test"})),
	} {
		test.EqOp(t, "42501", pg.Code(err), test.Sprint(name))
	}
	l.exec(`grant select on event_consumers to berth_app`)
	test.EqOp(t, "42501", pg.Code(expect.Error(outbox.Consume(ctx, l.db.DB, l.Tenant, outbox.Consumer{Name: "test"}))))
	l.exec(`grant select on events to berth_app`)
	w.gets("1")
}

// The log is read through its index, also under row-level security.
func TestRead_UsesIndex(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	ctx := t.Context()
	pool := expect.Value(l.db.OpenPool(ctx, 1, map[string]string{
		"enable_seqscan": "off", "plan_cache_mode": "force_generic_plan",
	}))(t)
	defer pool.Close()
	conn := expect.Value(pool.Acquire(ctx))(t)
	defer conn.Release()
	expect.OK(t)(conn.Exec(ctx, "select set_config('app.tenant_id', $1, false)", l.Tenant.String()))
	explained := 0
	for i, sql := range pg.Statements() {
		if !strings.Contains(sql, "pg_snapshot_xmin") {
			continue
		}
		explained++
		arguments := fmt.Sprintf("('%s')", l.Tenant)
		if strings.Contains(sql, "$4") {
			arguments = fmt.Sprintf("('%s', '5', '%[1]s', 10)", l.Tenant)
		}
		expect.OK(t)(conn.Exec(ctx, fmt.Sprintf("prepare s%d as %s", i, sql)))
		explain := fmt.Sprintf("explain (costs off) execute s%d%s", i, arguments)
		rows, _ := conn.Query(ctx, explain, pgx.QueryExecModeSimpleProtocol)
		plan := strings.Join(expect.Value(pgx.CollectRows(rows, pgx.RowTo[string]))(t), "\n")
		test.StrContains(t, plan, "using events_order on events")
		test.StrNotContains(t, plan, "Filter: ((xid")
		test.StrNotContains(t, plan, "Filter: ((ROW")
	}
	test.EqOp(t, 4, explained, test.Sprint("statements"))
}
