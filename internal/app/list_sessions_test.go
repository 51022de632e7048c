package app_test

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

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// week asks for the week around the tests' noon.
func week() app.SessionQuery {
	return app.SessionQuery{
		Filter: session.Filter{From: noon.Add(-12 * time.Hour), Until: noon.AddDate(0, 0, 7).Add(-12 * time.Hour)}, Limit: 500,
	}
}

func (h *house) listSessions(who tenant.Caller, q app.SessionQuery) []app.Offered {
	h.t.Helper()
	all, err := h.app.ListSessions(context.Background(), who, q)
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

func offeredIDs(all []app.Offered) []tenant.SessionID {
	ids := []tenant.SessionID{}
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestMembersNeverSeeDrafts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	draft := h.session(slot{Starts: evening, State: catalog.Draft})
	published := h.session(slot{Starts: evening.Add(time.Hour)})
	cancelled := h.session(slot{Starts: evening.Add(2 * time.Hour), State: catalog.Cancelled})
	deleted := h.session(slot{Starts: evening.Add(3 * time.Hour)})
	h.exec(`update sessions set deleted_at = $2 where id = $1`, deleted, noon)
	partner := tenant.Caller{Tenant: h.Tenant, Subject: "sa:1", Roles: []string{tenant.RolePartner}}
	h.another().session(slot{Starts: evening})

	everything, open := []tenant.SessionID{draft, published, cancelled}, []tenant.SessionID{published, cancelled}
	for name, tt := range map[string]struct {
		who  tenant.Caller
		want []tenant.SessionID
	}{
		"owner": {h.Owner, everything}, "admin": {h.person("Ada", tenant.RoleAdmin), everything}, "coach": {h.Coach, everything},
		"member": {h.member("Mia"), open}, "partner": {partner, open}, "a role of the tenant's own": {h.stranger("gardener"), open},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, offeredIDs(h.listSessions(tt.who, week()))); diff != "" {
				t.Errorf("list (-want +got)\n%s", diff)
			}
			asked := week()
			asked.States = []catalog.SessionState{catalog.Draft, catalog.Published}
			if diff := cmp.Diff(tt.want[:len(tt.want)-1], offeredIDs(h.listSessions(tt.who, asked))); diff != "" {
				t.Errorf("list of drafts and published ones (-want +got)\n%s", diff)
			}
			for _, id := range []tenant.SessionID{draft, deleted} {
				_, err := h.app.GetSession(context.Background(), tt.who, id)
				want := fault.SessionNotFound
				if id == draft && len(tt.want) == 3 {
					want = ""
				}
				wantReason(t, err, want)
			}
			if _, err := h.app.GetSession(context.Background(), tt.who, cancelled); err != nil {
				t.Error(err)
			}
		})
	}
}

// stranger is a member with a role that the house does not know.
func (h *house) stranger(role string) tenant.Caller {
	who := h.member("Sam")
	who.Roles = []string{role}
	return who
}

func TestListSessionsFilters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	pier, tennis := newID[tenant.LocationID](), newID[tenant.ServiceID]()
	h.exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Pier 2', 'UTC', $3, $3)`, h.Tenant, pier, noon)
	h.exec(`insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at) values ($1, $2, 'Tennis', 3600, $3, $3)`, h.Tenant, tennis, noon)
	room := h.newResource("Studio")
	plain := h.session(slot{Starts: evening})
	there := h.session(slot{Starts: evening.Add(time.Hour), Location: pier})
	sport := h.session(slot{Starts: evening.Add(2 * time.Hour), Service: tennis})
	inRoom := h.sessionInput(evening.Add(3 * time.Hour))
	inRoom.Resource, inRoom.Coach = room, h.Coach.Member
	led := h.createSession(inRoom, true).ID
	later := h.session(slot{Starts: week().Until})

	for name, tt := range map[string]struct {
		change func(*session.Filter)
		want   []tenant.SessionID
	}{
		"all of a week":       {func(*session.Filter) {}, []tenant.SessionID{plain, there, sport, led}},
		"the start is in it":  {func(f *session.Filter) { f.From = evening }, []tenant.SessionID{plain, there, sport, led}},
		"the end is not":      {func(f *session.Filter) { f.Until = evening }, []tenant.SessionID{}},
		"another span":        {func(f *session.Filter) { f.From, f.Until = week().Until, week().Until.Add(1) }, []tenant.SessionID{}},
		"a later span":        {func(f *session.Filter) { f.From, f.Until = week().Until, week().Until.Add(time.Second) }, []tenant.SessionID{later}},
		"location":            {func(f *session.Filter) { f.Locations = []tenant.LocationID{pier} }, []tenant.SessionID{there}},
		"any of two services": {func(f *session.Filter) { f.Services = []tenant.ServiceID{tennis, newID[tenant.ServiceID]()} }, []tenant.SessionID{sport}},
		"resource":            {func(f *session.Filter) { f.Resources = []tenant.ResourceID{room} }, []tenant.SessionID{led}},
		"coach":               {func(f *session.Filter) { f.Coaches = []tenant.MemberID{h.Coach.Member} }, []tenant.SessionID{led}},
		"series":              {func(f *session.Filter) { f.Series = newID[tenant.SeriesID]() }, []tenant.SessionID{}},
		"ids":                 {func(f *session.Filter) { f.Sessions = []tenant.SessionID{sport, plain, later} }, []tenant.SessionID{plain, sport}},
		"all that is set must hold": {func(f *session.Filter) {
			f.Locations, f.Services = []tenant.LocationID{pier}, []tenant.ServiceID{tennis}
		}, []tenant.SessionID{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := week()
			tt.change(&q.Filter)
			if diff := cmp.Diff(tt.want, offeredIDs(h.listSessions(h.Owner, q))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Pages are cut by start and id, so that what is inserted meanwhile makes nothing come twice or not at all.
func TestListSessionsPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range 7 {
		h.session(slot{Starts: evening.Add(time.Duration(i/3) * time.Hour)}) // several start together
	}
	want := offeredIDs(h.listSessions(h.Owner, week()))
	got := []tenant.SessionID{}
	q := week()
	q.Limit = 2
	for {
		page := h.listSessions(h.Owner, q)
		if len(page) == 0 {
			break
		}
		got = append(got, offeredIDs(page)...)
		last := page[len(page)-1]
		q.AfterStart, q.AfterID = last.StartsAt, last.ID
		h.session(slot{Starts: evening.Add(-time.Hour)})
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 7 {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEligibilitySaysWhatBookWouldAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia, noa := h.member("Mia"), h.member("Noa")
	sub := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 3, DailyLimit: new(2)}))
	at := func(day, hour int) time.Time { return noon.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour) }

	booked := h.session(slot{Starts: at(1, 0)})
	id := h.mustBook(mia, booked)
	full := h.session(slot{Starts: at(1, 4), Capacity: 1, Waitlist: 5})
	h.mustBook(noa, full)
	h.mustWait(h.member("Ole"), full)
	entry := h.mustWait(mia, full)
	second := h.session(slot{Starts: at(1, 8)})
	h.mustBook(mia, second)

	queue := h.session(slot{Starts: at(2, 4), Capacity: 1, Waitlist: 5})
	h.mustBook(noa, queue)
	crowded := h.session(slot{Starts: at(2, 6), Capacity: 1})
	h.mustBook(noa, crowded)

	want := map[tenant.SessionID]booking.Eligibility{
		booked:                            {Outlook: booking.Booked, Booking: id},
		full:                              {Outlook: booking.Waitlisted, Entry: entry, Position: 2},
		second:                            {Outlook: booking.Booked, Booking: tenant.BookingID{}},
		queue:                             {Outlook: booking.Waitlist},
		h.session(slot{Starts: at(3, 0)}): {Outlook: booking.Eligible, Subscription: sub.ID},
		crowded:                           {Outlook: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionFull}},
		h.session(slot{Starts: at(1, 6)}): {Outlook: booking.Blocked, Refusal: &fault.Error{Reason: fault.DailyLimit}},
		h.session(slot{Starts: at(2, 0), Blocked: true}):            {Outlook: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen}},
		h.session(slot{Starts: at(2, 1), State: catalog.Cancelled}): {Outlook: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen}},
		h.session(slot{Starts: at(-1, 13)}):                         {Outlook: booking.Blocked, Refusal: &fault.Error{Reason: fault.SessionNotOpen}},
	}
	short := func(e booking.Eligibility) booking.Eligibility {
		if e.Refusal != nil {
			e.Refusal = &fault.Error{Reason: e.Refusal.Reason}
		}
		return e
	}
	q := week()
	q.From = q.From.AddDate(0, 0, -2)
	all := h.listSessions(mia, q)
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
		one, err := h.app.GetSession(ctx, mia, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(short(*s.Eligibility), short(*one.Eligibility), cmp.AllowUnexported(fault.Error{})); diff != "" {
			t.Errorf("at %s: one by one it is otherwise (-list +get)\n%s", s.StartsAt, diff)
		}
	}
	// What Book answers in fact.
	for _, s := range all {
		place, err := h.book(mia, s.ID)
		switch s.Eligibility.Outlook {
		case booking.Booked, booking.Waitlisted:
			if err == nil {
				t.Errorf("twice in one session: %+v", place)
			}
		case booking.Blocked:
			wantReason(t, err, s.Eligibility.Refusal.Reason)
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

func TestEligibilityKnowsOverlapsWhateverTheSpanAskedFor(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Unlimited}))
	h.mustBook(mia, h.session(slot{Starts: evening, Minutes: 180}))
	overlapping := h.session(slot{Starts: evening.Add(2 * time.Hour)})
	q := week()
	q.From = evening.Add(time.Hour) // behind the start of what was booked
	all := h.listSessions(mia, q)
	if len(all) != 1 || all[0].ID != overlapping || all[0].Eligibility.Outlook != booking.Blocked || all[0].Eligibility.Refusal.Reason != fault.Overlap {
		t.Errorf("%+v", all)
	}
}

func TestStaffAreToldWhatStaffMayBook(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`update tenants set takes_payments = true where tenant_id = $1`, h.Tenant)
	h.session(slot{Starts: evening})
	if got := h.listSessions(h.Coach, week())[0].Eligibility.Outlook; got != booking.Eligible {
		t.Errorf("coach: %s", got)
	}
	if got := h.listSessions(h.member("Mia"), week())[0].Eligibility; got.Outlook != booking.Blocked || got.Refusal.Reason != fault.NoActivePlan {
		t.Errorf("member: %+v", got)
	}
	partner := tenant.Caller{Tenant: h.Tenant, Subject: "sa:1", Roles: []string{tenant.RolePartner}}
	if got := h.listSessions(partner, week())[0].Eligibility; got != nil {
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

func TestAPageTakesAFixedNumberOfStatementsInOneRoundTrip(t *testing.T) {
	t.Parallel()
	var seen statements
	h := newHouse(t, func(c *pg.Config) { c.Tracer = &seen })
	mia := h.member("Mia")
	h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 100, DailyLimit: new(9)}))
	h.mustBook(mia, h.session(slot{Starts: evening}))

	const statements = 8 // with the one that names the tenant
	for _, want := range []int{1, 30, 300} {
		h.fill(want - h.count(`select count(*) from sessions`))
		h.listSessions(mia, week()) // statements are prepared once for each connection
		sent, trips := seen.during(func() {
			if got := len(h.listSessions(mia, week())); got != want {
				t.Fatalf("%d sessions, want %d", got, want)
			}
		})
		if len(sent) != statements || trips != 1 {
			t.Errorf("%d sessions take %d statements in %d round trips", want, len(sent), trips)
		}
	}
	h.exec(`update tenants set house_version = house_version + 1 where tenant_id = $1`, h.Tenant)
	const house, line = 6, 3 // likewise
	if sent, trips := seen.during(func() { h.listSessions(mia, week()) }); len(sent) != statements+house || trips != 2 {
		t.Errorf("after a change of what sessions share a page takes %d statements in %d round trips", len(sent), trips)
	}
	full := h.session(slot{Starts: evening.AddDate(0, 0, 1), Capacity: 1, Waitlist: 5})
	h.mustBook(h.member("Noa"), full)
	h.mustWait(mia, full)
	h.listSessions(mia, week())
	if sent, trips := seen.during(func() { h.listSessions(mia, week()) }); len(sent) != statements+line || trips != 2 {
		t.Errorf("for who waits a page takes %d statements in %d round trips", len(sent), trips)
	}
}

// What sessions share is kept in memory. Whoever changes any of it has to be believed at once.
func TestAPageShowsWhatSessionsShareAsItIsNow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	mia := h.member("Mia")
	h.session(slot{Starts: evening})
	look := func() app.Offered { return h.listSessions(mia, week())[0] }
	refused := func(want fault.Reason) func(app.Offered) bool {
		return func(o app.Offered) bool { return o.Eligibility.Refusal != nil && o.Eligibility.Refusal.Reason == want }
	}
	if e := look().Eligibility; e.Outlook != booking.Eligible {
		t.Fatalf("at first %+v", e)
	}
	for _, step := range []struct {
		name   string
		change func() error
		shows  func(app.Offered) bool
	}{
		{"a policy", func() error {
			_, err := h.app.UpdatePolicy(ctx, h.Owner, app.PolicyTarget{}, nil, func(p *catalog.Policy) { p.Advance = new(time.Duration(0)) })
			return err
		}, refused(fault.AdvanceWindow)},
		{"a policy again", func() error {
			_, err := h.app.UpdatePolicy(ctx, h.Owner, app.PolicyTarget{}, nil, func(p *catalog.Policy) { p.Advance = nil })
			return err
		}, func(o app.Offered) bool { return o.Eligibility.Outlook == booking.Eligible }},
		{"the tenant", func() error {
			_, err := h.app.UpdateTenant(ctx, h.Owner, nil, func(t *catalog.Tenant) { t.TakesPayments = true })
			return err
		}, refused(fault.NoActivePlan)},
		{"a service", func() error {
			_, err := h.app.UpdateService(ctx, h.Owner, h.Service, nil, func(s *catalog.Service) { s.Delivery = catalog.Feed })
			return err
		}, func(o app.Offered) bool { return o.Delivery == catalog.Feed }},
		{"a location", func() error {
			_, err := h.app.UpdateLocation(ctx, h.Owner, h.Location, nil, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} })
			return err
		}, refused(fault.ChannelClosed)},
		{"a new location", func() error {
			made, err := h.app.CreateLocation(ctx, h.Owner, catalog.Location{Name: "Pier 2", TimeZone: "Europe/Lisbon"})
			h.session(slot{Starts: evening.Add(-time.Hour), Location: made.ID})
			return err
		}, func(o app.Offered) bool { return o.TimeZone == "Europe/Lisbon" }},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := look(); !step.shows(got) {
			t.Errorf("after a change of %s: %+v with %+v", step.name, got.Session, got.Eligibility)
		}
	}
}

// fill makes so many sessions in the course of the week, all at once.
func (h *house) fill(n int) {
	h.t.Helper()
	h.exec(`
insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, state, created_at, updated_at)
select $1, gen_random_uuid(), $2, $3, 'Vinyasa', x.at, x.at + interval '1 hour', x.at::date, 10, 'PUBLISHED', $4, $4
from (select $4::timestamptz + make_interval(mins => n * 5) as at from generate_series(1, $5::int) n) x`,
		h.Tenant, h.Service, h.Location, noon, n)
}

func TestAPageFollowsTheIndexOnTheStart(t *testing.T) {
	t.Parallel()
	var seen statements
	h := newHouse(t, func(c *pg.Config) { c.Tracer = &seen })
	mia := h.member("Mia")
	h.fill(300)
	h.exec(`
insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, state, created_at, updated_at)
select $1, gen_random_uuid(), $2, $3, 'Vinyasa', x.at, x.at + interval '1 hour', x.at::date, 10, 'PUBLISHED', $4, $4
from (select $4::timestamptz + make_interval(mins => n * 60) as at from generate_series(2000, 7000) n) x`, h.Tenant, h.Service, h.Location, noon)
	h.exec(`analyze sessions`)
	sent, _ := seen.during(func() { h.listSessions(mia, week()) })
	for _, s := range sent {
		if !strings.Contains(s.SQL, "order by s.starts_at, s.id") {
			continue
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			if plan := h.explain(mode, s.SQL, s.Args); !strings.Contains(plan, "sessions_start") || strings.Contains(plan, "Seq Scan on sessions") {
				t.Errorf("%s:\n%s", mode, plan)
			}
		}
		return
	}
	t.Error("the statement was not seen")
}

// explain gives the plan as the runtime role has it made, under row-level security.
func (h *house) explain(mode, sql string, args []any) string {
	h.t.Helper()
	var lines []string
	err := h.db.Read(context.Background(), pg.Scope{Tenant: h.Tenant}, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		batch.Queue(fmt.Sprintf("set local plan_cache_mode = %s", mode))
		pg.Collect(batch.Queue("explain "+sql, args...), &lines, pgx.RowTo[string])
		return tx.Load(ctx, &batch)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
