package messages_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Mails wear the look that their tenant has when they are written, and no other tenant's. Other channels know nothing
// of it.
func TestMail_HasTheTenantsBrand(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	_, err := h.App.Accounts.UpdateTenant(h.T.Context(), h.Owner, nil, func(of *catalog.Tenant) {
		of.Brand = brand.Brand{LogoURL: "https://cdn.example.com/logo.svg", Accent: "#b83280"}
	})
	h.NoError(err)
	wears := func(what string, m notify.Message, want bool) {
		t.Helper()
		logo, button := contains(
			m.HTML, `<img src="https://cdn.example.com/logo.svg" alt="Harbour Yoga"`,
		), contains(m.HTML, "background:#b83280;color:#ffffff")
		if m.Channel != notify.Email || logo != want || button != want || contains(m.Text, "cdn.example.com") ||
			contains(m.Text, "<img") {
			t.Errorf("%s: logo %t, button %t: %+v", what, logo, button, m)
		}
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
		if mails != 1 {
			t.Errorf("%s: %d mails", what, mails)
		}
	}
	class := h.SessionAt(testkit.Noon.Add(48 * time.Hour))
	h.MustPlace(h.AddReachable("Mia"), class)
	sent(h, "booked", true)
	_, err = h.App.Schedules.CancelSession(h.T.Context(), h.Owner, class, "Carla is ill.", true)
	h.NoError(err)
	sent(h, "called off", true)

	_, err = h.App.Messages.SendTest(h.T.Context(), h.Owner, notify.Reminder, email, "en")
	h.NoError(err)
	for _, m := range h.Provider.Take() {
		wears("a test", m, true)
	}
	shown, err := h.App.Messages.PreviewTemplate(
		h.T.Context(), h.Owner, notify.Template{Topic: notify.Reminder, Channel: email, Locale: "en"},
	)
	h.NoError(err)
	if !contains(shown.HTML, "cdn.example.com/logo.svg") || !contains(shown.HTML, "#b83280") {
		t.Error(shown.HTML)
	}

	other := h.OtherTenant("Dock Pilates")
	other.MustPlace(other.AddReachable("Noa"), other.SessionAt(testkit.Noon.Add(48*time.Hour)))
	sent(other, "another tenant's", false)
}
