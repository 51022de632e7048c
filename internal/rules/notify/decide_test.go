package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/tenant"
)

var monday = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// scene has the input of Decide. By default the notice is sent by push.
type scene struct {
	n Notice
	s Settings
	r Recipient
	m Facts
}

func newScene(t *testing.T) *scene {
	t.Helper()
	start := monday.Add(30 * time.Minute)
	return &scene{
		n: Notice{
			Topic: Reminder, Lane: Alert, Booking: tenant.New[tenant.BookingID](monday), StartsAt: start,
			ExpiresAt: start,
		},
		s: DefaultSettings(),
		r: Recipient{
			Known: true, Phone: "+4930123456", Email: "mia@example.com", Zone: zone(t, "Europe/Berlin"),
			Devices: []Device{{Token: "t"}}, Sent: map[Channel][]time.Time{},
		},
		m: Facts{Booked: true, StartsAt: start},
	}
}

// offer changes the scene to an offer for a session tomorrow.
func (s *scene) offer() {
	start := monday.Add(24 * time.Hour)
	s.n.Topic, s.n.StartsAt, s.n.ExpiresAt = Offered, start, start
	s.m = Facts{StartsAt: start, Waiting: true, Offer: &Offer{Live: true}}
}

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
	at := func(now time.Time, change func(*scene)) func(*scene) time.Time {
		return func(s *scene) time.Time {
			change(s)
			return now
		}
	}
	now := func(change func(*scene)) func(*scene) time.Time { return at(monday, change) }
	for _, c := range []struct {
		what string
		set  func(*scene) time.Time
		want Decision
	}{
		{"nothing holds it back", now(func(*scene) {}), Decision{Action: Send, Channel: Push}},

		// Consent
		{"no device, and no SMS wanted", now(func(s *scene) { s.r.Devices = nil }), Decision{Action: Send, Channel: Email}},
		{
			"no device, SMS wanted",
			now(func(s *scene) { s.r.Devices, s.r.Preferences = nil, Preferences{{Reminder, SMS}: true} }),
			Decision{Action: Send, Channel: SMS},
		},
		{"stopped SMS", now(func(s *scene) {
			s.r.Devices, s.r.Preferences = nil, Preferences{{Reminder, SMS}: true}
			s.r.Stopped = map[Channel]Reason{SMS: OptedOutReason}
		}), Decision{Action: Send, Channel: Email}},
		{
			"nothing chosen",
			now(func(s *scene) { s.r.Preferences = Preferences{{Reminder, Push}: false, {Reminder, Email}: false} }),
			Decision{Action: Drop, Reason: Unsubscribed},
		},
		{
			"no address at all", now(func(s *scene) { s.r.Devices, s.r.Email = nil, "" }),
			Decision{Action: Drop, Reason: Unreachable},
		},
		{
			"bounced",
			now(func(s *scene) { s.r.Devices, s.r.Stopped = nil, map[Channel]Reason{Email: BouncedReason} }),
			Decision{Action: Drop, Reason: BouncedReason},
		},
		{
			"push has failed", now(func(s *scene) { s.n.FailedChannels = []Channel{Push} }),
			Decision{Action: Send, Channel: Email},
		},
		{
			"everything has failed", now(func(s *scene) { s.n.FailedChannels = []Channel{Push, Email} }),
			Decision{Action: Drop, Reason: ProviderRefused},
		},
		{
			"rules keep SMS for others",
			now(func(s *scene) { s.offer(); s.r.Devices, s.m.Offer.NoSMS = nil, true }),
			Decision{Action: Drop, Reason: Unreachable},
		},

		// Quiet hours
		{
			"a mail at night", at(night, func(s *scene) { s.offer(); s.n.Lane = Mail }),
			Decision{Action: Defer, Until: morning, Reason: QuietHoursReason},
		},
		{
			"a mail at night, let through",
			at(night, func(s *scene) { s.offer(); s.n.Lane, s.s.EmailInQuiet = Mail, true }),
			Decision{Action: Send, Channel: Email},
		},
		{"an offer at night", at(night, (*scene).offer), Decision{Action: Defer, Until: morning, Reason: QuietHoursReason}},
		{
			"an offer that must not wait", at(night, func(s *scene) { s.offer(); s.m.Offer.EvenInQuiet = true }),
			Decision{Action: Send, Channel: Push},
		},
		{"an offer for which the night is too long", at(night, func(s *scene) {
			s.offer()
			s.n.StartsAt, s.m.StartsAt, s.n.ExpiresAt = morning, morning, morning
		}), Decision{Action: Drop, Reason: QuietHoursReason}},
		{
			"a member who is up late",
			at(night, func(s *scene) { s.offer(); s.r.Quiet = new(hours("02:00-09:00")) }),
			Decision{Action: Send, Channel: Push},
		},
		{
			"a member who sleeps at noon", now(func(s *scene) { s.offer(); s.r.Quiet = new(hours("13:00-14:00")) }),
			Decision{Action: Defer, Until: monday.Add(time.Hour), Reason: QuietHoursReason},
		},
		{
			"a member far away", now(func(s *scene) { s.offer(); s.r.Zone = zone(t, "Asia/Tokyo") }),
			Decision{Action: Defer, Until: time.Date(2026, 3, 16, 23, 0, 0, 0, time.UTC), Reason: QuietHoursReason},
		},

		// The frequency cap
		{
			"one below the cap", now(func(s *scene) { s.r.Sent[Push] = times(11, monday, time.Minute) }),
			Decision{Action: Send, Channel: Push},
		},
		{
			"at the cap, another channel", now(func(s *scene) { s.r.Sent[Push] = times(12, monday, time.Minute) }),
			Decision{Action: Send, Channel: Email},
		},
		{"at both caps, and no time", now(func(s *scene) {
			s.r.Sent[Push], s.r.Sent[Email] = times(12, monday, time.Minute), times(20, monday, time.Minute)
		}), Decision{Action: Drop, Reason: FrequencyCap}},
		{"at both caps", now(func(s *scene) {
			s.offer()
			s.n.ExpiresAt = monday.Add(25 * time.Hour)
			s.r.Sent[Push], s.r.Sent[SMS] = times(12, monday, time.Hour), times(6, monday, time.Hour)
		}), Decision{Action: Defer, Until: monday.Add(13 * time.Hour), Reason: FrequencyCap}},
		{
			"old ones do not count",
			now(func(s *scene) { s.r.Sent[Push] = times(12, monday.Add(-24*time.Hour), time.Minute) }),
			Decision{Action: Send, Channel: Push},
		},

		// Freshness
		{"cancelled", now(func(s *scene) { s.m.Booked = false }), Decision{Action: Drop, Reason: NotBooked}},
		{"the session is gone", now(func(s *scene) { s.m.SessionGone = true }), Decision{Action: Drop, Reason: NotBooked}},
		{"moved", now(func(s *scene) { s.m.StartsAt = s.m.StartsAt.Add(time.Hour) }), Decision{Action: Drop, Reason: Moved}},
		{
			"checked in", now(func(s *scene) { s.m.Booked, s.m.Attended = false, true }),
			Decision{Action: Drop, Reason: Superseded},
		},
		{"started", at(monday.Add(30*time.Minute), func(*scene) {}), Decision{Action: Drop, Reason: TooLate}},
		{"no longer a member", now(func(s *scene) { s.r.Known = false }), Decision{Action: Drop, Reason: Superseded}},
		{
			"an accepted offer", now(func(s *scene) { s.offer(); s.m.Offer.Live = false }),
			Decision{Action: Drop, Reason: OfferClosed},
		},
		{
			"an offer that has ended", now(func(s *scene) { s.offer(); s.m.Offer.ExpiresAt = monday }),
			Decision{Action: Drop, Reason: OfferClosed},
		},
		{
			"credits bought in the meantime",
			now(func(s *scene) { s.n.Topic, s.n.Lane, s.n.StartsAt, s.m.Balance = CreditsLow, Mail, time.Time{}, 2 }),
			Decision{Action: Drop, Reason: Superseded},
		},
		{
			"no longer waiting", now(func(s *scene) { s.n.Topic, s.n.Lane = Waitlisted, Mail }),
			Decision{Action: Drop, Reason: Superseded},
		},
		{
			"still cancelled",
			now(func(s *scene) { s.n.Topic, s.n.Lane, s.m.Booked, s.m.Cancelled = BookingCancelled, Mail, false, true }),
			Decision{Action: Send, Channel: Email},
		},
	} {
		s := newScene(t)
		when := c.set(s)
		test.Eq(t, c.want, Decide(s.n, s.s, s.r, s.m, when), test.Sprint(c.what))
	}
}

func TestPlan_ReturnsTheNoticesOfEachEvent(t *testing.T) {
	t.Parallel()
	start := monday.Add(72 * time.Hour)
	who := Person{
		Member: tenant.New[tenant.MemberID](monday), Booking: tenant.New[tenant.BookingID](monday), Booked: true,
		StartsAt: start, EndsAt: start.Add(time.Hour), CheckInOpens: start.Add(-time.Hour),
	}
	type planned struct {
		Topic Topic
		Lane  Lane
		In    time.Duration
	}
	for _, c := range []struct {
		what  string
		event Event
		party func(*Person)
		want  []planned
	}{
		{"booked", Event{Type: "booking.confirmed"}, nil, []planned{
			{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
			{Reminder, Alert, 71*time.Hour + 30*time.Minute}, {CheckInOpen, Alert, 71 * time.Hour},
		}},
		{
			"booked for half an hour from now: no reminders", Event{Type: "booking.confirmed"},
			func(p *Person) { p.StartsAt, p.CheckInOpens = monday.Add(30*time.Minute), monday.Add(-30*time.Minute) },
			[]planned{{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}},
		},
		{"promoted from the waitlist", Event{Type: "waitlist.promoted"}, nil, []planned{
			{Promoted, Alert, 0}, {Promoted, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
			{Reminder, Alert, 71*time.Hour + 30*time.Minute}, {CheckInOpen, Alert, 71 * time.Hour},
		}},
		{"the last credit, by promotion", Event{Type: "waitlist.promoted"}, func(p *Person) {
			p.StartsAt, p.CheckInOpens = monday.Add(time.Minute), time.Time{}
			p.Payer, p.Taken = tenant.New[tenant.PlanID](monday).UUID, 1
		}, []planned{{Promoted, Alert, 0}, {Promoted, Mail, 0}, {CreditsLow, Mail, 0}}},
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
			func(p *Person) { p.SessionGone = true },
			[]planned{{SessionCancelled, Alert, 0}, {SessionCancelled, Mail, 0}},
		},
		{
			"left the waitlist of a cancelled session", Event{Type: "waitlist.left"},
			func(p *Person) { p.SessionGone = true },
			[]planned{{SessionCancelled, Alert, 0}, {SessionCancelled, Mail, 0}},
		},
		{
			"an offer", Event{Type: "offer.created", Offer: tenant.New[tenant.OfferID](monday)}, nil,
			[]planned{{Offered, Alert, 0}, {Offered, Mail, 0}},
		},
		{"a new title", Event{Type: "session.updated"}, nil, nil},
		{
			"a new time", Event{Type: "session.updated", Moved: true},
			func(p *Person) { p.CheckInOpens = time.Time{} },
			[]planned{
				{Rescheduled, Alert, 0}, {Rescheduled, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
				{Reminder, Alert, 71*time.Hour + 30*time.Minute},
			},
		},
		{
			"a new time without a booking", Event{Type: "session.updated", Moved: true},
			func(p *Person) { p.Booked = false },
			nil,
		},
		{"the last credit", Event{Type: "booking.confirmed"}, func(p *Person) {
			p.StartsAt, p.CheckInOpens = monday.Add(time.Minute), time.Time{}
			p.Payer, p.Taken = tenant.New[tenant.PlanID](monday).UUID, 1
		}, []planned{{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}, {CreditsLow, Mail, 0}}},
		{
			"all channels off: one notice for the log", Event{Type: "waitlist.joined"},
			func(p *Person) { p.Preferences = Preferences{{Waitlisted, Email}: false} },
			[]planned{{Waitlisted, Alert, 0}},
		},
		{"checked in: nothing", Event{Type: "booking.attended"}, nil, nil},
	} {
		p := who
		if c.party != nil {
			c.party(&p)
		}
		c.event.ID, c.event.At = tenant.New[tenant.EventID](monday), monday
		var got []planned
		test.EqOp(t, (c.event.Type != "booking.attended"), HasMessages(c.event.Type),
			test.Sprintf("%s: events of this type have messages", c.what))
		for _, n := range Plan(c.event, []Person{p}, DefaultSettings(), monday) {
			got = append(got, planned{n.Topic, n.Lane, n.DueAt.Sub(monday)})
		}
		test.Eq(t, c.want, got, test.Sprint(c.what))
	}
}
