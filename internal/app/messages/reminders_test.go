package messages_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// Europe's clocks go forward in the night to 29 March 2026, and back in the night to 25 October. Reminders come so long
// before the start as they say, on whichever side of that, and say it on the recipient's clock.
func TestReminders_AcrossClockChanges(t *testing.T) {
	t.Parallel()
	berlin := expect.Value(time.LoadLocation("Europe/Berlin"))(t)
	for name, c := range map[string]struct {
		start time.Time // on the first day with the new time
		clock string    // what it shows a day before
	}{
		"forward": {time.Date(2026, 3, 29, 18, 0, 0, 0, berlin), "17:00"}, // the day has 23 hours
		"back":    {time.Date(2026, 10, 25, 18, 0, 0, 0, berlin), "19:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t)
			studio.Clock.Set(c.start.AddDate(0, 0, -5))
			studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(c.start))
			studio.Run()
			day := c.start.Add(-24 * time.Hour)
			must.EqOp(t, c.clock, day.In(berlin).Format("15:04"), must.Sprint("the clock shows"))
			remindedAt := func(at time.Time, says ...string) {
				t.Helper()
				early := studio.RunAt(at.Add(-time.Second))
				test.False(t, len(early) > 0 && early[0] == "REMINDER PUSH", test.Sprintf("before %v: %v", at, early))
				studio.Clock.Set(at)
				studio.Plan()
				studio.Send()
				sent := studio.Provider.Take()
				must.SliceLen(t, 1, sent, must.Sprintf("at %v: %v", at, sent))
				must.EqOp(t, string(notify.Reminder), sent[0].Data["topic"], must.Sprintf("at %v: %v", at, sent))
				must.True(t, sent[0].HighPriority, must.Sprintf("at %v: %v", at, sent))
				for _, text := range says {
					test.True(
						t, contains(sent[0].Title+" "+sent[0].Text, text),
						test.Sprintf("%q lacks %q", sent[0].Title+" "+sent[0].Text, text),
					)
				}
			}
			remindedAt(day, "18:00", "in 24 hours")
			remindedAt(c.start.Add(-30*time.Minute), "18:00", "in 30 minutes")
		})
		t.Run(name+", moved over it", func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t)
			studio.Clock.Set(c.start.AddDate(0, 0, -5))
			class := studio.SessionAt(c.start)
			studio.MustPlace(studio.AddReachable("Mia"), class)
			studio.Run()
			move := func(to time.Time) {
				t.Helper()
				expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
					studio.T.Context(), studio.Owner, class, nil, session.Input{
						StartsAt: to, EndsAt: to.Add(time.Hour),
					}, session.TimeFields,
				))
				studio.Run()
			}
			before := c.start.AddDate(0, 0, -1) // the same time by the clock, 23 or 25 hours earlier
			move(before)
			studio.Clock.Set(studio.Clock.Now().Add(time.Minute))
			move(c.start.AddDate(0, 0, 1))
			for _, at := range []time.Time{
				before.Add(-24 * time.Hour), before.Add(-30 * time.Minute), c.start.Add(-24 * time.Hour),
				c.start.Add(-30 * time.Minute),
			} {
				got := studio.RunAt(at)
				test.False(t, len(got) > 0 && got[0] == "REMINDER PUSH", test.Sprintf("reminded at %v, though it was moved", at))
			}
			got := studio.RunAt(c.start.AddDate(0, 0, 1).Add(-24 * time.Hour))
			must.SliceLen(t, 1, got, must.Sprintf("not reminded of the new time: %v", got))
			test.EqOp(t, "REMINDER PUSH", got[0], test.Sprintf("not reminded of the new time: %v", got))
		})
	}
}

// A tenant reminds when it likes.
func TestReminders_AreConfigurable(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	expect.OK(studio.T)(studio.App.Messages.UpdateNotificationSettings(
		studio.T.Context(), studio.Owner, nil,
		func(s *notify.Settings) { s.Reminders = []time.Duration{2 * time.Hour, 90 * time.Minute} },
	))
	start := testkit.Noon.Add(48 * time.Hour)
	booking := studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(start)).Booking.ID
	studio.Run()
	for _, c := range []struct {
		before time.Duration
		want   []string
	}{{24 * time.Hour, nil}, {2 * time.Hour, []string{"REMINDER PUSH"}}} {
		test.Eq(t, c.want, studio.RunAt(start.Add(-c.before)), test.Sprintf("%v before", c.before))
	}
	expect.OK(studio.T)(
		studio.App.Bookings.CancelBooking(studio.T.Context(), studio.Owner, bookings.CancelRequest{
			ID: booking, OverrideWindow: true,
		}),
	)
	got := studio.RunAt(start.Add(-90 * time.Minute))
	test.False(t, slices.Contains(got, "REMINDER PUSH"), test.Sprintf("a cancelled booking is reminded of: %v", got))
	studio.WantLog("the log", notify.Reminder, "PUSH SENT", " DROPPED NOT_BOOKED")
}

// One calendar entry through a booking's life: its UID stays, its SEQUENCE rises, and in the end it is taken out.
func TestCalendarEntry_FollowsItsBooking(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, func(_ *worker.Config, ac *app.Config) { ac.MailFrom = "mail@berth.example" })
	mia := studio.AddReachable("Mia")
	studio.RemoveDevices(mia)
	start := testkit.Noon.Add(72 * time.Hour)
	class := studio.SessionAt(start)
	booking := studio.MustPlace(mia, class).Booking.ID
	field := func(body, name string) string {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + name + `:(.*)\r$`).FindStringSubmatch(body)
		must.NotNil(t, found, must.Sprintf("no %s in\n%s", name, body))
		return found[1]
	}
	uid, last := "", -1
	arrives := func(what, method, begins string) {
		t.Helper()
		studio.Plan()
		studio.Send()
		sent := studio.Provider.Take()
		must.SliceLen(t, 1, sent, must.Sprintf("%s: %+v", what, sent))
		must.NotNil(t, sent[0].Calendar, must.Sprintf("%s: %+v", what, sent))
		must.EqOp(t, method, string(sent[0].Calendar.Method), must.Sprintf("%s: %+v", what, sent))
		body := string(sent[0].Calendar.Body)
		if uid == "" {
			uid = field(body, "UID")
		}
		sequence := expect.Value(strconv.Atoi(field(body, "SEQUENCE")))(studio.T)
		test.EqOp(t, uid, field(body, "UID"),
			test.Sprintf("%s: after sequence %d of %s comes\n%s", what, last, uid, body))
		test.EqOp(t, method, field(body, "METHOD"),
			test.Sprintf("%s: after sequence %d of %s comes\n%s", what, last, uid, body))
		test.Greater(t, last, sequence, test.Sprintf("%s: after sequence %d of %s comes\n%s", what, last, uid, body))
		test.EqOp(t, begins, field(body, "DTSTART"),
			test.Sprintf("%s: after sequence %d of %s comes\n%s", what, last, uid, body))
		test.True(t, contains(body, ":mailto:mail@berth.example\r\n"),
			test.Sprintf("%s: after sequence %d of %s comes\n%s", what, last, uid, body))
		last = sequence
		studio.Clock.Set(studio.Clock.Now().Add(time.Second))
	}
	arrives("booked", "REQUEST", "20260319T120000Z")
	expect.OK(studio.T)(studio.App.Bookings.RescheduleBooking(
		studio.T.Context(), studio.Owner,
		bookings.RescheduleRequest{ID: booking, To: studio.SessionAt(start.Add(2 * time.Hour)), Notify: true},
	))
	arrives("rescheduled", "REQUEST", "20260319T140000Z")
	expect.OK(studio.T)(studio.App.Bookings.RescheduleBooking(
		studio.T.Context(), studio.Owner, bookings.RescheduleRequest{ID: booking, To: class, Notify: true},
	))
	arrives("and back", "REQUEST", "20260319T120000Z")
	later := start.Add(time.Hour)
	expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
		studio.T.Context(), studio.Owner, class, nil, session.Input{
			StartsAt: later, EndsAt: later.Add(time.Hour),
		}, session.TimeFields,
	))
	arrives("moved", "REQUEST", "20260319T130000Z")
	expect.OK(studio.T)(
		studio.App.Bookings.CancelBooking(studio.T.Context(), mia, bookings.CancelRequest{ID: booking, Notify: true}),
	)
	arrives("cancelled", "CANCEL", "20260319T130000Z")
	test.EqOp(t, booking.String()+"@berth.example", uid, test.Sprint("its UID"))
}

// A due reminder is also an event, for programs that remind people in another way. There is one for each lead time,
// also at night and for people who want no messages, and none for a booking that was cancelled or moved.
func TestReminders_AreEvents(t *testing.T) {
	t.Parallel()
	told := 0
	studio := messagetest.New(t, func(_ *worker.Config, ac *app.Config) {
		ac.Committed = func(tenant.TenantID) { told++ }
	})
	mia, noa := studio.AddReachable("Mia"), studio.AddReachable("Noa")
	expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(studio.T.Context(), mia,
		messages.PreferencesEdit{Chosen: notify.Preferences{
			{Topic: notify.Reminder, Channel: push}: false, {Topic: notify.Reminder, Channel: email}: false,
		}}))
	start := time.Date(2026, 3, 18, 22, 0, 0, 0, time.UTC) // 23:00 in Berlin
	class := studio.SessionAt(start)
	booking := studio.MustPlace(mia, class).Booking.ID
	off := studio.MustPlace(noa, class).Booking.ID
	guest := guest(studio, contact{Name: "Ida", Email: "ida@example.com"}, class)
	studio.Run()
	expect.OK(studio.T)(
		studio.App.Bookings.CancelBooking(studio.T.Context(), studio.Owner, bookings.CancelRequest{
			ID: off, OverrideWindow: true,
		}),
	)
	due := func(want ...string) {
		t.Helper()
		// Not read like a watcher, which waits for the transactions of all others on the server.
		rows := expect.Value(studio.DB.Owner.Query(studio.T.Context(), `
select booking_id, (data->>'lead_seconds')::integer, occurred_at from events where type = 'booking.reminder_due'
and session_id = $1 and actor = 'system'`, class))(studio.T)
		var (
			got  []string
			of   tenant.BookingID
			lead int
			at   time.Time
		)
		expect.OK(studio.T)(pgx.ForEachRow(rows, []any{&of, &lead, &at}, func() error {
			who := map[tenant.BookingID]string{booking: "Mia", off: "Noa", guest: "Ida"}[of]
			got = append(got, fmt.Sprint(who, " ", lead, " ", at.UTC().Format(time.RFC3339)))
			return nil
		}))
		slices.Sort(got)
		test.Eq(t, want, got)
	}
	due()
	told = 0
	studio.RunAt(start.Add(-24 * time.Hour))
	test.EqOp(t, 1, told, test.Sprint("watchers look for events"))
	day := []string{"Ida 86400 2026-03-17T22:00:00Z", "Mia 86400 2026-03-17T22:00:00Z"}
	due(day...)
	studio.RunAt(start.Add(-15 * time.Hour)) // the night is over
	due(day...)
	studio.RunAt(start.Add(-30 * time.Minute))
	due("Ida 1800 2026-03-18T21:30:00Z", day[0], "Mia 1800 2026-03-18T21:30:00Z", day[1])
}

// Programs that remind people in other ways find the booking by the partner's reference, and see whether it is paid.
func TestReminders_AreEventsThatSayWhatIsBooked(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	studio.TakePayments()
	mia := studio.AddReachable("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 10}))
	start := testkit.Noon.Add(48 * time.Hour)
	id := expect.Value(studio.Book(mia, studio.SessionAt(start), func(r *bookings.BookRequest) {
		r.Party, r.ExternalRef = 2, "x-1"
	}))(t).Booking.ID
	studio.Run()
	studio.RunAt(start.Add(-24 * time.Hour))
	e := studio.LastEvent(event.BookingReminderDue{}.Type())
	test.EqOp(t, id, e.Booking)
	test.Eq[event.Data](t, event.BookingReminderDue{LeadSeconds: 86_400}, e.Data)
	test.EqOp(t, string(booking.Confirmed), e.Facts.Status)
	test.EqOp(t, 2, e.Facts.Party)
	test.EqOp(t, "x-1", e.Facts.ExternalRef)
	test.EqOp(t, string(payment.Unpaid), e.Facts.Payment.Status)
	test.EqOp(t, 0, e.Facts.Credits)
	test.EqOp(t, pack.ID, e.Facts.Subscription)
}
