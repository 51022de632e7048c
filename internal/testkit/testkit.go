// Package testkit builds tenants for tests, over a real Postgres and with a clock to move. All data are created by use
// cases, so they follow the rules.
package testkit

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Studio is a tenant with an owner, a coach, a location in Berlin and a service, and the App that serves it.
type Studio struct {
	T     testing.TB
	DB    *pgtest.DB
	App   *app.Services
	Clock *Clock

	Tenant   tenant.TenantID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Owner    tenant.Caller
	Coach    tenant.Caller

	damaged *atomic.Bool // invariants need not hold at the end of the test
}

// New creates a studio in a database of its own, at Noon. When the test ends, every invariant must hold, unless it has
// damaged data or asked for Violations.
func New(t testing.TB, options ...func(*pg.Config)) *Studio {
	t.Helper()
	db := template.New(t, func(db *pgtest.DB) { founded = *NewIn(t, db) },
		append([]func(*pg.Config){contend(t)}, options...)...)
	s := open(t, db)
	t.Cleanup(func() {
		if !s.damaged.Load() && !t.Failed() && !t.Skipped() {
			s.WantSound()
		}
	})
	s.Tenant, s.Location, s.Service = founded.Tenant, founded.Location, founded.Service
	s.Owner, s.Coach = founded.Owner, founded.Coach
	return s
}

// template is the database that New copies, and founded is the studio in it.
var (
	template pgtest.Template
	founded  Studio
)

// NewIn creates a studio in a database that others use, too, with a clock of its own at Noon.
func NewIn(t testing.TB, db *pgtest.DB) *Studio {
	t.Helper()
	s := open(t, db)
	s.create()
	return s
}

// open returns a studio without a tenant.
func open(t testing.TB, db *pgtest.DB) *Studio {
	t.Helper()
	s := &Studio{T: t, DB: db, Clock: NewClock(Noon), damaged: new(atomic.Bool)}
	s.App = app.New(s.Config())
	return s
}

// Config returns the configuration of the studio's App.
func (s *Studio) Config() app.Config {
	s.T.Helper()
	secret := []byte("a key for tests that is 32 bytes")
	claims := expect.Value(waitlist.NewClaimKey(secret))(s.T)
	keys := expect.Value(checkin.NewKeys(secret))(s.T)
	return app.Config{
		DB: s.DB.DB, Now: s.Clock.Now, CheckInKeys: keys, Claims: claims, PublicURL: "https://berth.example",
		Seals: expect.Value(seal.NewKeys(secret))(s.T),
	}
}

// OtherTenant creates a second studio in the same database.
func (s *Studio) OtherTenant() *Studio {
	s.T.Helper()
	other := &Studio{T: s.T, DB: s.DB, App: s.App, Clock: s.Clock, damaged: s.damaged}
	other.create()
	return other
}

// OtherNode returns the studio as another node serves it. Only the database keeps the two from conflicting.
func (s *Studio) OtherNode() *Studio {
	other := *s
	other.App = app.New(app.Config{DB: s.DB.DB, Now: s.Clock.Now})
	return &other
}

// create creates the tenant with what it needs to sell sessions. It was founded an hour ago, so that tests can tell
// their own events and audit entries from these.
func (s *Studio) create() {
	s.T.Helper()
	ctx, now := context.Background(), s.Clock.Now()
	s.Clock.Set(now.Add(-time.Hour))
	defer s.Clock.Set(now)
	subject := newSubject()
	made := expect.Value(s.App.Accounts.CreateTenant(ctx, accounts.NewTenant{
		Name: "Harbour Yoga", TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR",
		Owner: &accounts.FirstOwner{Subject: subject, Name: "Olga Owner"},
	}))(s.T)
	s.Tenant = made.ID
	people := expect.Value(s.App.Accounts.ListMembers(ctx, tenant.System(s.Tenant), member.Search{Limit: 1}))(s.T)
	s.Owner = tenant.Caller{
		Tenant: s.Tenant, Subject: subject, Member: people[0].ID, Roles: people[0].Roles,
		May: grant.PermissionsOf(people[0].Roles...),
	}
	s.Coach = s.AddPerson("Carla Coach", tenant.RoleCoach)
	s.Location = s.AddLocation(catalog.Location{Name: "Pier 1", Point: &catalog.Point{Latitude: 52.5, Longitude: 13.4}})
	s.Service = s.AddService(catalog.Service{
		Name: "Vinyasa", DefaultCapacity: new(10), DefaultWaitlistCapacity: 5, MaxParty: 4,
	})
}

// NewID returns a new id.
func NewID[I ~struct{ tenant.UUID }]() I { return tenant.New[I](Noon) }

// NoError fails the test if there is an error.
func (s *Studio) NoError(err error) {
	s.T.Helper()
	must.NoError(s.T, err)
}
