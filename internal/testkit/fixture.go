// Package testkit builds tenants for tests, over a real Postgres and with a clock to move.
package testkit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
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

// Noon is when the tests take place: a Monday, two weeks before Europe's clocks go forward.
var Noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// Clock is a clock that stands still until it is set.
type Clock struct {
	mu   sync.Mutex
	Time time.Time
}

// Now is the time that was set.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Time
}

// Set sets the time.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Time = t
}

// House is a tenant with one location in Berlin and one service, and the App that serves it.
type House struct {
	T     testing.TB
	DB    *pgtest.DB
	App   *app.Services
	Clock *Clock

	Tenant   tenant.TenantID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Owner    tenant.Caller
	Coach    tenant.Caller
}

// NewHouse makes one in a database of its own.
func NewHouse(t testing.TB, options ...func(*pg.Config)) *House {
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
	c := &Clock{Time: Noon}
	h := &House{
		T: t, DB: db, Clock: c,
		App: app.New(app.Config{DB: db.DB, Now: c.Now, CheckInKeys: keys, Claims: claims, PublicURL: "https://berth.example"}),
	}
	return h.SettleIn()
}

// Another gives a second tenant in the same database.
func (h *House) Another() *House {
	h.T.Helper()
	return (&House{T: h.T, DB: h.DB, App: h.App, Clock: h.Clock}).SettleIn()
}

// SettleIn makes the tenant.
func (h *House) SettleIn() *House {
	h.T.Helper()
	h.Tenant, h.Location, h.Service = NewID[tenant.TenantID](), NewID[tenant.LocationID](), NewID[tenant.ServiceID]()
	h.Exec(`insert into directory values ($1, $2)`, h.Tenant, Noon)
	h.Exec(`insert into tenants (tenant_id, name, time_zone, locale, currency, created_at, updated_at)
	        values ($1, 'Harbour Yoga', 'Europe/Berlin', 'en', 'EUR', $2, $2)`, h.Tenant, Noon)
	h.Exec(`insert into roles (tenant_id, name, built_in, created_at, updated_at)
	        select $1, name, true, $2, $2 from unnest('{owner,admin,coach,member,partner}'::text[]) name`, h.Tenant, Noon)
	h.Exec(`insert into locations (tenant_id, id, name, time_zone, latitude, longitude, created_at, updated_at)
	        values ($1, $2, 'Pier 1', 'Europe/Berlin', 52.5, 13.4, $3, $3)`, h.Tenant, h.Location, Noon)
	h.Exec(`insert into services (tenant_id, id, name, duration_seconds, default_capacity, default_waitlist_capacity, max_party, created_at, updated_at)
	        values ($1, $2, 'Vinyasa', 3600, 10, 5, 4, $3, $3)`, h.Tenant, h.Service, Noon)
	h.Owner = h.Person("Olga Owner", tenant.RoleOwner)
	h.Coach = h.Person("Carla Coach", tenant.RoleCoach)
	return h
}

// NewID makes an id.
func NewID[I ~struct{ tenant.UUID }]() I { return tenant.New[I](Noon) }

// Exec runs a statement as the owner of the tables.
func (h *House) Exec(sql string, args ...any) {
	h.T.Helper()
	if _, err := h.DB.Owner.Exec(context.Background(), sql, args...); err != nil {
		h.T.Fatalf("%s: %v", sql, err)
	}
}

// Count runs a query for one number as the owner of the tables, who sees all tenants.
func (h *House) Count(sql string, args ...any) int {
	h.T.Helper()
	var n int
	if err := h.DB.Owner.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		h.T.Fatalf("%s: %v", sql, err)
	}
	return n
}

// Person makes a member with a role and gives them as a caller.
func (h *House) Person(name, role string) tenant.Caller {
	h.T.Helper()
	id := NewID[tenant.MemberID]()
	subject := "user-" + id.String()
	h.Exec(`insert into members (tenant_id, id, subject, name, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)`,
		h.Tenant, id, subject, name, Noon)
	h.Exec(`insert into member_roles (tenant_id, member_id, role, created_at) values ($1, $2, $3, $4)`, h.Tenant, id, role, Noon)
	return tenant.Caller{Tenant: h.Tenant, Subject: subject, Member: id, Roles: []string{role}}
}

// Member makes a plain member.
func (h *House) Member(name string) tenant.Caller {
	h.T.Helper()
	return h.Person(name, tenant.RoleMember)
}

// Own is the caller in an RPC that is for their own things alone.
func Own(c tenant.Caller) tenant.Caller {
	c.SelfOnly = true
	return c
}

// Slot describes a session; zero values are those of an ordinary class tomorrow at noon.
type Slot struct {
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

// Session makes one.
func (h *House) Session(s Slot) tenant.SessionID {
	h.T.Helper()
	if s.Starts.IsZero() {
		s.Starts = Noon.Add(48 * time.Hour)
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
		h.T.Fatal(err)
	}
	day := s.LocalDate
	if day.IsZero() {
		day = civil.DateOf(s.Starts, berlin)
	}
	id := NewID[tenant.SessionID]()
	h.Exec(`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, waitlist_capacity, state, blocked, created_at, updated_at)
	        values ($1, $2, $3, $4, 'Vinyasa', $5, $6, $7, $8, $9, $10, $11, $12, $12)`,
		h.Tenant, id, s.Service, s.Location, s.Starts, s.Starts.Add(time.Duration(s.Minutes)*time.Minute), day.String(),
		capacity, s.Waitlist, s.State, s.Blocked, Noon)
	return id
}

// Plan makes a plan; its name need not be given.
func (h *House) Plan(p credit.Plan) credit.Plan {
	h.T.Helper()
	if p.Name == "" {
		p.Name = "Plan " + NewID[tenant.PlanID]().String()
	}
	p.Active = true
	made, err := h.App.Catalog.CreatePlan(context.Background(), h.Owner, p)
	if err != nil {
		h.T.Fatal(err)
	}
	return made
}

// Subscribe gives a member a plan.
func (h *House) Subscribe(who tenant.Caller, p credit.Plan) credit.Subscription {
	h.T.Helper()
	s, err := h.App.Accounts.Subscribe(context.Background(), h.Owner, accounts.SubscribeRequest{Member: who.Member, Plan: p.ID})
	if err != nil {
		h.T.Fatal(err)
	}
	return s
}

// Book asks for one seat online.
func (h *House) Book(who tenant.Caller, session tenant.SessionID) (seats.Place, error) {
	return h.App.Bookings.Book(context.Background(), who, bookings.BookRequest{Session: session, Party: 1, Channel: catalog.Online})
}

// MustBook is book for a booking that is expected to be confirmed.
func (h *House) MustBook(who tenant.Caller, session tenant.SessionID) tenant.BookingID {
	h.T.Helper()
	place, err := h.Book(who, session)
	if err != nil {
		h.T.Fatalf("book: %v", err)
	}
	if place.Booking == nil {
		h.T.Fatalf("book: waitlisted at %d", place.Entry.Position)
	}
	return place.Booking.ID
}

// MustWait is book for a full session.
func (h *House) MustWait(who tenant.Caller, session tenant.SessionID) tenant.EntryID {
	h.T.Helper()
	place, err := h.Book(who, session)
	if err != nil {
		h.T.Fatalf("book: %v", err)
	}
	if place.Entry == nil {
		h.T.Fatal("book: confirmed, though the session should be full")
	}
	return place.Entry.ID
}

// Cancel gives the caller's own booking or entry up.
func (h *House) Cancel(who tenant.Caller, id tenant.BookingID) (seats.Cancelled, error) {
	return h.App.Bookings.CancelBooking(context.Background(), Own(who), bookings.CancelRequest{ID: id, Notify: true})
}

// Balance reads what a subscription holds.
func (h *House) Balance(s credit.Subscription) int {
	h.T.Helper()
	return h.Count(`select balance from subscriptions where tenant_id = $1 and id = $2`, h.Tenant, s.ID)
}

// Status reads a booking's.
func (h *House) Status(id tenant.BookingID) string {
	h.T.Helper()
	var text string
	if err := h.DB.Owner.QueryRow(context.Background(), `select status from bookings where tenant_id = $1 and id = $2`, h.Tenant, id).Scan(&text); err != nil {
		h.T.Fatal(err)
	}
	return text
}

// Patience is how long a test waits for what takes a moment; only a failing one waits it out.
const Patience = 10 * time.Minute

// Eventually waits for what another goroutine is about to do.
func Eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond) //nolint:forbidigo // it polls
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		}
	}
}

// WantReason fails unless err is a fault with that reason.
func WantReason(t testing.TB, err error, want fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != want {
		t.Fatalf("reason %q, want %q (error: %v)", got, want, err)
	}
}

// Meta reads a fact from a fault.
func Meta(t testing.TB, err error, key string) string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("no fault: %v", err)
	}
	return f.Metadata[key]
}
