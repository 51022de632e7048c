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
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// testServer is the whole service with its own database and a tenant with a member for each built-in role.
type testServer struct {
	URL    string
	Client *http.Client
	App    *app.Services
	DB     *pgtest.DB
	Tenant tenant.TenantID
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
	s := &testServer{
		DB: pgtest.New(t), Client: http1, Members: make(map[string]tenant.MemberID), metrics: prometheus.NewRegistry(),
	}
	claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := checkin.NewKeys([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	guard := access.New(accounts.AccessSource(s.DB.DB))
	s.relay, err = outbox.NewRelay(outbox.RelayConfig{DB: s.DB.DB, Metrics: s.metrics, RolesChanged: guard.Invalidate})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.relay.Close)
	config := app.Config{
		DB: s.DB.DB, Now: time.Now, CheckInKeys: keys, Claims: claims, PublicURL: "https://berth.test",
		Committed: s.relay.NotifyCommit, RolesChanged: guard.Invalidate, Relay: s.relay,
	}
	for _, f := range adapt {
		f(&config)
	}
	s.App = app.New(config)
	s.issuer, err = token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "https://berth.test", "berth", config.Now)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := token.NewVerifier(config.Now, s.issuer.AsTrusted())
	if err != nil {
		t.Fatal(err)
	}
	with.TimeLimit = cmp.Or(with.TimeLimit, waitTimeout)
	with.Services, with.Guard, with.Verifier, with.Issuer, with.Now = s.App, guard, verifier, s.issuer, config.Now
	with.Health = NewHealth(func(context.Context) error { return nil })
	with.Logger, with.Metrics = slog.New(slog.NewTextHandler(t.Output(), nil)), s.metrics
	handler, err := New(with)
	if err != nil {
		t.Fatal(err)
	}
	s.URL = listen(t, handler)
	s.Tenant = s.NewTenant(t, "Harbour Yoga")
	return s
}

// NewTenant creates a tenant with a member for each built-in role but partner. The subjects are the same in every
// tenant.
func (s *testServer) NewTenant(t testing.TB, name string) tenant.TenantID {
	t.Helper()
	created, err := s.App.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
		Name: name, TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember} {
		id := tenant.New[tenant.MemberID](time.Now())
		if _, err := s.DB.Owner.Exec(t.Context(), `
			with member as (
				insert into members (tenant_id, id, subject, name, created_at, updated_at)
				values ($1, $2, $3, initcap($3), now(), now())
			) insert into member_roles (tenant_id, member_id, role, created_at) values ($1, $2, $3, now())`,
			created.ID, id, role); err != nil {
			t.Fatal(err)
		}
		if s.Tenant.IsZero() {
			s.Members[role] = id
		}
	}
	return created.ID
}

// Token signs a token for a subject in tenants, or else in the first tenant.
func (s *testServer) Token(t testing.TB, subject string, tenants ...tenant.TenantID) string {
	t.Helper()
	if len(tenants) == 0 {
		tenants = []tenant.TenantID{s.Tenant}
	}
	raw, _, err := s.issuer.Issue(token.Claims{Subject: subject, Tenants: tenants}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
