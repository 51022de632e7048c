package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var monday = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// scene has the input of Decide. By default the notice is sent by push.
type scene struct {
	N Notice
	S Settings
	R Recipient
	M Facts
}

func newScene(t *testing.T) *scene {
	t.Helper()
	start := monday.Add(30 * time.Minute)
	return &scene{
		N: Notice{
			Topic: Reminder, Lane: Alert, Booking: tenant.New[tenant.BookingID](monday), StartsAt: start,
			ExpiresAt: start,
		},
		S: DefaultSettings(),
		R: Recipient{
			Known: true, Phone: "+4930123456", Email: "mia@example.com", Zone: zone(t, "Europe/Berlin"),
			Devices: []Device{{Token: "t"}}, Sent: map[Channel][]time.Time{},
		},
		M: Facts{Booked: true, StartsAt: start},
	}
}

// offered returns the scene with an offer for a session tomorrow.
func offered(t *testing.T) *scene {
	t.Helper()
	start := monday.Add(24 * time.Hour)
	return new(vary.From(*newScene(t), set{
		"N.Topic": Offered, "N.StartsAt": start, "N.ExpiresAt": start,
		"M": Facts{StartsAt: start, Waiting: true, Offer: &Offer{Live: true}},
	}))
}

type set = vary.Fields

func times(n int, last time.Time, apart time.Duration) []time.Time {
	all := make([]time.Time, n)
	for i := range all {
		all[i] = last.Add(-time.Duration(n-1-i) * apart)
	}
	return all
}

func TestDecide_AppliesTheFourGuardrails(t *testing.T) {
	t.Parallel()
	night := time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC)
	morning := time.Date(2026, 3, 17, 7, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what   string
		at     time.Time
		offer  bool // it is an offer, not a reminder
		differ set
		want   Decision
	}{
		{"nothing holds it back", monday, false, nil, Decision{Action: Send, Channel: Push}},

		// Consent
		{"no device, and no SMS wanted", monday, false, set{"R.Devices": nil}, Decision{Action: Send, Channel: Email}},
		{
			"no device, SMS wanted",
			monday, false, set{"R.Devices": nil, "R.Preferences": Preferences{{Reminder, SMS}: true}},
			Decision{Action: Send, Channel: SMS},
		},
		{
			"stopped SMS", monday, false,
			set{
				"R.Devices": nil, "R.Preferences": Preferences{{Reminder, SMS}: true},
				"R.Stopped": map[Channel]Reason{SMS: OptedOutReason},
			},
			Decision{Action: Send, Channel: Email},
		},
		{
			"nothing chosen",
			monday, false, set{"R.Preferences": Preferences{{Reminder, Push}: false, {Reminder, Email}: false}},
			Decision{Action: Drop, Reason: Unsubscribed},
		},
		{
			"no address at all", monday, false, set{"R.Devices": nil, "R.Email": ""},
			Decision{Action: Drop, Reason: Unreachable},
		},
		{
			"bounced",
			monday, false, set{"R.Devices": nil, "R.Stopped": map[Channel]Reason{Email: BouncedReason}},
			Decision{Action: Drop, Reason: BouncedReason},
		},
		{
			"push has failed", monday, false, set{"N.FailedChannels": []Channel{Push}},
			Decision{Action: Send, Channel: Email},
		},
		{
			"everything has failed", monday, false, set{"N.FailedChannels": []Channel{Push, Email}},
			Decision{Action: Drop, Reason: ProviderRefused},
		},
		{
			"rules keep SMS for others",
			monday, true, set{"R.Devices": nil, "M.Offer.NoSMS": true},
			Decision{Action: Drop, Reason: Unreachable},
		},

		// Quiet hours
		{
			"a mail at night", night, true, set{"N.Lane": Mail},
			Decision{Action: Defer, Until: morning, Reason: QuietHoursReason},
		},
		{
			"a mail at night, let through",
			night, true, set{"N.Lane": Mail, "S.EmailInQuiet": true},
			Decision{Action: Send, Channel: Email},
		},
		{"an offer at night", night, true, nil, Decision{Action: Defer, Until: morning, Reason: QuietHoursReason}},
		{
			"an offer that must not wait", night, true, set{"M.Offer.EvenInQuiet": true},
			Decision{Action: Send, Channel: Push},
		},
		{
			"an offer for which the night is too long", night, true,
			set{"N.StartsAt": morning, "M.StartsAt": morning, "N.ExpiresAt": morning},
			Decision{Action: Drop, Reason: QuietHoursReason},
		},
		{
			"a member who is up late",
			night, true, set{"R.Quiet": hours("02:00-09:00")},
			Decision{Action: Send, Channel: Push},
		},
		{
			"a member who sleeps at noon", monday, true, set{"R.Quiet": hours("13:00-14:00")},
			Decision{Action: Defer, Until: monday.Add(time.Hour), Reason: QuietHoursReason},
		},
		{
			"a member far away", monday, true, set{"R.Zone": zone(t, "Asia/Tokyo")},
			Decision{Action: Defer, Until: time.Date(2026, 3, 16, 23, 0, 0, 0, time.UTC), Reason: QuietHoursReason},
		},

		// The frequency cap
		{
			"one below the cap", monday, false, set{"R.Sent": map[Channel][]time.Time{Push: times(11, monday, time.Minute)}},
			Decision{Action: Send, Channel: Push},
		},
		{
			"at the cap, another channel", monday, false, set{
				"R.Sent": map[Channel][]time.Time{Push: times(12, monday, time.Minute)},
			},
			Decision{Action: Send, Channel: Email},
		},
		{
			"at both caps, and no time", monday, false,
			set{"R.Sent": map[Channel][]time.Time{Push: times(12, monday, time.Minute), Email: times(20, monday, time.Minute)}},
			Decision{Action: Drop, Reason: FrequencyCap},
		},
		{
			"at both caps", monday, true,
			set{
				"N.ExpiresAt": monday.Add(25 * time.Hour),
				"R.Sent":      map[Channel][]time.Time{Push: times(12, monday, time.Hour), SMS: times(6, monday, time.Hour)},
			},
			Decision{Action: Defer, Until: monday.Add(13 * time.Hour), Reason: FrequencyCap},
		},
		{
			"old ones do not count",
			monday, false, set{"R.Sent": map[Channel][]time.Time{Push: times(12, monday.Add(-24*time.Hour), time.Minute)}},
			Decision{Action: Send, Channel: Push},
		},

		// Freshness
		{"cancelled", monday, false, set{"M.Booked": false}, Decision{Action: Drop, Reason: NotBooked}},
		{"the session is gone", monday, false, set{"M.SessionGone": true}, Decision{Action: Drop, Reason: NotBooked}},
		{"moved", monday, false, set{"M.StartsAt": monday.Add(90 * time.Minute)}, Decision{Action: Drop, Reason: Moved}},
		{
			"checked in", monday, false, set{"M.Booked": false, "M.Attended": true},
			Decision{Action: Drop, Reason: Superseded},
		},
		{"started", monday.Add(30 * time.Minute), false, nil, Decision{Action: Drop, Reason: TooLate}},
		{"no longer a member", monday, false, set{"R.Known": false}, Decision{Action: Drop, Reason: Superseded}},
		{
			"an accepted offer", monday, true, set{"M.Offer.Live": false},
			Decision{Action: Drop, Reason: OfferClosed},
		},
		{
			"an offer that has ended", monday, true, set{"M.Offer.ExpiresAt": monday},
			Decision{Action: Drop, Reason: OfferClosed},
		},
		{
			"credits bought in the meantime",
			monday, false, set{"N.Topic": CreditsLow, "N.Lane": Mail, "N.StartsAt": time.Time{}, "M.Balance": 2},
			Decision{Action: Drop, Reason: Superseded},
		},
		{
			"no longer waiting", monday, false, set{"N.Topic": Waitlisted, "N.Lane": Mail},
			Decision{Action: Drop, Reason: Superseded},
		},
		{
			"still cancelled",
			monday, false, set{"N.Topic": BookingCancelled, "N.Lane": Mail, "M.Booked": false, "M.Cancelled": true},
			Decision{Action: Send, Channel: Email},
		},
	} {
		s := *newScene(t)
		if c.offer {
			s = *offered(t)
		}
		s = vary.From(s, c.differ)
		test.Eq(t, c.want, Decide(s.N, s.S, s.R, s.M, c.at), test.Sprint(c.what))
	}
}

func TestPlan_ReturnsTheNoticesOfEachEvent(t *testing.T) {
	t.Parallel()
	start := monday.Add(72 * time.Hour)
	who := Person{
		Member: tenant.New[tenant.MemberID](monday), Booking: tenant.New[tenant.BookingID](monday), Booked: true,
		StartsAt: start, EndsAt: start.Add(time.Hour), CheckInOpens: start.Add(-time.Hour),
	}
	lastCredit := set{
		"StartsAt": monday.Add(time.Minute), "CheckInOpens": nil, "Payer": tenant.New[tenant.PlanID](monday).UUID, "Taken": 1,
	}
	type planned struct {
		Topic Topic
		Lane  Lane
		In    time.Duration
	}
	for _, c := range []struct {
		what  string
		event Event
		party set
		want  []planned
	}{
		{"booked", Event{Type: "booking.confirmed"}, nil, []planned{
			{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
			{Reminder, Alert, 71*time.Hour + 30*time.Minute}, {CheckInOpen, Alert, 71 * time.Hour},
		}},
		{
			"booked for half an hour from now: no reminders", Event{Type: "booking.confirmed"},
			set{"StartsAt": monday.Add(30 * time.Minute), "CheckInOpens": monday.Add(-30 * time.Minute)},
			[]planned{{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}},
		},
		{"promoted from the waitlist", Event{Type: "waitlist.promoted"}, nil, []planned{
			{Promoted, Alert, 0}, {Promoted, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
			{Reminder, Alert, 71*time.Hour + 30*time.Minute}, {CheckInOpen, Alert, 71 * time.Hour},
		}},
		{
			"the last credit, by promotion", Event{Type: "waitlist.promoted"}, lastCredit,
			[]planned{{Promoted, Alert, 0}, {Promoted, Mail, 0}, {CreditsLow, Mail, 0}},
		},
		{"waitlisted: only a mail", Event{Type: "waitlist.joined"}, nil, []planned{{Waitlisted, Mail, 0}}},
		{"cancelled", Event{Type: "booking.cancelled"}, nil, []planned{{BookingCancelled, Mail, 0}}},
		{"cancelled silently", Event{Type: "booking.cancelled", Silent: true}, nil, nil},
		{
			"rescheduled silently: reminders still move", Event{Type: "booking.rescheduled", Silent: true}, nil,
			[]planned{
				{Reminder, Alert, 48 * time.Hour}, {Reminder, Alert, 71*time.Hour + 30*time.Minute},
				{CheckInOpen, Alert, 71 * time.Hour},
			},
		},
		{
			"the session is cancelled", Event{Type: "booking.cancelled", Gone: true},
			set{"SessionGone": true},
			[]planned{{SessionCancelled, Alert, 0}, {SessionCancelled, Mail, 0}},
		},
		{
			"left the waitlist of a cancelled session", Event{Type: "waitlist.left"},
			set{"SessionGone": true},
			[]planned{{SessionCancelled, Alert, 0}, {SessionCancelled, Mail, 0}},
		},
		{
			"an offer", Event{Type: "offer.created", Offer: tenant.New[tenant.OfferID](monday)}, nil,
			[]planned{{Offered, Alert, 0}, {Offered, Mail, 0}},
		},
		{"a new title", Event{Type: "session.updated"}, nil, nil},
		{
			"a new time", Event{Type: "session.updated", Moved: true},
			set{"CheckInOpens": time.Time{}},
			[]planned{
				{Rescheduled, Alert, 0}, {Rescheduled, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
				{Reminder, Alert, 71*time.Hour + 30*time.Minute},
			},
		},
		{
			"a new time without a booking", Event{Type: "session.updated", Moved: true},
			set{"Booked": false},
			nil,
		},
		{
			"the last credit", Event{Type: "booking.confirmed"}, lastCredit,
			[]planned{{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}, {CreditsLow, Mail, 0}},
		},
		{
			"all channels off: one notice for the log", Event{Type: "waitlist.joined"},
			set{"Preferences": Preferences{{Waitlisted, Email}: false}},
			[]planned{{Waitlisted, Alert, 0}},
		},
		{"checked in: nothing", Event{Type: "booking.attended"}, nil, nil},
	} {
		c.event.ID, c.event.At = tenant.New[tenant.EventID](monday), monday
		var got []planned
		test.EqOp(t, c.event.Type != "booking.attended", HasMessages(c.event.Type), test.Sprint(c.what))
		for _, n := range Plan(c.event, []Person{vary.From(who, c.party)}, DefaultSettings(), monday) {
			got = append(got, planned{n.Topic, n.Lane, n.DueAt.Sub(monday)})
		}
		test.Eq(t, c.want, got, test.Sprint(c.what))
	}
}
