package messages_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// resident is a member in a time zone, with the settings that decide their messages.
type resident struct {
	tenant.Caller
	zone    *time.Location
	stopped bool
	visits  map[string]*visit // by the booking's id
	sent    map[delivery.Channel][]time.Time
}

type visit struct {
	id     tenant.BookingID
	in     tenant.SessionID
	start  time.Time
	booked bool
}

// deed is an action of a member at a time.
type deed struct {
	at time.Time
	do func()
}

// changes are the moments of 2026 at which a zone's clocks go forward or back.
func changes(zone *time.Location) (all []time.Time) {
	last := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := last; at.Year() == 2026; at = at.Add(30 * time.Minute) {
		_, before := last.In(zone).Zone()
		if _, now := at.In(zone).Zone(); now != before {
			all = append(all, at)
		}
		last = at
	}
	return all
}

// A year's changes of clocks in zones all over the world, from the use case to the provider: people book, are moved,
// cancel and say stop around each of them. Every message is looked at without asking the rules or the database.
func TestClockChanges_OfAllZones(t *testing.T) {
	t.Parallel()
	zones := []string{
		"America/Los_Angeles", "America/New_York", "America/Havana", "America/St_Johns", "America/Santiago",
		"Atlantic/Azores", "Europe/London",
		"Europe/Berlin", "Africa/Cairo", "Asia/Jerusalem", "Australia/Adelaide", "Australia/Lord_Howe", "Pacific/Auckland",
		"Pacific/Chatham",
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		y := clocksChange(t, zones, "")
		for against, all := range y.faults {
			t.Errorf("%d messages against %s, such as %s", len(all), against, all[0])
		}
		for topic, least := range map[notify.Topic]int{
			confirmed: 50, notify.Rescheduled: 5, notify.Reminder: 50, notify.CheckInOpen: 5,
		} {
			test.True(t, y.looked[topic] >= least, test.Sprintf("%d messages about %s", y.looked[topic], topic))
		}
		for _, why := range []notify.Reason{
			notify.QuietHoursReason, notify.FrequencyCap, notify.OptedOut, notify.NotBooked, notify.Moved,
		} {
			test.NotEqOp(t, 0, y.Count(`select count(*) from deliveries where reason = $1`, string(why)),
				test.Sprintf("nothing was held back because of %s", why))
		}
	})
	// Where one of them is told nothing, it is noticed.
	for _, off := range []string{"quiet hours", "STOP", "the cap", "freshness"} {
		t.Run("without "+off, func(t *testing.T) {
			t.Parallel()
			y := clocksChange(t, []string{"America/Los_Angeles"}, off)
			test.NotEqOp(t, 0, len(y.faults[off]), test.Sprintf("the model missed it: %v", y.faults))
		})
	}
}

type changedClocks struct {
	*messagetest.Studio
	looked map[notify.Topic]int
	faults map[string][]string // by what they are against
}

// clocksChange lets the year go by for people in zones. What is off stays unsaid: settings, an SMS, a cancellation.
func clocksChange(t *testing.T, zones []string, off string) *changedClocks {
	t.Helper()
	studio := messagetest.New(t)
	y := &changedClocks{studio, make(map[notify.Topic]int), make(map[string][]string)}
	fault := func(against, format string, args ...any) {
		y.faults[against] = append(y.faults[against], fmt.Sprintf(format, args...))
	}
	expect.OK(studio.T)(studio.App.Messages.UpdateNotificationSettings(studio.T.Context(), studio.Owner, nil,
		func(s *notify.Settings) {
			if off == "quiet hours" {
				s.QuietHours = notify.QuietHours{}
			}
			if off != "the cap" {
				s.PerDay[push], s.PerDay[sms] = 3, 2
			}
		}))
	residents := make(map[string]*resident) // by token, address and number
	settle := func(name string, zone *time.Location) *resident {
		t.Helper()
		r := &resident{
			Caller: studio.AddReachable(name), zone: zone, visits: make(map[string]*visit),
			sent: make(map[delivery.Channel][]time.Time),
		}
		livesIn(studio, r.Caller, zone.String())
		me := expect.Value(studio.App.Accounts.GetMe(studio.T.Context(), r.Caller))(studio.T)
		for _, to := range []string{"device-of-" + r.Subject, me.Member.Email, me.Member.Phone} {
			residents[to] = r
		}
		return r
	}
	var deeds []deed
	plan := func(at time.Time, do func()) { deeds = append(deeds, deed{at, do}) }
	visits := func(r *resident, start time.Time) *visit {
		v := &visit{in: studio.SessionAt(start), start: start, booked: true}
		v.id = studio.MustPlace(r.Caller, v.in).Booking.ID
		r.visits[v.id.String()] = v
		return v
	}
	says := func(r *resident, text string) {
		if r.stopped = text == "STOP"; off == "STOP" {
			return
		}
		expect.OK(studio.T)(studio.App.Messages.AnswerSMS(studio.T.Context(), studio.Tenant, studio.PhoneOf(r.Caller), text))
	}
	for i, name := range zones {
		zone := expect.Value(time.LoadLocation(name))(studio.T)
		mia, noa := settle(fmt.Sprint("Mia", i), zone), settle(fmt.Sprint("Noa", i), zone)
		studio.RemoveDevices(noa.Caller)
		expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(studio.T.Context(), noa.Caller,
			messages.PreferencesEdit{Chosen: notify.Preferences{
				{Topic: confirmed, Channel: email}: false, {Topic: confirmed, Channel: sms}: true,
				{Topic: notify.Reminder, Channel: email}: false, {Topic: notify.Reminder, Channel: sms}: true,
			}}))
		all := changes(zone)
		must.EqOp(t, 2, len(all), must.Sprintf("%s has %d changes", name, len(all)))
		for _, change := range all {
			var morning, night *visit
			plan(change.Add(-30*time.Hour), func() {
				morning, night = visits(mia, change.Add(5*time.Hour)), visits(mia, change.Add(20*time.Hour))
				visits(noa, change.Add(10*time.Hour))
			})
			if i%3 == 0 {
				plan(change.Add(-12*time.Hour), func() {
					morning.start = morning.start.Add(time.Hour)
					expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
						studio.T.Context(), studio.Owner, morning.in, nil,
						session.Input{StartsAt: morning.start, EndsAt: morning.start.Add(time.Hour)}, session.TimeFields,
					))
				})
			}
			if i%2 == 0 {
				plan(change.Add(2*time.Hour), func() {
					if night.booked = false; off == "freshness" {
						return
					}
					expect.OK(studio.T)(
						studio.App.Bookings.CancelBooking(studio.T.Context(), studio.Owner, bookings.CancelRequest{
							ID: night.id, OverrideWindow: true,
						}),
					)
				})
				plan(change.Add(-2*time.Hour), func() { says(noa, "STOP") })
				plan(change.Add(24*time.Hour), func() { says(noa, "START") })
			}
		}
	}
	slices.SortStableFunc(deeds, func(a, b deed) int { return a.at.Compare(b.at) })

	look := func(m delivery.Message, now time.Time) {
		t.Helper()
		r := residents[m.To]
		local := now.In(r.zone)
		topic, v := notify.Topic(m.Data["topic"]), r.visits[m.Data["booking_id"]]
		what := fmt.Sprintf("%s by %s at %s", topic, m.Channel, local.Format("Mon 2 Jan 15:04 MST"))
		if clock := local.Format("15:04"); m.Channel != email && (clock >= "21:00" || clock < "08:00") {
			fault("quiet hours", "%s", what)
		}
		if m.Channel == sms && r.stopped {
			fault("STOP", "%s", what)
		}
		recent := slices.DeleteFunc(
			slices.Clone(r.sent[m.Channel]), func(at time.Time) bool { return now.Sub(at) >= 24*time.Hour },
		)
		if most := map[delivery.Channel]int{push: 3, sms: 2, email: 20}[m.Channel]; len(recent) >= most {
			fault("the cap", "%s, one more than %d within a day", what, most)
		}
		r.sent[m.Channel] = append(recent, now)
		if v == nil || !v.booked || !now.Before(v.start) {
			fault("freshness", "%s: %+v", what, v)
			return
		}
		if clock := v.start.In(r.zone).Format("15:04"); topic != notify.CheckInOpen &&
			!contains(m.Title+m.Subject+m.Text, clock) {
			fault("the recipient's clock", "%s does not say %s: %q", what, clock, m.Title+" "+m.Subject+" "+m.Text)
		}
		y.looked[topic]++
	}
	for next := nextDue(studio); len(deeds) > 0 || !next.IsZero(); next = nextDue(studio) {
		if len(deeds) > 0 && (next.IsZero() || deeds[0].at.Before(next)) {
			studio.Clock.Set(deeds[0].at)
			deeds[0].do()
			deeds = deeds[1:]
		} else {
			studio.Clock.Set(next)
		}
		studio.Plan()
		studio.Send()
		for _, m := range studio.Provider.Take() {
			look(m, studio.Clock.Now())
		}
	}
	return y
}

// nextDue is when the next notice is to be looked at; zero: there is none.
func nextDue(studio *messagetest.Studio) time.Time {
	studio.T.Helper()
	var at *time.Time
	studio.NoError(
		studio.DB.Owner.QueryRow(studio.T.Context(), `select min(due_at) from notices where done_at is null`).Scan(&at),
	)
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
