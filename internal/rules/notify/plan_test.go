package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestExpiryWarning_ComesInLastQuarterOfOffersOnly(t *testing.T) {
	t.Parallel()
	offer := Notice{Topic: Offered, Lane: Mail, Revision: "1", Attempts: 3, FailedChannels: []delivery.Channel{push}}
	ends := monday.Add(40 * time.Minute)
	want := Notice{Topic: OfferExpiring, Lane: Alert, Revision: "1", DueAt: monday.Add(30 * time.Minute), ExpiresAt: ends}
	got, ok := offer.ExpiryWarning(monday, ends)
	test.True(t, ok)
	test.Eq(t, want, got)
	shortest, ok := offer.ExpiryWarning(monday, monday.Add(10*time.Minute))
	test.True(t, ok, test.Sprint("a window of ten minutes is long enough"))
	test.EqOp(t, monday.Add(7*time.Minute+30*time.Second), shortest.DueAt)
	_, ok = offer.ExpiryWarning(monday, monday.Add(9*time.Minute))
	test.False(t, ok, test.Sprint("a window of nine minutes is too short for a second message"))
	_, ok = (Notice{Topic: BookingConfirmed}).ExpiryWarning(monday, ends)
	test.False(t, ok, test.Sprint("a confirmation has no warning"))
}

func TestPlan_ReturnsTheNoticesOfEachEvent(t *testing.T) {
	t.Parallel()
	start := monday.Add(72 * time.Hour)
	person := Person{
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
		{"booked", Event{Data: event.BookingConfirmed{}}, nil, []planned{
			{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
			{Reminder, Alert, 71*time.Hour + 30*time.Minute}, {CheckInOpen, Alert, 71 * time.Hour},
		}},
		{
			"booked for half an hour from now: no reminders", Event{Data: event.BookingConfirmed{}},
			set{"StartsAt": monday.Add(30 * time.Minute), "CheckInOpens": monday.Add(-30 * time.Minute)},
			[]planned{{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}},
		},
		{"imported: only reminders", Event{Data: event.BookingConfirmed{Imported: true}, Silent: true}, nil, []planned{
			{Reminder, Alert, 48 * time.Hour}, {Reminder, Alert, 71*time.Hour + 30*time.Minute},
			{CheckInOpen, Alert, 71 * time.Hour},
		}},
		{"promoted from the waitlist", Event{Data: event.WaitlistPromoted{}}, nil, []planned{
			{Promoted, Alert, 0}, {Promoted, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
			{Reminder, Alert, 71*time.Hour + 30*time.Minute}, {CheckInOpen, Alert, 71 * time.Hour},
		}},
		{
			"the last credit, by promotion", Event{Data: event.WaitlistPromoted{}}, lastCredit,
			[]planned{{Promoted, Alert, 0}, {Promoted, Mail, 0}, {CreditsLow, Mail, 0}},
		},
		{"waitlisted: only a mail", Event{Data: event.WaitlistJoined{}}, nil, []planned{{Waitlisted, Mail, 0}}},
		{"cancelled", Event{Data: event.BookingCancelled{}}, nil, []planned{{BookingCancelled, Mail, 0}}},
		{"cancelled silently", Event{Data: event.BookingCancelled{}, Silent: true}, nil, nil},
		{
			"rescheduled silently: reminders still move", Event{Data: event.BookingRescheduled{}, Silent: true}, nil,
			[]planned{
				{Reminder, Alert, 48 * time.Hour}, {Reminder, Alert, 71*time.Hour + 30*time.Minute},
				{CheckInOpen, Alert, 71 * time.Hour},
			},
		},
		{
			"the session is cancelled", Event{Data: event.BookingCancelled{}, Gone: true},
			set{"SessionGone": true},
			[]planned{{SessionCancelled, Alert, 0}, {SessionCancelled, Mail, 0}},
		},
		{
			"left the waitlist of a cancelled session", Event{Data: event.WaitlistLeft{}},
			set{"SessionGone": true},
			[]planned{{SessionCancelled, Alert, 0}, {SessionCancelled, Mail, 0}},
		},
		{
			"an offer", Event{Data: event.OfferCreated{}, Offer: tenant.New[tenant.OfferID](monday)}, nil,
			[]planned{{Offered, Alert, 0}, {Offered, Mail, 0}},
		},
		{"a new title", Event{Data: event.SessionUpdated{}}, nil, nil},
		{
			"a new time", Event{Data: event.SessionUpdated{}, Moved: true},
			set{"CheckInOpens": time.Time{}},
			[]planned{
				{Rescheduled, Alert, 0}, {Rescheduled, Mail, 0}, {Reminder, Alert, 48 * time.Hour},
				{Reminder, Alert, 71*time.Hour + 30*time.Minute},
			},
		},
		{
			"a new time without a booking", Event{Data: event.SessionUpdated{}, Moved: true},
			set{"Booked": false},
			nil,
		},
		{
			"the last credit", Event{Data: event.BookingConfirmed{}}, lastCredit,
			[]planned{{BookingConfirmed, Alert, 0}, {BookingConfirmed, Mail, 0}, {CreditsLow, Mail, 0}},
		},
		{
			"all channels off: one notice for the log", Event{Data: event.WaitlistJoined{}},
			set{"Preferences": Preferences{{Waitlisted, email}: false}},
			[]planned{{Waitlisted, Alert, 0}},
		},
		{"checked in: nothing", Event{Data: event.BookingAttended{}}, nil, nil},
	} {
		c.event.ID, c.event.At = tenant.New[tenant.EventID](monday), monday
		var got []planned
		test.EqOp(t, c.event.Data != event.Data(event.BookingAttended{}), HasMessages(c.event.Data), test.Sprint(c.what))
		for _, n := range Plan(c.event, []Person{vary.From(person, c.party)}, DefaultSettings(), monday) {
			got = append(got, planned{n.Topic, n.Lane, n.DueAt.Sub(monday)})
		}
		test.Eq(t, c.want, got, test.Sprint(c.what))
	}
}

// A reminder is an event when it is due for the first time and its booking has not changed.
func TestReminderDue_NeedsEveryCondition(t *testing.T) {
	t.Parallel()
	start := monday.Add(time.Hour)
	type due struct {
		Notice Notice
		Facts  Facts
	}
	base := due{
		Notice{Topic: Reminder, StartsAt: start, DueAt: monday, Details: Details{Lead: time.Hour}},
		Facts{Booked: true, StartsAt: start},
	}
	test.True(t, base.Notice.ReminderDue(base.Facts))
	for _, differ := range []set{
		{"Notice.Topic": CheckInOpen}, {"Notice.Attempts": 1}, {"Notice.DueAt": monday.Add(1)}, {"Facts.Booked": false},
		{"Facts.SessionGone": true}, {"Facts.StartsAt": start.Add(1)},
	} {
		d := vary.From(base, differ)
		test.False(t, d.Notice.ReminderDue(d.Facts), test.Sprint(differ))
	}
}

// planOf returns the first notice of an event in a lane.
func planOf(e Event, person Person, topic Topic, lane Lane) (Notice, bool) {
	e.ID, e.At = tenant.New[tenant.EventID](monday), monday
	for _, n := range Plan(e, []Person{person}, DefaultSettings(), monday) {
		if n.Topic == topic && n.Lane == lane {
			return n, true
		}
	}
	return Notice{}, false
}

func TestPlan_LimitsHowLongMessagesAreWorthSending(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	start := monday.Add(72 * time.Hour)
	person := Person{StartsAt: start, EndsAt: start.Add(time.Hour)}
	begun := Person{StartsAt: monday, EndsAt: monday.Add(time.Hour)}
	later := monday.Add(12 * time.Hour)
	far := Person{StartsAt: monday.Add(30 * day)}
	for name, tt := range map[string]struct {
		event Event
		who   Person
		topic Topic
		lane  Lane
		want  time.Time
	}{
		"a place for a session": {Event{Data: event.WaitlistJoined{}}, person, Waitlisted, Mail, start},
		"a place for days":      {Event{Data: event.WaitlistJoined{}}, Person{}, Waitlisted, Mail, monday.Add(day)},
		"a mail about a cancellation": {
			Event{Data: event.BookingCancelled{}}, person, BookingCancelled, Mail, monday.Add(7 * day),
		},
		"a session that is gone": {Event{Data: event.BookingCancelled{}, Gone: true}, person, SessionCancelled, Alert, start},
		"a mail about it": {
			Event{Data: event.BookingCancelled{}, Gone: true}, person, SessionCancelled, Mail, monday.Add(7 * day),
		},
		"a mail about one in weeks": {
			Event{Data: event.BookingCancelled{}, Gone: true}, far, SessionCancelled, Mail, far.StartsAt,
		},
		"no longer waits": {
			Event{Data: event.WaitlistLeft{}, TellUntil: later}, person, WaitlistEnded, Alert, later,
		},
		"a mail about that": {
			Event{Data: event.WaitlistLeft{}, TellUntil: later}, person, WaitlistEnded, Mail, later,
		},
		"no longer waits for a session that is gone": {
			Event{Data: event.WaitlistLeft{}, TellUntil: later}, Person{SessionGone: true, StartsAt: start}, SessionCancelled,
			Alert, start,
		},
		"left a session that stays": {Event{Data: event.WaitlistLeft{}}, person, BookingCancelled, Mail, monday.Add(7 * day)},
		"cancelled before it was gone": {
			Event{Data: event.BookingCancelled{}}, Person{SessionGone: true, StartsAt: start}, BookingCancelled, Mail,
			monday.Add(7 * day),
		},
		"an offer":                 {Event{Data: event.OfferCreated{}}, person, Offered, Alert, start},
		"an offer after the start": {Event{Data: event.OfferCreated{}}, begun, Offered, Alert, begun.EndsAt},
		"a note about a session":   {Event{Data: event.WaitlistStaffNote{}}, person, StaffNote, Mail, start},
		"a second screen":          {Event{Data: event.DisplaySecondScreen{}}, person, StaffNote, Alert, start},
		"a change of roles": {
			Event{Data: event.AccessChanged{}}, Person{}, AccessChanged, Mail, monday.Add(7 * day),
		},
		"a note about one that has gone": {Event{Data: event.WaitlistStaffNote{}}, begun, StaffNote, Mail, monday.Add(day)},
	} {
		n, ok := planOf(tt.event, tt.who, tt.topic, tt.lane)
		test.True(t, ok, test.Sprint(name))
		test.EqOp(t, tt.want, n.ExpiresAt, test.Sprint(name))
	}
	old := Event{ID: tenant.New[tenant.EventID](monday), Data: event.WaitlistJoined{}, At: monday.Add(-day)}
	test.SliceNotEmpty(t, Plan(old, []Person{person}, DefaultSettings(), monday))
	test.SliceEmpty(t, Plan(old, []Person{person}, DefaultSettings(), monday.Add(1)))
}

// Messages follow from what the data of an event say.
func TestEventOf_ReadsData(t *testing.T) {
	t.Parallel()
	mia, olga := tenant.New[tenant.MemberID](monday), tenant.New[tenant.MemberID](monday)
	entry, booking := tenant.New[tenant.EntryID](monday), tenant.New[tenant.BookingID](monday)
	plan := tenant.New[tenant.SubscriptionID](monday)
	start := event.Changed(&monday)
	for _, tt := range []struct {
		from, want Event
	}{
		{Event{Data: event.BookingConfirmed{}, Booking: booking}, Event{Booking: booking}},
		{Event{Data: event.BookingConfirmed{}, Booking: booking, Entry: entry}, Event{Booking: booking, Entry: entry}},
		{Event{Data: event.OfferCreated{}, Entry: entry}, Event{Entry: entry, Details: Details{Waitlist: true}}},
		{
			Event{Data: event.BookingCancelled{Refunded: true, Late: true, Reason: "ill", Notify: true, SessionGone: true}},
			Event{Gone: true, Details: Details{Refunded: true, Late: true, Reason: "ill"}},
		},
		{Event{Data: event.BookingCancelled{}}, Event{Silent: true}},
		{Event{Data: event.BookingConfirmed{}}, Event{}},
		{Event{Data: event.BookingConfirmed{Imported: true}}, Event{Silent: true}},
		{
			Event{Data: event.BookingRescheduled{FromStart: monday, Notify: true}},
			Event{Details: Details{OldStart: monday}},
		},
		{Event{Data: event.BookingRescheduled{}}, Event{Silent: true}},
		{
			Event{Data: event.SessionUpdated{
				Before: event.SessionFields{Start: start}, After: event.SessionFields{Start: event.Changed(new(monday.Add(1)))},
			}},
			Event{Moved: true, Details: Details{OldStart: monday}},
		},
		{Event{Data: event.SessionUpdated{After: event.SessionFields{End: start}}}, Event{Moved: true}},
		{
			Event{Data: event.SessionUpdated{
				After: event.SessionFields{Location: event.Changed(new(tenant.New[tenant.LocationID](monday)))},
			}},
			Event{Moved: true},
		},
		{
			Event{Data: event.SessionUpdated{After: event.SessionFields{Resource: event.Changed[tenant.ResourceID](nil)}}},
			Event{Moved: true},
		},
		{Event{Data: event.SessionUpdated{After: event.SessionFields{Title: event.Changed(new("x"))}}}, Event{}},
		{Event{Data: event.WaitlistJoined{Position: 3}}, Event{Details: Details{Position: 3}}},
		{Event{Data: event.WaitlistLeft{Reason: "full", Notify: true}}, Event{Details: Details{Reason: "full"}}},
		{Event{Data: event.WaitlistLeft{}}, Event{Silent: true}},
		{Event{Data: event.WaitlistLeft{Notify: true, TellUntil: monday}}, Event{TellUntil: monday}},
		{Event{Data: event.WaitlistStaffNote{Note: "call"}}, Event{Details: Details{Note: "call"}}},
		{Event{Data: event.DisplaySecondScreen{}}, Event{Details: Details{Screen: true}}},
		{Event{Data: event.CreditsChanged{Subscription: plan, Amount: -2}}, Event{Payer: plan.UUID, Spent: 2}},
		{Event{Data: event.AccessChanged{Role: "front_desk"}}, Event{}},
		{
			Event{Data: event.AccessChanged{Change: "ROLE_GIVEN", Role: "admin", FromMember: mia}},
			Event{Actor: olga, Details: Details{Access: &AccessChange{Kind: RoleGiven, Role: "admin"}}},
		},
		{
			Event{Data: event.AccessChanged{Change: "TRANSFER_CONFIRMED", Role: "owner", FromMember: mia}},
			Event{Actor: mia, Details: Details{Access: &AccessChange{Kind: TransferConfirmed, Role: "owner"}}},
		},
	} {
		tt.want.Data = tt.from.Data
		test.Eq(t, tt.want, EventOf(tt.from, olga.String()), test.Sprintf("%#v", tt.from.Data))
	}
	system := EventOf(Event{Data: event.AccessChanged{Change: "DEACTIVATED", Role: "admin"}}, "system")
	test.EqOp(t, tenant.MemberID{}, system.Actor)
}

// Each notice is about one thing, so that the same one is never planned twice.
func TestPlan_IdentifiesNotices(t *testing.T) {
	t.Parallel()
	start := monday.Add(72 * time.Hour)
	person := Person{
		Booking: tenant.New[tenant.BookingID](monday), Entry: tenant.New[tenant.EntryID](monday),
		Session: tenant.New[tenant.SessionID](monday), StartsAt: start, CheckInOpens: start.Add(-time.Hour),
	}
	note := Event{
		Data: event.WaitlistStaffNote{}, Session: person.Session, Offer: tenant.New[tenant.OfferID](monday),
		Payer: tenant.New[tenant.PlanID](monday).UUID,
	}
	type about struct {
		Event Event
		Who   Person
	}
	a := about{note, person}
	for _, step := range []struct {
		want tenant.UUID
		less set // what the next notice is not about
	}{
		{note.Offer.UUID, set{"Event.Offer": nil}}, {person.Booking.UUID, set{"Who.Booking": nil}},
		{person.Entry.UUID, set{"Who.Entry": nil}}, {note.Payer, set{"Event.Payer": nil}}, {person.Session.UUID, nil},
	} {
		n, _ := planOf(a.Event, a.Who, StaffNote, Mail)
		test.EqOp(t, step.want, n.Thing)
		a = vary.From(a, step.less)
	}
	opens, _ := planOf(Event{Data: event.BookingConfirmed{}}, person, CheckInOpen, Alert)
	test.EqOp(t, "2026-03-19T12:00:00Z", opens.Revision)
	test.Eq(t, Details{}, opens.Details)
	reminder, _ := planOf(Event{Data: event.BookingConfirmed{}}, person, Reminder, Alert)
	test.EqOp(t, "2026-03-19T12:00:00Z-24h0m0s", reminder.Revision)
	test.EqOp(t, 24*time.Hour, reminder.Details.Lead)
	news, _ := planOf(Event{Data: event.BookingConfirmed{}}, person, BookingConfirmed, Mail)
	test.NotEqOp(t, "", news.Revision)
}

// The message comes when the balance falls to the threshold, and again when it falls to zero.
func TestPlan_WarnsOnceAtTheThresholdAndOnceAtZero(t *testing.T) {
	t.Parallel()
	payer := tenant.New[tenant.PlanID](monday).UUID
	for _, tt := range []struct {
		balance, spent int
		payer          tenant.UUID
		silent, want   bool
	}{
		{2, 1, payer, false, false}, {1, 1, payer, false, true}, {1, 2, payer, false, true}, {0, 1, payer, false, true},
		{0, 2, payer, false, true}, {1, 0, payer, false, false}, {0, 0, payer, false, false}, {0, -1, payer, false, false},
		{0, 1, tenant.UUID{}, false, false}, {0, 1, payer, true, false},
	} {
		n, ok := planOf(Event{Data: event.CreditsChanged{}, Spent: tt.spent, Silent: tt.silent},
			Person{Payer: tt.payer, Balance: tt.balance}, CreditsLow, Mail)
		test.EqOp(t, tt.want, ok, test.Sprintf("%+v", tt))
		if ok {
			test.Eq(t, Details{Balance: tt.balance, Payer: payer}, n.Details)
			test.EqOp(t, monday.Add(7*24*time.Hour), n.ExpiresAt)
		}
	}
	s := DefaultSettings()
	s.CreditsLowAt = 3
	e := Event{ID: tenant.New[tenant.EventID](monday), Data: event.CreditsChanged{}, Spent: 1, At: monday}
	test.SliceEmpty(t, Plan(e, []Person{{Payer: payer, Balance: 2}}, s, monday)) // it was at the threshold before
	test.SliceEmpty(t, Plan(e, []Person{{Payer: payer, Balance: 1}}, s, monday))
}
