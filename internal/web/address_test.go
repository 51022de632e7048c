package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/web"
)

// Opening the link of a mail to an old address changes nothing; its buttons agree or refuse.
func TestAddress_OldAddressAgreesOrRefuses(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := s.AddMemberWith(member.Member{Name: "Mia", Email: "mia@example.com"})
	s.Exec(`update members set sign_in_email = email where id = $1`, mia.Member)
	s.EditMember(mia, func(m *member.Member) { m.Email = "desk@example.com" })
	pages := web.Handler(web.Config{Services: s.App, PublicURL: "https://berth.example"})
	visit := func(method, link, says string, status int, form url.Values) {
		t.Helper()
		body := strings.NewReader(form.Encode())
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, link, body)
		r.Header.Set("Accept-Language", "de")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		pages.ServeHTTP(w, r)
		must.EqOp(t, status, w.Code, must.Sprint(w.Body))
		test.StrContains(t, w.Body.String(), says)
	}
	taken := expect.Value(s.App.Mails.Take(t.Context(), s.Tenant))(t)
	must.SliceLen(t, 1, taken.Out)
	_, text, _ := strings.Cut(taken.Out[0].Message.Text, "https://berth.example"+accounts.AddressPath)
	link := accounts.AddressPath + strings.Fields(text)[0]
	agree := url.Values{"agree": {"yes"}}
	email := func() string { return s.Text(`select email from members where id = $1`, mia.Member) }

	visit(http.MethodGet, accounts.AddressPath+"x", "ungültig", http.StatusNotFound, nil)
	visit(http.MethodPost, accounts.AddressPath+"x", "ungültig", http.StatusNotFound, agree)
	for range 2 {
		visit(http.MethodGet, link, "d***@example.com", http.StatusOK, nil)
	}
	test.EqOp(t, 0, s.Count(`select count(*) from address_changes where agreed_at is not null or ended_at is not null`))
	visit(http.MethodPost, link, "Sie haben zugestimmt", http.StatusOK, agree)
	visit(http.MethodGet, link, "können Sie noch ablehnen", http.StatusOK, nil)
	test.EqOp(t, "desk@example.com", email())
	visit(http.MethodPost, link, "Sie haben abgelehnt", http.StatusOK, nil)
	test.EqOp(t, "mia@example.com", email())
	visit(http.MethodGet, link, "ungültig", http.StatusNotFound, nil)
}
