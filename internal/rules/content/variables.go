package content

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Values are the variables of one message.
type Values map[string]any

// variable is a variable of templates.
type variable struct {
	name        string
	description string
	example     any // a function of the locale, for dates and times
	value       func(f Facts, in locale) any
}

// commonVariables are those of every topic.
var commonVariables = []variable{
	{"Name", "The recipient's name.", "Mia Lindgren", func(f Facts, _ locale) any { return f.Name }},
	{
		"Tenant", "The name of the studio, gym or club.", "Harbour Yoga",
		func(f Facts, _ locale) any { return f.Tenant },
	},
	{
		"Link", "The page with the recipient's bookings.", "https://berth.example/",
		func(f Facts, _ locale) any { return f.Link },
	},
}

// sessionVariables are those of the topics about a session.
var sessionVariables = []variable{
	{"Title", "The session's title.", "Vinyasa Flow", func(f Facts, _ locale) any { return f.Title }},
	{"Location", "The location's name.", "Pier 1", func(f Facts, _ locale) any { return f.Location }},
	{
		"Address", "The location's address; can be empty.", "Quay Street 1, Hamburg",
		func(f Facts, _ locale) any { return f.Address },
	},
	{
		"Resource", "The court, bay, tee, room or chair; can be empty.", "Room 2",
		func(f Facts, _ locale) any { return f.Resource },
	},
	{"Coach", "The coach's name; can be empty.", "Carla Coach", func(f Facts, _ locale) any { return f.Coach }},
	{
		"When", "Day and time of the start, in the recipient's time zone.", exampleDateTime(exampleStart),
		func(f Facts, in locale) any { when, _, _ := f.when(in); return when },
	},
	{
		"Date", "Day of the start.", func(in locale) string { return in.date(exampleStart, time.UTC) },
		func(f Facts, in locale) any { _, date, _ := f.when(in); return date },
	},
	{
		"Time", "Time of the start.", exampleClock(exampleStart),
		func(f Facts, in locale) any { _, _, clock := f.when(in); return clock },
	},
	{
		"EndTime", "Time of the end.", exampleClock(exampleStart.Add(time.Hour)), func(f Facts, in locale) any {
			if f.StartsAt.IsZero() {
				return ""
			}
			return in.clock(f.EndsAt, f.Zone)
		},
	},
	{"Party", "Number of people.", 1, func(f Facts, _ locale) any { return f.Party }},
}

// topicVariables are the additional variables of a topic.
var topicVariables = map[notify.Topic][]variable{
	notify.Waitlisted: {{
		"Position", "The position on the waitlist, from 1.", 2,
		func(f Facts, _ locale) any { return f.Details.Position },
	}, {
		"Mode", `What a free place would be: "AUTO_PROMOTE", booked; "OFFER", offered; "FIRST_TO_CLAIM", offered to all.`,
		"OFFER", func(f Facts, _ locale) any { return f.Mode },
	}},
	notify.Promoted: {{
		"CancelBy", "Until when cancelling is free; can be empty.", exampleClock(exampleStart.Add(-time.Hour)),
		func(f Facts, in locale) any {
			if !f.CancelBy.After(f.Now) {
				return ""
			}
			return in.until(f.CancelBy, f.Now, f.Zone)
		},
	}},
	notify.Offered:       offerVariables(30),
	notify.OfferExpiring: offerVariables(8),
	notify.BookingCancelled: {
		reasonVariable("The reason given for cancelling; can be empty.", ""),
		refundedVariable,
		{
			"Late", "Whether it was after the cancellation window.", false,
			func(f Facts, _ locale) any { return f.Details.Late },
		},
		waitlistVariable,
	},
	notify.SessionCancelled: {
		reasonVariable("The reason given by staff; can be empty.", "Carla is ill."),
		refundedVariable,
		waitlistVariable,
	},
	notify.Rescheduled: {{
		"OldWhen", "Day and time of the previous start; can be empty.", exampleDateTime(exampleStart.Add(-24 * time.Hour)),
		func(f Facts, in locale) any {
			if f.Details.OldStart.IsZero() || f.Details.OldStart.Equal(f.StartsAt) {
				return ""
			}
			return in.dateTime(f.Details.OldStart, f.Zone, f.LocationZone)
		},
	}},
	notify.Reminder: {{
		"In", "The time until the start, in words.", func(in locale) string { return in.span(24 * time.Hour) },
		func(f Facts, in locale) any { return in.span(f.StartsAt.Sub(f.Now)) },
	}},
	notify.CreditsLow: {
		{"Balance", "The number of credits left.", 1, func(f Facts, _ locale) any { return f.Details.Balance }},
		{"Plan", "The plan's name.", "Ten classes", func(f Facts, _ locale) any { return f.Plan }},
	},
	notify.AccessChanged: {{
		"Change", "What changed, in a sentence.", "Olga made Ben an admin.", func(f Facts, in locale) any {
			if f.Details.Access == nil {
				return ""
			}
			return in.accessChange(*f.Details.Access)
		},
	}},
	notify.StaffNote: {{
		"Note", "The note to staff.", "No one on the waitlist fits the free place.",
		func(f Facts, in locale) any {
			if f.Details.Screen {
				return in.aboutSecondScreen()
			}
			return f.Details.Note
		},
	}},
	notify.ContactCode: {
		{"Code", "The code.", "482113", func(f Facts, _ locale) any { return f.Code }},
		{
			"ConfirmURL", "The page that confirms an email address.", "https://berth.example/confirm/8Jx2mQ0vT5c",
			func(f Facts, _ locale) any { return f.ConfirmURL },
		},
		{"Minutes", "Minutes for which the code can be used.", 10, minutesLeft},
	},
	notify.ContactChanged: {{
		"ByPhone", "Whether the contact is a phone number.", false,
		func(f Facts, _ locale) any { return f.ByPhone },
	}},
	notify.DomainLapsed: {{
		"From", "The address from which emails came.", "hello@studio.example",
		func(f Facts, _ locale) any { return f.Details.From },
	}},
	notify.QuotaReached: {
		{"Used", "How many messages were sent in 24 hours.", 600, func(f Facts, _ locale) any { return f.quota().Used }},
		{"Limit", "The sending quota.", 200, func(f Facts, _ locale) any { return f.quota().Limit }},
		{"ByPhone", "Whether they are text messages.", true, func(f Facts, _ locale) any {
			return f.quota().Channel == delivery.SMS
		}},
		{"Country", "The country, if the quota is that of one.", "PT", func(f Facts, _ locale) any {
			return f.quota().Country
		}},
	},
}

// quota returns the limit that was reached.
func (f Facts) quota() notify.SendingAlarm {
	if f.Details.Quota == nil {
		return notify.SendingAlarm{}
	}
	return *f.Details.Quota
}

func offerVariables(minutes int) []variable {
	return []variable{
		{
			"ClaimURL", "The page to accept or decline the offer.", "https://berth.example/claim/8Jx2mQ0vT5c",
			func(f Facts, _ locale) any { return f.ClaimURL },
		},
		{
			"Code", `The code for replies by SMS: "1 CODE" accepts, "2 CODE" declines.`, "4821",
			func(f Facts, _ locale) any { return f.Code },
		},
		{
			"ExpiresAt", "When the offer ends.", exampleClock(exampleStart.Add(-time.Hour)),
			func(f Facts, in locale) any { return in.until(f.Until, f.Now, f.Zone) },
		},
		{"Minutes", "Minutes until the offer ends.", minutes, minutesLeft},
	}
}

func minutesLeft(f Facts, _ locale) any {
	return int(f.Until.Sub(f.Now).Round(time.Minute) / time.Minute)
}

func reasonVariable(description, example string) variable {
	return variable{"Reason", description, example, func(f Facts, _ locale) any { return f.Details.Reason }}
}

var (
	refundedVariable = variable{
		"Refunded", "Whether a credit was refunded.", true,
		func(f Facts, _ locale) any { return f.Details.Refunded },
	}
	waitlistVariable = variable{
		"Waitlist", "Whether it was a place on the waitlist, not a booking.", false,
		func(f Facts, _ locale) any { return f.Details.Waitlist },
	}
)

// exampleStart is the start of the session in examples: a Saturday.
var exampleStart = time.Date(2026, 5, 23, 7, 30, 0, 0, time.UTC)

func exampleDateTime(t time.Time) func(in locale) string {
	return func(in locale) string { return in.dateTime(t, time.UTC, nil) }
}

func exampleClock(t time.Time) func(in locale) string {
	return func(in locale) string { return in.clock(t, time.UTC) }
}

// variables returns the variables of a topic, in the order in which they are shown.
func variables(t notify.Topic) []variable {
	all := slices.Clone(commonVariables)
	if t.AboutSession() {
		all = append(all, sessionVariables...)
	}
	return append(all, topicVariables[t]...)
}

// Example returns example values of a topic, with dates and times in the language of the locale.
func Example(t notify.Topic, locale string) Values {
	in := localeFor(locale)
	values := make(Values)
	for _, v := range variables(t) {
		values[v.name] = v.exampleIn(in)
	}
	return values
}

func (v variable) exampleIn(in locale) any {
	if text, ok := v.example.(func(locale) string); ok {
		return text(in)
	}
	return v.example
}

// emptyValues returns the zero values of a topic's variables.
func emptyValues(t notify.Topic) Values {
	empty := make(Values)
	for _, v := range variables(t) {
		switch v.example.(type) {
		case int:
			empty[v.name] = 0
		case bool:
			empty[v.name] = false
		default:
			empty[v.name] = ""
		}
	}
	return empty
}

// VariableInfo is a variable with its example as text.
type VariableInfo struct{ Name, Description, Example string }

// DescribeVariables returns the variables of a topic, with examples in the language of the locale.
func DescribeVariables(t notify.Topic, locale string) []VariableInfo {
	in := localeFor(locale)
	var all []VariableInfo
	for _, v := range variables(t) {
		all = append(all, VariableInfo{v.name, v.description, fmt.Sprint(v.exampleIn(in))})
	}
	return all
}
