package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/web"
)

// Opening the link of a mail changes nothing; its button confirms the address. Links that are forged, used or taken say
// so.
func TestConfirm_ByLink(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	s.AddMemberWith(member.Member{Name: "Ben", Email: "ben@example.com"})
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	pages := web.Handler(web.Config{Services: s.App, PublicURL: "https://berth.example"})
	visit := func(method, link, says string, status int) {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, link, nil)
		r.Header.Set("Accept-Language", "de")
		pages.ServeHTTP(w, r)
		must.EqOp(t, status, w.Code, must.Sprint(w.Body))
		test.StrContains(t, w.Body.String(), says)
	}
	link := func(address string) string {
		expect.OK(t)(s.App.Accounts.UpdateMe(t.Context(), ana, nil, func(m *member.Member) error {
			m.Email = address
			return nil
		}))
		s.Deliver()
		for _, m := range s.Provider.Take() {
			if _, text, ok := strings.Cut(m.Text, "https://berth.example"+accounts.ConfirmPath); ok {
				return accounts.ConfirmPath + strings.Fields(text)[0]
			}
		}
		return ""
	}
	visit(http.MethodGet, accounts.ConfirmPath+"x", "ungültig", http.StatusNotFound)
	visit(http.MethodPost, accounts.ConfirmPath+"x", "ungültig", http.StatusNotFound)

	taken := link("ben@example.com")
	visit(http.MethodPost, taken, "Eine andere Mitgliedschaft", http.StatusConflict)

	own := link("ana@example.com")
	for range 2 {
		visit(http.MethodGet, own, "ana@example.com", http.StatusOK)
	}
	test.EqOp(t, "", expect.Value(s.App.Accounts.GetMe(t.Context(), ana))(t).Member.Email)
	visit(http.MethodPost, own, "bestätigt", http.StatusOK)
	visit(http.MethodGet, own, "abgelaufen", http.StatusGone)
	visit(http.MethodPost, own, "abgelaufen", http.StatusGone)
	visit(http.MethodGet, taken, "abgelaufen", http.StatusGone)
	test.EqOp(t, "ana@example.com", expect.Value(s.App.Accounts.GetMe(t.Context(), ana))(t).Member.Email)
}
