package notify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// Rows, events, providers and clients have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []Topic{
		"BOOKING_CONFIRMED", "WAITLISTED", "PROMOTED", "OFFER", "OFFER_EXPIRING", "BOOKING_CANCELLED",
		"SESSION_CANCELLED", "RESCHEDULED", "REMINDER", "CHECK_IN_OPEN", "CREDITS_LOW", "STAFF_NOTE", "ACCESS_CHANGED",
		"CONTACT_CODE", "CONTACT_CHANGED", "SENDING_DOMAIN",
	}, append(Topics(), ContactCode, ContactChanged, DomainLapsed))
	test.Eq(t, []Channel{"SMS", "PUSH", "EMAIL"}, Channels())
	test.Eq(t, []Lane{"ALERT", "MAIL"}, []Lane{Alert, Mail})
	test.Eq(t, []Reason{
		"OPTED_OUT", "UNSUBSCRIBED", "BOUNCED", "UNREACHABLE", "QUIET_HOURS", "FREQUENCY_CAP", "SENDING_QUOTA",
		"NOT_BOOKED", "OFFER_CLOSED", "MOVED", "TOO_LATE", "SUPERSEDED", "PROVIDER_UNAVAILABLE", "PROVIDER_REFUSED",
		"UNREGISTERED", "MISCONFIGURED", "POSSIBLY_SENT", "TEMPLATE",
	}, []Reason{
		OptedOutReason, Unsubscribed, BouncedReason, Unreachable, QuietHoursReason, FrequencyCap, SendingQuotaReason,
		NotBooked, OfferClosed, Moved, TooLate, Superseded, ProviderUnavailable, ProviderRefused, NotRegistered,
		MisconfiguredSender, PossiblySentReason, BadTemplate,
	})
	test.Eq(t, []Action{"SEND", "DEFER", "DROP"}, []Action{Send, Defer, Drop})
	test.Eq(t, []DeliveryStatus{
		"POSSIBLY_SENT", "QUEUED", "SENT", "FAILED", "UNDELIVERED", "BOUNCED", "DELIVERED", "READ",
	}, []DeliveryStatus{PossiblySent, Queued, Sent, Failed, Undelivered, Bounced, Delivered, Read})
	test.Eq(t, []FailureKind{"TRANSIENT", "PERMANENT", "UNREGISTERED", "OPTED_OUT", "MISCONFIGURED", "UNKNOWN"},
		[]FailureKind{Transient, Permanent, Unregistered, OptedOut, Misconfigured, Unknown})
	test.Eq(t, []AccessChangeKind{
		"ROLE_GIVEN", "ROLE_TAKEN", "DEACTIVATED", "REACTIVATED", "CONTACT_CHANGED", "TRANSFER_OFFERED",
		"TRANSFER_CONFIRMED", "TRANSFER_CANCELLED",
	}, accessChanges)
	test.Eq(t, []Encoding{"GSM-7", "UCS-2"}, []Encoding{GSM7Bit, UCS2})
	test.Eq(t, []ReplyKind{"ACCEPT", "DECLINE", "STOP", "START", "HELP"}, []ReplyKind{Accept, Decline, Stop, Start, Help})
	test.Eq(t, []Answer{"BOOKED", "HANDED_ON", "NOT_OPEN", "NOT_POSSIBLE", "AMBIGUOUS", "HELPED", "SILENCED"},
		[]Answer{Booked, OfferDeclined, NotOpen, BookingFailed, Ambiguous, Helped, MessagesStopped})
}

// calendarEntry has a value in each field.
func calendarEntry() CalendarEntry {
	return CalendarEntry{
		UID: "01@berth", Sequence: 7, Stamp: exampleStart.Add(-time.Hour), Start: exampleStart,
		End: exampleStart.Add(time.Hour), Summary: "Yoga", Location: "Pier 1", Details: "Room 2", URL: "https://a.example",
		Organizer: Mailbox{"Harbour", "hello@example.com"}, Attendee: Mailbox{"", "mia@example.com"},
	}
}

func TestInvitation_IsWrittenAsInRFC5545(t *testing.T) {
	t.Parallel()
	const (
		head  = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Berth//Bookings//EN\r\nCALSCALE:GREGORIAN\r\nMETHOD:"
		event = "BEGIN:VEVENT\r\nUID:01@berth\r\nSEQUENCE:7\r\nDTSTAMP:20260523T063000Z\r\n" +
			"DTSTART:20260523T073000Z\r\nDTEND:20260523T083000Z\r\nSUMMARY:Yoga\r\nLOCATION:Pier 1\r\nDESCRIPTION:Room 2\r\n" +
			"URL:https://a.example\r\nSTATUS:CONFIRMED\r\n"
		people = "ORGANIZER;CN=\"Harbour\":mailto:hello@example.com\r\n" +
			"ATTENDEE;PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:mia@example.com\r\n"
		end = "END:VEVENT\r\nEND:VCALENDAR\r\n"
	)
	e := calendarEntry()
	got := Invitation(e)
	test.EqOp(t, "REQUEST", string(got.Method))
	test.EqOp(t, head+"REQUEST\r\n"+event+people+end, string(got.Body))
	e.Organizer = Mailbox{}
	feed := CalendarFeed("Mia", []CalendarEntry{e})
	test.EqOp(t, head+"PUBLISH\r\nNAME:Mia\r\nX-WR-CALNAME:Mia\r\nREFRESH-INTERVAL;VALUE=DURATION:PT1H\r\n"+event+end,
		string(feed))
	e.URL, e.Details, e.Gone = "", "", true
	test.StrNotContains(t, string(Invitation(e).Body), "URL")
	test.EqOp(t, "CANCEL", string(Invitation(e).Method))
	test.StrContains(t, string(Invitation(e).Body), "METHOD:CANCEL\r\n")
	test.StrContains(t, string(Invitation(e).Body), "STATUS:CANCELLED\r\n")
}

func TestCalendarSequence_CountsTenthsOfASecond(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int{
		-time.Second: 0, 0: 0, 99 * time.Millisecond: 0, 100 * time.Millisecond: 1, time.Hour: 36_000,
	} {
		test.EqOp(t, want, CalendarSequence(monday, monday.Add(after)))
	}
}

// Names can add neither properties nor parameters to a calendar.
func TestContentLines_EscapeTextsAndNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\r\nb\rc\nd": `a\nb\nc\nd`, `a\b;c,d`: `a\\b\;c\,d`, "a\x01b\x7fc\td": "abc\td", "a\xffb": "a\ufffdb",
	} {
		var c contentLines
		c.text("NOTE", text)
		test.EqOp(t, "NOTE:"+want+"\r\n", c.String())
	}
	for name, want := range map[string]string{"": "", "Mia": `;CN="Mia"`, "a\"b\nc\x7fd é": `;CN="abcd é"`, `"`: ""} {
		test.EqOp(t, want, commonName(Mailbox{Name: name}))
	}
}

// A folded line is as long as it can be, and unfolds to what was written.
func TestContentLines_UnfoldToTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé€🎾")), 120, 300, -1).Draw(t, "text")
		var c contentLines
		c.text("NOTE", text)
		must.EqOp(t, "NOTE:"+text+"\r\n", strings.ReplaceAll(c.String(), "\r\n ", ""))
		lines := strings.Split(strings.TrimSuffix(c.String(), "\r\n"), "\r\n")
		for i, line := range lines {
			must.LessEq(t, 75, len(line))
			if i < len(lines)-1 {
				next, _ := strings.CutPrefix(lines[i+1], " ")
				must.Greater(t, 75, len(line)+len(string([]rune(next)[0])))
			}
		}
	})
}

// A locale lacks no text, and no two of its days or months have the same name.
func TestLocales_AreComplete(t *testing.T) {
	t.Parallel()
	for _, l := range append(slices.Clone(locales), locales[0]) {
		for _, names := range [][]string{l.locale.days[:], l.locale.months[:], {
			l.locale.dayFormat, l.locale.dateAndTime, l.locale.timeLayout, l.locale.inMinutes, l.locale.inHour,
			l.locale.inHours, l.locale.inDays, l.locale.unsubscribe, l.locale.open, l.locale.sentFor, l.locale.report,
		}} {
			test.SliceNotContains(t, names, "", test.Sprint(l.tag))
			test.Len(t, len(names), slices.Compact(slices.Sorted(slices.Values(names))), test.Sprint(l.tag))
		}
		for _, format := range []string{l.locale.inMinutes, l.locale.inHours, l.locale.inDays} {
			test.StrNotContains(t, fmt.Sprintf(format, 2), "%")
		}
	}
}

func TestLocale_WritesSpansInTheLargestWholeUnit(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]string{
		30 * time.Minute: "in 30 minutes", 29*time.Minute + 30*time.Second: "in 30 minutes", time.Hour: "in 1 hour",
		90 * time.Minute: "in 90 minutes", 2 * time.Hour: "in 2 hours", 24 * time.Hour: "in 24 hours",
		25 * time.Hour: "in 25 hours", 48 * time.Hour: "in 2 days", 49 * time.Hour: "in 49 hours",
	} {
		test.EqOp(t, want, english.span(span))
	}
}

func TestSettings_AreNormalizedOrNameTheInvalidField(t *testing.T) {
	t.Parallel()
	limits := func(sms, push, email int) set {
		return set{"PerDay": map[Channel]int{SMS: sms, Push: push, Email: email}}
	}
	for field, all := range map[string][]set{
		"":                     {nil, limits(1, 1, 1), {"Locale": "pt-BR"}, {"PhoneCountries": []string{"PT", "GB"}}},
		"settings.sms_per_day": {limits(0, 1, 1)}, "settings.push_per_day": {limits(1, 0, 1)},
		"settings.email_per_day":   {limits(1, 1, 0)},
		"settings.phone_countries": {{"PhoneCountries": []string{"UK"}}, {"PhoneCountries": []string{"001"}}},
		"settings.locale":          {{"Locale": "english!"}},
		"settings.sender_name":     {{"SenderName": "Studio\r\nBcc: all@example.com"}},
		"settings.quiet_hours":     {{"Quiet.Start.Hour": 25}, {"Quiet.End.Hour": 25}, {"Quiet.End.Second": 1}},
	} {
		want := strings.TrimSuffix("INVALID_FIELD @"+field, "INVALID_FIELD @")
		for _, differ := range all {
			expect.Fault(t, want, differ)(vary.From(DefaultSettings(), differ).Normalize())
		}
	}
	s := DefaultSettings()
	s.Reminders, s.PhoneCountries = []time.Duration{time.Minute, time.Hour, time.Minute}, []string{"PT", "GB", "PT"}
	got := expect.Value(s.Normalize())(t)
	test.Eq(t, []time.Duration{time.Hour, time.Minute}, got.Reminders)
	test.Eq(t, []string{"GB", "PT"}, got.PhoneCountries)
	test.EqOp(t, time.Minute, s.Reminders[0], test.Sprint("the caller's changed"))
	test.EqOp(t, "PT", s.PhoneCountries[0], test.Sprint("the caller's changed"))
	s.ReplyTo, s.SenderName, s.Locale, s.EmailInQuiet = "a@b.example", "Harbour", "de", true
	s.PhoneCountries = []string{"PT"}
	test.Eq(t, catalog.AuditFields{
		"quiet_hours": "21:00-08:00", "email_in_quiet_hours": true, "sms_per_day": 6, "push_per_day": 12,
		"email_per_day": 20, "reminders": []string{"1m0s", "1h0m0s", "1m0s"}, "reply_to": "a@b.example",
		"sender_name": "Harbour", "credits_low_at": 1, "locale": "de", "phone_countries": []string{"PT"},
	}, s.Facts())
	test.Eq(t, []time.Duration{24 * time.Hour, 30 * time.Minute}, DefaultSettings().Reminders)
}

// Without choices, these channels are used: A for an alert, M for a mail of its own.
func TestPreferences_DefaultToTheTopicsChannels(t *testing.T) {
	t.Parallel()
	got := make(map[Topic]string)
	for _, p := range Preferences(nil).All() {
		test.True(t, p.IsDefault)
		if p.Enabled {
			got[p.Topic] += string(p.Channel) + " "
		}
	}
	for topic := range got {
		for _, lane := range topic.Lanes() {
			got[topic] += string(lane[:1])
		}
	}
	test.Eq(t, map[Topic]string{
		BookingConfirmed: "PUSH EMAIL AM", Waitlisted: "EMAIL AM", Promoted: "SMS PUSH EMAIL AM",
		Offered: "SMS PUSH EMAIL AM", OfferExpiring: "SMS PUSH A", BookingCancelled: "EMAIL AM",
		SessionCancelled: "SMS PUSH EMAIL AM", Rescheduled: "PUSH EMAIL AM", Reminder: "PUSH EMAIL A",
		CheckInOpen: "PUSH A", CreditsLow: "EMAIL AM", StaffNote: "PUSH EMAIL AM", AccessChanged: "PUSH EMAIL AM",
	}, got)
	test.False(t, Topic("UNKNOWN").Default(Email))
	test.Eq(t, []Lane{Alert}, Topic("UNKNOWN").Lanes())
	test.Eq(t, [][]Channel{{Push, SMS}, {Push, SMS, Email}, {Email}},
		[][]Channel{Offered.Channels(Alert), Reminder.Channels(Alert), Offered.Channels(Mail)})
	for _, topic := range Topics() {
		test.EqOp(t, topic == Offered || topic == OfferExpiring, topic.IsOffer())
	}
}

func TestPreferences_AreTheMembersChoices(t *testing.T) {
	t.Parallel()
	choice := func(topic Topic, c Channel, on bool) Preference {
		return Preference{PreferenceKey{topic, c}, on, false}
	}
	off, on := choice(Reminder, Push, false), choice(Reminder, SMS, true)
	p := expect.Value(ParsePreferences([]Preference{off, on}))(t)
	test.Eq(t, Preferences{off.PreferenceKey: false, on.PreferenceKey: true}, p)
	test.SliceContainsSubset(t, p.All(), []Preference{off, on, {PreferenceKey{Reminder, Email}, true, true}})
	test.Eq(t, []bool{true, false, false}, []bool{p.AnyOn(SMS), p.AnyOn(Push), p.AnyOn(Email)})
	for _, wrong := range [][]Preference{{off, on, off}, {choice(AccessChanged, Email, false)}} {
		test.EqOp(t, "INVALID_FIELD @preferences.preferences", faulttest.Text(expect.Error(ParsePreferences(wrong))))
	}
	p = expect.Value(ParsePreferences([]Preference{
		choice(AccessChanged, Email, true), choice(AccessChanged, Push, false),
	}))(t)
	test.False(t, p.Allow(AccessChanged, Push))
}

// Each message has a value for each variable of its topic, and for no other.
func TestContent_FillsInTheVariablesOfItsTopic(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	start := exampleStart.Add(24 * time.Hour)
	common := Values{"Name": "Mia", "Tenant": "Harbour", "Link": "https://a"}
	session := Values{
		"Title": "Yoga", "Location": "Pier", "Address": "Quay 1", "Resource": "Room 2", "Coach": "Carla", "Party": 2,
		"When": "Sun 24 May, 09:30", "Date": "Sun 24 May", "Time": "09:30", "EndTime": "10:30",
	}
	offer := Values{"ClaimURL": "https://c", "Code": "4821", "ExpiresAt": "10:11", "Minutes": 41}
	for topic, extra := range map[Topic]Values{
		BookingConfirmed: {}, Promoted: {}, CheckInOpen: {}, Waitlisted: {"Position": 3}, Offered: offer,
		OfferExpiring:    offer,
		BookingCancelled: {"Reason": "ill", "Refunded": true, "Late": true, "Waitlist": true},
		SessionCancelled: {"Reason": "ill", "Refunded": true, "Waitlist": true},
		Rescheduled:      {"OldWhen": "Sat 23 May, 08:30"}, Reminder: {"In": "in 24 hours"},
		CreditsLow: {"Balance": 4, "Plan": "Ten"}, StaffNote: {"Note": "look"},
		AccessChanged: {"Change": "Olga made Ben an admin."}, ContactChanged: {"ByPhone": true},
		ContactCode:  {"Code": "4821", "ConfirmURL": "https://k", "Minutes": 41},
		DomainLapsed: {"From": "hello@studio.com"},
	} {
		want := maps.Clone(common)
		if !slices.Contains([]Topic{CreditsLow, AccessChanged, ContactCode, ContactChanged, DomainLapsed}, topic) {
			maps.Copy(want, session)
		}
		maps.Copy(want, extra)
		c := Content{
			Topic: topic, Now: exampleStart, Zone: berlin, LocationZone: berlin, Name: "Mia", Tenant: "Harbour",
			Link: "https://a", Title: "Yoga", Location: "Pier", Address: "Quay 1", Resource: "Room 2", Coach: "Carla", Party: 2,
			Start: start, End: start.Add(time.Hour), Plan: "Ten", ClaimURL: "https://c", Code: "4821",
			Until: exampleStart.Add(41 * time.Minute), ConfirmURL: "https://k", ByPhone: true, Details: Details{
				Reason: "ill", Refunded: true, Late: true, Waitlist: true, Position: 3, Balance: 4, Note: "look",
				OldStart: exampleStart.Add(-time.Hour), From: "hello@studio.com",
				Access: &AccessChange{Kind: RoleGiven, Role: "admin", Name: "Ben", By: "Olga"},
			},
		}
		test.Eq(t, want, c.Values("en"), test.Sprint(topic))
		names := slices.Sorted(maps.Keys(want))
		var described []string
		for _, v := range DescribeVariables(topic, "en") {
			described = append(described, v.Name)
			test.NotEqOp(t, "", v.Description)
			test.EqOp(t, fmt.Sprint(Example(topic, "en")[v.Name]), v.Example)
		}
		slices.Sort(described)
		test.Eq(t, names, described, test.Sprint(topic))
		test.Eq(t, names, slices.Sorted(maps.Keys(Values{}.complete(topic))))
	}
}

func TestContent_ShowsTimesAsTheRecipientNeedsThem(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	c := Content{
		Topic: Offered, Now: exampleStart, Zone: berlin, LocationZone: berlin, Until: exampleStart.Add(15 * time.Hour),
		Window: &TimeWindow{
			From: civiltest.Date("2026-05-20"), Until: civiltest.Date("2026-05-22"),
			Earliest: civiltest.TimeOfDay("08:00"), Latest: civiltest.TimeOfDay("09:30"),
		},
	}
	v := c.Values("en")
	test.Eq(t, []any{
		"Sun 24 May, 00:30", // tomorrow
		"Wed 20 May – Fri 22 May, 08:00–09:30", "Wed 20 May – Fri 22 May", "08:00–09:30",
	}, []any{v["ExpiresAt"], v["When"], v["Date"], v["Time"]})
	for latest, want := range map[string]string{
		"23:59": "Wed 20 May", "23:58": "Wed 20 May, 00:00–23:58", "22:59": "Wed 20 May, 00:00–22:59",
	} {
		c.Window = &TimeWindow{From: c.Window.From, Until: c.Window.From, Latest: civiltest.TimeOfDay(latest)}
		test.EqOp(t, want, c.Values("en")["When"].(string))
	}
	c.Window.Earliest, c.Window.Latest = civil.TimeOfDay{Minute: 1}, civil.TimeOfDay{Hour: 23, Minute: 59}
	test.EqOp(t, "Wed 20 May, 00:01–23:59", c.Values("en")["When"].(string))
	c.Topic, c.Start = Rescheduled, exampleStart
	c.Details.OldStart = c.Start
	test.EqOp(t, "", c.Values("en")["OldWhen"].(string)) // the time is the same
	c.Topic, c.Zone, c.Details.OldStart = Rescheduled, time.UTC, c.Start.Add(-time.Hour)
	test.EqOp(t, "Sat 23 May, 06:30 (UTC)", c.Values("en")["OldWhen"].(string))
	test.EqOp(t, "Sat 23 May, 07:30 (UTC)", c.Values("en")["When"].(string))
}

func TestTemplateCheck_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	sms := Template{Topic: Reminder, Channel: SMS, Locale: "en", Body: "x"}
	mail := Template{Topic: Reminder, Channel: Email, Locale: "en", Subject: "x", Body: "x", HTML: "<p>{{.Title}}</p>"}
	at := func(field string, column int) string {
		return fmt.Sprintf("TEMPLATE_INVALID @template.%s column=%d line=1", field, column)
	}
	for name, tt := range map[string]struct {
		template Template
		want     string
	}{
		"a text":                {sms, ""},
		"a mail":                {mail, ""},
		"no language":           {vary.From(sms, set{"Locale": "english!"}), "INVALID_FIELD @template.locale"},
		"no body":               {vary.From(sms, set{"Body": " \n"}), "INVALID_FIELD @template.body"},
		"a text with a subject": {vary.From(sms, set{"Subject": "x"}), "INVALID_FIELD @template.subject"},
		"a mail without":        {vary.From(mail, set{"Subject": " "}), "INVALID_FIELD @template.subject"},
		"a text with HTML":      {vary.From(sms, set{"HTML": "x"}), "INVALID_FIELD @template.html"},
		"a wrong subject":       {vary.From(mail, set{"Subject": "{{.Nxme}}"}), at("subject", 3)},
		"wrong HTML":            {vary.From(mail, set{"HTML": "{{.Nxme}}"}), at("html", 3)},
		"a loop in HTML":        {vary.From(mail, set{"HTML": "{{range .Title}}x{{end}}"}), at("html", 9)},
		"HTML without end":      {vary.From(mail, set{"HTML": "{{if .Title}}"}), at("html", 14)},
		"HTML in a script":      {vary.From(mail, set{"HTML": "{{if .Title}}<a href='{{end}}>"}), at("html", 6)},
		"HTML that fails":       {vary.From(mail, set{"HTML": "{{if gt .Title 1}}x{{end}}"}), at("html", 6)},
		"with and else": {
			vary.From(sms, set{"Body": "{{with .Coach}}{{.}}{{else}}{{.Nxme}}{{end}}"}), at("body", 31),
		},
		"a pipe":    {vary.From(sms, set{"Body": "{{.Title | upper | printf}}"}), at("body", 20)},
		"a chain":   {vary.From(sms, set{"Body": "{{(.Nxme).X}}"}), at("body", 4)},
		"too long":  {vary.From(sms, set{"Body": strings.Repeat("x", 256<<10+1)}), at("body", 1)},
		"just fits": {vary.From(sms, set{"Body": strings.Repeat("x", 256<<10)}), ""},
		"all functions": {vary.From(sms, set{
			"Body": "{{if and (or (not .Coach) (eq .Party 1)) (ne .Party 2) (lt .Party 3) (le .Party 3) " +
				"(gt 3 .Party) (ge 3 .Party)}}{{upper .Title}}{{lower .Title}}{{short .Title 3}}{{end}}",
		}), ""},
	} {
		got, err := tt.template.Check()
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			test.Eq(t, tt.template, got)
		}
		if strings.HasPrefix(tt.want, "TEMPLATE") {
			expect.Fault(t, tt.want, name)(Render(tt.template, Example(Reminder, "en"), brand.Brand{}, Foot{}))
		}
	}
	test.EqOp(t, "de-AT", expect.Value(vary.From(sms, set{"Locale": "DE-at"}).Check())(t).Locale)
	test.EqOp(t, "de", CanonicalLocale("DE"))
	test.EqOp(t, "english!", CanonicalLocale("english!"))
}

func TestShort_CutsLongTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"Grüße", 5, "Grüße"}, {"Grüßen", 5, "Grüß."}, {"Yoga, slow", 6, "Yoga."}, {"Yoga", 3, "Yog"},
		{"Yoga", 0, "Yoga"}, {"Yoga", -1, "Yoga"}, {"Yogas", 4, "Yog."}, {"Yoga", 1, "Y"},
	} {
		test.EqOp(t, tt.want, short(tt.text, tt.n), test.Sprintf("%+v", tt))
	}
}

func TestMask_HidesMostOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		channel       Channel
		address, want string
	}{
		{Email, "émilie@example.com", "é***@example.com"}, {Email, "@b", "***@b"}, {SMS, "+4930123456", "+49******56"},
		{SMS, "123456", "***"}, {SMS, "1234567", "123**67"}, {SMS, "", ""}, {Push, "token@x", "token@x"},
	} {
		test.EqOp(t, tt.want, Mask(tt.channel, tt.address))
	}
}

func TestRender_LinksAndEndsMails(t *testing.T) {
	t.Parallel()
	mail := Template{
		Topic: Reminder, Channel: Email, Locale: "en", Subject: " a \n b", Body: "One\n\n\n\nTwo  \nhttps://a",
	}
	out := expect.Value(Render(mail, Example(Reminder, "en"), brand.Brand{}, Foot{Unsubscribe: "https://u"}))(t)
	test.EqOp(t, "a b", out.Subject)
	test.EqOp(t, "One\n\nTwo\nhttps://a\n\n-- \nUnsubscribe from mails of this kind: https://u", out.Text)
	for _, part := range []string{
		`<html lang="en">`, "<title>a b</title>", ">One</p>", "Two<br>", `href="https://a"`, ">Open</a>", `href="https://u"`,
		">Unsubscribe from mails of this kind</a>", "background:#0b6bcb;color:#ffffff", "border:1px solid #0b6bcb",
	} {
		test.StrContains(t, out.HTML, part)
	}
	mail.Body = "See: https://a\nhttps://b"
	out = expect.Value(Render(mail, Example(Reminder, "en"), brand.Brand{}, Foot{}))(t)
	test.EqOp(t, "See: https://a\nhttps://b", out.Text)
	test.StrContains(t, out.HTML, ">See</a>")
	test.EqOp(t, 1, strings.Count(out.HTML, "display:inline-block")) // the first link is the button
	test.EqOp(t, 1, strings.Count(out.HTML, `style="color:#0b6bcb"`))
	push := Template{Topic: Offered, Channel: Push, Locale: "en", Subject: "a", Body: "b"}
	for _, tt := range []struct {
		values Values
		link   string
	}{
		{Values{"ClaimURL": "https://c", "Link": "https://l"}, "https://c"}, {Values{"Link": "https://l"}, "https://l"}, {},
	} {
		test.Eq(t, Rendered{Subject: "a", Text: "b", Link: tt.link},
			expect.Value(Render(push, tt.values, brand.Brand{}, Foot{Unsubscribe: "https://u"}))(t))
	}
}

func TestNotice_IsAboutTheMemberOrTheGuestsBooking(t *testing.T) {
	t.Parallel()
	member, booked := tenant.New[tenant.MemberID](monday), tenant.New[tenant.BookingID](monday)
	test.EqOp(t, member.UUID, Notice{Member: member, Booking: booked}.Recipient())
	test.EqOp(t, booked.UUID, Notice{Booking: booked}.Recipient())
}
