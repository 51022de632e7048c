package content

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/notify"
)

// Variable is a variable of templates.
type Variable struct {
	Name        string
	Description string
	Example     any
}

// Values are the variables of one message.
type Values map[string]any

// commonVariables are those of every topic.
var commonVariables = []Variable{
	{"Name", "The recipient's name.", "Mia Lindgren"},
	{"Tenant", "The name of the studio, gym or club.", "Harbour Yoga"},
	{"Link", "The page with the recipient's bookings.", "https://berth.example/"},
}

// sessionVariables are those of the topics about a session.
var sessionVariables = []Variable{
	{"Title", "The session's title.", "Vinyasa Flow"},
	{"Location", "The location's name.", "Pier 1"},
	{"Address", "The location's address; can be empty.", "Quay Street 1, Hamburg"},
	{"Resource", "The court, bay, tee, room or chair; can be empty.", "Room 2"},
	{"Coach", "The coach's name; can be empty.", "Carla Coach"},
	{"When", "Day and time of the start, in the recipient's time zone.", ""},
	{"Date", "Day of the start.", ""},
	{"Time", "Time of the start.", ""},
	{"EndTime", "Time of the end.", ""},
	{"Party", "Number of people.", 1},
}

// topicVariables are the additional variables of a topic.
var topicVariables = map[notify.Topic][]Variable{
	notify.Waitlisted: {{"Position", "The position on the waitlist, from 1.", 2}},
	notify.Offered: {
		{"ClaimURL", "The page to accept or decline the offer.", "https://berth.example/claim/8Jx2mQ0vT5c"},
		{"Code", "The code for replies by SMS: \"1 CODE\" accepts, \"2 CODE\" declines.", "4821"},
		{"ExpiresAt", "When the offer ends.", ""},
		{"Minutes", "Minutes until the offer ends.", 30},
	},
	notify.OfferExpiring: {
		{"ClaimURL", "The page to accept or decline the offer.", "https://berth.example/claim/8Jx2mQ0vT5c"},
		{"Code", "The code for replies by SMS: \"1 CODE\" accepts, \"2 CODE\" declines.", "4821"},
		{"ExpiresAt", "When the offer ends.", ""},
		{"Minutes", "Minutes until the offer ends.", 8},
	},
	notify.BookingCancelled: {
		{"Reason", "The reason given for cancelling; can be empty.", ""},
		{"Refunded", "Whether a credit was refunded.", true},
		{"Late", "Whether it was after the cancellation window.", false},
		{"Waitlist", "Whether it was a place on the waitlist, not a booking.", false},
	},
	notify.SessionCancelled: {
		{"Reason", "The reason given by staff; can be empty.", "Carla is ill."},
		{"Refunded", "Whether a credit was refunded.", true},
		{"Waitlist", "Whether it was a place on the waitlist, not a booking.", false},
	},
	notify.Rescheduled: {{"OldWhen", "Day and time of the previous start; can be empty.", ""}},
	notify.Reminder:    {{"In", "The time until the start, in words.", ""}},
	notify.CreditsLow: {
		{"Balance", "The number of credits left.", 1},
		{"Plan", "The plan's name.", "Ten classes"},
	},
	notify.AccessChanged: {{"Change", "What changed, in a sentence.", "Olga made Ben an admin."}},
	notify.StaffNote:     {{"Note", "The note to staff.", "No one on the waitlist fits the free place."}},
	notify.ContactCode: {
		{"Code", "The code.", "482113"},
		{"ConfirmURL", "The page that confirms an email address.", "https://berth.example/confirm/8Jx2mQ0vT5c"},
		{"Minutes", "Minutes for which the code can be used.", 10},
	},
	notify.ContactChanged: {{"ByPhone", "Whether the contact is a phone number.", false}},
	notify.DomainLapsed:   {{"From", "The address from which emails came.", "hello@studio.example"}},
}

// Variables returns the variables of a topic, in the order in which they are shown.
func Variables(t notify.Topic) []Variable {
	all := slices.Clone(commonVariables)
	if t.AboutSession() {
		all = append(all, sessionVariables...)
	}
	return append(all, topicVariables[t]...)
}

// exampleStart is the start of the session in examples: a Saturday.
var exampleStart = time.Date(2026, 5, 23, 7, 30, 0, 0, time.UTC)

// Example returns example values of a topic, with dates and times in the language of the locale.
func Example(t notify.Topic, locale string) Values {
	in := localeFor(locale)
	values := make(Values)
	for _, v := range Variables(t) {
		values[v.Name] = v.Example
	}
	formatted := Values{
		"When":      in.dateTime(exampleStart, time.UTC, nil),
		"Date":      in.date(exampleStart, time.UTC),
		"Time":      in.clock(exampleStart, time.UTC),
		"EndTime":   in.clock(exampleStart.Add(time.Hour), time.UTC),
		"ExpiresAt": in.clock(exampleStart.Add(-time.Hour), time.UTC),
		"OldWhen":   in.dateTime(exampleStart.Add(-24*time.Hour), time.UTC, nil),
		"In":        in.span(24 * time.Hour),
	}
	for name, text := range formatted {
		if _, has := values[name]; has {
			values[name] = text
		}
	}
	return values
}

// complete returns the values plus the zero value of every missing variable of the topic.
func (v Values) complete(t notify.Topic) Values {
	full := make(Values)
	for _, variable := range Variables(t) {
		switch variable.Example.(type) {
		case int:
			full[variable.Name] = 0
		case bool:
			full[variable.Name] = false
		default:
			full[variable.Name] = ""
		}
	}
	maps.Copy(full, v)
	return full
}

// VariableInfo is a variable with its example as text.
type VariableInfo struct{ Name, Description, Example string }

// DescribeVariables returns the variables of a topic, with examples in the language of the locale.
func DescribeVariables(t notify.Topic, locale string) []VariableInfo {
	examples := Example(t, locale)
	var all []VariableInfo
	for _, v := range Variables(t) {
		all = append(all, VariableInfo{v.Name, v.Description, fmt.Sprint(examples[v.Name])})
	}
	return all
}
