package app_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// noon is when the tests take place: a Monday, two weeks before Europe's clocks go forward.
var noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// clock is a clock that stands still until it is set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// house is a tenant with one location in Berlin and one service, and the App that serves it.
type house struct {
	t     testing.TB
	db    *pgtest.DB
	app   *app.App
	clock *clock

	Tenant   tenant.TenantID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Owner    tenant.Caller
	Coach    tenant.Caller
}

// newHouse makes one in a database of its own.
func newHouse(t testing.TB, options ...func(*pg.Config)) *house {
	t.Helper()
	db := pgtest.New(t, options...)
	claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := checkin.NewKeys([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{now: noon}
	h := &house{
		t: t, db: db, clock: c,
		app: app.New(app.Config{DB: db.DB, Now: c.Now, CheckInKeys: keys, Claims: claims, PublicURL: "https://berth.example"}),
	}
	return h.settleIn()
}

// another gives a second tenant in the same database.
func (h *house) another() *house {
	h.t.Helper()
	return (&house{t: h.t, db: h.db, app: h.app, clock: h.clock}).settleIn()
}

func (h *house) settleIn() *house {
	h.t.Helper()
	h.Tenant, h.Location, h.Service = newID[tenant.TenantID](), newID[tenant.LocationID](), newID[tenant.ServiceID]()
	h.exec(`insert into directory values ($1, $2)`, h.Tenant, noon)
	h.exec(`insert into tenants (tenant_id, name, time_zone, locale, currency, created_at, updated_at)
	        values ($1, 'Harbour Yoga', 'Europe/Berlin', 'en', 'EUR', $2, $2)`, h.Tenant, noon)
	h.exec(`insert into roles (tenant_id, name, built_in, created_at, updated_at)
	        select $1, name, true, $2, $2 from unnest('{owner,admin,coach,member,partner}'::text[]) name`, h.Tenant, noon)
	h.exec(`insert into locations (tenant_id, id, name, time_zone, latitude, longitude, created_at, updated_at)
	        values ($1, $2, 'Pier 1', 'Europe/Berlin', 52.5, 13.4, $3, $3)`, h.Tenant, h.Location, noon)
	h.exec(`insert into services (tenant_id, id, name, duration_seconds, default_capacity, default_waitlist_capacity, max_party, created_at, updated_at)
	        values ($1, $2, 'Vinyasa', 3600, 10, 5, 4, $3, $3)`, h.Tenant, h.Service, noon)
	h.Owner = h.person("Olga Owner", tenant.RoleOwner)
	h.Coach = h.person("Carla Coach", tenant.RoleCoach)
	return h
}

func newID[I ~struct{ tenant.UUID }]() I { return tenant.New[I](noon) }

// exec runs a statement as the owner of the tables.
func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	if _, err := h.db.Owner.Exec(context.Background(), sql, args...); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
}

// count runs a query for one number as the owner of the tables, who sees all tenants.
func (h *house) count(sql string, args ...any) int {
	h.t.Helper()
	var n int
	if err := h.db.Owner.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// person makes a member with a role and gives them as a caller.
func (h *house) person(name, role string) tenant.Caller {
	h.t.Helper()
	id := newID[tenant.MemberID]()
	subject := "user-" + id.String()
	h.exec(`insert into members (tenant_id, id, subject, name, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)`,
		h.Tenant, id, subject, name, noon)
	h.exec(`insert into member_roles (tenant_id, member_id, role, created_at) values ($1, $2, $3, $4)`, h.Tenant, id, role, noon)
	return tenant.Caller{Tenant: h.Tenant, Subject: subject, Member: id, Roles: []string{role}}
}

// member makes a plain member.
func (h *house) member(name string) tenant.Caller {
	h.t.Helper()
	return h.person(name, tenant.RoleMember)
}

// own is the caller in an RPC that is for their own things alone.
func own(c tenant.Caller) tenant.Caller {
	c.Own = true
	return c
}

// slot describes a session; zero values are those of an ordinary class tomorrow at noon.
type slot struct {
	Starts    time.Time
	Minutes   int
	Capacity  int // -1: unlimited
	Waitlist  int
	State     catalog.SessionState
	Blocked   bool
	Location  tenant.LocationID
	Service   tenant.ServiceID
	LocalDate civil.Date
}

// session makes one.
func (h *house) session(s slot) tenant.SessionID {
	h.t.Helper()
	if s.Starts.IsZero() {
		s.Starts = noon.Add(48 * time.Hour)
	}
	if s.Minutes == 0 {
		s.Minutes = 60
	}
	if s.State == "" {
		s.State = catalog.Published
	}
	if s.Location.IsZero() {
		s.Location = h.Location
	}
	if s.Service.IsZero() {
		s.Service = h.Service
	}
	var capacity *int
	switch {
	case s.Capacity == 0:
		capacity = new(10)
	case s.Capacity > 0:
		capacity = &s.Capacity
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		h.t.Fatal(err)
	}
	day := s.LocalDate
	if day.IsZero() {
		day = civil.DateOf(s.Starts, berlin)
	}
	id := newID[tenant.SessionID]()
	h.exec(`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, waitlist_capacity, state, blocked, created_at, updated_at)
	        values ($1, $2, $3, $4, 'Vinyasa', $5, $6, $7, $8, $9, $10, $11, $12, $12)`,
		h.Tenant, id, s.Service, s.Location, s.Starts, s.Starts.Add(time.Duration(s.Minutes)*time.Minute), day.String(),
		capacity, s.Waitlist, s.State, s.Blocked, noon)
	return id
}

// plan makes a plan; its name need not be given.
func (h *house) plan(p credit.Plan) credit.Plan {
	h.t.Helper()
	if p.Name == "" {
		p.Name = "Plan " + newID[tenant.PlanID]().String()
	}
	p.Active = true
	made, err := h.app.CreatePlan(context.Background(), h.Owner, p)
	if err != nil {
		h.t.Fatal(err)
	}
	return made
}

// subscribe gives a member a plan.
func (h *house) subscribe(who tenant.Caller, p credit.Plan) credit.Subscription {
	h.t.Helper()
	s, err := h.app.Subscribe(context.Background(), h.Owner, app.SubscribeRequest{Member: who.Member, Plan: p.ID})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// book asks for one seat online.
func (h *house) book(who tenant.Caller, session tenant.SessionID) (seats.Place, error) {
	return h.app.Book(context.Background(), who, app.BookRequest{Session: session, Party: 1, Channel: catalog.Online})
}

// mustBook is book for a booking that is expected to be confirmed.
func (h *house) mustBook(who tenant.Caller, session tenant.SessionID) tenant.BookingID {
	h.t.Helper()
	place, err := h.book(who, session)
	if err != nil {
		h.t.Fatalf("book: %v", err)
	}
	if place.Booking == nil {
		h.t.Fatalf("book: waitlisted at %d", place.Entry.Position)
	}
	return place.Booking.ID
}

// mustWait is book for a full session.
func (h *house) mustWait(who tenant.Caller, session tenant.SessionID) tenant.EntryID {
	h.t.Helper()
	place, err := h.book(who, session)
	if err != nil {
		h.t.Fatalf("book: %v", err)
	}
	if place.Entry == nil {
		h.t.Fatal("book: confirmed, though the session should be full")
	}
	return place.Entry.ID
}

// cancel gives the caller's own booking or entry up.
func (h *house) cancel(who tenant.Caller, id tenant.BookingID) (seats.GivenUp, error) {
	return h.app.CancelBooking(context.Background(), own(who), app.CancelRequest{ID: id, Notify: true})
}

// balance reads what a subscription holds.
func (h *house) balance(s credit.Subscription) int {
	h.t.Helper()
	return h.count(`select balance from subscriptions where tenant_id = $1 and id = $2`, h.Tenant, s.ID)
}

// status reads a booking's.
func (h *house) status(id tenant.BookingID) string {
	h.t.Helper()
	var text string
	if err := h.db.Owner.QueryRow(context.Background(), `select status from bookings where tenant_id = $1 and id = $2`, h.Tenant, id).Scan(&text); err != nil {
		h.t.Fatal(err)
	}
	return text
}

// patience is how long a test waits for what takes a moment; only a failing one waits it out.
const patience = 10 * time.Minute

// eventually waits for what another goroutine is about to do.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		}
	}
}

// wantReason fails unless err is a fault with that reason.
func wantReason(t testing.TB, err error, want fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != want {
		t.Fatalf("reason %q, want %q (error: %v)", got, want, err)
	}
}

// meta reads a fact from a fault.
func meta(t testing.TB, err error, key string) string {
	t.Helper()
	f, ok := err.(*fault.Error)
	if !ok {
		t.Fatalf("no fault: %v", err)
	}
	return f.Metadata[key]
}
