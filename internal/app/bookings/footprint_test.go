package bookings_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// regulars is a studio in which all tables have some rows, so that no index is empty. Each member has a subscription
// that forbids overlaps, has limits and pays with credits, so a booking reads everything that it can read.
func regulars(t *testing.T, n int, tracer pgx.QueryTracer) (*testkit.Studio, []tenant.Caller, []tenant.SessionID) {
	t.Helper()
	studio := testkit.New(t, func(c *pg.Config) { c.Tracer = tracer })
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9, DailyLimit: new(5), WeeklyLimit: new(9)})
	who, classes := make([]tenant.Caller, n), make([]tenant.SessionID, n)
	for i := range n {
		who[i], classes[i] = studio.AddMember(fmt.Sprint("Member ", i)), studio.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(time.Duration(48+2*i) * time.Hour),
		})
		studio.Subscribe(who[i], pack)
		studio.MustBook(
			who[i], studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Duration(200+2*i) * time.Hour)}),
		)
	}
	return studio, who, classes
}

// What an operation reads locks single rows against change, found by keys: no table, no page of one, and of indexes
// only the pages on which it finds them. So operations on other members and sessions fail it only where they write an
// entry next to one of those.
func TestFootprint_OfLocks(t *testing.T) {
	t.Parallel()
	f := new(footprint)
	studio, who, classes := regulars(t, 12, &pgtest.Tracer{Batch: f.see})
	ctx := context.Background()
	mia := who[5]
	held, released := studio.MustHold(mia, classes[5]), studio.MustHold(mia, classes[6])
	moved, cancelled := studio.MustBook(mia, classes[7]), studio.MustBook(mia, classes[8])
	// Of an empty index, all is locked.
	studio.SetMode(waitlist.OfferInTurn)
	studio.MustHold(studio.Coach, classes[1])
	full, _, _ := studio.AddFullSession(1)
	studio.AddWaiters(1, testkit.ForSessions(full))
	f.studio = studio
	for _, tt := range []struct {
		name  string
		do    func() error
		rows  []string // and how many of them
		pages []string // of indexes
	}{
		{"book", func() error { return expect.Error(studio.Book(mia, classes[2])) },
			[]string{"members 1", "sessions 1", "subscriptions 1", "tenants 1", "usage 1"},
			[]string{"members_pkey", "sessions_start", "subscriptions_member", "tenants_pkey", "usage_pkey"}},
		{"hold", func() error { return expect.Error(studio.Hold(mia, classes[3])) },
			[]string{"members 1", "sessions 1", "tenants 1"},
			[]string{"members_pkey", "sessions_start", "tenants_pkey"}},
		{"confirm", func() error { return expect.Error(studio.Confirm(mia, held.ID)) },
			[]string{
				"bookings 1", "locations 1", "members 1", "policies 1", "sessions 1", "subscriptions 1", "tenants 1", "usage 2",
			},
			[]string{"bookings_holds", "bookings_pkey", "locations_pkey", "members_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"subscriptions_member", "tenants_pkey", "usage_pkey"}},
		{"release", func() error {
			return expect.Error(studio.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(mia), released.ID))
		},
			[]string{"bookings 1", "locations 1", "members 1", "policies 1", "sessions 1", "tenants 1"},
			[]string{"bookings_holds", "bookings_pkey", "locations_pkey", "members_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"tenants_pkey", "waitlist_queues_pkey"}},
		{"reschedule", func() error { return expect.Error(studio.Reschedule(testkit.SelfOnly(mia), moved, classes[9])) },
			[]string{
				"bookings 1", "locations 1", "members 1", "plans 1", "policies 1", "sessions 2", "subscriptions 1", "tenants 1",
				"usage 2",
			},
			[]string{"bookings_pkey", "locations_pkey", "members_pkey", "plans_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"subscriptions_member", "tenants_pkey", "usage_pkey", "waitlist_queues_pkey"}},
		{"cancel", func() error { return expect.Error(studio.Cancel(mia, cancelled)) },
			[]string{
				"bookings 1", "locations 1", "members 1", "plans 1", "policies 1", "sessions 1", "subscriptions 1", "tenants 1",
			},
			[]string{"bookings_pkey", "locations_pkey", "members_pkey", "plans_pkey", "policies_pkey", "sessions_pkey",
				"sessions_start",
				"subscriptions_pkey", "tenants_pkey", "waitlist_queues_pkey"}},
	} {
		must.NoError(t, tt.do(), must.Sprint(tt.name))
		test.Eq(t, tt.rows, f.rows, test.Sprintf("%s, rows", tt.name))
		// A session may be found by its key, or among those of its tenant as they start: bookings write next to neither.
		test.Eq(t, tt.pages, f.page, test.Sprintf("%s, pages of indexes", tt.name))
	}
	studio.WantSound()
}

// footprint sees which predicate locks a transaction has when it is about to write.
type footprint struct {
	studio *testkit.Studio
	rows   []string // tables of which it locks rows, and how many
	page   []string // indexes of which it locks pages
}

func (f *footprint) see(ctx context.Context, conn *pgx.Conn, statements []*pgx.QueuedQuery) {
	if f.studio == nil || !slices.ContainsFunc(statements, func(q *pgx.QueuedQuery) bool { return q.SQL == "commit" }) {
		return
	}
	f.rows, f.page = nil, nil
	found, _ := f.studio.DB.Owner.Query(ctx, `
select c.relname || case when c.relkind = 'r' then ' ' || count(*) else '' end, c.relkind::text || ' ' || l.locktype
from pg_locks l join pg_class c on c.oid = l.relation
where l.mode = 'SIReadLock' and l.pid = $1 and l.virtualtransaction = (
  select v.virtualtransaction from pg_locks v where v.locktype = 'virtualxid' and v.pid = $1
and v.virtualxid = v.virtualtransaction)
group by c.relname, c.relkind, l.locktype order by c.relname`, conn.PgConn().PID())
	var relation, lock string
	expect.OK(f.studio.T)(pgx.ForEachRow(found, []any{&relation, &lock}, func() error {
		into, known := map[string]*[]string{"r tuple": &f.rows, "i page": &f.page}[lock]
		if test.True(f.studio.T, known, test.Sprintf("a lock of %s: %s", relation, lock)); known {
			*into = append(*into, relation)
		}
		return nil
	}))
}

// What is written for a booking comes in one order: what the database may refuse first, what others wait for late; and
// nothing in it counts rows, notifies or queues a job.
func TestFootprint_OfStatements(t *testing.T) {
	t.Parallel()
	a := new(testkit.Barrier)
	studio, who, classes := regulars(t, 2, a)
	ctx, _ := testkit.WithKey(t, "k", "book", "")
	a.Mu.Lock()
	a.Commits = nil
	a.Mu.Unlock()
	expect.OK(t)(studio.App.Bookings.Book(
		ctx, who[0], bookings.BookRequest{Session: classes[0], Party: 1, Channel: catalog.Online},
	))
	expect.OK(t)(studio.Cancel(who[1], expect.Value(studio.Book(who[1], classes[1]))(t).Booking.ID))
	must.EqOp(t, 3, len(a.Commits), must.Sprintf("%d transactions", len(a.Commits)))
	wrote := func(queries []*pgx.QueuedQuery) (all []string) {
		for _, q := range queries {
			for _, never := range []string{"count(", "notify", "river"} {
				test.StrNotContains(t, strings.ToLower(q.SQL), never, test.Sprintf("%s in %s", never, q.SQL))
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
			"update bookings b", "update subscriptions u", "insert into credit_entries", "update usage u", "update members m",
			"update sessions s", "insert into events", "commit",
		},
	} {
		test.Eq(t, want, wrote(a.Commits[i]), test.Sprintf("%d", i))
	}
}

// What bookings write again and again they write where it stands: no index knows of it, and pages have room for the
// next version.
func TestFootprint_UpdatesStayHOT(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	for table, columns := range map[string][]string{
		"sessions": {"seats_taken", "holds", "waiting"}, "subscriptions": {"balance", "lines"}, "usage": {"used"},
		"waitlist_queues": {"waiting", "last_key"},
	} {
		test.EqOp(t, 1, studio.Count(
			`select count(*) from pg_class, unnest(reloptions) o where relname = $1 and o ~ '^fillfactor=[1-9][0-9]$'`, table,
		), test.Sprintf("pages of %s are filled up", table))
		rows := expect.Value(studio.DB.Owner.Query(
			t.Context(), `select indexdef from pg_indexes where schemaname = 'public' and tablename = $1`, table,
		))(t)
		indexes := expect.Value(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
		must.True(t, len(indexes) != 0, must.Sprintf("%s has %d indexes", table, len(indexes)))
		for _, index := range indexes {
			words := strings.FieldsFunc(index, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
			for _, column := range columns {
				test.False(t, slices.Contains(words, column), test.Sprintf("%s knows of %s", index, column))
			}
		}
	}
}
