package messages_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Europe's clocks go forward in the night to 29 March 2026, and back in the night to 25 October. Reminders come so long
// before the start as they say, on whichever side of that, and say it on the recipient's clock.
func TestReminders_AcrossClockChanges(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		start time.Time // on the first day with the new time
		clock string    // what it shows a day before
	}{
		"forward": {time.Date(2026, 3, 29, 18, 0, 0, 0, berlin), "17:00"}, // the day has 23 hours
		"back":    {time.Date(2026, 10, 25, 18, 0, 0, 0, berlin), "19:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			h.Clock.Set(c.start.AddDate(0, 0, -5))
			mia := h.AddReachable("Mia")
			h.MustPlace(mia, h.SessionAt(c.start))
			h.Run()
			day := c.start.Add(-24 * time.Hour)
			if got := day.In(berlin).Format("15:04"); got != c.clock {
				t.Fatalf("the clock shows %s", got)
			}
			remindedAt := func(at time.Time, says ...string) {
				t.Helper()
				if early := h.RunAt(at.Add(-time.Second)); len(early) > 0 && early[0] == "REMINDER PUSH" {
					t.Errorf("before %v: %v", at, early)
				}
				h.Clock.Set(at)
				h.Plan()
				h.Send()
				sent := h.Provider.Take()
				if len(sent) != 1 || sent[0].Data["topic"] != string(notify.Reminder) {
					t.Fatalf("at %v: %v", at, sent)
				}
				for _, text := range says {
					if !contains(sent[0].Title+" "+sent[0].Text, text) {
						t.Errorf("%q lacks %q", sent[0].Title+" "+sent[0].Text, text)
					}
				}
			}
			remindedAt(day, "18:00", "in 24 hours")
			remindedAt(c.start.Add(-30*time.Minute), "18:00", "in 30 minutes")
		})
		t.Run(name+", moved over it", func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			h.Clock.Set(c.start.AddDate(0, 0, -5))
			class := h.SessionAt(c.start)
			h.MustPlace(h.AddReachable("Mia"), class)
			h.Run()
			move := func(to time.Time) {
				t.Helper()
				_, _, err := h.App.Schedules.UpdateSession(
					h.T.Context(), h.Owner, class, nil, session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}, session.TimeFields,
				)
				h.NoError(err)
				h.Run()
			}
			before := c.start.AddDate(0, 0, -1) // the same time by the clock, 23 or 25 hours earlier
			move(before)
			h.Clock.Set(h.Clock.Now().Add(time.Minute))
			move(c.start.AddDate(0, 0, 1))
			for _, at := range []time.Time{
				before.Add(-24 * time.Hour), before.Add(-30 * time.Minute), c.start.Add(-24 * time.Hour),
				c.start.Add(-30 * time.Minute),
			} {
				if got := h.RunAt(at); len(got) > 0 && got[0] == "REMINDER PUSH" {
					t.Errorf("reminded at %v, though it was moved", at)
				}
			}
			if got := h.RunAt(c.start.AddDate(0, 0, 1).Add(-24 * time.Hour)); len(got) != 1 || got[0] != "REMINDER PUSH" {
				t.Errorf("not reminded of the new time: %v", got)
			}
		})
	}
}

// A tenant reminds when it likes.
func TestReminders_AreConfigurable(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	_, err := h.App.Messages.UpdateNotificationSettings(
		h.T.Context(), h.Owner, nil,
		func(s *notify.Settings) { s.Reminders = []time.Duration{2 * time.Hour, 90 * time.Minute} },
	)
	h.NoError(err)
	start := testkit.Noon.Add(48 * time.Hour)
	booking := h.MustPlace(h.AddReachable("Mia"), h.SessionAt(start)).Booking.ID
	h.Run()
	for _, c := range []struct {
		before time.Duration
		want   []string
	}{{24 * time.Hour, nil}, {2 * time.Hour, []string{"REMINDER PUSH"}}} {
		if diff := cmp.Diff(c.want, h.RunAt(start.Add(-c.before))); diff != "" {
			t.Errorf("%v before: %s", c.before, diff)
		}
	}
	_, err = h.App.Bookings.CancelBooking(h.T.Context(), h.Owner, bookings.CancelRequest{ID: booking})
	h.NoError(err)
	if got := h.RunAt(start.Add(-90 * time.Minute)); slices.Contains(got, "REMINDER PUSH") {
		t.Errorf("a cancelled booking is reminded of: %v", got)
	}
	h.WantLog("the log", notify.Reminder, "PUSH SENT", " DROPPED NOT_BOOKED")
}

// One calendar entry through a booking's life: its UID stays, its SEQUENCE rises, and in the end it is taken out.
func TestCalendarEntry_FollowsItsBooking(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	mia := h.AddReachable("Mia")
	h.RemoveDevices(mia)
	start := testkit.Noon.Add(72 * time.Hour)
	class := h.SessionAt(start)
	booking := h.MustPlace(mia, class).Booking.ID
	field := func(body, name string) string {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + name + `:(.*)\r$`).FindStringSubmatch(body)
		if found == nil {
			t.Fatalf("no %s in\n%s", name, body)
		}
		return found[1]
	}
	uid, last := "", -1
	arrives := func(what, method, begins string) {
		t.Helper()
		h.Plan()
		h.Send()
		sent := h.Provider.Take()
		if len(sent) != 1 || sent[0].Calendar == nil || string(sent[0].Calendar.Method) != method {
			t.Fatalf("%s: %+v", what, sent)
		}
		body := string(sent[0].Calendar.Body)
		if uid == "" {
			uid = field(body, "UID")
		}
		sequence, err := strconv.Atoi(field(body, "SEQUENCE"))
		h.NoError(err)
		if field(body, "UID") != uid || field(body, "METHOD") != method || sequence <= last ||
			field(body, "DTSTART") != begins {
			t.Errorf("%s: after sequence %d of %s comes\n%s", what, last, uid, body)
		}
		last = sequence
		h.Clock.Set(h.Clock.Now().Add(time.Second))
	}
	arrives("booked", "REQUEST", "20260319T120000Z")
	_, err := h.App.Bookings.RescheduleBooking(
		h.T.Context(), h.Owner,
		bookings.RescheduleRequest{ID: booking, To: h.SessionAt(start.Add(2 * time.Hour)), Notify: true},
	)
	h.NoError(err)
	arrives("rescheduled", "REQUEST", "20260319T140000Z")
	_, err = h.App.Bookings.RescheduleBooking(
		h.T.Context(), h.Owner, bookings.RescheduleRequest{ID: booking, To: class, Notify: true},
	)
	h.NoError(err)
	arrives("and back", "REQUEST", "20260319T120000Z")
	later := start.Add(time.Hour)
	_, _, err = h.App.Schedules.UpdateSession(
		h.T.Context(), h.Owner, class, nil, session.Input{StartsAt: later, EndsAt: later.Add(time.Hour)}, session.TimeFields,
	)
	h.NoError(err)
	arrives("moved", "REQUEST", "20260319T130000Z")
	_, err = h.App.Bookings.CancelBooking(h.T.Context(), mia, bookings.CancelRequest{ID: booking, Notify: true})
	h.NoError(err)
	arrives("cancelled", "CANCEL", "20260319T130000Z")
	if uid != booking.String()+"@berth.example" {
		t.Errorf("its UID is %s", uid)
	}
}

// That a reminder is due is an event, too, for whoever reminds people in another way: once for each lead, at night and
// for people who want no messages as well, and never for what is cancelled or has moved.
func TestReminders_AreEvents(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	mia, noa := h.AddReachable("Mia"), h.AddReachable("Noa")
	_, err := h.App.Messages.UpdateNotificationPreferences(h.T.Context(), mia,
		messages.PreferencesEdit{Chosen: notify.Preferences{
			{Topic: notify.Reminder, Channel: push}: false, {Topic: notify.Reminder, Channel: email}: false,
		}})
	h.NoError(err)
	start := time.Date(2026, 3, 18, 22, 0, 0, 0, time.UTC) // 23:00 in Berlin
	class := h.SessionAt(start)
	booking := h.MustPlace(mia, class).Booking.ID
	off := h.MustPlace(noa, class).Booking.ID
	guest := guest(h, contact{Name: "Ida", Email: "ida@example.com"}, class)
	h.Run()
	_, err = h.App.Bookings.CancelBooking(h.T.Context(), h.Owner, bookings.CancelRequest{ID: off})
	h.NoError(err)
	due := func(want ...string) {
		t.Helper()
		// Not read as watchers do, who wait for transactions of whoever else is at the server.
		rows, err := h.DB.Owner.Query(h.T.Context(), `
select booking_id, (data->>'lead_seconds')::integer, occurred_at from events where type = 'booking.reminder_due'
and session_id = $1 and actor = 'system'`, class)
		h.NoError(err)
		var got []string
		var of tenant.BookingID
		var lead int
		var at time.Time
		_, err = pgx.ForEachRow(rows, []any{&of, &lead, &at}, func() error {
			who := map[tenant.BookingID]string{booking: "Mia", off: "Noa", guest: "Ida"}[of]
			got = append(got, fmt.Sprint(who, " ", lead, " ", at.UTC().Format(time.RFC3339)))
			return nil
		})
		h.NoError(err)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	due()
	h.RunAt(start.Add(-24 * time.Hour))
	day := []string{"Ida 86400 2026-03-17T22:00:00Z", "Mia 86400 2026-03-17T22:00:00Z"}
	due(day...)
	h.RunAt(start.Add(-15 * time.Hour)) // the night is over
	due(day...)
	h.RunAt(start.Add(-30 * time.Minute))
	due("Ida 1800 2026-03-18T21:30:00Z", day[0], "Mia 1800 2026-03-18T21:30:00Z", day[1])
}
