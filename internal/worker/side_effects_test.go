package worker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// What each act leads to, from the use case to the provider.
func TestSideEffects(t *testing.T) {
	t.Parallel()
	want := func(t *testing.T, what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	full := func(in *session.Input) { in.Capacity = new(1) }
	start := noon.Add(48 * time.Hour)

	t.Run("book, confirmed", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		mia := h.member("Mia")
		h.book(mia, h.session(start))
		want(t, "at once", h.run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "a second look", h.run())
		want(t, "a day before", h.at(start.Add(-24*time.Hour)), "REMINDER PUSH")
		want(t, "when check-in opens", h.at(start.Add(-time.Hour)), "CHECK_IN_OPEN PUSH")
		want(t, "a minute before the reminder", h.at(start.Add(-31*time.Minute)))
		want(t, "30 minutes before", h.at(start.Add(-30*time.Minute)), "REMINDER PUSH")
		want(t, "at the start", h.at(start))
	})
	t.Run("book, 30 minutes before: no reminder", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.book(h.member("Mia"), h.session(noon.Add(30*time.Minute)))
		want(t, "at once", h.run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "later", h.at(noon.Add(29*time.Minute)))
	})
	t.Run("book, a minute more before: a reminder", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.book(h.member("Mia"), h.session(noon.Add(31*time.Minute)))
		want(t, "at once", h.run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "30 minutes before", h.at(noon.Add(time.Minute)), "REMINDER PUSH")
	})
	t.Run("book, opted out of email", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		mia := h.member("Mia")
		_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), mia, messages.PreferencesEdit{Chosen: map[choice]bool{{Topic: confirmed, Channel: email}: false}})
		h.ok(err)
		h.book(mia, h.session(start))
		want(t, "at once", h.run(), "BOOKING_CONFIRMED PUSH")
	})
	t.Run("book, opted out of reminders", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		mia := h.member("Mia")
		_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), mia, messages.PreferencesEdit{Chosen: map[choice]bool{
			{Topic: notify.Reminder, Channel: push}: false, {Topic: notify.Reminder, Channel: email}: false,
		}})
		h.ok(err)
		h.book(mia, h.session(start))
		want(t, "at once", h.run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "a day before", h.at(start.Add(-24*time.Hour)))
		want(t, "30 minutes before: check-in is open, that is all", h.at(start.Add(-30*time.Minute)), "CHECK_IN_OPEN PUSH")
	})
	t.Run("book, waitlisted: a mail alone; promoted by a self-cancel", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		mia, noa := h.member("Mia"), h.member("Noa")
		class := h.session(start, full)
		first := h.book(mia, class).Booking.ID
		h.book(noa, class)
		want(t, "at once", h.run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH", "WAITLISTED EMAIL")
		_, err := h.app.Bookings.CancelBooking(h.ctx(), mia, bookings.CancelRequest{ID: first, Notify: true})
		h.ok(err)
		want(t, "the one is out, the other in", h.run(), "BOOKING_CANCELLED EMAIL", "PROMOTED EMAIL", "PROMOTED PUSH")
		want(t, "reminded are those who come", h.at(start.Add(-24*time.Hour)), "REMINDER PUSH")
	})
	t.Run("admin-cancel", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		booking := h.book(h.member("Mia"), h.session(start)).Booking.ID
		h.run()
		_, err := h.app.Bookings.CancelBooking(h.ctx(), h.Owner, bookings.CancelRequest{ID: booking, Reason: "Coach is ill.", Notify: true})
		h.ok(err)
		h.consume()
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		sent := h.post.take()
		if len(sent) != 1 || !contains(sent[0].Text, "Coach is ill.") || sent[0].Calendar == nil || sent[0].Calendar.Method != "CANCEL" {
			t.Errorf("%+v", sent)
		}
	})
	t.Run("admin-cancel: the next one is in", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		class := h.session(start, full)
		booking := h.book(h.member("Mia"), class).Booking.ID
		h.book(h.member("Noa"), class)
		h.run()
		_, err := h.app.Bookings.CancelBooking(h.ctx(), h.Owner, bookings.CancelRequest{ID: booking, Notify: true})
		h.ok(err)
		want(t, "at once", h.run(), "BOOKING_CANCELLED EMAIL", "PROMOTED EMAIL", "PROMOTED PUSH")
	})
	for name, c := range map[string]struct {
		at    time.Time
		admin bool
		says  string
	}{
		"self-cancel, in time":  {noon, false, "Your credit is back"},
		"self-cancel, late":     {start.Add(-time.Hour), false, "the credit is used"},
		"admin-cancel, in time": {noon, true, "Your credit is back"},
		"admin-cancel, late":    {start.Add(-time.Hour), true, "the credit is used"},
	} {
		t.Run(name+": the mail says what became of the credit", func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			_, err := h.app.Settings.UpdatePolicy(h.ctx(), h.Owner, settings.PolicyTarget{}, nil, func(p *catalog.Policy) { p.AllowLateCancellation = new(true) })
			h.ok(err)
			plan, err := h.app.Catalog.CreatePlan(h.ctx(), h.Owner, credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10, Active: true})
			h.ok(err)
			mia := h.member("Mia")
			_, err = h.app.Accounts.Subscribe(h.ctx(), h.Owner, accounts.SubscribeRequest{Member: mia.Member, Plan: plan.ID})
			h.ok(err)
			booking := h.book(mia, h.session(start)).Booking.ID
			h.run()
			h.at(c.at)
			by := mia
			if c.admin {
				by = h.Owner
			}
			_, err = h.app.Bookings.CancelBooking(h.ctx(), by, bookings.CancelRequest{ID: booking, Notify: true})
			h.ok(err)
			h.consume()
			h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
			if sent := h.post.take(); len(sent) != 1 || sent[0].Channel != email || !contains(sent[0].Text, c.says) {
				t.Errorf("%+v", sent)
			}
		})
	}
	t.Run("session cancel: the time on the recipient's clock", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		mia, noa := h.member("Mia"), h.member("Noa")
		livesIn(h, noa, "America/New_York")
		class := h.session(start)
		h.book(mia, class)
		h.book(noa, class)
		h.run()
		_, err := h.app.Schedules.CancelSession(h.ctx(), h.Owner, class, "", true)
		h.ok(err)
		h.consume()
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		for _, m := range h.post.take() {
			clock := map[string]string{"mia@example.com": "13:00", "noa@example.com": "08:00 (EDT)"}[m.To]
			if m.Channel == email && (!contains(m.Text, clock) || m.Calendar == nil || m.Calendar.Method != "CANCEL") {
				t.Errorf("%s: %s", m.To, m.Text)
			}
		}
	})
	t.Run("admin-cancel in silence", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		booking := h.book(h.member("Mia"), h.session(start)).Booking.ID
		h.run()
		_, err := h.app.Bookings.CancelBooking(h.ctx(), h.Owner, bookings.CancelRequest{ID: booking, Notify: false})
		h.ok(err)
		want(t, "nothing", h.run())
	})
	t.Run("session cancel: everyone, on the waitlist too", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		class := h.session(start, full)
		h.book(h.member("Mia"), class)
		h.book(h.member("Noa"), class)
		h.run()
		_, err := h.app.Schedules.CancelSession(h.ctx(), h.Owner, class, "Closed for repairs.", true)
		h.ok(err)
		want(t, "at once", h.run(), "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH")
		want(t, "no reminder", h.at(start.Add(-24*time.Hour)))
	})
	for _, notify := range []bool{true, false} {
		t.Run("bulk-delete", func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			class, other := h.session(start), h.session(start.Add(2*time.Hour))
			mia, noa := h.member("Mia"), h.member("Noa")
			h.book(mia, class)
			h.book(mia, other)
			queue := h.session(start.Add(4*time.Hour), full)
			h.book(mia, queue)
			h.book(noa, queue)
			h.run()
			_, err := h.app.Schedules.BulkDelete(h.ctx(), h.Owner, schedules.BulkRequest{
				Filter: session.Filter{Sessions: []tenant.SessionID{class, other, queue}}, IncludeBooked: true, Reason: "Renovation", Notify: notify,
			})
			h.ok(err)
			if notify { // who waits is told, too
				want(t, "for each session", h.run(), "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL",
					"SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH")
			} else {
				want(t, "in silence", h.run())
			}
			if n := h.count(`select count(*) from sessions where deleted_at is not null`); n != 3 {
				t.Errorf("%d sessions are deleted", n)
			}
			if n := h.count(`select count(*) from bookings where status <> 'CANCELLED'`); n != 0 {
				t.Errorf("%d bookings stand", n)
			}
			if n := h.count(`select count(*) from audit_entries where action = 'session.bulk_deleted'`); n != 1 {
				t.Errorf("%d entries of the audit log", n)
			}
			want(t, "no reminder", h.at(start.Add(-24*time.Hour)))
		})
	}
	door := &catalog.Point{Latitude: 52.5, Longitude: 13.4}
	for method, proof := range map[string]func(*house, tenant.SessionID) bookings.CheckInProof{
		"QR": func(h *house, class tenant.SessionID) bookings.CheckInProof {
			code, err := h.app.Bookings.GetQRToken(h.ctx(), h.Owner, class)
			h.ok(err)
			return bookings.CheckInProof{QR: code.Text}
		},
		"GPS": func(*house, tenant.SessionID) bookings.CheckInProof { return bookings.CheckInProof{Point: door} },
	} {
		t.Run("check-in by themselves, by "+method+": nothing", func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			_, err := h.app.Catalog.UpdateLocation(h.ctx(), h.Owner, h.Location, nil, func(l *catalog.Location) { l.Point = door })
			h.ok(err)
			soon := noon.Add(40 * time.Minute)
			mia, class := h.member("Mia"), h.session(soon)
			h.book(mia, class)
			h.run()
			in, err := h.app.Bookings.SelfCheckIn(h.ctx(), mia, class, proof(h, class))
			h.ok(err)
			if b := in.Booking; b.Status != booking.Attended || b.CheckedInAt == nil || !b.CheckedInAt.Equal(noon) || b.CheckInMethod != method {
				t.Errorf("%+v", b)
			}
			want(t, "checked in", h.run())
			want(t, "whoever is there is not reminded", h.at(soon.Add(-30*time.Minute)))
		})
	}
	t.Run("check-in by staff and its undo: nothing", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		soon := noon.Add(40 * time.Minute)
		id := h.book(h.member("Mia"), h.session(soon)).Booking.ID
		h.run()
		in, err := h.app.Bookings.CheckIn(h.ctx(), h.Owner, id)
		h.ok(err)
		if b := in.Booking; b.Status != booking.Attended || b.CheckedInAt == nil || !b.CheckedInAt.Equal(noon) || b.CheckInMethod != "MANUAL" {
			t.Errorf("%+v", b)
		}
		want(t, "checked in", h.run())
		want(t, "whoever is there is not reminded", h.at(soon.Add(-30*time.Minute)))
		undone, err := h.app.Bookings.UndoCheckIn(h.ctx(), h.Owner, id)
		h.ok(err)
		if undone.Status != booking.Confirmed || undone.CheckedInAt != nil || undone.CheckInMethod != "" {
			t.Errorf("%+v", undone)
		}
		want(t, "undone", h.run())
	})
	t.Run("moved: told, the calendar entry moves, reminders too", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		class := h.session(start)
		h.book(h.member("Mia"), class)
		h.run()
		later := start.Add(3 * time.Hour)
		h.clock.Set(noon.Add(time.Minute))
		_, _, err := h.app.Schedules.UpdateSession(h.ctx(), h.Owner, class, nil, session.Input{StartsAt: later, EndsAt: later.Add(time.Hour)}, session.TimeFields)
		h.ok(err)
		h.consume()
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		sent := h.post.take()
		if len(sent) != 2 {
			t.Fatalf("%d messages", len(sent))
		}
		for _, m := range sent {
			if m.Channel == email && (m.Calendar == nil || !contains(string(m.Calendar.Body), "SEQUENCE:600") || !contains(m.Text, "16:00")) {
				t.Errorf("%s\n%s", m.Text, m.Calendar.Body)
			}
		}
		want(t, "not at the old time", h.at(start.Add(-24*time.Hour)))
		want(t, "but at the new", h.at(later.Add(-24*time.Hour)), "REMINDER PUSH")
	})
	t.Run("rescheduled", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		booking := h.book(h.member("Mia"), h.session(start)).Booking.ID
		h.run()
		_, err := h.app.Bookings.RescheduleBooking(h.ctx(), h.Owner, bookings.RescheduleRequest{ID: booking, To: h.session(start.Add(24 * time.Hour)), Notify: true})
		h.ok(err)
		want(t, "at once", h.run(), "RESCHEDULED EMAIL", "RESCHEDULED PUSH")
		want(t, "not at the old time", h.at(start.Add(-24*time.Hour)))
		want(t, "but at the new", h.at(start), "REMINDER PUSH")
	})
	t.Run("rescheduled, in silence", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		booking := h.book(h.member("Mia"), h.session(start)).Booking.ID
		h.run()
		_, err := h.app.Bookings.RescheduleBooking(h.ctx(), h.Owner, bookings.RescheduleRequest{ID: booking, To: h.session(start.Add(24 * time.Hour)), Notify: false})
		h.ok(err)
		want(t, "at once", h.run())
		want(t, "not at the old time", h.at(start.Add(-24*time.Hour)))
		want(t, "reminded at the new, all the same", h.at(start), "REMINDER PUSH")
	})
	t.Run("a device that was not seen for 60 days is forgotten", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		mia := h.member("Mia")
		h.clock.Set(noon.Add(60*24*time.Hour + time.Second))
		_, err := h.app.Accounts.RegisterDevice(h.ctx(), mia, member.Android, "new")
		h.ok(err)
		_, err = h.app.Housekeeping.SweepTenant(h.ctx(), h.Tenant)
		h.ok(err)
		if n := h.count(`select count(*) from devices`); n != 1 {
			t.Errorf("%d devices", n)
		}
	})
}
