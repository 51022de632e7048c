package worker_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// A mail's link opens a page in the browser's language that changes nothing, with two buttons that do.
func TestThePageThatStopsMails(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	_, err := p.app.Accounts.UpdateTenant(p.ctx(), p.Owner, nil, func(of *catalog.Tenant) {
		of.Brand = brand.Brand{LogoURL: "https://cdn.example.com/logo.svg", Accent: "#B83280"}
	})
	p.ok(err)
	for _, c := range []struct{ language, kind, all, done, doneAll, broken string }{
		{"en-GB,en;q=0.9", "No more emails of this kind: new bookings", "No more emails at all",
			"You will get no more emails of this kind: new bookings.", "You will get no more emails.", "This link is not valid"},
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
			} else if worn := contains(body, `<img class="logo" src="https://cdn.example.com/logo.svg" alt="Harbour Yoga">`) && contains(body, "accents/b83280.css"); worn != (status == http.StatusOK) {
				t.Errorf("%s: in the tenant's look: %t\n%s", method, worn, body)
			}
		}
		stopped := func(choices, stops int) {
			t.Helper()
			if n := p.chosen(who); n != choices {
				t.Errorf("%d choices, want %d", n, choices)
			}
			got, err := p.app.Messages.GetNotificationPreferences(p.ctx(), who, who.Member)
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

// Whoever has unsubscribed from all mails gets them again by choosing them. An address that bounces stays stopped, and so does a number.
func TestMailsThatAreWantedAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	stop := func(channel, address string, reason notify.Reason) {
		t.Helper()
		h.exec(`insert into notification_stops (tenant_id, channel, address, reason, created_at) values ($1, $2, $3, $4, $5)
			on conflict (tenant_id, channel, address) do update set reason = excluded.reason`, h.Tenant, channel, address, string(reason), noon)
	}
	choose := func(c notify.Channel, on bool) {
		t.Helper()
		_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: c}: on}})
		h.ok(err)
	}
	booked := 0
	mailed := func(what string, want int) {
		t.Helper()
		booked++
		h.book(mia, h.session(noon.Add(time.Duration(48+booked)*time.Hour)))
		if got := len(h.mails()); got != want {
			t.Errorf("%s: %d mails", what, got)
		}
	}
	stop("EMAIL", "mia@example.com", notify.Unsubscribed)
	stop("EMAIL", "noa@example.com", notify.Unsubscribed)
	stop("SMS", h.phone(mia), notify.OptedOutReason)
	mailed("unsubscribed", 0)
	choose(push, true)
	mailed("another channel was chosen", 0)
	choose(email, true)
	mailed("mails were chosen", 1)
	choose(sms, true)
	if n := h.count(`select count(*) from notification_stops`); n != 2 {
		t.Errorf("%d stops, want that of the number and somebody else's", n)
	}
	stop("EMAIL", "mia@example.com", notify.BouncedReason)
	choose(email, true)
	mailed("bounced", 0)
}

// chosen counts what a member has chosen.
func (h *house) chosen(who tenant.Caller) int {
	h.t.Helper()
	p, err := h.app.Messages.GetNotificationPreferences(h.ctx(), who, who.Member)
	h.ok(err)
	return len(p.Chosen)
}
