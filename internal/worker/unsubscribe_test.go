package worker_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// A mail's link opens a page in the browser's language that changes nothing, with two buttons that do.
func TestThePageThatStopsMails(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	for _, c := range []struct{ language, kind, all, done, doneAll, broken string }{
		{"en-GB,en;q=0.9", "No more of this kind: bookings made", "No more mails at all", "You get no more mails of this kind: bookings made.", "You get no more mails.", "This link is not good"},
		{"de", "Keine mehr dieser Art: neue Buchungen", "Gar keine Mails mehr", "Du bekommst keine Mails dieser Art mehr: neue Buchungen.", "Du bekommst keine Mails mehr.", "Dieser Link ist ungültig"},
		{"fr-CA", "Plus aucun de ce type : réservations", "Plus aucun e-mail", "Vous ne recevrez plus d’e-mails de ce type : réservations.", "Vous ne recevrez plus d’e-mails.", "Ce lien n’est pas valide"},
	} {
		who := p.member("Mia-" + c.language[:2])
		devices(p.house, who)
		before := len(p.mail.Mails())
		p.book(who, p.session(noon.Add(48*time.Hour)))
		p.deliver()
		mails := p.mail.Mails()
		if len(mails) != before+1 {
			t.Fatalf("%d mails", len(mails)-before)
		}
		link, err := url.Parse(strings.Trim(mails[before].Text("List-Unsubscribe"), "<>"))
		p.ok(err)
		page := func(method, path, form, want string, status int) {
			t.Helper()
			r := httptest.NewRequest(method, path, strings.NewReader(form))
			r.Header.Set("Accept-Language", c.language)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer := httptest.NewRecorder()
			p.pages.ServeHTTP(answer, r)
			if body := answer.Body.String(); answer.Code != status || !contains(body, want) || !contains(body, `<html lang="`+c.language[:2]+`">`) || contains(body, "<script") {
				t.Errorf("%s: %d %s", method, answer.Code, body)
			}
		}
		stopped := func(choices, stops int) {
			t.Helper()
			if n := p.chosen(who); n != choices {
				t.Errorf("%d choices, want %d", n, choices)
			}
			got, err := p.app.GetNotificationPreferences(p.ctx(), who, who.Member)
			p.ok(err)
			if len(got.Stops) != stops {
				t.Errorf("%d stops, want %d", len(got.Stops), stops)
			}
		}
		page(http.MethodGet, link.Path, "", c.kind, http.StatusOK)
		page(http.MethodGet, link.Path, "", c.all, http.StatusOK)
		stopped(0, 0)
		page(http.MethodPost, link.Path, "", c.done, http.StatusOK)
		stopped(1, 0)
		page(http.MethodPost, link.Path, "all=yes", c.doneAll, http.StatusOK)
		page(http.MethodPost, link.Path, "all=yes", c.doneAll, http.StatusOK)
		stopped(1, 1)
		page(http.MethodGet, link.Path+"x", "", c.broken, http.StatusNotFound)
	}
}

// chosen counts what a member has chosen.
func (h *house) chosen(who tenant.Caller) int {
	h.t.Helper()
	p, err := h.app.GetNotificationPreferences(h.ctx(), who, who.Member)
	h.ok(err)
	return len(p.Chosen)
}
