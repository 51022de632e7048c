package rpc

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/rpc/rpctest"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// testServer is the whole service with its own database and a tenant with a member for each built-in role.
type testServer struct {
	URL     string
	Handler http.Handler
	Client  *http.Client
	App     *app.Services
	DB      *pgtest.DB
	Tenant  tenant.TenantID
	// Members are the members of the tenant, by role.
	Members map[string]tenant.MemberID

	issuer  *token.Issuer
	relay   *outbox.Relay
	metrics *prometheus.Registry
}

// newTestServer starts a test server. Its subjects are "owner", "admin", "coach" and "member".
func newTestServer(t testing.TB, adapt ...func(*app.Config)) *testServer {
	t.Helper()
	return startTestServer(t, Config{}, adapt...)
}

// startTestServer is newTestServer with a partial configuration of the RPC server.
func startTestServer(t testing.TB, with Config, adapt ...func(*app.Config)) *testServer {
	t.Helper()
	db := template.New(t, func(db *pgtest.DB) {
		a := app.New(app.Config{DB: db.DB, Now: func() time.Time { return time.Now().Add(-time.Hour) }})
		founded.tenant, founded.members = newTenant(t, a, "Harbour Yoga")
	})
	s := &testServer{
		DB: db, Client: http1, Tenant: founded.tenant, Members: founded.members, metrics: prometheus.NewRegistry(),
	}
	claims := expect.Value(waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes")))(t)
	keys := expect.Value(checkin.NewKeys([]byte("a key for tests that is 32 bytes")))(t)
	seals := expect.Value(seal.NewKeys([]byte("a key for tests that is 32 bytes")))(t)
	guard := access.New(accounts.AccessSource(s.DB.DB))
	s.relay = expect.Value(
		outbox.NewRelay(outbox.RelayConfig{DB: s.DB.DB, Metrics: s.metrics, RolesChanged: guard.Invalidate}),
	)(t)
	t.Cleanup(s.relay.Close)
	config := app.Config{
		DB: s.DB.DB, Now: time.Now, CheckInKeys: keys, Claims: claims, PublicURL: "https://berth.test",
		Committed: s.relay.NotifyCommit, RolesChanged: guard.Invalidate, Relay: s.relay, Seals: seals,
	}
	for _, f := range adapt {
		f(&config)
	}
	s.App = app.New(config)
	s.issuer = expect.Value(
		token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "https://berth.test", "berth", config.Now),
	)(t)
	verifier := expect.Value(token.NewVerifier(config.Now, s.issuer.AsTrusted()))(t)
	checks := &with.Admission
	checks.TimeLimit = cmp.Or(checks.TimeLimit, waitTimeout)
	checks.Guard, checks.Verifier, checks.Now = guard, verifier, config.Now
	checks.Logger, checks.Metrics = slog.New(slog.NewTextHandler(t.Output(), nil)), s.metrics
	with.Services, with.Issuer = s.App, s.issuer
	with.Health = NewHealth(func(context.Context) error { return nil })
	s.Handler = expect.Value(New(with))(t)
	s.URL = listen(t, s.Handler, traffic.ConnLimits{})
	return s
}

// template is the database that test servers start with, and founded is the tenant in it. It was founded an hour ago.
var (
	template pgtest.Template
	founded  struct {
		tenant  tenant.TenantID
		members map[string]tenant.MemberID
	}
)

// NewTenant creates a tenant with a member for each built-in role but partner. The subjects are the same in every
// tenant.
func (s *testServer) NewTenant(t testing.TB, name string) tenant.TenantID {
	t.Helper()
	id, _ := newTenant(t, s.App, name)
	return id
}

func newTenant(t testing.TB, a *app.Services, name string) (tenant.TenantID, map[string]tenant.MemberID) {
	t.Helper()
	ctx := t.Context()
	created := expect.Value(a.Accounts.CreateTenant(ctx, accounts.NewTenant{
		Name: name, TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR",
	}))(t)
	system, members := tenant.System(created.ID), make(map[string]tenant.MemberID)
	for role, title := range map[string]string{
		tenant.RoleOwner: "Owner", tenant.RoleAdmin: "Admin", tenant.RoleCoach: "Coach", tenant.RoleMember: "Member",
	} {
		m := expect.Value(a.Accounts.CreateMember(ctx, system, member.Member{Subject: role, Name: title}))(t)
		members[role] = m.ID
		if role == tenant.RoleMember {
			continue
		}
		expect.OK(t)(a.Accounts.AssignRole(ctx, system, m.ID, role))
		expect.OK(t)(a.Accounts.RevokeRole(ctx, system, m.ID, tenant.RoleMember))
	}
	return created.ID, members
}

// Studio returns the first tenant for the test kit, without a location and a service. Its clock must be the server's.
func (s *testServer) Studio(t testing.TB, clock *testkit.Clock) *testkit.Studio {
	t.Helper()
	return &testkit.Studio{
		T: t, DB: s.DB, App: s.App, Clock: clock, Tenant: s.Tenant, Owner: s.caller("owner"), Coach: s.caller("coach"),
	}
}

// caller returns a member of the first tenant as a caller.
func (s *testServer) caller(role string) tenant.Caller {
	return tenant.Caller{
		Tenant: s.Tenant, Subject: role, Member: s.Members[role], Roles: []string{role}, May: grant.PermissionsOf(role),
	}
}

// Token signs a token for a subject in tenants, or else in the first tenant.
func (s *testServer) Token(t testing.TB, subject string, tenants ...tenant.TenantID) string {
	t.Helper()
	if len(tenants) == 0 {
		tenants = []tenant.TenantID{s.Tenant}
	}
	return rpctest.Issue(t, s.issuer, token.Claims{Subject: subject, Tenants: tenants}, time.Hour)
}

// listen serves a handler within limits, and returns the server's URL.
func listen(t testing.TB, handler http.Handler, limits traffic.ConnLimits) string {
	t.Helper()
	return rpctest.Listen(t, NewServer(handler, slog.New(slog.DiscardHandler), limits))
}

const someSession = "0190a000-0000-7000-8000-000000000001"

// bareServer has no tenants and no database behind it.
type bareServer struct {
	url    string
	health *Health
}

func newBareServer(t *testing.T, adapt ...func(*Config)) bareServer {
	t.Helper()
	issuer := expect.Value(
		token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "https://berth.test", "berth", time.Now),
	)(t)
	c := Config{
		Admission: admission.Config{
			Verifier: expect.Value(token.NewVerifier(time.Now, issuer.AsTrusted()))(t), Now: time.Now,
			Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		},
		Services: new(app.Services), Issuer: issuer, Health: NewHealth(func(context.Context) error { return nil }),
	}
	for _, f := range adapt {
		f(&c)
	}
	return bareServer{listen(t, expect.Value(New(c))(t), traffic.ConnLimits{}), c.Health}
}
