package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/server/demo"
)

func TestDevPeople_IssuesTokensToThisMachineOnly(t *testing.T) {
	t.Parallel()
	issuer := expect.Value(token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "berth", "berth", time.Now))(t)
	id := tenant.MustParse[tenant.TenantID]("0190a5e0-0000-7000-8000-000001000000")
	studio := testkit.New(t)
	pages := devPeople{
		issuer: issuer, app: studio.App, log: slog.New(slog.DiscardHandler),
		mails: func() []delivery.Message {
			return []delivery.Message{{To: "noa@example.com", Text: "2"}, {To: "mia@example.com", Subject: "First", Text: "1"}}
		},
		demo: []demo.Tenant{{ID: id, Name: "Studio", Subjects: map[string]string{
			"owner": "demo-owner", "member": "demo-member", "partner": "sa:1",
		}}},
	}
	served := pages.wrap(http.NotFoundHandler())
	call := func(method, path, host, peer string, form url.Values, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		r.Host, r.RemoteAddr = host, peer
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, name := range headers {
			r.Header.Set(name, "192.0.2.7")
		}
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r)
		return w
	}

	w := call("GET", "/dev/people.json", "localhost:8080", "127.0.0.1:5000", nil)
	var listed tenantsToBe
	must.NoError(t, json.Unmarshal(w.Body.Bytes(), &listed))
	there := listed.Tenants
	must.SliceLen(t, 2, there, must.Sprint(w.Body))
	must.SliceLen(t, 2, there[0].People, must.Sprint(w.Body))
	test.EqOp(t, "owner", there[0].People[0].Role, test.Sprint(w.Body))
	created := there[1]
	test.EqOp(t, studio.Tenant, created.ID, test.Sprint("a tenant that somebody created since"))
	must.SliceNotEmpty(t, created.People, must.Sprint(w.Body))
	test.EqOp(t, "owner", created.People[0].Role, test.Sprint(w.Body))
	test.EqOp(t, studio.Owner.Subject, created.People[0].Subject, test.Sprint(w.Body))
	for _, p := range created.People {
		test.StrNotHasPrefix(t, tenant.AccountPrefix, p.Subject, test.Sprint("programs use no pages"))
	}
	config := call("GET", "/console/config.json", "127.0.0.1", "[::1]:5000", nil)
	test.StrContains(t, config.Body.String(), `"development":true`)
	owner := url.Values{"tenant": {id.String()}, "subject": {"demo-owner"}}
	w = call("POST", "/dev/token", "[::1]:8080", "[::1]:5000", owner)
	var given struct {
		Token string `json:"access_token"`
	}
	must.NoError(t, json.Unmarshal(w.Body.Bytes(), &given), must.Sprint(w.Body))
	verifier := expect.Value(token.NewVerifier(time.Now, issuer.AsTrusted()))(t)
	p := expect.Value(verifier.Verify(
		t.Context(), given.Token,
	))(t)
	test.EqOp(t, "demo-owner", p.Subject)
	must.SliceLen(t, 1, p.Tenants)
	test.EqOp(t, id, p.Tenants[0])

	theirs := call("POST", "/dev/token", "localhost", "127.0.0.1:5000",
		url.Values{"tenant": {studio.Tenant.String()}, "subject": {studio.Owner.Subject}})
	test.EqOp(t, http.StatusOK, theirs.Code, test.Sprint(theirs.Body))

	var mails []mailToRead
	w = call("GET", "/dev/mails.json", "localhost:8080", "127.0.0.1:5000", nil)
	must.NoError(t, json.Unmarshal(w.Body.Bytes(), &mails), must.Sprint(w.Body))
	must.SliceLen(t, 2, mails)
	test.EqOp(t, "noa@example.com", mails[0].To)
	test.EqOp(t, "First", mails[1].Subject)
	test.EqOp(t, "1", mails[1].Text)

	refused := map[string]*httptest.ResponseRecorder{
		"mails on another machine": call("GET", "/dev/mails.json", "localhost", "192.0.2.7:5000", nil),
		"mails by a proxy":         call("GET", "/dev/mails.json", "localhost", "127.0.0.1:5000", nil, "Via"),
		"another machine":          call("POST", "/dev/token", "localhost:8080", "192.0.2.7:5000", owner),
		"another site's name":      call("POST", "/dev/token", "evil.example:8080", "127.0.0.1:5000", owner),
		"not of the demo": call(
			"POST", "/dev/token", "localhost", "127.0.0.1:5000", url.Values{"tenant": {id.String()}, "subject": {"root"}},
		),
		"another tenant": call(
			"POST", "/dev/token", "localhost", "127.0.0.1:5000", url.Values{"tenant": {"x"}, "subject": {"demo-owner"}},
		),
		"reading, not asking": call("GET", "/dev/token", "localhost", "127.0.0.1:5000", owner),
	}
	for _, header := range []string{
		"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP", "X-Client-IP",
		"CF-Connecting-IP", "True-Client-IP", "X-Original-Forwarded-For",
	} {
		refused[header] = call("POST", "/dev/token", "localhost:8080", "127.0.0.1:5000", owner, header)
	}
	for name, answer := range refused {
		test.NotEqOp(t, http.StatusOK, answer.Code, test.Sprintf("%s: %d %s", name, answer.Code, answer.Body))
		test.StrNotContains(t, answer.Body.String(), "access_token",
			test.Sprintf("%s: %d %s", name, answer.Code, answer.Body))
	}
}

// Every tenant is listed, also those created since, however many there are, and somebody can sign in to each.
func TestDevPeople_ListsEveryTenant(t *testing.T) {
	t.Parallel()
	issuer := expect.Value(token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "berth", "berth", time.Now))(t)
	studio := testkit.New(t)
	served := devPeople{issuer: issuer, app: studio.App, log: slog.New(slog.DiscardHandler)}.wrap(http.NotFoundHandler())
	call := func(method, path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:5000"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r)
		return w
	}
	all := func(query string) (names []string, pages int) {
		for after := ""; pages == 0 || after != ""; pages++ {
			w := call("GET", "/dev/people.json?"+url.Values{"query": {query}, "after": {after}}.Encode(), nil)
			var page tenantsToBe
			must.NoError(t, json.Unmarshal(w.Body.Bytes(), &page), must.Sprint(w.Body))
			for _, found := range page.Tenants {
				names = append(names, found.Name)
			}
			after = page.After
		}
		return names, pages
	}

	before, _ := all("")
	var want []string
	for n := range 2*tenantsAtOnce + 1 {
		name := fmt.Sprintf("Café %02d", n)
		expect.Value(studio.App.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
			ID:   tenant.New[tenant.TenantID](testkit.Noon.Add(time.Duration(n+1) * time.Hour)),
			Name: name, TimeZone: "Europe/Paris", Locale: "fr", Currency: "EUR",
			Owner: &accounts.FirstOwner{Name: "Ana"},
		}))(t)
		want = append([]string{name}, want...)
	}
	got, pages := all("")
	test.Eq(t, append(want, before...), got, test.Sprint("the newest first, each once"))
	test.EqOp(t, 3, pages)
	got, pages = all(" CAFE")
	test.Eq(t, want, got, test.Sprint("by name, without accents and case"))
	test.EqOp(t, 3, pages)
	got, pages = all("cafe 00")
	test.Eq(t, []string{"Café 00"}, got, test.Sprint("the oldest"))
	test.EqOp(t, 1, pages)
	got, _ = all("nowhere")
	test.SliceEmpty(t, got)

	var oldest tenantsToBe
	must.NoError(t, json.Unmarshal(call("GET", "/dev/people.json?query=cafe+00", nil).Body.Bytes(), &oldest))
	id, owner := oldest.Tenants[0].ID.String(), oldest.Tenants[0].People[0].Subject
	w := call("POST", "/dev/token", url.Values{"tenant": {id}, "subject": {owner}})
	test.EqOp(t, http.StatusOK, w.Code, test.Sprint(w.Body))
	w = call("POST", "/dev/token", url.Values{"tenant": {studio.Tenant.String()}, "subject": {owner}})
	test.EqOp(t, http.StatusNotFound, w.Code, test.Sprint("of another tenant"))
}
