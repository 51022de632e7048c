package messages_test

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
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// What each act leads to, from the use case to the provider.
func TestPlanNotices_ForEachUseCase(t *testing.T) {
	t.Parallel()
	want := func(t *testing.T, what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	full := func(in *session.Input) { in.Capacity = new(1) }
	start := testkit.Noon.Add(48 * time.Hour)

	t.Run("book, confirmed", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		mia := h.AddReachable("Mia")
		h.MustPlace(mia, h.SessionAt(start))
		want(t, "at once", h.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "a second look", h.Run())
		want(t, "a day before", h.RunAt(start.Add(-24*time.Hour)), "REMINDER PUSH")
		want(t, "when check-in opens", h.RunAt(start.Add(-time.Hour)), "CHECK_IN_OPEN PUSH")
		want(t, "a minute before the reminder", h.RunAt(start.Add(-31*time.Minute)))
		want(t, "30 minutes before", h.RunAt(start.Add(-30*time.Minute)), "REMINDER PUSH")
		want(t, "at the start", h.RunAt(start))
	})
	t.Run("book, 30 minutes before: no reminder", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MustPlace(h.AddReachable("Mia"), h.SessionAt(testkit.Noon.Add(30*time.Minute)))
		want(t, "at once", h.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "later", h.RunAt(testkit.Noon.Add(29*time.Minute)))
	})
	t.Run("book, a minute more before: a reminder", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MustPlace(h.AddReachable("Mia"), h.SessionAt(testkit.Noon.Add(31*time.Minute)))
		want(t, "at once", h.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "30 minutes before", h.RunAt(testkit.Noon.Add(time.Minute)), "REMINDER PUSH")
	})
	t.Run("book, opted out of email", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		mia := h.AddReachable("Mia")
		_, err := h.App.Messages.UpdateNotificationPreferences(
			h.T.Context(), mia, messages.PreferencesEdit{Chosen: map[choice]bool{{Topic: confirmed, Channel: email}: false}},
		)
		h.NoError(err)
		h.MustPlace(mia, h.SessionAt(start))
		want(t, "at once", h.Run(), "BOOKING_CONFIRMED PUSH")
	})
	t.Run("book, opted out of reminders", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		mia := h.AddReachable("Mia")
		_, err := h.App.Messages.UpdateNotificationPreferences(h.T.Context(), mia,
			messages.PreferencesEdit{Chosen: map[choice]bool{
				{Topic: notify.Reminder, Channel: push}: false, {Topic: notify.Reminder, Channel: email}: false,
			}})
		h.NoError(err)
		h.MustPlace(mia, h.SessionAt(start))
		want(t, "at once", h.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH")
		want(t, "a day before", h.RunAt(start.Add(-24*time.Hour)))
		want(t, "30 minutes before: check-in is open, that is all", h.RunAt(start.Add(-30*time.Minute)), "CHECK_IN_OPEN PUSH")
	})
	t.Run("book, waitlisted: a mail alone; promoted by a self-cancel", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		mia, noa := h.AddReachable("Mia"), h.AddReachable("Noa")
		class := h.SessionAt(start, full)
		first := h.MustPlace(mia, class).Booking.ID
		h.MustPlace(noa, class)
		want(t, "at once", h.Run(), "BOOKING_CONFIRMED EMAIL", "BOOKING_CONFIRMED PUSH", "WAITLISTED EMAIL")
		_, err := h.App.Bookings.CancelBooking(h.T.Context(), mia, bookings.CancelRequest{ID: first, Notify: true})
		h.NoError(err)
		want(t, "the one is out, the other in", h.Run(), "BOOKING_CANCELLED EMAIL", "PROMOTED EMAIL", "PROMOTED PUSH")
		want(t, "reminded are those who come", h.RunAt(start.Add(-24*time.Hour)), "REMINDER PUSH")
	})
	t.Run("admin-cancel", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		booking := h.MustPlace(h.AddReachable("Mia"), h.SessionAt(start)).Booking.ID
		h.Run()
		_, err := h.App.Bookings.CancelBooking(
			h.T.Context(), h.Owner, bookings.CancelRequest{ID: booking, Reason: "Coach is ill.", Notify: true},
		)
		h.NoError(err)
		h.Plan()
		h.Send()
		sent := h.Provider.Take()
		if len(sent) != 1 || !contains(sent[0].Text, "Coach is ill.") || sent[0].Calendar == nil ||
			sent[0].Calendar.Method != "CANCEL" {
			t.Errorf("%+v", sent)
		}
	})
	t.Run("admin-cancel: the next one is in", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		class := h.SessionAt(start, full)
		booking := h.MustPlace(h.AddReachable("Mia"), class).Booking.ID
		h.MustPlace(h.AddReachable("Noa"), class)
		h.Run()
		_, err := h.App.Bookings.CancelBooking(h.T.Context(), h.Owner, bookings.CancelRequest{ID: booking, Notify: true})
		h.NoError(err)
		want(t, "at once", h.Run(), "BOOKING_CANCELLED EMAIL", "PROMOTED EMAIL", "PROMOTED PUSH")
	})
	for name, c := range map[string]struct {
		at    time.Time
		admin bool
		says  string
	}{
		"self-cancel, in time":  {testkit.Noon, false, "Your credit is back"},
		"self-cancel, late":     {start.Add(-time.Hour), false, "the credit is used"},
		"admin-cancel, in time": {testkit.Noon, true, "Your credit is back"},
		"admin-cancel, late":    {start.Add(-time.Hour), true, "the credit is used"},
	} {
		t.Run(name+": the mail says what became of the credit", func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			_, err := h.App.Settings.UpdatePolicy(
				h.T.Context(), h.Owner, settings.PolicyTarget{}, nil,
				func(p *catalog.Policy) { p.AllowLateCancellation = new(true) },
			)
			h.NoError(err)
			plan, err := h.App.Catalog.CreatePlan(
				h.T.Context(), h.Owner, credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10, Active: true},
			)
			h.NoError(err)
			mia := h.AddReachable("Mia")
			_, err = h.App.Accounts.Subscribe(
				h.T.Context(), h.Owner, accounts.SubscribeRequest{Member: mia.Member, Plan: plan.ID},
			)
			h.NoError(err)
			booking := h.MustPlace(mia, h.SessionAt(start)).Booking.ID
			h.Run()
			h.RunAt(c.at)
			by := mia
			if c.admin {
				by = h.Owner
			}
			_, err = h.App.Bookings.CancelBooking(h.T.Context(), by, bookings.CancelRequest{ID: booking, Notify: true})
			h.NoError(err)
			h.Plan()
			h.Send()
			if sent := h.Provider.Take(); len(sent) != 1 || sent[0].Channel != email || !contains(sent[0].Text, c.says) {
				t.Errorf("%+v", sent)
			}
		})
	}
	t.Run("session cancel: the time on the recipient's clock", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		mia, noa := h.AddReachable("Mia"), h.AddReachable("Noa")
		livesIn(h, noa, "America/New_York")
		class := h.SessionAt(start)
		h.MustPlace(mia, class)
		h.MustPlace(noa, class)
		h.Run()
		_, err := h.App.Schedules.CancelSession(h.T.Context(), h.Owner, class, "", true)
		h.NoError(err)
		h.Plan()
		h.Send()
		for _, m := range h.Provider.Take() {
			clock := map[string]string{"mia@example.com": "13:00", "noa@example.com": "08:00 (EDT)"}[m.To]
			if m.Channel == email && (!contains(m.Text, clock) || m.Calendar == nil || m.Calendar.Method != "CANCEL") {
				t.Errorf("%s: %s", m.To, m.Text)
			}
		}
	})
	t.Run("admin-cancel in silence", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		booking := h.MustPlace(h.AddReachable("Mia"), h.SessionAt(start)).Booking.ID
		h.Run()
		_, err := h.App.Bookings.CancelBooking(h.T.Context(), h.Owner, bookings.CancelRequest{ID: booking, Notify: false})
		h.NoError(err)
		want(t, "nothing", h.Run())
	})
	t.Run("session cancel: everyone, on the waitlist too", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		class := h.SessionAt(start, full)
		h.MustPlace(h.AddReachable("Mia"), class)
		h.MustPlace(h.AddReachable("Noa"), class)
		h.Run()
		_, err := h.App.Schedules.CancelSession(h.T.Context(), h.Owner, class, "Closed for repairs.", true)
		h.NoError(err)
		want(
			t, "at once", h.Run(), "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED PUSH",
			"SESSION_CANCELLED PUSH",
		)
		want(t, "no reminder", h.RunAt(start.Add(-24*time.Hour)))
	})
	for _, notify := range []bool{true, false} {
		t.Run("bulk-delete", func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			class, other := h.SessionAt(start), h.SessionAt(start.Add(2*time.Hour))
			mia, noa := h.AddReachable("Mia"), h.AddReachable("Noa")
			h.MustPlace(mia, class)
			h.MustPlace(mia, other)
			queue := h.SessionAt(start.Add(4*time.Hour), full)
			h.MustPlace(mia, queue)
			h.MustPlace(noa, queue)
			h.Run()
			_, err := h.App.Schedules.BulkDelete(h.T.Context(), h.Owner, schedules.BulkRequest{
				Filter: session.Filter{Sessions: []tenant.SessionID{class, other, queue}}, IncludeBooked: true,
				Reason: "Renovation", Notify: notify,
			})
			h.NoError(err)
			if notify { // who waits is told, too
				want(t, "for each session", h.Run(), "SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL",
					"SESSION_CANCELLED EMAIL", "SESSION_CANCELLED EMAIL",
					"SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH", "SESSION_CANCELLED PUSH")
			} else {
				want(t, "in silence", h.Run())
			}
			if n := h.Count(`select count(*) from sessions where deleted_at is not null`); n != 3 {
				t.Errorf("%d sessions are deleted", n)
			}
			if n := h.Count(`select count(*) from bookings where status <> 'CANCELLED'`); n != 0 {
				t.Errorf("%d bookings stand", n)
			}
			if n := h.Count(`select count(*) from audit_entries where action = 'session.bulk_deleted'`); n != 1 {
				t.Errorf("%d entries of the audit log", n)
			}
			want(t, "no reminder", h.RunAt(start.Add(-24*time.Hour)))
		})
	}
	door := &catalog.Point{Latitude: 52.5, Longitude: 13.4}
	for method, proof := range map[string]func(*messagetest.Studio, tenant.SessionID) bookings.CheckInProof{
		"QR": func(h *messagetest.Studio, class tenant.SessionID) bookings.CheckInProof {
			code, err := h.App.Bookings.GetQRToken(h.T.Context(), h.Owner, class)
			h.NoError(err)
			return bookings.CheckInProof{QR: code.Text}
		},
		"GPS": func(*messagetest.Studio, tenant.SessionID) bookings.CheckInProof {
			return bookings.CheckInProof{Point: door}
		},
	} {
		t.Run("check-in by themselves, by "+method+": nothing", func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			_, err := h.App.Catalog.UpdateLocation(
				h.T.Context(), h.Owner, h.Location, nil, func(l *catalog.Location) { l.Point = door },
			)
			h.NoError(err)
			soon := testkit.Noon.Add(40 * time.Minute)
			mia, class := h.AddReachable("Mia"), h.SessionAt(soon)
			h.MustPlace(mia, class)
			h.Run()
			in, err := h.App.Bookings.SelfCheckIn(h.T.Context(), mia, class, proof(h, class))
			h.NoError(err)
			if b := in.Booking; b.Status != booking.Attended || b.CheckedInAt == nil || !b.CheckedInAt.Equal(testkit.Noon) ||
				b.CheckInMethod != method {
				t.Errorf("%+v", b)
			}
			want(t, "checked in", h.Run())
			want(t, "whoever is there is not reminded", h.RunAt(soon.Add(-30*time.Minute)))
		})
	}
	t.Run("check-in by staff and its undo: nothing", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		soon := testkit.Noon.Add(40 * time.Minute)
		id := h.MustPlace(h.AddReachable("Mia"), h.SessionAt(soon)).Booking.ID
		h.Run()
		in, err := h.App.Bookings.CheckIn(h.T.Context(), h.Owner, id)
		h.NoError(err)
		if b := in.Booking; b.Status != booking.Attended || b.CheckedInAt == nil || !b.CheckedInAt.Equal(testkit.Noon) ||
			b.CheckInMethod != "MANUAL" {
			t.Errorf("%+v", b)
		}
		want(t, "checked in", h.Run())
		want(t, "whoever is there is not reminded", h.RunAt(soon.Add(-30*time.Minute)))
		undone, err := h.App.Bookings.UndoCheckIn(h.T.Context(), h.Owner, id)
		h.NoError(err)
		if undone.Status != booking.Confirmed || undone.CheckedInAt != nil || undone.CheckInMethod != "" {
			t.Errorf("%+v", undone)
		}
		want(t, "undone", h.Run())
	})
	t.Run("moved: told, the calendar entry moves, reminders too", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		class := h.SessionAt(start)
		h.MustPlace(h.AddReachable("Mia"), class)
		h.Run()
		later := start.Add(3 * time.Hour)
		h.Clock.Set(testkit.Noon.Add(time.Minute))
		_, _, err := h.App.Schedules.UpdateSession(
			h.T.Context(), h.Owner, class, nil, session.Input{StartsAt: later, EndsAt: later.Add(time.Hour)}, session.TimeFields,
		)
		h.NoError(err)
		h.Plan()
		h.Send()
		sent := h.Provider.Take()
		if len(sent) != 2 {
			t.Fatalf("%d messages", len(sent))
		}
		for _, m := range sent {
			if m.Channel == email &&
				(m.Calendar == nil || !contains(string(m.Calendar.Body), "SEQUENCE:600") || !contains(m.Text, "16:00")) {
				t.Errorf("%s\n%s", m.Text, m.Calendar.Body)
			}
		}
		want(t, "not at the old time", h.RunAt(start.Add(-24*time.Hour)))
		want(t, "but at the new", h.RunAt(later.Add(-24*time.Hour)), "REMINDER PUSH")
	})
	t.Run("rescheduled", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		booking := h.MustPlace(h.AddReachable("Mia"), h.SessionAt(start)).Booking.ID
		h.Run()
		_, err := h.App.Bookings.RescheduleBooking(
			h.T.Context(), h.Owner,
			bookings.RescheduleRequest{ID: booking, To: h.SessionAt(start.Add(24 * time.Hour)), Notify: true},
		)
		h.NoError(err)
		want(t, "at once", h.Run(), "RESCHEDULED EMAIL", "RESCHEDULED PUSH")
		want(t, "not at the old time", h.RunAt(start.Add(-24*time.Hour)))
		want(t, "but at the new", h.RunAt(start), "REMINDER PUSH")
	})
	t.Run("rescheduled, in silence", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		booking := h.MustPlace(h.AddReachable("Mia"), h.SessionAt(start)).Booking.ID
		h.Run()
		_, err := h.App.Bookings.RescheduleBooking(
			h.T.Context(), h.Owner,
			bookings.RescheduleRequest{ID: booking, To: h.SessionAt(start.Add(24 * time.Hour)), Notify: false},
		)
		h.NoError(err)
		want(t, "at once", h.Run())
		want(t, "not at the old time", h.RunAt(start.Add(-24*time.Hour)))
		want(t, "reminded at the new, all the same", h.RunAt(start), "REMINDER PUSH")
	})
	t.Run("a device that was not seen for 60 days is forgotten", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		mia := h.AddReachable("Mia")
		h.Clock.Set(testkit.Noon.Add(60*24*time.Hour + time.Second))
		_, err := h.App.Accounts.RegisterDevice(h.T.Context(), mia, member.Android, "new")
		h.NoError(err)
		_, err = h.App.Housekeeping.SweepTenant(h.T.Context(), h.Tenant)
		h.NoError(err)
		if n := h.Count(`select count(*) from devices`); n != 1 {
			t.Errorf("%d devices", n)
		}
	})
}
