package web

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// invite creates a member with a role, invites them, and returns them with the path of the link in the mail.
func (s *signInStudio) invite(name, role string) (tenant.Caller, string) {
	s.T.Helper()
	of := s.AddPerson(name, role)
	s.Exec(`update members set subject = '', email = $2 where id = $1`, of.Member, strings.ToLower(name)+"@example.com")
	return tenant.Caller{Tenant: s.Tenant, Member: of.Member}, s.inviteAgain(of)
}

func (s *signInStudio) inviteAgain(of tenant.Caller) string {
	s.T.Helper()
	expect.OK(s.T)(s.App.Accounts.CreateInvitations(s.T.Context(), s.Owner, []accounts.Invitee{{Member: of.Member}}))
	taken := expect.Value(s.App.Mails.Take(s.T.Context(), s.Tenant))(s.T)
	must.SliceNotEmpty(s.T, taken.Out)
	_, link, found := strings.Cut(taken.Out[len(taken.Out)-1].Message.Text, "https://berth.example")
	must.True(s.T, found)
	return strings.Fields(link)[0]
}

// open sends a request to a page as a browser does, with changed headers.
func (s *signInStudio) open(method, path, cookie string, headers ...string) (*http.Response, string) {
	s.T.Helper()
	r := httptest.NewRequestWithContext(s.T.Context(), method, "https://berth.example"+path, nil)
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
	body := expect.Value(io.ReadAll(w.Result().Body))(s.T)
	return w.Result(), html.UnescapeString(string(body))
}

// accepted accepts an invitation, and returns the cookie that the browser has then.
func (s *signInStudio) accepted(link, cookie, leadsTo string) string {
	s.T.Helper()
	answer, _ := s.open(http.MethodPost, link, cookie)
	must.EqOp(s.T, http.StatusSeeOther, answer.StatusCode)
	test.EqOp(s.T, leadsTo, answer.Header.Get("Location"))
	if len(answer.Cookies()) == 0 {
		return cookie
	}
	return answer.Cookies()[0].Value
}

// Opening a link changes nothing, since scanners do it, too. Its form signs in, once.
func TestInvite_SignsInOnce(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	mia, link := s.invite("Mia", tenant.RoleMember)
	for lang, says := range map[string]string{"en": "invites you", "de": "lädt Sie ein", "fr": "vous invite"} {
		answer, page := s.open(http.MethodGet, link, "", "Accept-Language", lang, "Sec-Fetch-Site", "cross-site")
		test.EqOp(t, http.StatusOK, answer.StatusCode)
		test.SliceEmpty(t, answer.Cookies())
		for _, want := range []string{"Harbour Yoga", "Mia", "mia@example.com", says, `<form method="post">`} {
			test.StrContains(t, page, want)
		}
	}
	test.EqOp(t, 0, s.Count(`select count(*) from sign_ins`))
	cookie := s.accepted(link, "", "/app/")
	test.Eq(t, map[tenant.TenantID]tenant.MemberID{s.Tenant: mia.Member}, s.token(cookie).Members)
	test.EqOp(t, "INVITATION", s.Text(`select method from sign_ins where member_id = $1`, mia.Member))
	for _, method := range []string{http.MethodGet, http.MethodPost} { // a replay
		answer, _ := s.open(method, link, "")
		test.EqOp(t, http.StatusNotFound, answer.StatusCode)
		test.SliceEmpty(t, answer.Cookies())
	}
	test.EqOp(t, 1, s.Count(`select count(*) from sign_ins`))
	events := expect.Metrics(t, s.metrics, "berth_security_events_total event=invitation_accepted")
	test.Eq(t, map[string]float64{"berth_security_events_total event=invitation_accepted reason=": 1}, events)
}

func TestInvite_LeadsStaffToTheConsole(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	_, link := s.invite("Cleo", tenant.RoleCoach)
	s.accepted(link, "", "/")
}

// One page answers every link that is not good: who sees it learns nothing about who exists.
func TestInvite_TellsNothingAboutWhoExists(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	mia, used := s.invite("Mia", tenant.RoleMember)
	s.accepted(used, "", "/app/")
	ben, revoked := s.invite("Ben", tenant.RoleMember)
	of := member.InvitationSearch{Member: ben.Member, Limit: 1}
	all := expect.Value(s.App.Accounts.ListInvitations(t.Context(), s.Owner, of))(t)
	s.NoError(s.App.Accounts.RevokeInvitation(t.Context(), s.Owner, all[0].ID))
	cleo, gone := s.invite("Cleo", tenant.RoleMember)
	s.Deactivate(cleo)
	_, old := s.invite("Olga", tenant.RoleMember)
	s.Clock.Advance(member.InvitationLife)
	seals := s.Config().Seals
	_, first := s.open(http.MethodGet, accounts.InvitePath+"x", "")
	for why, link := range map[string]string{
		"used": used, "revoked": revoked, "of a former member": gone, "old": old,
		"of another tenant": accounts.InvitePath + seals.Sign(s.OtherTenant().Tenant, "invitation", mia.Member.UUID[:]),
		"of another kind":   accounts.InvitePath + seals.Sign(s.Tenant, "confirm", mia.Member.UUID[:]),
		"changed":           old[:len(old)-2] + "xx",
	} {
		s.pages = s.handler() // with an address that has tries left
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			answer, page := s.open(method, link, "")
			test.EqOp(t, http.StatusNotFound, answer.StatusCode, test.Sprint(why))
			test.EqOp(t, first, page, test.Sprint(why))
			test.SliceEmpty(t, answer.Cookies(), test.Sprint(why))
		}
	}
}

// Another site knows the link of its own invitation. It must not sign in somebody with it who then types what others
// read.
func TestInvite_IsAcceptedOnItsOwnPageOnly(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	_, link := s.invite("Mia", tenant.RoleMember)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"},
		{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"},
		{"Sec-Fetch-Site", ""}, {"Sec-Fetch-Site", "", "Origin", "https://berth.example.evil.example"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://berth.example"},
	} {
		answer, _ := s.open(http.MethodPost, link, "", headers...)
		test.EqOp(t, http.StatusForbidden, answer.StatusCode, test.Sprint(headers))
		test.SliceEmpty(t, answer.Cookies(), test.Sprint(headers))
	}
	test.EqOp(t, 0, s.Count(`select count(*) from sign_ins`))
	events := expect.Metrics(t, s.metrics, "berth_security_events_total")
	test.EqOp(t, 8, events["berth_security_events_total event=sign_in_refused reason=origin"])
	answer, _ := s.open(http.MethodPost, link, "", "Sec-Fetch-Site", "", "Origin", "https://berth.example")
	test.EqOp(t, http.StatusSeeOther, answer.StatusCode, test.Sprint("a browser without the newer header"))
}

// A browser never keeps the secret that it had: who knows that one is not signed in by the invitation of somebody else.
// What it replaces is over.
func TestInvite_GivesTheBrowserANewSecret(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other := s.OtherTenant()
	_, link := s.invite("Mia", tenant.RoleMember)
	planted := s.signedIn(s.Coach, other.AddMember("Eve"))
	cookie := s.accepted(link, planted, "/app/")
	test.NotEqOp(t, planted, cookie)
	test.Eq(t, []tenant.TenantID{s.Tenant}, s.token(cookie).Tenants)
	s.refused(planted, "replaced")
	_, link = s.invite("Ben", tenant.RoleMember)
	s.token(s.accepted(link, "invented", "/app/"))
}

// Who is signed in already stays so, in the other tenants as well.
func TestInvite_KeepsTheSignInOfTheSameMember(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other := s.OtherTenant()
	mia, _ := s.invite("Mia", tenant.RoleMember)
	cookie := s.signedIn(mia, other.AddMember("Mia"))
	test.EqOp(t, cookie, s.accepted(s.inviteAgain(mia), cookie, "/app/"))
	test.Len(t, 2, s.token(cookie).Tenants)
}

// Where people sign in at a provider alone, an invitation leads there, and stays good until it is accepted.
func TestInvite_LeadsToTheProvider(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	s.pages = Handler(Config{Services: s.App, PublicURL: "https://berth.example"})
	for role, app := range map[string]string{tenant.RoleMember: "/app/", tenant.RoleAdmin: "/"} {
		_, link := s.invite(strings.ToUpper(role[:1])+role[1:], role)
		secret := strings.TrimPrefix(link, accounts.InvitePath)
		for range 2 {
			answer, _ := s.open(http.MethodPost, link, "")
			test.EqOp(t, http.StatusSeeOther, answer.StatusCode)
			test.EqOp(t, app+"?invitation="+secret, answer.Header.Get("Location"))
			test.SliceEmpty(t, answer.Cookies())
		}
		_, page := s.open(http.MethodGet, link, "")
		test.StrContains(t, page, "Then sign in to accept.")
	}
	answer, _ := s.open(http.MethodPost, accounts.InvitePath+"x", "")
	test.EqOp(t, http.StatusNotFound, answer.StatusCode)
	test.EqOp(t, 0, s.Count(`select count(*) from sign_ins`))
}

// Where people sign in with this service and at a provider, an invitation offers both. Those whom the provider knows
// sign in there.
func TestInvite_OffersBoth(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t, func(c *app.Config) { c.HasIdentityProvider = true })
	s.pages = Handler(Config{Services: s.App, PublicURL: "https://berth.example", Issuer: s.issuer, Provider: true})
	press := func(link, field string) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://berth.example"+link,
			strings.NewReader(field))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.pages.ServeHTTP(w, r)
		return w.Result()
	}
	mia, link := s.invite("Mia", tenant.RoleMember)
	_, page := s.open(http.MethodGet, link, "")
	test.StrContains(t, page, "Accept and sign in")
	test.StrContains(t, page, "Sign in with my account")
	secret := strings.TrimPrefix(link, accounts.InvitePath)
	answer := press(link, accountField+"=yes")
	test.EqOp(t, "/app/?invitation="+secret, answer.Header.Get("Location"))
	test.SliceEmpty(t, answer.Cookies())
	account := tenant.Caller{Tenant: s.Tenant, Subject: "idp|mia", SelfOnly: true}
	expect.OK(t)(s.App.Accounts.AcceptInvitationAs(t.Context(), account, "https://idp.example", secret))
	test.EqOp(t, http.StatusNotFound, press(link, "").StatusCode, test.Sprint("used"))

	link = s.inviteAgain(mia)
	_, page = s.open(http.MethodGet, link, "")
	test.StrNotContains(t, page, "Accept and sign in")
	answer = press(link, "")
	test.StrHasPrefix(t, "/app/?invitation=", answer.Header.Get("Location"))
	test.SliceEmpty(t, answer.Cookies())

	_, link = s.invite("Noa", tenant.RoleMember)
	cookie := s.accepted(link, "", "/app/")
	s.token(cookie)
}

// Guesses are held back at their address, and shut out nobody who has a link behind it.
func TestInvite_WorksWhileOthersGuess(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	_, link := s.invite("Mia", tenant.RoleMember)
	for range 5 {
		s.open(http.MethodGet, accounts.InvitePath+"x", "")
	}
	answer, _ := s.open(http.MethodGet, accounts.InvitePath+"x", "")
	test.EqOp(t, http.StatusTooManyRequests, answer.StatusCode)
	answer, _ = s.open(http.MethodGet, link, "")
	test.EqOp(t, http.StatusOK, answer.StatusCode)
	s.token(s.accepted(link, "", "/app/"))
}

func TestInviteWords_AreInTheOrderOfLanguages(t *testing.T) {
	t.Parallel()
	must.EqOp(t, len(languages), len(allInviteWords))
	for i, in := range allInviteWords {
		test.EqOp(t, languages[i].String(), in.Lang)
	}
}

// The link of a first owner signs them in to the console, and creating the tenant again gives none.
func TestInvite_OfTheFirstOwner(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	made := accounts.NewTenant{
		ID: testkit.NewID[tenant.TenantID](), Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR",
		Owner: &accounts.FirstOwner{Name: "Olga", Email: "olga@example.com", Invite: true},
	}
	created := expect.Value(s.App.Accounts.CreateTenant(t.Context(), made))(t)
	link, found := strings.CutPrefix(created.OwnerLink, "https://berth.example")
	must.True(t, found)
	again := expect.Value(s.App.Accounts.CreateTenant(t.Context(), made))(t)
	test.EqOp(t, "", again.OwnerLink)
	cookie := s.accepted(link, "", "/")
	test.Eq(t, []tenant.TenantID{created.ID}, s.token(cookie).Tenants)
	test.EqOp(t, "olga@example.com", s.Text(`select confirmed_email from members where tenant_id = $1`, created.ID))
	test.EqOp(t, 0, s.Count(`select count(*) from platform_mails where tenant_id = $1`, created.ID))
}

// Who lost the first link gets another, and the one before is good no longer.
func TestInvite_OfAnOwnerAgain(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	created := expect.Value(s.App.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
		ID: testkit.NewID[tenant.TenantID](), Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR",
		Owner: &accounts.FirstOwner{Name: "Olga", Email: "olga@example.com", Invite: true},
	}))(t)
	link := strings.TrimPrefix(
		expect.Value(s.App.Accounts.InviteOwner(t.Context(), created.ID, "Olga@example.com"))(t), "https://berth.example",
	)
	answer, _ := s.open(http.MethodGet, strings.TrimPrefix(created.OwnerLink, "https://berth.example"), "")
	test.EqOp(t, http.StatusNotFound, answer.StatusCode)
	test.Eq(t, []tenant.TenantID{created.ID}, s.token(s.accepted(link, "", "/")).Tenants)
	test.EqOp(t, 0, s.Count(`select count(*) from platform_mails where tenant_id = $1`, created.ID))

	s.invite("Mia", tenant.RoleAdmin)
	for _, nobody := range []string{"nobody@example.com", "mia@example.com"} {
		_, err := s.App.Accounts.InviteOwner(t.Context(), s.Tenant, nobody)
		test.EqOp(t, "MEMBER_NOT_FOUND", faulttest.Text(err), test.Sprint(nobody))
	}
}
