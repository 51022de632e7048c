package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// regulars is a house in which tables have some rows, so that no index is empty, and each member a subscription that
// forbids overlaps, has limits and pays with credits: all that can be asked of a booking.
func regulars(t *testing.T, n int, tracer pgx.QueryTracer) (*testkit.Studio, []tenant.Caller, []tenant.SessionID) {
	t.Helper()
	h := testkit.New(t, func(c *pg.Config) { c.Tracer = tracer })
	pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9, DailyLimit: new(5), WeeklyLimit: new(9)})
	who, classes := make([]tenant.Caller, n), make([]tenant.SessionID, n)
	for i := range n {
		who[i], classes[i] = h.AddMember(fmt.Sprint("Member ", i)), h.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(time.Duration(48+2*i) * time.Hour),
		})
		h.Subscribe(who[i], pack)
		h.MustBook(who[i], h.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Duration(200+2*i) * time.Hour)}))
	}
	return h, who, classes
}

// What a deal reads locks single rows against change, found by keys: no table, no page of one, and of indexes only the
// pages on which it finds them. So deals about other members and sessions fail it only where they write an entry next
// to one of those.
func TestFootprint_OfLocks(t *testing.T) {
	t.Parallel()
	f := new(footprint)
	h, who, classes := regulars(t, 12, f)
	ctx := context.Background()
	mia := who[5]
	held := h.MustHold(mia, classes[5])
	released := h.MustHold(mia, classes[6])
	moved := h.MustBook(mia, classes[7])
	cancelled := h.MustBook(mia, classes[8])
	// Of an empty index, all is locked.
	h.SetMode(waitlist.OfferInTurn)
	h.MustHold(h.Coach, classes[1])
	full, _, _ := h.AddFullSession(1)
	h.AddWaiters(1, testkit.ForSessions(full))
	f.h = h
	for _, tt := range []struct {
		name  string
		do    func() error
		rows  []string // and how many of them
		pages []string // of indexes
	}{
		{"book", func() error { _, err := h.Book(mia, classes[2]); return err },
			[]string{"members 1", "sessions 1", "subscriptions 1", "tenants 1", "usage 1"},
			[]string{"members_pkey", "sessions_start", "subscriptions_member", "tenants_pkey", "usage_pkey"}},
		{"hold", func() error { _, err := h.Hold(mia, classes[3]); return err },
			[]string{"members 1", "sessions 1", "tenants 1"},
			[]string{"members_pkey", "sessions_start", "tenants_pkey"}},
		{"confirm", func() error { _, err := h.Confirm(mia, held.ID); return err },
			[]string{
				"bookings 1", "locations 1", "members 1", "policies 1", "sessions 1", "subscriptions 1", "tenants 1", "usage 2",
			},
			[]string{"bookings_holds", "bookings_pkey", "locations_pkey", "members_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"subscriptions_member", "tenants_pkey", "usage_pkey"}},
		{"release", func() error {
			_, err := h.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(mia), released.ID)
			return err
		},
			[]string{"bookings 1", "locations 1", "members 1", "policies 1", "sessions 1", "tenants 1"},
			[]string{"bookings_holds", "bookings_pkey", "locations_pkey", "members_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"tenants_pkey", "waitlist_queues_pkey"}},
		{"reschedule", func() error { _, err := h.Reschedule(testkit.SelfOnly(mia), moved, classes[9]); return err },
			[]string{
				"bookings 1", "locations 1", "members 1", "plans 1", "policies 1", "sessions 2", "subscriptions 1", "tenants 1",
				"usage 2",
			},
			[]string{"bookings_pkey", "locations_pkey", "members_pkey", "plans_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"subscriptions_member", "tenants_pkey", "usage_pkey", "waitlist_queues_pkey"}},
		{"cancel", func() error { _, err := h.Cancel(mia, cancelled); return err },
			[]string{
				"bookings 1", "locations 1", "members 1", "plans 1", "policies 1", "sessions 1", "subscriptions 1", "tenants 1",
			},
			[]string{"bookings_pkey", "locations_pkey", "members_pkey", "plans_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"subscriptions_pkey", "tenants_pkey", "waitlist_queues_pkey"}},
	} {
		if err := tt.do(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.rows, f.rows); diff != "" {
			t.Errorf("%s, rows (-want +got):\n%s", tt.name, diff)
		}
		// A session may be found by its key, or among those of its tenant as they start: bookings write next to neither.
		if diff := cmp.Diff(tt.pages, f.page); diff != "" {
			t.Errorf("%s, pages of indexes (-want +got):\n%s", tt.name, diff)
		}
	}
	h.WantSound()
}

// footprint sees which predicate locks a transaction has when it is about to write.
type footprint struct {
	h    *testkit.Studio
	rows []string // tables of which it locks rows, and how many
	page []string // indexes of which it locks pages
}

func (f *footprint) TraceBatchStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if f.h == nil ||
		!slices.ContainsFunc(data.Batch.QueuedQueries, func(q *pgx.QueuedQuery) bool { return q.SQL == "commit" }) {
		return ctx
	}
	f.rows, f.page = nil, nil
	found, err := f.h.DB.Owner.Query(ctx, `
select c.relname || case when c.relkind = 'r' then ' ' || count(*) else '' end, c.relkind::text, l.locktype
from pg_locks l join pg_class c on c.oid = l.relation
where l.mode = 'SIReadLock' and l.pid = $1 and l.virtualtransaction = (
  select v.virtualtransaction from pg_locks v where v.locktype = 'virtualxid' and v.pid = $1
and v.virtualxid = v.virtualtransaction)
group by c.relname, c.relkind, l.locktype order by c.relname`, conn.PgConn().PID())
	if err != nil {
		f.h.T.Error(err)
		return ctx
	}
	var relation, kind, lock string
	if _, err := pgx.ForEachRow(found, []any{&relation, &kind, &lock}, func() error {
		switch {
		case kind == "r" && lock == "tuple":
			f.rows = append(f.rows, relation)
		case kind == "i" && lock == "page":
			f.page = append(f.page, relation)
		default:
			f.h.T.Errorf("a %s of %s is locked", lock, relation)
		}
		return nil
	}); err != nil {
		f.h.T.Error(err)
	}
	return ctx
}

func (*footprint) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*footprint) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*footprint) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*footprint) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// What is written for a booking comes in one order: what the database may refuse first, what others wait for late; and
// nothing in it counts rows, notifies or queues a job.
func TestFootprint_OfStatements(t *testing.T) {
	t.Parallel()
	a := new(testkit.Barrier)
	h, who, classes := regulars(t, 2, a)
	ctx, _ := testkit.WithKey(t, "k", "book", "")
	a.Mu.Lock()
	a.Commits = nil
	a.Mu.Unlock()
	if _, err := h.App.Bookings.Book(
		ctx, who[0], bookings.BookRequest{Session: classes[0], Party: 1, Channel: catalog.Online},
	); err != nil {
		t.Fatal(err)
	}
	place, err := h.Book(who[1], classes[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Cancel(who[1], place.Booking.ID); err != nil {
		t.Fatal(err)
	}
	if len(a.Commits) != 3 {
		t.Fatalf("%d transactions", len(a.Commits))
	}
	wrote := func(queries []*pgx.QueuedQuery) (all []string) {
		for _, q := range queries {
			for _, never := range []string{"count(", "notify", "river"} {
				if strings.Contains(strings.ToLower(q.SQL), never) {
					t.Errorf("%s in %s", never, q.SQL)
				}
			}
			words := strings.Fields(q.SQL)
			all = append(all, strings.Join(words[:min(len(words), 3)], " "))
		}
		return all
	}
	for i, want := range [][]string{
		{
			"insert into bookings", "update subscriptions u", "insert into credit_entries", "insert into usage",
			"update sessions s", "insert into idempotency_keys", "insert into events", "commit",
		},
		{
			"insert into bookings", "update subscriptions u", "insert into credit_entries", "insert into usage",
			"update sessions s", "insert into events", "commit",
		},
		{
			"update bookings b", "update subscriptions u", "insert into credit_entries", "update usage u", "update sessions s",
			"insert into events", "commit",
		},
	} {
		if diff := cmp.Diff(want, wrote(a.Commits[i])); diff != "" {
			t.Errorf("%d (-want +got):\n%s", i, diff)
		}
	}
}

// What bookings write again and again they write where it stands: no index knows of it, and pages have room for the
// next version.
func TestFootprint_UpdatesStayHOT(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	for table, columns := range map[string][]string{
		"sessions": {"seats_taken", "holds", "waiting"}, "subscriptions": {"balance", "lines"}, "usage": {"used"},
		"waitlist_queues": {"waiting", "last_key"},
	} {
		if n := h.Count(
			`select count(*) from pg_class, unnest(reloptions) o where relname = $1 and o ~ '^fillfactor=[1-9][0-9]$'`, table,
		); n != 1 {
			t.Errorf("pages of %s are filled up", table)
		}
		rows, err := h.DB.Owner.Query(
			t.Context(), `select indexdef from pg_indexes where schemaname = 'public' and tablename = $1`, table,
		)
		if err != nil {
			t.Fatal(err)
		}
		indexes, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(indexes) == 0 {
			t.Fatalf("%s has %d indexes (%v)", table, len(indexes), err)
		}
		for _, index := range indexes {
			words := strings.FieldsFunc(index, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
			for _, column := range columns {
				if slices.Contains(words, column) {
					t.Errorf("%s knows of %s", index, column)
				}
			}
		}
	}
}
