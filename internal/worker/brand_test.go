package worker_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Mails wear the look that their tenant has when they are written, and no other tenant's. Other channels know nothing of it.
func TestMailsWearTheTenantsLook(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, err := h.app.Accounts.UpdateTenant(h.ctx(), h.Owner, nil, func(of *catalog.Tenant) {
		of.Brand = brand.Brand{LogoURL: "https://cdn.example.com/logo.svg", Accent: "#b83280"}
	})
	h.ok(err)
	wears := func(what string, m notify.Message, want bool) {
		t.Helper()
		logo, button := contains(m.HTML, `<img src="https://cdn.example.com/logo.svg" alt="Harbour Yoga"`), contains(m.HTML, "background:#b83280;color:#ffffff")
		if m.Channel != notify.Email || logo != want || button != want || contains(m.Text, "cdn.example.com") || contains(m.Text, "<img") {
			t.Errorf("%s: logo %t, button %t: %+v", what, logo, button, m)
		}
	}
	sent := func(by *house, what string, want bool) {
		t.Helper()
		by.consume()
		by.ok(by.dispatcher.Deliver(by.ctx(), by.Tenant))
		mails := 0
		for _, m := range by.post.take() {
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
	class := h.session(noon.Add(48 * time.Hour))
	h.book(h.member("Mia"), class)
	sent(h, "booked", true)
	_, err = h.app.Schedules.CancelSession(h.ctx(), h.Owner, class, "Carla is ill.", true)
	h.ok(err)
	sent(h, "called off", true)

	_, err = h.app.Messages.SendTest(h.ctx(), h.Owner, notify.Reminder, email, "en")
	h.ok(err)
	for _, m := range h.post.take() {
		wears("a test", m, true)
	}
	shown, err := h.app.Messages.PreviewTemplate(h.ctx(), h.Owner, notify.Template{Topic: notify.Reminder, Channel: email, Locale: "en"})
	h.ok(err)
	if !contains(shown.HTML, "cdn.example.com/logo.svg") || !contains(shown.HTML, "#b83280") {
		t.Error(shown.HTML)
	}

	other := h.neighbour("Dock Pilates")
	other.book(other.member("Noa"), other.session(noon.Add(48*time.Hour)))
	sent(other, "another tenant's", false)
}
