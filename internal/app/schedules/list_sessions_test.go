package schedules_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func listSessions(h *testkit.Studio, who tenant.Caller, q schedules.SessionQuery) []schedules.SessionView {
	h.T.Helper()
	all, err := h.App.Schedules.ListSessions(context.Background(), who, q)
	if err != nil {
		h.T.Fatal(err)
	}
	return all
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
	h := testkit.New(t)
	draft := h.AddSession(testkit.Session{Starts: testkit.Evening, State: catalog.Draft})
	published := h.AddSession(testkit.Session{Starts: testkit.Evening.Add(time.Hour)})
	cancelled := h.AddSession(testkit.Session{Starts: testkit.Evening.Add(2 * time.Hour), State: catalog.Cancelled})
	deleted := h.AddSession(testkit.Session{Starts: testkit.Evening.Add(3 * time.Hour)})
	h.DeleteSession(deleted)
	partner := tenant.Caller{Tenant: h.Tenant, Subject: "sa:1", Roles: []string{tenant.RolePartner}}
	h.OtherTenant().AddSession(testkit.Session{Starts: testkit.Evening})

	everything, open := []tenant.SessionID{draft, published, cancelled}, []tenant.SessionID{published, cancelled}
	for name, tt := range map[string]struct {
		who  tenant.Caller
		want []tenant.SessionID
	}{
		"owner": {h.Owner, everything}, "admin": {h.AddPerson("Ada", tenant.RoleAdmin), everything},
		"coach":  {h.Coach, everything},
		"member": {h.AddMember("Mia"), open}, "partner": {partner, open},
		"a role of the tenant's own": {stranger(h, "gardener"), open},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, offeredIDs(listSessions(h, tt.who, testkit.WeekQuery()))); diff != "" {
				t.Errorf("list (-want +got)\n%s", diff)
			}
			asked := testkit.WeekQuery()
			asked.States = []catalog.SessionState{catalog.Draft, catalog.Published}
			if diff := cmp.Diff(tt.want[:len(tt.want)-1], offeredIDs(listSessions(h, tt.who, asked))); diff != "" {
				t.Errorf("list of drafts and published ones (-want +got)\n%s", diff)
			}
			for _, id := range []tenant.SessionID{draft, deleted} {
				_, err := h.App.Schedules.GetSession(context.Background(), tt.who, id)
				want := fault.SessionNotFound
				if id == draft && len(tt.want) == 3 {
					want = ""
				}
				testkit.WantReason(t, err, want)
			}
			if _, err := h.App.Schedules.GetSession(context.Background(), tt.who, cancelled); err != nil {
				t.Error(err)
			}
		})
	}
}

// stranger is a member with a role that does not exist.
func stranger(h *testkit.Studio, role string) tenant.Caller {
	who := h.AddMember("Sam")
	who.Roles = []string{role}
	return who
}

func TestListSessions_Filters(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	pier := h.AddLocation(catalog.Location{Name: "Pier 2", TimeZone: "UTC"})
	tennis := h.AddService(catalog.Service{Name: "Tennis"})
	room := h.AddResource(catalog.Resource{Name: "Studio"})
	plain := h.AddSession(testkit.Session{Starts: testkit.Evening})
	there := h.AddSession(testkit.Session{Starts: testkit.Evening.Add(time.Hour), Location: pier})
	sport := h.AddSession(testkit.Session{Starts: testkit.Evening.Add(2 * time.Hour), Service: tennis})
	inRoom := h.SessionInput(testkit.Evening.Add(3 * time.Hour))
	inRoom.Resource, inRoom.Coach = room, h.Coach.Member
	led := h.CreateSession(inRoom, true).ID
	later := h.AddSession(testkit.Session{Starts: testkit.WeekQuery().Until})

	for name, tt := range map[string]struct {
		change func(*session.Filter)
		want   []tenant.SessionID
	}{
		"all of a week": {func(*session.Filter) {}, []tenant.SessionID{plain, there, sport, led}},
		"the start is in it": {
			func(f *session.Filter) { f.From = testkit.Evening }, []tenant.SessionID{plain, there, sport, led},
		},
		"the end is not": {func(f *session.Filter) { f.Until = testkit.Evening }, []tenant.SessionID{}},
		"another span": {
			func(f *session.Filter) { f.From, f.Until = testkit.WeekQuery().Until, testkit.WeekQuery().Until.Add(1) },
			[]tenant.SessionID{},
		},
		"a later span": {func(f *session.Filter) {
			f.From, f.Until = testkit.WeekQuery().Until, testkit.WeekQuery().Until.Add(time.Second)
		}, []tenant.SessionID{later}},
		"location": {
			func(f *session.Filter) { f.Locations = []tenant.LocationID{pier} }, []tenant.SessionID{there},
		},
		"any of two services": {
			func(f *session.Filter) { f.Services = []tenant.ServiceID{tennis, testkit.NewID[tenant.ServiceID]()} },
			[]tenant.SessionID{sport},
		},
		"resource": {func(f *session.Filter) { f.Resources = []tenant.ResourceID{room} }, []tenant.SessionID{led}},
		"coach": {
			func(f *session.Filter) { f.Coaches = []tenant.MemberID{h.Coach.Member} }, []tenant.SessionID{led},
		},
		"series": {
			func(f *session.Filter) { f.Series = testkit.NewID[tenant.SeriesID]() }, []tenant.SessionID{},
		},
		"ids": {
			func(f *session.Filter) { f.Sessions = []tenant.SessionID{sport, plain, later} }, []tenant.SessionID{plain, sport},
		},
		"all that is set must hold": {func(f *session.Filter) {
			f.Locations, f.Services = []tenant.LocationID{pier}, []tenant.ServiceID{tennis}
		}, []tenant.SessionID{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := testkit.WeekQuery()
			tt.change(&q.Filter)
			if diff := cmp.Diff(tt.want, offeredIDs(listSessions(h, h.Owner, q))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Pages are cut by start and id, so that what is inserted meanwhile makes nothing come twice or not at all.
func TestListSessions_Pages(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	for i := range 7 {
		h.AddSession(testkit.Session{Starts: testkit.Evening.Add(time.Duration(i/3) * time.Hour)}) // several start together
	}
	want := offeredIDs(listSessions(h, h.Owner, testkit.WeekQuery()))
	got := []tenant.SessionID{}
	q := testkit.WeekQuery()
	q.Limit = 2
	for {
		page := listSessions(h, h.Owner, q)
		if len(page) == 0 {
			break
		}
		got = append(got, offeredIDs(page)...)
		last := page[len(page)-1]
		q.AfterStart, q.AfterID = last.StartsAt, last.ID
		h.AddSession(testkit.Session{Starts: testkit.Evening.Add(-time.Hour)})
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 7 {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEligibility_EqualsResultOfBook(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	sub := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3, DailyLimit: new(2)}))
	at := func(day, hour int) time.Time {
		return testkit.Noon.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour)
	}

	booked := h.AddSession(testkit.Session{Starts: at(1, 0)})
	id := h.MustBook(mia, booked)
	full := h.AddSession(testkit.Session{Starts: at(1, 4), Capacity: 1, Waitlist: 5})
	h.MustBook(noa, full)
	h.MustWaitlist(h.AddMember("Ole"), full)
	entry := h.MustWaitlist(mia, full)
	second := h.AddSession(testkit.Session{Starts: at(1, 8)})
	h.MustBook(mia, second)

	queue := h.AddSession(testkit.Session{Starts: at(2, 4), Capacity: 1, Waitlist: 5})
	h.MustBook(noa, queue)
	crowded := h.AddSession(testkit.Session{Starts: at(2, 6), Capacity: 1})
	h.MustBook(noa, crowded)

	want := map[tenant.SessionID]booking.Eligibility{
		booked: {Status: booking.Booked, Booking: id},
		full:   {Status: booking.Waitlisted, Entry: entry, Position: 2},
		second: {Status: booking.Booked, Booking: tenant.BookingID{}},
		queue:  {Status: booking.Waitlist},
		h.AddSession(testkit.Session{Starts: at(3, 0)}): {Status: booking.Eligible, Subscription: sub.ID},
		crowded: {Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionFull}},
		h.AddSession(testkit.Session{Starts: at(1, 6)}): {
			Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.DailyLimit},
		},
		h.AddSession(testkit.Session{Starts: at(2, 0), Blocked: true}): {
			Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen},
		},
		h.AddSession(testkit.Session{Starts: at(2, 1), State: catalog.Cancelled}): {
			Status: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen},
		},
		h.AddSession(testkit.Session{Starts: at(-1, 13)}): {
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
	all := listSessions(h, mia, q)
	if len(all) != len(want) {
		t.Fatalf("%d sessions, want %d", len(all), len(want))
	}
	for _, s := range all {
		expect := want[s.ID]
		if s.ID == second {
			expect.Booking = s.Eligibility.Booking
		}
		if diff := cmp.Diff(expect, short(*s.Eligibility), cmp.AllowUnexported(fault.Error{})); diff != "" {
			t.Errorf("at %s (-want +got)\n%s", s.StartsAt, diff)
		}
		one, err := h.App.Schedules.GetSession(ctx, mia, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(short(*s.Eligibility), short(*one.Eligibility), cmp.AllowUnexported(fault.Error{})); diff != "" {
			t.Errorf("at %s: one by one it is otherwise (-list +get)\n%s", s.StartsAt, diff)
		}
	}
	// What Book answers in fact.
	for _, s := range all {
		place, err := h.Book(mia, s.ID)
		switch s.Eligibility.Status {
		case booking.Booked, booking.Waitlisted:
			if err == nil {
				t.Errorf("twice in one session: %+v", place)
			}
		case booking.Blocked:
			testkit.WantReason(t, err, s.Eligibility.Refusal.Reason)
		case booking.Waitlist:
			if err != nil || place.Entry == nil {
				t.Errorf("%+v (%v)", place, err)
			}
		case booking.Eligible:
			if err != nil || place.Booking == nil || place.Booking.Subscription != s.Eligibility.Subscription {
				t.Errorf("%+v (%v)", place, err)
			}
		}
	}
}

func TestEligibility_FindsOverlapsOutsideTheRequestedSpan(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Evening, Minutes: 180}))
	overlapping := h.AddSession(testkit.Session{Starts: testkit.Evening.Add(2 * time.Hour)})
	q := testkit.WeekQuery()
	q.From = testkit.Evening.Add(time.Hour) // behind the start of what was booked
	all := listSessions(h, mia, q)
	if len(all) != 1 || all[0].ID != overlapping || all[0].Eligibility.Status != booking.Blocked ||
		all[0].Eligibility.Refusal.Reason != fault.Overlap {
		t.Errorf("%+v", all)
	}
}

func TestEligibility_OfStaff(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.TakePayments()
	h.AddSession(testkit.Session{Starts: testkit.Evening})
	if got := listSessions(h, h.Coach, testkit.WeekQuery())[0].Eligibility.Status; got != booking.Eligible {
		t.Errorf("coach: %s", got)
	}
	if got := listSessions(h, h.AddMember("Mia"), testkit.WeekQuery())[0].Eligibility; got.Status != booking.Blocked ||
		got.Refusal.Reason != fault.NoActivePlan {
		t.Errorf("member: %+v", got)
	}
	partner := tenant.Caller{Tenant: h.Tenant, Subject: "sa:1", Roles: []string{tenant.RolePartner}}
	if got := listSessions(h, partner, testkit.WeekQuery())[0].Eligibility; got != nil {
		t.Errorf("a program that is no member: %+v", got)
	}
}

// statements counts what is sent to the database, and keeps it.
type statements struct {
	deaf atomic.Bool // hears no more
	mu   sync.Mutex
	sent []pgx.TraceBatchQueryData
	trip int
}

func (*statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	if s.deaf.Load() {
		return ctx
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trip++
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if s.deaf.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, data)
}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// during gives what is sent meanwhile.
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
	h := testkit.New(t, func(c *pg.Config) { c.Tracer = &seen })
	mia := h.AddMember("Mia")
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 100, DailyLimit: new(9)}))
	h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Evening}))

	const statements = 8 // with the one that names the tenant
	for _, want := range []int{1, 30, 300} {
		fill(h, want-h.Count(`select count(*) from sessions`), 5*time.Minute, catalog.Published)
		listSessions(h, mia, testkit.WeekQuery()) // statements are prepared once for each connection
		sent, trips := seen.during(func() {
			if got := len(listSessions(h, mia, testkit.WeekQuery())); got != want {
				t.Fatalf("%d sessions, want %d", got, want)
			}
		})
		if len(sent) != statements || trips != 1 {
			t.Errorf("%d sessions take %d statements in %d round trips", want, len(sent), trips)
		}
	}
	h.EditTenant(func(to *catalog.Tenant) { to.Name = "Quay Yoga" })
	const snapshot, queue = 6, 3 // likewise
	sent, trips := seen.during(func() { listSessions(h, mia, testkit.WeekQuery()) })
	if len(sent) != statements+snapshot || trips != 2 {
		t.Errorf("after a change of what sessions share a page takes %d statements in %d round trips", len(sent), trips)
	}
	full := h.AddSession(testkit.Session{Starts: testkit.Evening.AddDate(0, 0, 1), Capacity: 1, Waitlist: 5})
	h.MustBook(h.AddMember("Noa"), full)
	h.MustWaitlist(mia, full)
	listSessions(h, mia, testkit.WeekQuery())
	if sent, trips := seen.during(func() { listSessions(h, mia, testkit.WeekQuery()) }); len(sent) != statements+queue ||
		trips != 2 {
		t.Errorf("for who waits a page takes %d statements in %d round trips", len(sent), trips)
	}
}

// What sessions share is kept in memory. Whoever changes any of it has to be believed at once.
func TestListSessions_ReadsCurrentSnapshot(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	h.AddSession(testkit.Session{Starts: testkit.Evening})
	look := func() schedules.SessionView { return listSessions(h, mia, testkit.WeekQuery())[0] }
	refused := func(want fault.Reason) func(schedules.SessionView) bool {
		return func(o schedules.SessionView) bool {
			return o.Eligibility.Refusal != nil && o.Eligibility.Refusal.Reason == want
		}
	}
	if e := look().Eligibility; e.Status != booking.Eligible {
		t.Fatalf("at first %+v", e)
	}
	for _, step := range []struct {
		name   string
		change func() error
		shows  func(schedules.SessionView) bool
	}{
		{"a policy", func() error {
			_, err := h.App.Settings.UpdatePolicy(
				ctx, h.Owner, settings.PolicyTarget{}, nil, func(p *catalog.Policy) { p.Advance = new(time.Duration(0)) },
			)
			return err
		}, refused(fault.AdvanceWindow)},
		{"a policy again", func() error {
			_, err := h.App.Settings.UpdatePolicy(
				ctx, h.Owner, settings.PolicyTarget{}, nil, func(p *catalog.Policy) { p.Advance = nil },
			)
			return err
		}, func(o schedules.SessionView) bool { return o.Eligibility.Status == booking.Eligible }},
		{"the tenant", func() error {
			_, err := h.App.Accounts.UpdateTenant(ctx, h.Owner, nil, func(t *catalog.Tenant) { t.TakesPayments = true })
			return err
		}, refused(fault.NoActivePlan)},
		{"a service", func() error {
			_, err := h.App.Catalog.UpdateService(
				ctx, h.Owner, h.Service, nil, func(s *catalog.Service) { s.Delivery = catalog.Feed },
			)
			return err
		}, func(o schedules.SessionView) bool { return o.Delivery == catalog.Feed }},
		{"a location", func() error {
			_, err := h.App.Catalog.UpdateLocation(
				ctx, h.Owner, h.Location, nil, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} },
			)
			return err
		}, refused(fault.ChannelClosed)},
		{"a new location", func() error {
			made, err := h.App.Catalog.CreateLocation(ctx, h.Owner, catalog.Location{Name: "Pier 2", TimeZone: "Europe/Lisbon"})
			h.AddSession(testkit.Session{Starts: testkit.Evening.Add(-time.Hour), Location: made.ID})
			return err
		}, func(o schedules.SessionView) bool { return o.TimeZone == "Europe/Lisbon" }},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := look(); !step.shows(got) {
			t.Errorf("after a change of %s: %+v with %+v", step.name, got.Session, got.Eligibility)
		}
	}
}

// fill creates n sessions, one every so often, by an import.
func fill(h *testkit.Studio, n int, every time.Duration, state catalog.SessionState) {
	h.T.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		h.T.Fatal(err)
	}
	var file strings.Builder
	file.WriteString(testkit.ImportHeader)
	for i := range n {
		start := testkit.Noon.Add(time.Duration(i+1) * every).In(berlin)
		fmt.Fprintf(&file, "Vinyasa,Pier 1,%s,,60,,,,,,,%s\n", start.Format("2006-01-02,15:04"), state)
	}
	if report := h.ImportSessions(file.String(), false); len(report.Sessions) != n {
		h.T.Fatalf("%+v", report)
	}
}

func TestListSessions_UsesTheIndexOnTheStart(t *testing.T) {
	t.Parallel()
	var seen statements
	h := testkit.New(t, func(c *pg.Config) { c.Tracer = &seen })
	mia := h.AddMember("Mia")
	fill(h, 300, 5*time.Minute, catalog.Published)
	// Postgres takes the index only if there are many more, so they are inserted by SQL.
	h.Exec(`
insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, state,
created_at, updated_at)
select $1, gen_random_uuid(), $2, $3, 'Vinyasa', x.at, x.at + interval '1 hour', x.at::date, 10, 'PUBLISHED', $4, $4
from (select $4::timestamptz + make_interval(mins => n * 60) as at from generate_series(2000,
7000) n) x`, h.Tenant, h.Service, h.Location, testkit.Noon)
	h.Exec(`analyze sessions`)
	sent, _ := seen.during(func() { listSessions(h, mia, testkit.WeekQuery()) })
	for _, s := range sent {
		if !strings.Contains(s.SQL, "order by s.starts_at, s.id") {
			continue
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			if plan := explain(h, mode, s.SQL, s.Args); !strings.Contains(plan, "sessions_start") ||
				strings.Contains(plan, "Seq Scan on sessions") {
				t.Errorf("%s:\n%s", mode, plan)
			}
		}
		return
	}
	t.Error("the statement was not seen")
}

// explain gives the plan as the runtime role has it made, under row-level security.
func explain(h *testkit.Studio, mode, sql string, args []any) string {
	h.T.Helper()
	var lines []string
	err := h.DB.Read(context.Background(), pg.Scope{Tenant: h.Tenant}, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		batch.Queue(fmt.Sprintf("set local plan_cache_mode = %s", mode))
		pg.Collect(batch.Queue("explain "+sql, args...), &lines, pgx.RowTo[string])
		return tx.Load(ctx, &batch)
	})
	if err != nil {
		h.T.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
