package notify

import (
	"maps"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestDecide_BookingFromOfferRespectsQuietHours(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	night := time.Date(2026, 3, 16, 23, 0, 0, 0, berlin)
	n := Notice{
		Topic: BookingConfirmed, Lane: Alert, StartsAt: night.Add(24 * time.Hour),
		ExpiresAt: night.Add(24 * time.Hour),
	}
	to := Recipient{Known: true, Devices: []Device{{Token: "d"}}, Zone: berlin}
	f := Facts{Booked: true, StartsAt: n.StartsAt, Offer: &Offer{EvenInQuiet: true}}
	want := Action{Kind: Defer, Until: time.Date(2026, 3, 17, 8, 0, 0, 0, berlin), Reason: QuietHoursReason}
	test.Eq(t, want, Decide(n, DefaultSettings(), to, f, night))
}

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
			Known: true, Phone: "+4915112345678", Email: "mia@example.com", Zone: zone(t, "Europe/Berlin"),
			Devices: []Device{{Token: "t"}}, Sent: map[delivery.Channel][]time.Time{},
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

// startingAt returns how the notice of a session at another time differs, and in what more.
func startingAt(at time.Time, more set) set {
	differ := set{"N.StartsAt": at, "M.StartsAt": at, "N.ExpiresAt": at}
	maps.Copy(differ, more)
	return differ
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
		want   Action
	}{
		{"nothing holds it back", monday, false, nil, Action{Kind: Send, Channel: push}},

		// Consent
		{"no device, and no SMS wanted", monday, false, set{"R.Devices": nil}, Action{Kind: Send, Channel: email}},
		{
			"no device, SMS wanted",
			monday, false, set{"R.Devices": nil, "R.Preferences": Preferences{{Reminder, sms}: true}},
			Action{Kind: Send, Channel: sms},
		},
		{
			"stopped SMS", monday, false,
			set{
				"R.Devices": nil, "R.Preferences": Preferences{{Reminder, sms}: true},
				"R.Stopped": map[delivery.Channel]Reason{sms: OptedOut},
			},
			Action{Kind: Send, Channel: email},
		},
		{
			"nothing chosen",
			monday, false, set{"R.Preferences": Preferences{{Reminder, push}: false, {Reminder, email}: false}},
			Action{Kind: Drop, Reason: Unsubscribed},
		},
		{
			"no address at all", monday, false, set{"R.Devices": nil, "R.Email": ""},
			Action{Kind: Drop, Reason: Unreachable},
		},
		{
			"bounced",
			monday, false, set{"R.Devices": nil, "R.Stopped": map[delivery.Channel]Reason{email: Bounced}},
			Action{Kind: Drop, Reason: Bounced},
		},
		{
			"push has failed", monday, false, set{"N.FailedChannels": []delivery.Channel{push}},
			Action{Kind: Send, Channel: email},
		},
		{
			"everything has failed", monday, false, set{"N.FailedChannels": []delivery.Channel{push, email}},
			Action{Kind: Drop, Reason: ProviderRefused},
		},
		{
			"rules keep SMS for others",
			monday, true, set{"R.Devices": nil, "M.Offer.NoSMS": true},
			Action{Kind: Drop, Reason: Unreachable},
		},

		// Quiet hours
		{"a mail at night", night, true, set{"N.Lane": Mail}, Action{Kind: Send, Channel: email}},
		{
			"push, or else mail: push in the morning", night, false, startingAt(morning.Add(time.Hour), nil),
			Action{Kind: Defer, Until: morning, Reason: QuietHoursReason},
		},
		{
			"push, or else mail, if the mail could wait for a shorter time", night, false,
			startingAt(morning.Add(time.Hour), set{"R.Full": map[delivery.Channel]time.Time{email: night.Add(time.Hour)}}),
			Action{Kind: Defer, Until: morning, Reason: QuietHoursReason},
		},
		{
			"push, or else mail, and the morning is too late", night, false, startingAt(morning, nil),
			Action{Kind: Send, Channel: email},
		},
		{
			"push, or else mail, and push has failed", night, false,
			startingAt(morning.Add(time.Hour), set{"N.FailedChannels": []delivery.Channel{push}}),
			Action{Kind: Send, Channel: email},
		},
		{
			"SMS, or else mail: SMS in the morning", night, false,
			startingAt(morning.Add(time.Hour), set{"R.Devices": nil, "R.Preferences": Preferences{{Reminder, sms}: true}}),
			Action{Kind: Defer, Until: morning, Reason: QuietHoursReason},
		},
		{"an offer at night", night, true, nil, Action{Kind: Defer, Until: morning, Reason: QuietHoursReason}},
		{
			"an offer that must not wait", night, true, set{"M.Offer.EvenInQuiet": true},
			Action{Kind: Send, Channel: push},
		},
		{
			"an offer for which the night is too long", night, true, startingAt(morning, nil),
			Action{Kind: Drop, Reason: QuietHoursReason},
		},
		{
			"a member who is up late",
			night, true, set{"R.Quiet": hours("02:00-09:00")},
			Action{Kind: Send, Channel: push},
		},
		{
			"a member who sleeps at noon", monday, true, set{"R.Quiet": hours("13:00-14:00")},
			Action{Kind: Defer, Until: monday.Add(time.Hour), Reason: QuietHoursReason},
		},
		{
			"a member far away", monday, true, set{"R.Zone": zone(t, "Asia/Tokyo")},
			Action{Kind: Defer, Until: time.Date(2026, 3, 16, 23, 0, 0, 0, time.UTC), Reason: QuietHoursReason},
		},

		// The frequency cap
		{
			"one below the cap", monday, false,
			set{"R.Sent": map[delivery.Channel][]time.Time{push: times(11, monday, time.Minute)}},
			Action{Kind: Send, Channel: push},
		},
		{
			"at the cap, another channel", monday, false, set{
				"R.Sent": map[delivery.Channel][]time.Time{push: times(12, monday, time.Minute)},
			},
			Action{Kind: Send, Channel: email},
		},
		{
			"at both caps, and no time", monday, false,
			set{"R.Sent": map[delivery.Channel][]time.Time{
				push: times(12, monday, time.Minute), email: times(20, monday, time.Minute),
			}},
			Action{Kind: Drop, Reason: FrequencyCap},
		},
		{
			"at both caps", monday, true,
			set{
				"N.ExpiresAt": monday.Add(25 * time.Hour),
				"R.Sent": map[delivery.Channel][]time.Time{
					push: times(12, monday, time.Hour), sms: times(6, monday, time.Hour),
				},
			},
			Action{Kind: Defer, Until: monday.Add(13 * time.Hour), Reason: FrequencyCap},
		},
		{
			"old ones do not count",
			monday, false,
			set{"R.Sent": map[delivery.Channel][]time.Time{push: times(12, monday.Add(-24*time.Hour), time.Minute)}},
			Action{Kind: Send, Channel: push},
		},

		// Freshness
		{"cancelled", monday, false, set{"M.Booked": false}, Action{Kind: Drop, Reason: NotBooked}},
		{"the session is gone", monday, false, set{"M.SessionGone": true}, Action{Kind: Drop, Reason: NotBooked}},
		{"moved", monday, false, set{"M.StartsAt": monday.Add(90 * time.Minute)}, Action{Kind: Drop, Reason: Moved}},
		{
			"checked in", monday, false, set{"M.Booked": false, "M.Attended": true},
			Action{Kind: Drop, Reason: Superseded},
		},
		{"started", monday.Add(30 * time.Minute), false, nil, Action{Kind: Drop, Reason: TooLate}},
		{"no longer a member", monday, false, set{"R.Known": false}, Action{Kind: Drop, Reason: Superseded}},
		{
			"an accepted offer", monday, true, set{"M.Offer.Live": false},
			Action{Kind: Drop, Reason: OfferClosed},
		},
		{
			"an offer that has ended", monday, true, set{"M.Offer.ExpiresAt": monday},
			Action{Kind: Drop, Reason: OfferClosed},
		},
		{
			"credits bought in the meantime",
			monday, false, set{"N.Topic": CreditsLow, "N.Lane": Mail, "N.StartsAt": time.Time{}, "M.Balance": 2},
			Action{Kind: Drop, Reason: Superseded},
		},
		{
			"no longer waiting", monday, false, set{"N.Topic": Waitlisted, "N.Lane": Mail},
			Action{Kind: Drop, Reason: Superseded},
		},
		{
			"still cancelled",
			monday, false, set{"N.Topic": BookingCancelled, "N.Lane": Mail, "M.Booked": false, "M.Cancelled": true},
			Action{Kind: Send, Channel: email},
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

func TestOmitFromLog_OnlyAlertsThatAMailReplaces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		topic Topic
		lane  Lane
		why   Reason
		want  bool
	}{
		{Promoted, Alert, Unreachable, true}, {Promoted, Mail, Unreachable, false},
		{Promoted, Alert, Unsubscribed, false}, {Reminder, Alert, Unreachable, false},
	} {
		test.EqOp(t, tt.want, Notice{Topic: tt.topic, Lane: tt.lane}.OmitFromLog(tt.why), test.Sprintf("%+v", tt))
	}
}

func TestDecide_DropsWhatIsOutdated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		topic  Topic
		differ set
		want   Reason
	}{
		"a place on the waitlist":    {Waitlisted, set{"M.Waiting": true}, ""},
		"of a session that is gone":  {Waitlisted, set{"M.Waiting": true, "M.SessionGone": true}, Superseded},
		"of a session that moved":    {Waitlisted, set{"M.Waiting": true, "M.StartsAt": monday}, Moved},
		"a booking that is back":     {BookingCancelled, nil, Superseded},
		"a place that was left":      {BookingCancelled, set{"N.Booking": nil}, ""},
		"an offer of a gone session": {Offered, set{"M.Offer": &Offer{Live: true}, "M.SessionGone": true}, OfferClosed},
		"an offer that moved":        {Offered, set{"M.Offer": &Offer{Live: true}, "M.StartsAt": monday}, Moved},
		"no offer":                   {Offered, set{"M.Offer": nil}, OfferClosed},
		"credits at the threshold":   {CreditsLow, set{"M.Balance": 1}, ""},
		"a session that is gone":     {SessionCancelled, set{"M.SessionGone": true}, ""},
	} {
		s := vary.From(*newScene(t), tt.differ)
		s.N.Topic, s.N.Lane = tt.topic, Mail
		test.EqOp(t, tt.want, Decide(s.N, s.S, s.R, s.M, monday).Reason, test.Sprint(name))
	}
}

func TestIsOnlyChannel_CountsUsableChannels(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	test.False(t, s.N.IsOnlyChannel(push, s.R, s.M))
	s.R.Devices = nil
	test.True(t, s.N.IsOnlyChannel(email, s.R, s.M))
	test.False(t, s.N.IsOnlyChannel(push, s.R, s.M))
	s.R.Email = ""
	test.False(t, s.N.IsOnlyChannel(email, s.R, s.M))
}
