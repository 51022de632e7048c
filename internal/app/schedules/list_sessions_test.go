package schedules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func listSessions(studio *testkit.Studio, who tenant.Caller, q schedules.SessionQuery) []schedules.SessionView {
	studio.T.Helper()
	return expect.Value(studio.App.Schedules.ListSessions(context.Background(), who, q))(studio.T)
}

func offeredIDs(all []schedules.SessionView) []tenant.SessionID {
	ids := []tenant.SessionID{}
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestListSessions_HidesDraftsFromMembers(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	draft := studio.AddSession(testkit.Session{Starts: testkit.Evening, State: catalog.Draft})
	published := studio.AddSession(testkit.Session{Starts: testkit.Evening.Add(time.Hour)})
	cancelled := studio.AddSession(testkit.Session{Starts: testkit.Evening.Add(2 * time.Hour), State: catalog.Cancelled})
	deleted := studio.AddSession(testkit.Session{Starts: testkit.Evening.Add(3 * time.Hour)})
	studio.DeleteSession(deleted)
	partner := tenant.Caller{Tenant: studio.Tenant, Subject: "sa:1", Roles: []string{tenant.RolePartner}}
	studio.OtherTenant().AddSession(testkit.Session{Starts: testkit.Evening})

	everything, open := []tenant.SessionID{draft, published, cancelled}, []tenant.SessionID{published, cancelled}
	for name, tt := range map[string]struct {
		who  tenant.Caller
		want []tenant.SessionID
	}{
		"owner": {studio.Owner, everything}, "admin": {studio.AddPerson("Ada", tenant.RoleAdmin), everything},
		"coach":  {studio.Coach, everything},
		"member": {studio.AddMember("Mia"), open}, "partner": {partner, open},
		"a role of the tenant's own": {stranger(studio, "gardener"), open},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.Eq(t, tt.want, offeredIDs(listSessions(studio, tt.who, testkit.WeekQuery())), test.Sprint("list"))
			asked := testkit.WeekQuery()
			asked.States = []catalog.SessionState{catalog.Draft, catalog.Published}
			test.Eq(t, tt.want[:len(tt.want)-1], offeredIDs(listSessions(studio, tt.who, asked)),
				test.Sprint("list of drafts and published ones"))
			for _, id := range []tenant.SessionID{draft, published, cancelled, deleted} {
				err := expect.Error(studio.App.Schedules.GetSession(t.Context(), tt.who, id))
				test.EqOp(t, slices.Contains(tt.want, id), err == nil)
				test.True(t, err == nil || fault.ReasonOf(err) == fault.SessionNotFound, test.Sprint(err))
			}
		})
	}
}

// stranger is a member with a role that does not exist.
func stranger(studio *testkit.Studio, role string) tenant.Caller {
	who := studio.AddMember("Sam")
	who.Roles = []string{role}
	return who
}

func TestEligibility_EqualsResultOfBook(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	sub := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3, DailyLimit: new(2)}))
	at := func(day, hour int) time.Time {
		return testkit.Noon.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour)
	}

	booked := studio.AddSession(testkit.Session{Starts: at(1, 0)})
	id := studio.MustBook(mia, booked)
	full := studio.AddSession(testkit.Session{Starts: at(1, 4), Capacity: 1, Waitlist: 5})
	studio.MustBook(noa, full)
	studio.MustWaitlist(studio.AddMember("Ole"), full)
	entry, second := studio.MustWaitlist(mia, full), studio.AddSession(testkit.Session{Starts: at(1, 8)})
	studio.MustBook(mia, second)

	queue := studio.AddSession(testkit.Session{Starts: at(2, 4), Capacity: 1, Waitlist: 5})
	studio.MustBook(noa, queue)
	crowded := studio.AddSession(testkit.Session{Starts: at(2, 6), Capacity: 1})
	studio.MustBook(noa, crowded)

	want := map[tenant.SessionID]booking.Eligibility{
		booked: {Status: booking.Booked, Booking: id},
		full:   {Status: booking.Waitlisted, Entry: entry, Position: 2},
		second: {Status: booking.Booked, Booking: tenant.BookingID{}},
		queue:  {Status: booking.Waitlist},
		studio.AddSession(testkit.Session{Starts: at(3, 0)}): {Status: booking.Eligible, Subscription: sub.ID},
		crowded: {Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionFull}},
		studio.AddSession(testkit.Session{Starts: at(1, 6)}): {
			Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.DailyLimit},
		},
		studio.AddSession(testkit.Session{Starts: at(2, 0), Blocked: true}): {
			Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen},
		},
		studio.AddSession(testkit.Session{Starts: at(2, 1), State: catalog.Cancelled}): {
			Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen},
		},
		studio.AddSession(testkit.Session{Starts: at(-1, 13)}): {
			Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen},
		},
	}
	short := func(e booking.Eligibility) booking.Eligibility {
		if e.Refusal != nil {
			e.Refusal = &fault.Error{Reason: e.Refusal.Reason}
		}
		return e
	}
	q := testkit.WeekQuery()
	q.From = q.From.AddDate(0, 0, -2)
	all := listSessions(studio, mia, q)
	must.EqOp(t, len(want), len(all), must.Sprintf("%d sessions, want %d", len(all), len(want)))
	for _, s := range all {
		eligibility := want[s.ID]
		if s.ID == second {
			eligibility.Booking = s.Eligibility.Booking
		}
		test.Eq(t, eligibility, short(*s.Eligibility), test.Cmp(cmp.AllowUnexported(fault.Error{})),
			test.Sprintf("at %s", s.StartsAt))
		one := expect.Value(studio.App.Schedules.GetSession(t.Context(), mia, s.ID))(t)
		test.Eq(t, short(*s.Eligibility), short(*one.Eligibility), test.Cmp(cmp.AllowUnexported(fault.Error{})),
			test.Sprintf("at %s: one by one it is otherwise (-list +get)", s.StartsAt))
	}
	// What Book answers in fact.
	for _, s := range all {
		result, err := studio.Book(mia, s.ID)
		switch s.Eligibility.Status {
		case booking.Booked, booking.Waitlisted:
			test.Error(t, err, test.Sprintf("twice in one session: %+v", result))
		case booking.Blocked:
			expect.Reason(t, s.Eligibility.Refusal.Reason)(err)
		case booking.Waitlist:
			test.NoError(t, err)
			test.NotNil(t, result.Entry)
		case booking.Eligible:
			must.NoError(t, err)
			must.NotNil(t, result.Booking)
			test.EqOp(t, s.Eligibility.Subscription, result.Booking.Subscription)
		}
	}
}

func TestEligibility_FindsOverlapsOutsideTheRequestedSpan(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Evening, Minutes: 180}))
	overlapping := studio.AddSession(testkit.Session{Starts: testkit.Evening.Add(2 * time.Hour)})
	q := testkit.WeekQuery()
	q.From = testkit.Evening.Add(time.Hour) // behind the start of what was booked
	all := listSessions(studio, mia, q)
	must.SliceLen(t, 1, all)
	test.EqOp(t, overlapping, all[0].ID)
	test.EqOp(t, booking.Blocked, all[0].Eligibility.Status)
	test.EqOp(t, fault.Overlap, all[0].Eligibility.Refusal.Reason)
}

func TestEligibility_OfStaff(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.TakePayments()
	studio.AddSession(testkit.Session{Starts: testkit.Evening})
	test.EqOp(t, booking.Eligible, listSessions(studio, studio.Coach, testkit.WeekQuery())[0].Eligibility.Status,
		test.Sprint("coach"))
	got := listSessions(
		studio, studio.AddMember("Mia"), testkit.WeekQuery(),
	)[0].Eligibility
	test.EqOp(t, booking.Blocked, got.Status, test.Sprintf("member: %+v", got))
	test.EqOp(t, fault.NoActivePlan, got.Refusal.Reason, test.Sprintf("member: %+v", got))
	partner := tenant.Caller{Tenant: studio.Tenant, Subject: "sa:1", Roles: []string{tenant.RolePartner}}
	test.Nil(t, listSessions(studio, partner, testkit.WeekQuery())[0].Eligibility,
		test.Sprint("a program that is no member"))
}

// statements counts what is sent to the database, and keeps it.
type statements struct {
	mu   sync.Mutex
	sent []pgx.TraceBatchQueryData
	trip int
}

func (*statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trip++
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, data)
}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// during returns what is sent while do runs.
func (s *statements) during(do func()) (sent []pgx.TraceBatchQueryData, trips int) {
	s.mu.Lock()
	s.sent, s.trip = nil, 0
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent, s.trip
}

func TestListSessions_TakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	var seen statements
	studio := testkit.New(t, func(c *pg.Config) { c.Tracer = &seen })
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 100, DailyLimit: new(9)}))
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Evening}))

	const statements = 9 // with the one that names the tenant
	for _, want := range []int{1, 30, 300} {
		fill(studio, want-studio.Count(`select count(*) from sessions`), 5*time.Minute, catalog.Published)
		listSessions(studio, mia, testkit.WeekQuery()) // statements are prepared once for each connection
		sent, trips := seen.during(func() {
			must.EqOp(t, want, len(listSessions(studio, mia, testkit.WeekQuery())), must.Sprintf("sessions, want %d", want))
		})
		test.SliceLen(t, statements, sent,
			test.Sprintf("%d sessions take %d statements in %d round trips", want, len(sent), trips))
		test.EqOp(t, 1, trips, test.Sprintf("%d sessions take %d statements in %d round trips", want, len(sent), trips))
	}
	studio.EditTenant(func(to *catalog.Tenant) { to.Name = "Quay Yoga" })
	const snapshot, queue = 6, 3 // likewise
	sent, trips := seen.during(func() { listSessions(studio, mia, testkit.WeekQuery()) })
	test.SliceLen(t, statements+snapshot, sent,
		test.Sprintf("after a change of what sessions share a page takes %d statements in %d round trips", len(sent),
			trips))
	test.EqOp(t, 2, trips,
		test.Sprintf("after a change of what sessions share a page takes %d statements in %d round trips", len(sent),
			trips))
	full := studio.AddSession(testkit.Session{Starts: testkit.Evening.AddDate(0, 0, 1), Capacity: 1, Waitlist: 5})
	studio.MustBook(studio.AddMember("Noa"), full)
	studio.MustWaitlist(mia, full)
	listSessions(studio, mia, testkit.WeekQuery())
	sent, trips = seen.during(
		func() { listSessions(studio, mia, testkit.WeekQuery()) },
	)
	test.SliceLen(t, statements+queue, sent,
		test.Sprintf("for who waits a page takes %d statements in %d round trips", len(sent), trips))
	test.EqOp(t, 2, trips, test.Sprintf("for who waits a page takes %d statements in %d round trips", len(sent), trips))
}

// What sessions share is cached in memory. A change must be visible immediately.
func TestListSessions_ReadsCurrentSnapshot(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	studio.AddSession(testkit.Session{Starts: testkit.Evening})
	look := func() schedules.SessionView { return listSessions(studio, mia, testkit.WeekQuery())[0] }
	refused := func(want fault.Reason) func(schedules.SessionView) bool {
		return func(v schedules.SessionView) bool {
			return v.Eligibility.Refusal != nil && v.Eligibility.Refusal.Reason == want
		}
	}
	e := look().Eligibility
	must.EqOp(t, booking.Eligible, e.Status, must.Sprintf("at first %+v", e))
	for _, step := range []struct {
		name   string
		change func() error
		shows  func(schedules.SessionView) bool
	}{
		{"a policy", func() error {
			return expect.Error(studio.App.Settings.UpdatePolicy(
				t.Context(), studio.Owner, settings.PolicyTarget{}, nil,
				func(p *catalog.PolicyLayer) { p.AdvanceWindow = new(time.Duration(0)) },
			))
		}, refused(fault.AdvanceWindow)},
		{"a policy again", func() error {
			return expect.Error(studio.App.Settings.UpdatePolicy(
				t.Context(), studio.Owner, settings.PolicyTarget{}, nil, func(p *catalog.PolicyLayer) { p.AdvanceWindow = nil },
			))
		}, func(v schedules.SessionView) bool { return v.Eligibility.Status == booking.Eligible }},
		{"the tenant", func() error {
			return expect.Error(studio.App.Accounts.UpdateTenant(
				t.Context(), studio.Owner, nil, func(t *catalog.Tenant) { t.TakesPayments = true },
			))
		}, refused(fault.NoActivePlan)},
		{"a service", func() error {
			return expect.Error(studio.App.Catalog.UpdateService(
				t.Context(), studio.Owner, studio.Service, nil, func(s *catalog.Service) { s.Delivery = catalog.Feed },
			))
		}, func(v schedules.SessionView) bool { return v.Delivery == catalog.Feed }},
		{"a location", func() error {
			return expect.Error(studio.App.Catalog.UpdateLocation(
				t.Context(), studio.Owner, studio.Location, nil,
				func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} },
			))
		}, refused(fault.ChannelClosed)},
		{"a new location", func() error {
			made, err := studio.App.Catalog.CreateLocation(
				t.Context(), studio.Owner, catalog.Location{Name: "Pier 2", TimeZone: "Europe/Lisbon", Active: true},
			)
			studio.AddSession(testkit.Session{Starts: testkit.Evening.Add(-time.Hour), Location: made.ID})
			return err
		}, func(v schedules.SessionView) bool { return v.TimeZone == "Europe/Lisbon" }},
	} {
		must.NoError(t, step.change(), must.Sprint(step.name))
		got := look()
		test.True(t, step.shows(got),
			test.Sprintf("after a change of %s: %+v with %+v", step.name, got.Session, got.Eligibility))
	}
}

// fill creates n sessions, one every so often, by an import.
func fill(studio *testkit.Studio, n int, every time.Duration, state catalog.SessionState) {
	studio.T.Helper()
	berlin := expect.Value(time.LoadLocation("Europe/Berlin"))(studio.T)
	var file strings.Builder
	file.WriteString(testkit.ImportHeader)
	for i := range n {
		start := testkit.Noon.Add(time.Duration(i+1) * every).In(berlin)
		fmt.Fprintf(&file, "Vinyasa,Pier 1,%s,,60,,,,,,,%s\n", start.Format("2006-01-02,15:04"), state)
	}
	imported := studio.ImportSessions(file.String(), false)
	must.EqOp(studio.T, n, len(imported.Sessions), must.Sprintf("%+v", imported))
}

func TestListSessions_UsesTheIndexOnTheStart(t *testing.T) {
	t.Parallel()
	var seen statements
	studio := testkit.New(t, func(c *pg.Config) { c.Tracer = &seen })
	mia := studio.AddMember("Mia")
	fill(studio, 300, 5*time.Minute, catalog.Published)
	// Postgres takes the index only if there are many more, so they are inserted by SQL.
	studio.Exec(`
insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, state,
created_at, updated_at)
select $1, gen_random_uuid(), $2, $3, 'Vinyasa', x.at, x.at + interval '1 hour', x.at::date, 10, 'PUBLISHED', $4, $4
from (select $4::timestamptz + make_interval(mins => n * 60) as at from generate_series(2000,
7000) n) x`, studio.Tenant, studio.Service, studio.Location, testkit.Noon)
	studio.Exec(`analyze sessions`)
	sent, _ := seen.during(func() { listSessions(studio, mia, testkit.WeekQuery()) })
	for _, s := range sent {
		if !strings.Contains(s.SQL, "order by s.starts_at, s.id") {
			continue
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan := explain(studio, mode, s.SQL, s.Args)
			test.StrContains(t, plan, "sessions_start", test.Sprintf("%s:\n%s", mode, plan))
			test.StrNotContains(t, plan, "Seq Scan on sessions", test.Sprintf("%s:\n%s", mode, plan))
		}
		return
	}
	t.Error("the statement was not seen")
}

// explain gives the plan as the runtime role has it made, under row-level security.
func explain(studio *testkit.Studio, mode, sql string, args []any) string {
	studio.T.Helper()
	var lines []string
	must.NoError(studio.T, studio.DB.Read(context.Background(), pg.Scope{Tenant: studio.Tenant},
		func(ctx context.Context, tx *pg.ReadTx) error {
			var batch pg.Batch
			batch.Queue(fmt.Sprintf("set local plan_cache_mode = %s", mode))
			pg.Collect(batch.Queue("explain "+sql, args...), &lines, pgx.RowTo[string])
			return tx.Load(ctx, &batch)
		}))
	return strings.Join(lines, "\n")
}
