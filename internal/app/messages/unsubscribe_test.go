package messages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// A mail's link opens a page in the browser's language that changes nothing, with two buttons that do.
func TestUnsubscribe_Page(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	expect.OK(p.T)(p.App.Accounts.UpdateTenant(p.T.Context(), p.Owner, nil, func(of *catalog.Tenant) {
		of.Brand = brand.Brand{LogoURL: "https://cdn.example.com/logo.svg", Accent: "#B83280"}
	}))
	for _, c := range []struct{ language, kind, all, done, doneAll, broken string }{
		{"en-GB,en;q=0.9", "No more emails of this kind: new bookings", "No more emails at all",
			"You will get no more emails of this kind: new bookings.", "You will get no more emails.", "This link is not valid"},
		{
			"de", "Keine mehr dieser Art: neue Buchungen", "Gar keine Mails mehr",
			"Sie bekommen keine Mails dieser Art mehr: neue Buchungen.", "Sie bekommen keine Mails mehr.",
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
		must.EqOp(t, before+1, len(mails), must.Sprintf("%d mails", len(mails)-before))
		link := expect.Value(url.Parse(strings.Trim(mails[before].Text("List-Unsubscribe"), "<>")))(p.T)
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
			test.EqOp(t, choices, chosen(p.Studio, who), test.Sprintf("choices, want %d", choices))
			got := expect.Value(p.App.Messages.GetNotificationPreferences(p.T.Context(), who, who.Member))(p.T)
			test.EqOp(t, stops, len(got.Stops), test.Sprintf("%d stops, want %d", len(got.Stops), stops))
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

// A member who unsubscribed from all mails gets them again by choosing them. An address that bounces stays stopped, and
// so does a number.
func TestUnsubscribe_CanBeUndone(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	mia := studio.AddReachable("Mia")
	choose := func(c delivery.Channel, on bool) {
		t.Helper()
		expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(
			studio.T.Context(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: c}: on}},
		))
	}
	booked := 0
	mailed := func(what string, want int) {
		t.Helper()
		booked++
		studio.MustPlace(mia, studio.SessionAt(testkit.Noon.Add(time.Duration(48+booked)*time.Hour)))
		test.EqOp(t, want, len(mails(studio)), test.Sprintf("%s: mails", what))
	}
	studio.StopMails(mia)
	studio.StopMails(studio.AddReachable("Noa"))
	expect.OK(studio.T)(studio.App.Messages.AnswerSMS(t.Context(), studio.Tenant, studio.PhoneOf(mia), "STOP"))
	mailed("unsubscribed", 0)
	choose(push, true)
	mailed("another channel was chosen", 0)
	choose(email, true)
	mailed("mails were chosen", 1)
	choose(sms, true)
	test.EqOp(t, 2, studio.Count(`select count(*) from notification_stops`),
		test.Sprint("stops, want that of the number and another member's"))
	studio.BounceMail(mia)
	choose(email, true)
	mailed("bounced", 0)
}

// chosen counts what a member has chosen.
func chosen(studio *messagetest.Studio, who tenant.Caller) int {
	studio.T.Helper()
	return len(expect.Value(
		studio.App.Messages.GetNotificationPreferences(studio.T.Context(), who, who.Member),
	)(studio.T).Chosen)
}
