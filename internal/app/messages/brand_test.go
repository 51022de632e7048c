package messages_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Mails wear the look that their tenant has when they are written, and no other tenant's. Other channels know nothing
// of it.
func TestMail_HasTheTenantsBrand(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	expect.OK(studio.T)(studio.App.Accounts.UpdateTenant(studio.T.Context(), studio.Owner, nil, func(of *catalog.Tenant) {
		of.Brand = brand.Brand{LogoURL: "https://cdn.example.com/logo.svg", Accent: "#b83280"}
	}))
	wears := func(what string, m delivery.Message, want bool) {
		t.Helper()
		logo, button := contains(
			m.HTML, `<img src="https://cdn.example.com/logo.svg" alt="Harbour Yoga"`,
		), contains(m.HTML, "background:#b83280;color:#ffffff")
		test.EqOp(t, delivery.Email, m.Channel, test.Sprintf("%s: logo %t, button %t: %+v", what, logo, button, m))
		test.EqOp(t, want, logo, test.Sprintf("%s: logo %t, button %t: %+v", what, logo, button, m))
		test.EqOp(t, want, button, test.Sprintf("%s: logo %t, button %t: %+v", what, logo, button, m))
		test.False(t, contains(m.Text, "cdn.example.com"),
			test.Sprintf("%s: logo %t, button %t: %+v", what, logo, button, m))
		test.False(t, contains(m.Text, "<img"), test.Sprintf("%s: logo %t, button %t: %+v", what, logo, button, m))
	}
	sent := func(by *messagetest.Studio, what string, want bool) {
		t.Helper()
		by.Plan()
		by.Send()
		mails := 0
		for _, m := range by.Provider.Take() {
			if m.Channel == email {
				wears(what, m, want)
				mails++
			} else if contains(m.Text, "cdn.example.com") {
				t.Errorf("%s: %+v", what, m)
			}
		}
		test.EqOp(t, 1, mails, test.Sprintf("%s: %d mails", what, mails))
	}
	class := studio.SessionAt(testkit.Noon.Add(48 * time.Hour))
	studio.MustPlace(studio.AddReachable("Mia"), class)
	sent(studio, "booked", true)
	expect.OK(studio.T)(
		studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, schedules.Removal{
			Reason: "Carla is ill.", Notify: true,
		}),
	)
	sent(studio, "called off", true)

	studio.ConfirmContacts(studio.Owner)
	expect.OK(studio.T)(studio.App.Messages.SendTestNotification(
		studio.T.Context(), studio.Owner, notify.Reminder, email, "en",
	))
	for _, m := range studio.Provider.Take() {
		wears("a test", m, true)
	}
	shown := expect.Value(studio.App.Messages.PreviewNotificationTemplate(
		studio.T.Context(), studio.Owner, content.Template{Topic: notify.Reminder, Channel: email, Locale: "en"},
	))(studio.T)
	test.True(t, contains(shown.HTML, "cdn.example.com/logo.svg"), test.Sprint(shown.HTML))
	test.True(t, contains(shown.HTML, "#b83280"), test.Sprint(shown.HTML))

	other := studio.OtherTenant("Dock Pilates")
	other.MustPlace(other.AddReachable("Noa"), other.SessionAt(testkit.Noon.Add(48*time.Hour)))
	sent(other, "another tenant's", false)
}

// Mails through the platform's account say for whom they are and where to report misuse, and HTML of the tenant's own
// cannot hide that: it needs an account of the tenant's own.
func TestMails_OfThePlatformHaveItsFrame(t *testing.T) {
	t.Parallel()
	studio := withOwnMail(t)
	account := messages.SMTPServer{Host: "mail.harbour.example", Port: 587, From: "hello@harbour.example"}
	own := content.Template{
		Topic: confirmed, Channel: email, Locale: "en", Subject: "Booked", Body: "Hello {{.Name}}", HTML: "<b>{{.Name}}</b>",
	}
	save := func() error {
		return expect.Error(studio.App.Messages.UpdateNotificationTemplate(studio.T.Context(), studio.Owner, own, nil))
	}
	sent := func(name string) delivery.Message {
		t.Helper()
		who := studio.AddReachable(name)
		studio.RemoveDevices(who)
		studio.MustPlace(who, studio.SessionAt(testkit.Noon.Add(48*time.Hour)))
		all := mails(studio)
		must.SliceLen(t, 1, all)
		return all[0]
	}
	const frame, report = "Sent for Harbour Yoga through Berth’s account.", "Report misuse to mail@berth.example"
	must.NoError(t, save())
	m := sent("Mia")
	test.EqOp(t, "<b>Mia</b>", m.HTML)
	test.False(t, contains(m.Text, frame), test.Sprintf("%+v", m))

	setMail(studio, nil)
	m = sent("Noa")
	test.StrNotContains(t, m.HTML, "<b>Noa</b>")
	for _, part := range []string{"Hello Noa", frame, report} {
		test.StrContains(t, m.HTML, part)
		test.StrContains(t, m.Text, part)
	}
	test.EqOp(t, "TEMPLATE_HTML @template.html", faulttest.Text(save()))
	_, err := studio.App.Messages.PreviewNotificationTemplate(studio.T.Context(), studio.Owner, own)
	test.EqOp(t, "TEMPLATE_HTML @template.html", faulttest.Text(err))
	own.HTML = ""
	must.NoError(t, save())
	setMail(studio, &account)
	m = sent("Lea")
	test.True(t, contains(m.HTML, "Hello Lea"), test.Sprintf("%+v", m))
	test.False(t, contains(m.HTML, frame), test.Sprintf("%+v", m))
	own.HTML = "<b>{{.Name}}</b>"
	expect.OK(t)(studio.App.Messages.PreviewNotificationTemplate(t.Context(), studio.Owner, own))
}
