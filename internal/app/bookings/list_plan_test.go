package bookings_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// listed keeps the statement that lists bookings.
type listed struct {
	mu   sync.Mutex
	last pgx.TraceBatchQueryData
}

func (*listed) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*listed) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*listed) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (l *listed) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(data.SQL, "order by b.starts_at, b.session_id, b.id") {
		l.last = data
	}
}

func (*listed) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Whatever narrows a list, its page is read by an index, and never by reading all bookings or sessions of the tenant.
func TestListBookings_ReadsItsPageByAnIndex(t *testing.T) {
	t.Parallel()
	var seen listed
	studio := testkit.New(t, func(c *pg.Config) { c.Tracer = &seen })
	mia, noa, desk := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddPartner("Desk")
	one := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(26 * time.Hour)})
	studio.MustBook(mia, one)
	// Postgres takes an index only if there are many rows more, so they are inserted by SQL.
	studio.Exec(`
insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, state,
  created_at, updated_at, deleted_at)
select $1, gen_random_uuid(), $2, $3, 'Vinyasa', x.at, x.at + interval '1 hour', x.at::date, 10, 'PUBLISHED', $4, $4,
  case when x.n % 50 = 0 then $4 end
from (select n, $4::timestamptz + make_interval(mins => n * 60) as at from generate_series(2000, 7000) n) x`,
		studio.Tenant, studio.Service, studio.Location, testkit.Noon)
	studio.Exec(`
insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by,
  created_at, updated_at)
select s.tenant_id, gen_random_uuid(), s.id, $2::uuid, 1, 'CONFIRMED', 'ONLINE', s.starts_at, s.ends_at, $2::uuid::text,
  s.created_at, s.created_at
from sessions s where s.tenant_id = $1 and s.starts_at > $3::timestamptz + interval '3 days'`,
		studio.Tenant, noa.Member, testkit.Noon)
	studio.Exec(`analyze sessions`)
	studio.Exec(`analyze bookings`)
	month := bookings.BookingFilter{From: testkit.Noon, Until: testkit.Noon.AddDate(0, 0, 31)}
	for index, c := range map[string]struct {
		by tenant.Caller
		f  bookings.BookingFilter
	}{
		"sessions_start":   {studio.Owner, month},
		"bookings_member":  {testkit.SelfOnly(mia), bookings.BookingFilter{}},
		"bookings_account": {testkit.SelfOnly(desk), bookings.BookingFilter{}},
		"bookings_session": {studio.Owner, bookings.BookingFilter{Session: one}},
	} {
		expect.OK(t)(studio.App.Bookings.ListBookings(t.Context(), c.by, bookings.BookingQuery{BookingFilter: c.f, Limit: 9}))
		sent := seen.last // explaining it is seen, too
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan := explain(studio, mode, sent.SQL, sent.Args)
			test.StrContains(t, plan, index, test.Sprintf("%s:\n%s", mode, plan))
			for _, table := range []string{"sessions", "bookings"} {
				test.StrNotContains(t, plan, "Seq Scan on "+table, test.Sprintf("%s:\n%s", mode, plan))
			}
		}
	}
}

// explain gives the plan as the runtime role has it made, under row-level security.
func explain(studio *testkit.Studio, mode, sql string, args []any) string {
	studio.T.Helper()
	var lines []string
	must.NoError(studio.T, studio.DB.Read(context.Background(), pg.Scope{Tenant: studio.Tenant},
		func(ctx context.Context, tx *pg.ReadTx) error {
			var batch pg.Batch
			batch.Queue("set local plan_cache_mode = " + mode)
			pg.Collect(batch.Queue("explain "+sql, args...), &lines, pgx.RowTo[string])
			return tx.Load(ctx, &batch)
		}))
	return strings.Join(lines, "\n")
}
