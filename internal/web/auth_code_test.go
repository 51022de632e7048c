package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
)

// withMember creates a member with an address that staff entered.
func withMember(s *testkit.Studio, name, email string) tenant.Caller {
	s.T.Helper()
	m := expect.Value(s.App.Accounts.CreateMember(s.T.Context(), s.Owner, member.Member{Name: name, Email: email}))(s.T)
	return tenant.Caller{Tenant: s.Tenant, Member: m.ID}
}

// send sends a request with a body from a browser with cookies, which keeps those of the answer.
func (s *signInStudio) send(path, body string, browser map[string]string) (status int, answer map[string]string) {
	s.T.Helper()
	r := httptest.NewRequestWithContext(s.T.Context(), http.MethodPost, "https://berth.example"+path,
		strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "https://berth.example")
	for name, value := range browser {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	result := w.Result()
	for _, c := range result.Cookies() {
		if browser != nil {
			browser[c.Name] = c.Value
		}
	}
	text := expect.Value(io.ReadAll(result.Body))(s.T)
	answer = make(map[string]string)
	if len(text) > 0 {
		var all map[string]any
		must.NoError(s.T, json.Unmarshal(text, &all), must.Sprint(string(text)))
		for name, value := range all {
			if said, ok := value.(string); ok {
				answer[name] = said
			}
		}
	}
	return result.StatusCode, answer
}

// ask asks for a code.
func (s *signInStudio) ask(email string, browser map[string]string) (request string) {
	s.T.Helper()
	status, answer := s.send("/auth/code", fmt.Sprintf(`{"email": %q}`, email), browser)
	must.EqOp(s.T, http.StatusOK, status)
	return answer["request"]
}

// enter signs in with a code.
func (s *signInStudio) enter(request, code string, browser map[string]string) (status int) {
	s.T.Helper()
	status, answer := s.send("/auth/sign-in", fmt.Sprintf(`{"request": %q, "code": %q}`, request, code), browser)
	if status != http.StatusNoContent {
		must.EqOp(s.T, "SIGN_IN_CODE_INVALID", answer["reason"])
	}
	return status
}

var codeInMail = regexp.MustCompile(`(?m)^\d{6,10}$`)

// mailed returns the codes of the mails that a tenant has sent since, by address.
func mailed(s *testkit.Studio) (codes []string) {
	s.T.Helper()
	for _, out := range expect.Value(s.App.Mails.Take(s.T.Context(), s.Tenant))(s.T).Out {
		if code := codeInMail.FindString(out.Message.Text); code != "" {
			codes = append(codes, code)
		}
	}
	return codes
}

// mailed returns the only code that was mailed since.
func (s *signInStudio) mailed() string {
	s.T.Helper()
	codes := mailed(s.Studio)
	must.SliceLen(s.T, 1, codes)
	return codes[0]
}

func wrong(code string) string {
	return map[bool]string{true: "000001", false: "000000"}[code == "000000"]
}

// A code signs in wherever the address is a member's, once, and confirms it there.
func TestSignIn_InAllTenantsOfTheAddress(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other, third := s.OtherTenant(), s.OtherTenant()
	mia, abroad := withMember(s.Studio, "Mia", "mia@example.com"), withMember(other, "Mia Abroad", "Mia@Example.com")
	withMember(third, "Noa", "noa@example.com")
	browser := map[string]string{}
	request := s.ask(" mia@EXAMPLE.com ", browser)
	test.MapEmpty(t, browser)
	codes := append(mailed(s.Studio), mailed(other)...)
	must.SliceLen(t, 1, codes, must.Sprint("one mail, from one of the tenants"))
	must.EqOp(t, 6, len(codes[0]))
	spaced := codes[0][:3] + " " + codes[0][3:]
	must.EqOp(t, http.StatusNoContent, s.enter(request, spaced, browser))
	p := s.token(browser["__Host-berth_sign_in"])
	test.Eq(t, map[tenant.TenantID]tenant.MemberID{s.Tenant: mia.Member, other.Tenant: abroad.Member}, p.Members)
	test.Eq(t, s.Clock.Now(), p.SignedInAt)
	test.EqOp(t, "mia@example.com", s.Text(`select sign_in_email from members where id = $1`, mia.Member))
	test.EqOp(t, "Mia@Example.com", s.Text(`select confirmed_email from members where id = $1`, abroad.Member))
	test.EqOp(t, 2, s.Count(`select count(*) from audit_entries where action = 'sign_in.started' and actor in ($1, $2)`,
		mia.Member.String(), abroad.Member.String()))
	test.EqOp(t, http.StatusUnauthorized, s.enter(request, codes[0], nil), test.Sprint("replayed"))
}

// An address gets no more codes for being that of members of several tenants.
func TestSignIn_SendsSoManyCodesADayFromAllTenants(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other := s.OtherTenant()
	withMember(s.Studio, "Mia", "mia@example.com")
	withMember(other, "Mia Abroad", "mia@example.com")
	var sent int
	for range 2 * signin.MaxCodes {
		s.ask("mia@example.com", nil)
		sent += len(mailed(s.Studio)) + len(mailed(other))
	}
	test.EqOp(t, signin.MaxCodes, sent)
	s.Clock.Advance(signin.CodeDay)
	s.ask("mia@example.com", nil)
	test.SliceLen(t, 1, append(mailed(s.Studio), mailed(other)...))
}

// Who asks with an address of nobody, or guesses, learns nothing about who exists.
func TestSignIn_TellsNothingAboutWhoExists(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	withMember(s.Studio, "Mia", "mia@example.com")
	known, unknown := s.ask("mia@example.com", nil), s.ask("noa@example.com", nil)
	test.EqOp(t, len(known), len(unknown))
	code := s.mailed()
	_, right := s.send("/auth/sign-in", fmt.Sprintf(`{"request": %q, "code": %q}`, known, wrong(code)), nil)
	_, other := s.send("/auth/sign-in", fmt.Sprintf(`{"request": %q, "code": %q}`, unknown, code), nil)
	test.Eq(t, right, other)
	_, invented := s.send("/auth/sign-in", fmt.Sprintf(`{"request": "invented", "code": %q}`, code), nil)
	test.Eq(t, right, invented)
	status, answer := s.send("/auth/code", `{"email": "not an address"}`, nil)
	test.EqOp(t, http.StatusBadRequest, status)
	test.EqOp(t, "INVALID_FIELD", answer["reason"])
	status, _ = s.send("/auth/code", `email=mia@example.com`, nil)
	test.EqOp(t, http.StatusBadRequest, status)
	test.EqOp(t, "", s.Text(`select confirmed_email from members where name = 'Mia'`))
}

// A code has five wrong guesses, all by the browser that asked for it: those of strangers are at codes of their own.
func TestSignIn_StrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	withMember(s.Studio, "Mia", "mia@example.com")
	mias := map[string]string{}
	request := s.ask("mia@example.com", mias)
	code := s.mailed()
	for range 2 {
		strangers := s.ask("mia@example.com", nil)
		theirs := s.mailed()
		for range 5 {
			expect.Reason(t, fault.SignInCodeInvalid)(
				s.App.SignIns.SignIn(t.Context(), strangers, wrong(theirs), signins.Browser{}))
		}
		test.EqOp(t, http.StatusUnauthorized, s.enter(strangers, theirs, nil), test.Sprint("after five guesses"))
	}
	s.ask("mia@example.com", nil)
	test.SliceEmpty(t, mailed(s.Studio), test.Sprint("three a day for browsers that are not known"))
	test.EqOp(t, http.StatusNoContent, s.enter(request, code, mias))

	// Mia's browser is known from now on, at this address alone. It has three codes a day of its own.
	for range 3 {
		request = s.ask("MIA@example.com", mias)
		test.EqOp(t, http.StatusNoContent, s.enter(request, s.mailed(), mias))
	}
	test.EqOp(t, 1, s.Count(`select count(*) from sign_ins where tenant_id = $1`, s.Tenant), test.Sprint("replaced"))
	s.ask("mia@example.com", mias)
	test.SliceEmpty(t, mailed(s.Studio))
	stolen := map[string]string{"__Host-berth_browser": mias["__Host-berth_browser"] + "x"}
	s.ask("mia@example.com", stolen)
	test.SliceEmpty(t, mailed(s.Studio), test.Sprint("a forged browser is not known"))
	s.Clock.Advance(signin.CodeDay + time.Second)
	s.ask("mia@example.com", nil)
	s.mailed()
	expect.OK(t)(s.App.Housekeeping.SweepTenant(t.Context(), s.Tenant))
	test.EqOp(t, 1, s.Count(`select count(*) from sign_in_codes where tenant_id = $1`, s.Tenant))
}

// A browser of a family knows all their addresses, also while strangers use up the codes of one.
func TestSignIn_BrowsersKnowSeveralAddresses(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	addresses := []string{"mia@example.com", "noa@example.com"}
	browser := map[string]string{}
	for _, address := range addresses {
		withMember(s.Studio, address[:3], address)
		must.EqOp(t, http.StatusNoContent, s.enter(s.ask(address, browser), s.mailed(), browser))
		for range signin.MaxCodes - 1 {
			s.ask(address, nil)
			s.mailed()
		}
		s.ask(address, nil)
		test.SliceEmpty(t, mailed(s.Studio), test.Sprint("strangers get no more"))
	}
	for _, address := range addresses {
		must.EqOp(t, http.StatusNoContent, s.enter(s.ask(address, browser), s.mailed(), browser))
	}
	hashes := s.Count(`select count(distinct browser_hash) from sign_in_codes where tenant_id = $1`, s.Tenant)
	test.EqOp(t, len(addresses), hashes, test.Sprint("the database does not tell that they share a browser"))

	// It knows the latest eight.
	for i := range 8 {
		address := fmt.Sprintf("guest%d@example.com", i)
		withMember(s.Studio, fmt.Sprint("Guest ", i), address)
		must.EqOp(t, http.StatusNoContent, s.enter(s.ask(address, browser), s.mailed(), browser))
	}
	s.ask("mia@example.com", browser)
	test.SliceEmpty(t, mailed(s.Studio))
}

func TestSignIn_RefusesCodes(t *testing.T) {
	t.Parallel()
	for why, spoil := range map[string]func(s *signInStudio, mia tenant.Caller){
		"too old":     func(s *signInStudio, _ tenant.Caller) { s.Clock.Advance(signin.CodeLife) },
		"deactivated": func(s *signInStudio, mia tenant.Caller) { s.Deactivate(mia) },
		"another address": func(s *signInStudio, mia tenant.Caller) {
			s.EditMember(mia, func(m *member.Member) { m.Email = "other@example.com" })
		},
		"the address is another member's": func(s *signInStudio, mia tenant.Caller) {
			s.EditMember(mia, func(m *member.Member) { m.Email = "" })
			withMember(s.Studio, "Noa", "mia@example.com")
		},
		"an owner now": func(s *signInStudio, mia tenant.Caller) {
			expect.OK(s.T)(s.App.Accounts.AssignRole(s.T.Context(), s.Owner, mia.Member, tenant.RoleOwner))
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			s := newSignInStudio(t)
			mia := withMember(s.Studio, "Mia", "mia@example.com")
			request := s.ask("mia@example.com", nil)
			code := s.mailed()
			spoil(s, mia)
			test.EqOp(t, http.StatusUnauthorized, s.enter(request, code, nil))
			test.EqOp(t, 0, s.Count(`select count(*) from sign_ins where tenant_id = $1`, s.Tenant))
		})
	}
}

// Nobody gets a code who cannot use it.
func TestSendCode_OnlyToThoseWhomItSignsIn(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t, func(c *app.Config) { c.HasIdentityProvider = true })
	mia, noa := withMember(s.Studio, "Mia", "mia@example.com"), withMember(s.Studio, "Noa", "noa@example.com")
	boss := withMember(s.Studio, "Boss", "boss@example.com")
	s.Deactivate(mia)
	s.EditMember(noa, func(m *member.Member) { m.Subject = "provider|noa" })
	expect.OK(t)(s.App.Accounts.AssignRole(t.Context(), s.Owner, boss.Member, tenant.RoleAdmin))
	for _, address := range []string{"mia@example.com", "noa@example.com", "boss@example.com"} {
		s.ask(address, nil)
		test.SliceEmpty(t, mailed(s.Studio), test.Sprint(address))
	}
	expect.OK(t)(s.App.Accounts.ReactivateMember(t.Context(), s.Owner, mia.Member))
	s.ask("mia@example.com", nil)
	s.mailed()
}

// Staff who give a member another address do not sign in with it, before the old one has agreed.
func TestSendCode_NotToAnAddressThatStaffHavePutInPlace(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	mia := withMember(s.Studio, "Mia", "mia@example.com")
	must.EqOp(t, http.StatusNoContent, s.enter(s.ask("mia@example.com", nil), s.mailed(), nil))
	s.EditMember(mia, func(m *member.Member) { m.Email = "staff@example.com" })
	for _, address := range []string{"staff@example.com", "mia@example.com"} {
		s.ask(address, nil)
		test.SliceEmpty(t, mailed(s.Studio), test.Sprint(address))
	}
	s.Exec(`update address_changes set agreed_at = $1`, s.Clock.Now())
	must.EqOp(t, http.StatusNoContent, s.enter(s.ask("staff@example.com", nil), s.mailed(), nil))
	test.EqOp(t, "staff@example.com", s.Text(`select sign_in_email from members where id = $1`, mia.Member))
	test.EqOp(t, 1, s.Count(`select count(*) from address_changes where ended_at is not null`))
}

// A code signs one browser in, if two send it at once.
func TestSignIn_AtOnceByTwo(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	withMember(s.Studio, "Mia", "mia@example.com")
	request := s.ask("mia@example.com", nil)
	code := s.mailed()
	var statuses sync.Map
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { statuses.Store(s.enter(request, code, nil), i) })
	}
	both.Wait()
	_, in := statuses.Load(http.StatusNoContent)
	_, refused := statuses.Load(http.StatusUnauthorized)
	test.True(t, in && refused)
	test.EqOp(t, 1, s.Count(`select count(*) from sign_ins where tenant_id = $1`, s.Tenant))
}

// A network asks for so many codes in an hour. Browsers that have signed in to the address count for nothing.
func TestSendCode_SoManyOfANetwork(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	s.pages = Handler(Config{
		Services: s.App, PublicURL: "https://berth.example", Issuer: s.issuer, AuthTime: 1,
		Codes: traffic.NewAddresses(traffic.PerHour(2), nil, s.Clock.Now),
	})
	withMember(s.Studio, "Mia", "mia@example.com")
	mias := map[string]string{}
	must.EqOp(t, http.StatusNoContent, s.enter(s.ask("mia@example.com", mias), s.mailed(), mias))
	s.ask("noa@example.com", nil)
	status, answer := s.send("/auth/code", `{"email": "noa@example.com"}`, nil)
	test.EqOp(t, http.StatusTooManyRequests, status)
	test.EqOp(t, "RATE_LIMITED", answer["reason"])
	s.ask("mia@example.com", mias)
	s.mailed()
	s.Clock.Advance(30 * time.Minute)
	s.ask("noa@example.com", nil)
}

// Addresses are found after the secret has been rotated, and after the old one is gone.
func TestSendCode_AfterAKeyRotation(t *testing.T) {
	t.Parallel()
	first, second := []byte(strings.Repeat("1", 32)), []byte(strings.Repeat("2", 32))
	var secrets [][]byte
	s := newSignInStudio(t, func(c *app.Config) { c.Seals = seal.RotatingKeys(func() [][]byte { return secrets }) })
	withMember(s.Studio, "Noa", "noa@example.com") // as by a command that has no keys
	secrets = [][]byte{first}
	s.ask("noa@example.com", nil)
	test.SliceEmpty(t, mailed(s.Studio))
	expect.OK(t)(s.App.Housekeeping.SweepTenant(t.Context(), s.Tenant))
	s.ask("noa@example.com", nil)
	s.mailed()
	withMember(s.Studio, "Mia", "mia@example.com")
	hash := `select string_agg(encode(address_hash, 'hex'), '' order by address_hash) from sign_in_addresses`
	before := s.Text(hash)
	secrets = [][]byte{second, first}
	s.ask("mia@example.com", nil)
	s.mailed()
	for range 2 {
		expect.OK(t)(s.App.Housekeeping.SweepTenant(t.Context(), s.Tenant))
	}
	test.NotEqOp(t, before, s.Text(hash))
	secrets = [][]byte{second}
	s.ask("mia@example.com", nil)
	s.mailed()
}

// A browser that has signed in before, and is signed out, has tries of its own behind a network at which others have
// used up theirs. Passkeys go on for all, also for who has lost their cookies. All else is refused, with why and until
// when.
func TestSignIn_KnownBrowsersGoOnWhileTheirNetworkIsRefused(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	mia := withMember(s.Studio, "Mia", "mia@example.com")
	d, mias := s.withPasskey(mia), map[string]string{}
	s.Clock.Advance(time.Second)
	must.EqOp(t, http.StatusNoContent, s.enter(s.ask("mia@example.com", mias), s.mailed(), mias))
	delete(mias, "__Host-berth_sign_in")
	spent := s.handler()
	s.pages = spent
	for range 5 {
		test.EqOp(t, http.StatusUnauthorized, s.enter("invented", "123456", nil))
	}
	forged := map[string]string{"__Host-berth_browser": strings.Repeat("A", 100)}
	for _, browser := range []map[string]string{nil, forged} {
		for path, body := range map[string]string{
			"/auth/code": `{"email": "mia@example.com"}`, "/auth/sign-in": `{}`,
			"/auth/passkeys/options": `{}`, "/auth/passkeys": `{}`, "/auth/sign-out": `{}`,
		} {
			status, answer := s.send(path, body, browser)
			test.EqOp(t, http.StatusTooManyRequests, status, test.Sprint(path))
			test.EqOp(t, "RATE_LIMITED", answer["reason"], test.Sprint(path))
			test.NotEq(t, "", answer["message"], test.Sprint(path))
			test.EqOp(t, "10", s.post(path, "").Header.Get("Retry-After"), test.Sprint(path))
		}
	}
	asked := s.askPasskey()
	cookie, reason := s.usePasskey(asked.Request, d.get(asked))
	must.EqOp(t, "", reason)
	test.EqOp(t, mia.Member, s.token(cookie).Members[s.Tenant])
	request := s.ask("mia@example.com", mias)
	must.EqOp(t, http.StatusNoContent, s.enter(request, s.mailed(), mias))
	delete(mias, "__Host-berth_sign_in")

	// Wrong passkeys are limited, too, and known browsers have tries of their own.
	s.Clock.Advance(time.Second)
	o := s.askPasskey()
	for range 5 {
		_, reason := s.usePasskey("invented", d.get(o))
		test.EqOp(t, "PASSKEY_INVALID", reason)
	}
	for _, path := range []string{"/auth/passkey", "/auth/passkey/options"} {
		status, answer := s.send(path, `{}`, nil)
		test.EqOp(t, http.StatusTooManyRequests, status, test.Sprint(path))
		test.EqOp(t, "RATE_LIMITED", answer["reason"], test.Sprint(path))
	}
	status, _ := s.send("/auth/passkey", fmt.Sprintf(`{"request": %q, "credential": %s}`, o.Request, d.get(o)), mias)
	must.EqOp(t, http.StatusNoContent, status)

	// Its own tries are limited, too.
	delete(mias, "__Host-berth_sign_in")
	for range 5 {
		test.EqOp(t, http.StatusUnauthorized, s.enter("invented", "123456", mias))
	}
	status, answer := s.send("/auth/sign-in", `{}`, mias)
	test.EqOp(t, http.StatusTooManyRequests, status)
	test.EqOp(t, "RATE_LIMITED", answer["reason"])
}

// Passkeys go on when all codes of an address, and those of its network, are used up.
func TestPasskey_GoesOnWhileCodesAreUsedUp(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	mia := withMember(s.Studio, "Mia", "mia@example.com")
	d := s.withPasskey(mia)
	s.Clock.Advance(time.Second)
	s.pages = Handler(Config{
		Services: s.App, PublicURL: "https://berth.example", Issuer: s.issuer, AuthTime: 1,
		Codes: traffic.NewAddresses(traffic.PerHour(4), nil, s.Clock.Now),
	})
	for range signin.MaxCodes {
		s.ask("mia@example.com", nil)
		s.mailed()
	}
	s.ask("mia@example.com", nil)
	test.SliceEmpty(t, mailed(s.Studio))
	status, _ := s.send("/auth/code", `{"email": "mia@example.com"}`, nil)
	test.EqOp(t, http.StatusTooManyRequests, status)
	o := s.askPasskey()
	cookie, reason := s.usePasskey(o.Request, d.get(o))
	must.EqOp(t, "", reason)
	test.EqOp(t, mia.Member, s.token(cookie).Members[s.Tenant])
}
