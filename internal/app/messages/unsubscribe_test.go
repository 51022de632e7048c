package messages_test

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
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// A mail's link opens a page in the browser's language that changes nothing, with two buttons that do.
func TestUnsubscribe_Page(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	_, err := p.App.Accounts.UpdateTenant(p.T.Context(), p.Owner, nil, func(of *catalog.Tenant) {
		of.Brand = brand.Brand{LogoURL: "https://cdn.example.com/logo.svg", Accent: "#B83280"}
	})
	p.NoError(err)
	for _, c := range []struct{ language, kind, all, done, doneAll, broken string }{
		{"en-GB,en;q=0.9", "No more emails of this kind: new bookings", "No more emails at all",
			"You will get no more emails of this kind: new bookings.", "You will get no more emails.", "This link is not valid"},
		{
			"de", "Keine mehr dieser Art: neue Buchungen", "Gar keine Mails mehr",
			"Du bekommst keine Mails dieser Art mehr: neue Buchungen.", "Du bekommst keine Mails mehr.",
			"Dieser Link ist ungültig",
		},
		{
			"fr-CA", "Plus aucun de ce type : réservations", "Plus aucun e-mail",
			"Vous ne recevrez plus d’e-mails de ce type : réservations.", "Vous ne recevrez plus d’e-mails.",
			"Ce lien n’est pas valide",
		},
	} {
		who := p.AddReachable("Mia-" + c.language[:2])
		p.RemoveDevices(who)
		before := len(p.Mail.Mails())
		p.MustPlace(who, p.SessionAt(testkit.Noon.Add(48*time.Hour)))
		p.Deliver()
		mails := p.Mail.Mails()
		if len(mails) != before+1 {
			t.Fatalf("%d mails", len(mails)-before)
		}
		link, err := url.Parse(strings.Trim(mails[before].Text("List-Unsubscribe"), "<>"))
		p.NoError(err)
		page := func(method, path, form, want string, status int) {
			t.Helper()
			r := httptest.NewRequest(method, path, strings.NewReader(form))
			r.Header.Set("Accept-Language", c.language)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer := httptest.NewRecorder()
			p.Pages.ServeHTTP(answer, r)
			if body := answer.Body.String(); answer.Code != status || !contains(body, want) ||
				!contains(body, `<html lang="`+c.language[:2]+`">`) || contains(body, "<script") {
				t.Errorf("%s: %d %s", method, answer.Code, body)
			} else if worn := contains(body, `<img class="logo" src="https://cdn.example.com/logo.svg" alt="Harbour Yoga">`) &&
				contains(body, "accents/b83280.css"); worn != (status == http.StatusOK) {
				t.Errorf("%s: in the tenant's look: %t\n%s", method, worn, body)
			}
		}
		stopped := func(choices, stops int) {
			t.Helper()
			if n := chosen(p.Studio, who); n != choices {
				t.Errorf("%d choices, want %d", n, choices)
			}
			got, err := p.App.Messages.GetNotificationPreferences(p.T.Context(), who, who.Member)
			p.NoError(err)
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

// Whoever has unsubscribed from all mails gets them again by choosing them. An address that bounces stays stopped, and
// so does a number.
func TestUnsubscribe_CanBeUndone(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	mia := h.AddReachable("Mia")
	choose := func(c notify.Channel, on bool) {
		t.Helper()
		_, err := h.App.Messages.UpdateNotificationPreferences(
			h.T.Context(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: c}: on}},
		)
		h.NoError(err)
	}
	booked := 0
	mailed := func(what string, want int) {
		t.Helper()
		booked++
		h.MustPlace(mia, h.SessionAt(testkit.Noon.Add(time.Duration(48+booked)*time.Hour)))
		if got := len(mails(h)); got != want {
			t.Errorf("%s: %d mails", what, got)
		}
	}
	h.StopMails(mia)
	h.StopMails(h.AddReachable("Noa"))
	_, err := h.App.Messages.AnswerSMS(t.Context(), h.Tenant, h.PhoneOf(mia), "STOP")
	h.NoError(err)
	mailed("unsubscribed", 0)
	choose(push, true)
	mailed("another channel was chosen", 0)
	choose(email, true)
	mailed("mails were chosen", 1)
	choose(sms, true)
	if n := h.Count(`select count(*) from notification_stops`); n != 2 {
		t.Errorf("%d stops, want that of the number and somebody else's", n)
	}
	h.BounceMail(mia)
	choose(email, true)
	mailed("bounced", 0)
}

// chosen counts what a member has chosen.
func chosen(h *messagetest.Studio, who tenant.Caller) int {
	h.T.Helper()
	p, err := h.App.Messages.GetNotificationPreferences(h.T.Context(), who, who.Member)
	h.NoError(err)
	return len(p.Chosen)
}
