package notify

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

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

func TestResults_SayWhatFollows(t *testing.T) {
	t.Parallel()
	for status, want := range map[DeliveryStatus][2]bool{ // not delivered, accepted
		"": {}, PossiblySent: {}, Queued: {false, true}, Sent: {false, true}, Failed: {true, false},
		Undelivered: {true, false}, Bounced: {true, false}, Delivered: {false, true}, Read: {false, true},
	} {
		test.Eq(t, want, [2]bool{status.NotDelivered(), status.Accepted()}, test.Sprint(status))
	}
	test.EqOp(t, "", (*SendError)(nil).StopReason())
	for kind, want := range map[FailureKind]Reason{
		OptedOut: OptedOutReason, Unregistered: BouncedReason, Permanent: "", Transient: "",
	} {
		test.EqOp(t, want, (&SendError{Kind: kind}).StopReason())
	}
	for _, o := range []Outcome{{}, {Done: true}, {Unknown: true}, {ChannelFailed: true}} {
		test.EqOp(t, !o.Done && !o.Unknown, o.NotSent())
	}
	test.EqOp(t, "EXPIRED", Expired().Code)
	at, ok := Notice{Topic: Offered}.ExpiryWarning(monday, monday.Add(10*time.Minute))
	test.True(t, ok)
	test.EqOp(t, monday.Add(7*time.Minute+30*time.Second), at.DueAt)
	for from, to := range map[DeliveryStatus]DeliveryStatus{"": PossiblySent, Sent: Failed, Failed: Undelivered} {
		test.EqOp(t, to, Advance(from, to))
		test.EqOp(t, to, Advance(to, from))
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
	test.False(t, s.N.IsOnlyChannel(Push, s.R, s.M))
	s.R.Devices = nil
	test.True(t, s.N.IsOnlyChannel(Email, s.R, s.M))
	test.False(t, s.N.IsOnlyChannel(Push, s.R, s.M))
	s.R.Email = ""
	test.False(t, s.N.IsOnlyChannel(Email, s.R, s.M))
}

// planOf returns the first notice of an event in a lane.
func planOf(e Event, who Person, topic Topic, lane Lane) (Notice, bool) {
	e.ID, e.At = tenant.New[tenant.EventID](monday), monday
	for _, n := range Plan(e, []Person{who}, DefaultSettings(), monday) {
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
	who := Person{StartsAt: start, EndsAt: start.Add(time.Hour)}
	begun := Person{StartsAt: monday, EndsAt: monday.Add(time.Hour)}
	far := Person{StartsAt: monday.Add(30 * day)}
	for name, tt := range map[string]struct {
		event Event
		who   Person
		topic Topic
		lane  Lane
		want  time.Time
	}{
		"a place for a session": {Event{Type: "waitlist.joined"}, who, Waitlisted, Mail, start},
		"a place for days":      {Event{Type: "waitlist.joined"}, Person{}, Waitlisted, Mail, monday.Add(day)},
		"a mail about a cancellation": {
			Event{Type: "booking.cancelled"}, who, BookingCancelled, Mail, monday.Add(7 * day),
		},
		"a session that is gone": {Event{Type: "booking.cancelled", Gone: true}, who, SessionCancelled, Alert, start},
		"a mail about it": {
			Event{Type: "booking.cancelled", Gone: true}, who, SessionCancelled, Mail, monday.Add(7 * day),
		},
		"a mail about one in weeks": {
			Event{Type: "booking.cancelled", Gone: true}, far, SessionCancelled, Mail, far.StartsAt,
		},
		"left a session that stays": {Event{Type: "waitlist.left"}, who, BookingCancelled, Mail, monday.Add(7 * day)},
		"cancelled before it was gone": {
			Event{Type: "booking.cancelled"}, Person{SessionGone: true, StartsAt: start}, BookingCancelled, Mail,
			monday.Add(7 * day),
		},
		"an offer":                       {Event{Type: "offer.created"}, who, Offered, Alert, start},
		"an offer after the start":       {Event{Type: "offer.created"}, begun, Offered, Alert, begun.EndsAt},
		"a note about a session":         {Event{Type: "waitlist.staff_note"}, who, StaffNote, Mail, start},
		"a change of roles":              {Event{Type: "roles.changed"}, Person{}, AccessChanged, Mail, monday.Add(7 * day)},
		"a note about one that has gone": {Event{Type: "waitlist.staff_note"}, begun, StaffNote, Mail, monday.Add(day)},
	} {
		n, ok := planOf(tt.event, tt.who, tt.topic, tt.lane)
		test.True(t, ok, test.Sprint(name))
		test.EqOp(t, tt.want, n.ExpiresAt, test.Sprint(name))
	}
	old := Event{ID: tenant.New[tenant.EventID](monday), Type: "waitlist.joined", At: monday.Add(-day)}
	test.SliceNotEmpty(t, Plan(old, []Person{who}, DefaultSettings(), monday))
	test.SliceEmpty(t, Plan(old, []Person{who}, DefaultSettings(), monday.Add(1)))
}

// Each notice is about one thing, so that the same one is never planned twice.
func TestPlan_IdentifiesNotices(t *testing.T) {
	t.Parallel()
	start := monday.Add(72 * time.Hour)
	who := Person{
		Booking: tenant.New[tenant.BookingID](monday), Entry: tenant.New[tenant.EntryID](monday),
		Session: tenant.New[tenant.SessionID](monday), StartsAt: start, CheckInOpens: start.Add(-time.Hour),
	}
	note := Event{
		Type: "waitlist.staff_note", Offer: tenant.New[tenant.OfferID](monday), Payer: tenant.New[tenant.PlanID](monday).UUID,
	}
	type about struct {
		Event Event
		Who   Person
	}
	a := about{note, who}
	for _, step := range []struct {
		want tenant.UUID
		less set // what the next notice is not about
	}{
		{note.Offer.UUID, set{"Event.Offer": nil}}, {who.Booking.UUID, set{"Who.Booking": nil}},
		{who.Entry.UUID, set{"Who.Entry": nil}}, {note.Payer, set{"Event.Payer": nil}}, {who.Session.UUID, nil},
	} {
		n, _ := planOf(a.Event, a.Who, StaffNote, Mail)
		test.EqOp(t, step.want, n.Thing)
		a = vary.From(a, step.less)
	}
	opens, _ := planOf(Event{Type: "booking.confirmed"}, who, CheckInOpen, Alert)
	test.EqOp(t, "2026-03-19T12:00:00Z", opens.Revision)
	test.Eq(t, Details{}, opens.Details)
	reminder, _ := planOf(Event{Type: "booking.confirmed"}, who, Reminder, Alert)
	test.EqOp(t, "2026-03-19T12:00:00Z-24h0m0s", reminder.Revision)
	test.EqOp(t, 24*time.Hour, reminder.Details.Lead)
	news, _ := planOf(Event{Type: "booking.confirmed"}, who, BookingConfirmed, Mail)
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
		n, ok := planOf(Event{Type: "credits.changed", Spent: tt.spent, Silent: tt.silent},
			Person{Payer: tt.payer, Balance: tt.balance}, CreditsLow, Mail)
		test.EqOp(t, tt.want, ok, test.Sprintf("%+v", tt))
		if ok {
			test.Eq(t, Details{Balance: tt.balance, Payer: payer}, n.Details)
			test.EqOp(t, monday.Add(7*24*time.Hour), n.ExpiresAt)
		}
	}
	s := DefaultSettings()
	s.CreditsLowAt = 3
	e := Event{ID: tenant.New[tenant.EventID](monday), Type: "credits.changed", Spent: 1, At: monday}
	test.SliceEmpty(t, Plan(e, []Person{{Payer: payer, Balance: 2}}, s, monday)) // it was at the threshold before
	test.SliceEmpty(t, Plan(e, []Person{{Payer: payer, Balance: 1}}, s, monday))
}

func TestChoose_FallsBackToTheLanguageAndThenToEnglish(t *testing.T) {
	t.Parallel()
	test.Eq(t, Template{Topic: "UNKNOWN", Channel: SMS, Locale: "en"}, Choose(nil, "UNKNOWN", SMS, "fr"))
	for name, want := range map[string]string{
		"zh-TW": "zh-TW zh-Hant zh", "zh-Hant": "zh-Hant zh", "de": "de", "english!": "", "und": "",
	} {
		test.EqOp(t, want, strings.Join(fallbacks(name), " "), test.Sprint(name))
	}
	for name, want := range map[string]string{
		"english!": "15:04", "en": "15:04", "en-US": "3:04 PM", "en-AU": "15:04", "es-US": "15:04", "de": "15:04",
	} {
		test.EqOp(t, want, localeFor(name).timeLayout, test.Sprint(name))
	}
	test.EqOp(t, "So", localeFor("de").days[0])
	for name, want := range map[string]string{
		"Europe/Berlin": "CEST", "Asia/Dubai": "UTC+04:00", "America/Sao_Paulo": "UTC-03:00", "UTC": "UTC",
	} {
		test.EqOp(t, want, abbreviation(exampleStart, zone(t, name)))
	}
	test.EqOp(t, "in 31 minutes", english.span(31*time.Minute))
}

// Text messages use the alphabet of SMS where it has a similar character.
func TestFoldToGSM_ReplacesTypographicCharacters(t *testing.T) {
	t.Parallel()
	const (
		from = "’‘“”„«»–—…\u00a0\u202f·•°×œŒłŁđĐı"
		to   = `''"""""--...  --oxoeOElLdDi`
	)
	test.EqOp(t, to, foldToGSM(from))
	for char := range strings.SplitSeq(from, "") {
		test.NotEqOp(t, char, foldToGSM(char), test.Sprint(char))
	}
	test.EqOp(t, "a{b}", foldToGSM("a{b}"))
	segments, encoding, _ := CountSegments(strings.Repeat("\uffff", 70))
	test.Eq(t, [2]any{1, UCS2}, [2]any{segments, encoding})
	segments, _, _ = CountSegments(strings.Repeat("\U00010000", 36))
	test.EqOp(t, 2, segments)
}

// Long names are cut until the message fits one segment. If that is not enough, they stay complete.
func TestRender_ShortensEveryName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for _, name := range []string{
		"Title", "Location", "Tenant", "Plan", "Note", "Reason", "Name", "Coach", "Resource", "Address",
	} {
		out := expect.Value(Render(
			Template{Channel: SMS, Locale: "en", Body: "{{." + name + "}}"},
			Values{name: long}, brand.Brand{}, Foot{}))(t)
		test.Eq(t, Rendered{Text: strings.Repeat("x", 39) + ".", Segments: 1, GSM7: true}, out, test.Sprint(name))
	}
	for filler, length := range map[int]int{
		120: 40, 121: 28, 132: 28, 133: 20, 140: 20, 141: 14, 146: 14, 147: 10, 150: 10, 151: 7, 153: 7, 154: 5, 155: 5,
	} {
		out := expect.Value(Render(Template{Channel: SMS, Body: strings.Repeat("a", filler) + "{{.Title}}"},
			Values{"Title": long}, brand.Brand{}, Foot{}))(t)
		test.EqOp(t, strings.Repeat("a", filler)+strings.Repeat("x", length-1)+".", out.Text)
	}
	tooLong := Template{Channel: SMS, Body: strings.Repeat("a", 156) + "{{.Title}}"}
	out := expect.Value(Render(tooLong, Values{"Title": long}, brand.Brand{}, Foot{}))(t)
	test.EqOp(t, 356, len(out.Text))
	whole := Values{"Title": strings.Repeat("x", 160)}
	out = expect.Value(Render(Template{Channel: SMS, Body: "{{.Title}}"}, whole, brand.Brand{}, Foot{}))(t)
	test.EqOp(t, whole["Title"].(string), out.Text)
	expect.Fault(t, "TEMPLATE_INVALID @template.body column=3 line=1")(
		Render(Template{Channel: SMS, Body: "{{.Nxme}}"}, Values{}, brand.Brand{}, Foot{}),
	)
}

func TestExample_IsInTheLanguageOfTheLocale(t *testing.T) {
	t.Parallel()
	all := make(Values)
	for _, topic := range Topics() {
		maps.Copy(all, Example(topic, "en"))
	}
	all["Minutes"] = Example(Offered, "en")["Minutes"]
	test.Eq(t, Values{
		"Name": "Mia Lindgren", "Tenant": "Harbour Yoga", "Link": "https://berth.example/", "Title": "Vinyasa Flow",
		"Location": "Pier 1", "Address": "Quay Street 1, Hamburg", "Resource": "Room 2", "Coach": "Carla Coach",
		"When": "Sat 23 May, 07:30", "Date": "Sat 23 May", "Time": "07:30", "EndTime": "08:30", "Party": 1, "Position": 2,
		"ClaimURL": "https://berth.example/claim/8Jx2mQ0vT5c", "Code": "4821", "ExpiresAt": "06:30", "Minutes": 30,
		"Reason": "Carla is ill.", "Refunded": true, "Late": false, "Waitlist": false, "OldWhen": "Fri 22 May, 07:30",
		"In": "in 24 hours", "Balance": 1, "Plan": "Ten classes", "Note": "No one on the waitlist fits the free place.",
		"Change": "Olga made Ben an admin.",
	}, all)
	test.EqOp(t, 8, Example(OfferExpiring, "en")["Minutes"].(int))
	test.NotEq(t, Example(Reminder, "en"), Example(Reminder, "de"))
	test.MapLen(t, len(Variables(CreditsLow)), Example(CreditsLow, "en"))
	variables := Variables(Reminder)
	test.Eq(t, []string{"Name", "Title", "In"},
		[]string{variables[0].Name, variables[3].Name, variables[len(variables)-1].Name})
	for name, value := range (Values{}).complete(BookingCancelled) {
		test.True(t, value == "" || value == 0 || value == false, test.Sprint(name))
	}
}

// The service runs templates of tenants, so nothing in them may be unchecked, wherever it is.
func TestTemplateCheck_ChecksEveryBranch(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"{{if .Coach}}{{printf}}{{end}}":          `there is no function "printf"`,
		"{{if printf}}x{{end}}":                   `there is no function "printf"`,
		"{{if .Coach}}x{{else}}{{printf}}{{end}}": `there is no function "printf"`,
		"{{with .Nxme}}x{{end}}":                  `there is no variable ".Nxme"`,
		"{{with .Coach}}{{printf}}{{end}}":        `there is no function "printf"`,
		"{{(.Nxme).X}}":                           `there is no variable ".Nxme"`,
		"{{.Title.Length}}":                       `there is no variable ".Title.Length"`,
		"{{range .Title}}x{{end}}":                "range is not allowed",
		`{{define "x"}}a{{end}}{{template "x"}}`:  "template is not allowed",
		"{{if gt .Title 1}}x{{end}}": "error calling gt: incompatible types for comparison: " +
			"string and int",
		"a {{shout .Name}}": `function "shout" not defined`,
		"{{and (eq .Title (upper (printf))) (not .Title)}}": `there is no function "printf"`,
	} {
		_, err := Template{Topic: Reminder, Channel: SMS, Locale: "en", Body: body}.Check()
		test.StrHasSuffix(t, " of body: "+want+".", strings.TrimPrefix(err.Error(), "TEMPLATE_INVALID: "))
	}
	out := expect.Value(Render(
		Template{Channel: Push, Locale: "en", Subject: "x", Body: "\n a \n"}, Values{}, brand.Brand{}, Foot{},
	))(t)
	test.EqOp(t, "a", out.Text)
	test.EqOp(t, "", NoAnswer.Text("x", "de"))
	test.StrHasPrefix(t, strings.Repeat("x", 27)+".:", Helped.Text(strings.Repeat("x", 40), "en"))
}

func TestRetries_OfOffersArePatientForHalfAMinute(t *testing.T) {
	t.Parallel()
	n := Notice{Topic: Offered, Lane: Alert, LastChannel: true, ExpiresAt: monday.Add(time.Hour)}
	busy := []Attempt{{Err: &SendError{Kind: Transient}}}
	for attempts, want := range map[int]int{1: 3, 2: 6, 3: 12, 4: 20, 5: 20} {
		n.Attempts = attempts
		test.EqOp(t, time.Duration(want)*time.Second,
			AfterAttempt(n, SMS, busy, monday, 0.999999999).NextAt.Sub(monday).Round(time.Second))
	}
	n.Attempts = 6
	test.True(t, AfterAttempt(n, SMS, busy, monday, 0.5).ChannelFailed)
}

// Now can be any second. Quiet hours with clock changes end at the first second that is not quiet.
func TestUntil_EndsAtTheFirstSecondThatIsNotQuiet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zones := []string{"Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll"}
		where := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		change := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
		if where.String() == "Australia/Lord_Howe" {
			change = time.Date(2026, 10, 3, 15, 30, 0, 0, time.UTC)
		}
		now := change.Add(-time.Duration(rapid.IntRange(1, 7200).Draw(t, "before")) * time.Second)
		q := hours(rapid.SampledFrom([]string{
			"22:00-02:30", "00:00-02:01", "22:00-02:59", "22:00-01:15", "01:59-02:00",
		}).Draw(t, "quiet"))
		until, quiet := q.Until(now, where)
		if !quiet {
			return
		}
		for at := now; at.Before(until); at = at.Add(time.Second) {
			must.True(t, q.contains(civil.TimeOf(at, where)))
		}
		must.False(t, q.contains(civil.TimeOf(until, where)))
	})
}
