package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// signInStudio is a studio whose people sign in with Berth itself.
type signInStudio struct {
	*testkit.Studio
	pages    http.Handler
	metrics  *prometheus.Registry
	issuer   Issuer
	verifier *token.Verifier
}

func newSignInStudio(t *testing.T, adapt ...func(*app.Config)) *signInStudio {
	t.Helper()
	return signInStudioOf(t, testkit.New(t), adapt...)
}

func signInStudioOf(t *testing.T, of *testkit.Studio, adapt ...func(*app.Config)) *signInStudio {
	t.Helper()
	s := &signInStudio{Studio: of}
	config := s.Config()
	for _, f := range adapt {
		f(&config)
	}
	s.App = app.New(config)
	issuer := expect.Value(token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "berth", "berth", s.Clock.Now))(t)
	s.verifier = expect.Value(token.NewVerifier(s.Clock.Now, issuer.AsTrusted()))(t)
	s.issuer = issuer
	s.pages = s.handler()
	return s
}

// handler returns pages at which no address has tried anything yet.
func (s *signInStudio) handler() http.Handler {
	s.metrics = prometheus.NewRegistry()
	return Handler(Config{
		Services: s.App, PublicURL: "https://berth.example", Metrics: s.metrics, Issuer: s.issuer, AuthTime: 1,
		Addresses: traffic.NewAddresses(traffic.Rate{PerSecond: 0.1, Burst: 5}, nil, s.Clock.Now),
		Passkeys:  traffic.NewAddresses(traffic.Rate{PerSecond: 0.1, Burst: 5}, nil, s.Clock.Now),
	})
}

// signedIn signs a browser in as members, and returns its cookie.
func (s *signInStudio) signedIn(as ...tenant.Caller) string {
	s.T.Helper()
	tenants := make([]tenant.TenantID, len(as))
	for i, who := range as {
		tenants[i] = who.Tenant
	}
	secret := signins.NewSecret(tenants...)
	ctx := engine.WithRequest(s.T.Context(), engine.Request{Client: "Firefox", Address: "192.0.2.1"})
	for _, who := range as {
		expect.OK(s.T)(engine.Transact(ctx, s.App.Engine, who, engine.Transaction{Name: "test"},
			func(ctx context.Context, tx *engine.Tx) (signin.SignIn, error) {
				return signins.Start(tx, secret, who.Member, signin.ByCode), ctx.Err()
			}))
	}
	return s.App.SignIns.Write(secret)
}

// post sends a request as the apps do, with changed headers.
func (s *signInStudio) post(path, cookie string, headers ...string) *http.Response {
	s.T.Helper()
	r := httptest.NewRequestWithContext(s.T.Context(), http.MethodPost, "https://berth.example"+path,
		strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "https://berth.example")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-berth_sign_in", Value: cookie})
	}
	for pair := range slices.Chunk(headers, 2) {
		if r.Header.Del(pair[0]); pair[1] != "" {
			r.Header.Set(pair[0], pair[1])
		}
	}
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	return w.Result()
}

// token exchanges a cookie for an access token, and returns whom it names.
func (s *signInStudio) token(cookie string) token.Principal {
	s.T.Helper()
	answer := s.post("/auth/token", cookie)
	must.EqOp(s.T, http.StatusOK, answer.StatusCode)
	var given accessToken
	must.NoError(s.T, json.NewDecoder(answer.Body).Decode(&given))
	test.Eq(s.T, s.Clock.Now().Add(15*time.Minute), given.ExpiresAt)
	return expect.Value(s.verifier.Verify(s.T.Context(), given.AccessToken))(s.T)
}

// refused fails the test unless a cookie is no longer good, and the browser is told to forget it.
func (s *signInStudio) refused(cookie, why string) {
	s.T.Helper()
	answer := s.post("/auth/token", cookie)
	test.EqOp(s.T, http.StatusUnauthorized, answer.StatusCode, test.Sprint(why))
	var said struct{ Reason string }
	must.NoError(s.T, json.NewDecoder(answer.Body).Decode(&said))
	test.EqOp(s.T, "SIGN_IN_ENDED", said.Reason, test.Sprint(why))
	if cookie != "" {
		must.Len(s.T, 1, answer.Cookies())
		test.EqOp(s.T, -1, answer.Cookies()[0].MaxAge, test.Sprint(why))
	}
}

func TestAuthToken_NamesTheMemberOfEachTenant(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other := s.OtherTenant()
	ana, abroad := s.AddMember("Ana"), other.AddMember("Ana Abroad")
	began := s.Clock.Now()
	cookie := s.signedIn(ana, abroad)
	s.Clock.Advance(time.Hour)
	p := s.token(cookie)
	test.EqOp(t, tenant.MemberSubject(ana.Member), p.Subject)
	test.EqOp(t, "Ana", p.Name)
	test.Eq(t, map[tenant.TenantID]tenant.MemberID{s.Tenant: ana.Member, other.Tenant: abroad.Member}, p.Members)
	test.EqOp(t, tenant.MemberSubject(abroad.Member), p.SubjectIn(other.Tenant))
	test.Eq(t, began, p.SignedInAt, test.Sprint("a renewal is no sign-in"))
	test.Len(t, 2, p.Tenants)

	s.Deactivate(ana)
	p = s.token(cookie)
	test.Eq(t, []tenant.TenantID{other.Tenant}, p.Tenants)
	test.EqOp(t, "Ana Abroad", p.Name)
}

func TestAuthToken_SetsACookieThatOnlyTheServiceGets(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	set := s.post("/auth/token", s.signedIn(s.Coach)).Cookies()
	must.Len(t, 1, set)
	test.EqOp(t, "__Host-berth_sign_in", set[0].Name)
	test.True(t, set[0].HttpOnly)
	test.True(t, set[0].Secure)
	test.EqOp(t, http.SameSiteLaxMode, set[0].SameSite)
	test.EqOp(t, "/", set[0].Path)
	test.EqOp(t, "", set[0].Domain)
	test.EqOp(t, s.Clock.Now().Add(signin.Idle).Unix(), set[0].Expires.Unix())
	for url, want := range map[string]string{
		"http://127.0.0.1:8080": "berth_sign_in", "http://localhost:8080": "berth_sign_in",
		"http://[::1]:8080": "berth_sign_in", "http://berth.example": "__Host-berth_sign_in",
		"https://127.0.0.1": "__Host-berth_sign_in", "": "__Host-berth_sign_in",
	} {
		cookie := newSignInCookie(url, nil)
		test.EqOp(t, want, cookie.name, test.Sprint(url))
		test.EqOp(t, strings.HasPrefix(want, "__Host"), cookie.secure, test.Sprint(url))
	}
}

// A sign-in lasts for 30 days after its last use, and for 180 at most.
func TestAuthToken_RenewsTheSignIn(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	used, unused := s.signedIn(s.Coach), s.signedIn(s.Coach)
	for range 6 {
		s.Clock.Advance(29 * 24 * time.Hour)
		s.token(used)
	}
	s.refused(unused, "it was not used for 30 days")
	s.Clock.Advance(6*24*time.Hour - time.Second)
	s.token(used)
	s.Clock.Advance(time.Hour)
	s.refused(used, "it is 180 days old")
}

// What was signed out is over, whoever kept the cookie, and other sign-ins of the member go on.
func TestAuthToken_RefusesWhatWasSignedOut(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	cookie, elsewhere := s.signedIn(s.Coach), s.signedIn(s.Coach)
	for range 2 {
		answer := s.post("/auth/sign-out", cookie)
		test.EqOp(t, http.StatusNoContent, answer.StatusCode)
		test.EqOp(t, -1, answer.Cookies()[0].MaxAge)
		s.refused(cookie, "replayed after sign-out")
	}
	s.token(elsewhere)
	test.EqOp(t, http.StatusNoContent, s.post("/auth/sign-out", "").StatusCode)
	test.EqOp(t, 1, s.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'sign_in.ended'
		and actor = $2::text`, s.Tenant, s.Coach.Member))
	test.EqOp(t, 2, s.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'sign_in.started'
		and address = '192.0.2.1' and client = 'Firefox' and changes = '{"method": "CODE"}'`, s.Tenant))
}

// Nobody is signed in by a cookie that was invented, or changed, or is of other tenants; a browser without one is told
// to sign in, which is no attempt at anything.
func TestAuthToken_RefusesForgedCookies(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other := s.OtherTenant()
	cookie := s.signedIn(s.Coach)
	secret := expect.Value(s.App.SignIns.Read(cookie))(t)
	moved := secret
	moved.Tenants = []tenant.TenantID{other.Tenant}
	s.refused(s.App.SignIns.Write(moved), "of a tenant without the sign-in")
	changed := []byte(cookie)
	changed[len(changed)/2] ^= 1
	s.refused(string(changed), "changed")
	s.refused("x", "invented")
	many := signins.NewSecret(slices.Repeat([]tenant.TenantID{s.Tenant}, signin.MaxTenants+1)...)
	s.refused(s.App.SignIns.Write(many), "of more tenants than there can be")
	before := expect.Metrics(t, s.metrics, "berth_security_events_total")
	for range 20 {
		s.refused("", "none")
	}
	test.Eq(t, before, expect.Metrics(t, s.metrics, "berth_security_events_total"))
	test.EqOp(t, 3, before["berth_security_events_total event=sign_in_refused reason=cookie"])
	test.EqOp(t, 1, before["berth_security_events_total event=sign_in_refused reason=ended"])
	s.token(cookie)
}

// What ended a sign-in ends it for good: neither a membership that is active again, nor an address that is as it was,
// brings it back.
func TestAuthToken_RefusesWhatAnEditEnded(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	ana, ben := s.AddMember("Ana"), s.AddMember("Ben")
	of, other := s.signedIn(ana), s.signedIn(ben)
	s.Deactivate(ana)
	expect.OK(t)(s.App.Accounts.ReactivateMember(t.Context(), s.Owner, ana.Member))
	s.refused(of, "the member was deactivated")
	of = s.signedIn(ana)
	s.EditMember(ana, func(m *member.Member) { m.Name = "Ana Anders" })
	s.token(of)
	s.EditMember(ana, func(m *member.Member) { m.Email = "ana@example.com" })
	s.refused(of, "staff changed the address")
	s.token(other)
}

func TestSweep_DeletesSignInsThatHaveExpired(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	s.signedIn(s.Coach)
	s.Clock.Advance(24 * time.Hour)
	good := s.signedIn(s.Coach)
	s.Clock.Advance(signin.Idle - time.Hour)
	expect.OK(t)(s.App.Housekeeping.SweepTenant(t.Context(), s.Tenant))
	test.EqOp(t, 1, s.Count(`select count(*) from sign_ins where tenant_id = $1`, s.Tenant))
	s.token(good)
}

// Who invents cookies is held back at their address. Those who are signed in behind it go on.
func TestAuthToken_GoesOnWhileOthersInventCookies(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	cookie := s.signedIn(s.Coach)
	for range 5 {
		s.refused("invented", "as long as the address has calls")
	}
	test.EqOp(t, http.StatusTooManyRequests, s.post("/auth/token", "invented").StatusCode)
	for range 20 {
		s.token(cookie)
	}
}

// Pages of other origins get no token and end no sign-in, though the browser sends the cookie along.
func TestAuth_IsForPagesOfTheServiceOnly(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	cookie := s.signedIn(s.Coach)
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", ""},
		{"Origin", "https://berth.example.evil.example"},
		{"Origin", "http://sub.berth.example"},
		{"Origin", "http://berth.example"}, {"Origin", "https://berth.example@evil.example"},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"},
		{"Content-Type", "text/plain"}, {"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Type", ""},
	} {
		for _, path := range []string{"/auth/token", "/auth/sign-out", "/auth/code", "/auth/sign-in"} {
			answer := s.post(path, cookie, headers...)
			test.EqOp(t, http.StatusForbidden, answer.StatusCode, test.Sprint(path, headers))
			test.SliceEmpty(t, answer.Cookies())
			test.EqOp(t, "", answer.Header.Get("Access-Control-Allow-Origin"))
		}
	}
	for _, headers := range [][]string{
		{}, {"Sec-Fetch-Site", ""}, {"Content-Type", "application/json; charset=utf-8"},
	} {
		test.EqOp(t, http.StatusOK, s.post("/auth/token", cookie, headers...).StatusCode, test.Sprint(headers))
	}
}

// With an identity provider, those whom it knows sign in there alone: a mail must not replace its second factor.
func TestAuthToken_IsNotForThoseWhomAProviderKnows(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t, func(c *app.Config) { c.HasIdentityProvider = true })
	s.refused(s.signedIn(s.Coach), "linked")
	m := expect.Value(s.App.Accounts.CreateMember(t.Context(), s.Owner, member.Member{Name: "Uwe"}))(t)
	staff := tenant.Caller{Tenant: s.Tenant, Member: m.ID}
	test.EqOp(t, tenant.MemberSubject(staff.Member), s.token(s.signedIn(staff)).Subject)
}
