package messages_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
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
	wears := func(what string, m notify.Message, want bool) {
		t.Helper()
		logo, button := contains(
			m.HTML, `<img src="https://cdn.example.com/logo.svg" alt="Harbour Yoga"`,
		), contains(m.HTML, "background:#b83280;color:#ffffff")
		test.True(
			t, m.Channel == notify.Email && logo == want && button == want && !contains(m.Text, "cdn.example.com") &&
				!contains(m.Text, "<img"),
			test.Sprintf("%s: logo %t, button %t: %+v", what, logo, button, m),
		)
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
		studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, "Carla is ill.", true),
	)
	sent(studio, "called off", true)

	studio.ConfirmContacts(studio.Owner)
	expect.OK(studio.T)(studio.App.Messages.SendTest(studio.T.Context(), studio.Owner, notify.Reminder, email, "en"))
	for _, m := range studio.Provider.Take() {
		wears("a test", m, true)
	}
	shown := expect.Value(studio.App.Messages.PreviewTemplate(
		studio.T.Context(), studio.Owner, notify.Template{Topic: notify.Reminder, Channel: email, Locale: "en"},
	))(studio.T)
	test.True(
		t, contains(shown.HTML, "cdn.example.com/logo.svg") && contains(shown.HTML, "#b83280"), test.Sprint(shown.HTML),
	)

	other := studio.OtherTenant("Dock Pilates")
	other.MustPlace(other.AddReachable("Noa"), other.SessionAt(testkit.Noon.Add(48*time.Hour)))
	sent(other, "another tenant's", false)
}
