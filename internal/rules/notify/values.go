package notify

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Variable is something that a template can say.
type Variable struct {
	Name        string
	Description string
	Example     any
}

// Values are the variables of one message.
type Values map[string]any

// Every topic has these.
var always = []Variable{
	{"Name", "The recipient's name.", "Mia Lindgren"},
	{"Tenant", "The name of the studio, gym or club.", "Harbour Yoga"},
	{"Link", "Where the recipient sees their bookings.", "https://berth.example/"},
}

// Topics about a session have these.
var ofSession = []Variable{
	{"Title", "What the session is called.", "Vinyasa Flow"},
	{"Location", "Where it takes place.", "Pier 1"},
	{"Address", "The location's address; may be empty.", "Quay Street 1, Hamburg"},
	{"Resource", "The court, bay, tee, room or chair; may be empty.", "Room 2"},
	{"Coach", "Who leads it; may be empty.", "Carla Coach"},
	{"When", "Day and time of its start, on the recipient's clock.", ""},
	{"Date", "Day of its start.", ""},
	{"Time", "Time of its start.", ""},
	{"EndTime", "Time of its end.", ""},
	{"Party", "How many come.", 1},
}

var ofTopic = map[Topic][]Variable{
	Waitlisted: {{"Position", "The place in the queue, from 1.", 2}},
	Offered: {
		{"ClaimURL", "The page on which the offer is accepted or declined.", "https://berth.example/claim/8Jx2mQ0vT5c"},
		{"Code", "What to answer an SMS with: \"1 CODE\" accepts, \"2 CODE\" declines.", "4821"},
		{"ExpiresAt", "Until when the place is kept.", ""},
		{"Minutes", "How many minutes that are.", 30},
	},
	OfferExpiring: {
		{"ClaimURL", "The page on which the offer is accepted or declined.", "https://berth.example/claim/8Jx2mQ0vT5c"},
		{"Code", "What to answer an SMS with: \"1 CODE\" accepts, \"2 CODE\" declines.", "4821"},
		{"ExpiresAt", "Until when the place is kept.", ""},
		{"Minutes", "How many minutes are left.", 8},
	},
	BookingCancelled: {
		{"Reason", "Why, as whoever cancelled wrote it; may be empty.", ""},
		{"Refunded", "Whether a credit came back.", true},
		{"Late", "Whether it was past the cancellation window.", false},
		{"Waitlist", "It was a place on the waitlist, not a booking.", false},
	},
	SessionCancelled: {
		{"Reason", "Why, as staff wrote it; may be empty.", "Carla is ill."},
		{"Refunded", "Whether a credit came back.", true},
		{"Waitlist", "It was a place on the waitlist, not a booking.", false},
	},
	Rescheduled: {{"OldWhen", "Day and time of the start as it was; may be empty.", ""}},
	Reminder:    {{"In", "How long until it begins, in words.", ""}},
	CreditsLow: {
		{"Balance", "Credits left.", 1},
		{"Plan", "The plan that they belong to.", "Ten classes"},
	},
	StaffNote: {{"Note", "What staff are to know.", "Nobody on the waitlist fits the free place."}},
}

// Variables are those of a topic, in the order in which people read about them.
func Variables(t Topic) []Variable {
	all := slices.Clone(always)
	if t != CreditsLow {
		all = append(all, ofSession...)
	}
	return append(all, ofTopic[t]...)
}

// exampleStart is when example sessions take place: a Saturday.
var exampleStart = time.Date(2026, 5, 23, 7, 30, 0, 0, time.UTC)

// Example gives values for trying a template out in a language.
func Example(t Topic, locale string) Values {
	in := wordsFor(locale)
	values := make(Values)
	for _, v := range Variables(t) {
		values[v.Name] = v.Example
	}
	written := Values{
		"When": in.dateTime(exampleStart, time.UTC, nil), "Date": in.date(exampleStart, time.UTC), "Time": in.clock(exampleStart, time.UTC),
		"EndTime": in.clock(exampleStart.Add(time.Hour), time.UTC), "ExpiresAt": in.clock(exampleStart.Add(-time.Hour), time.UTC),
		"OldWhen": in.dateTime(exampleStart.Add(-24*time.Hour), time.UTC, nil), "In": in.span(24 * time.Hour),
	}
	for name, text := range written {
		if _, has := values[name]; has {
			values[name] = text
		}
	}
	return values
}

// complete gives the values with every variable of the topic that is missing as its zero.
func (v Values) complete(t Topic) Values {
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

// Described is a variable as people read about it.
type Described struct{ Name, Description, Example string }

// DescribeVariables are those of a topic, with examples in a language.
func DescribeVariables(t Topic, locale string) []Described {
	examples := Example(t, locale)
	var all []Described
	for _, v := range Variables(t) {
		all = append(all, Described{v.Name, v.Description, fmt.Sprint(examples[v.Name])})
	}
	return all
}
