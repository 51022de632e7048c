// Package content has what messages say: templates and their variables, the default texts, dates and times in the
// recipient's language, and the forms that a channel needs, such as HTML, segments of SMS and calendar files.
package content

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Facts are what a message can tell.
type Facts struct {
	Topic        notify.Topic
	Details      notify.Details
	Now          time.Time
	Zone         *time.Location // of the recipient
	LocationZone *time.Location // of the location

	Name, Tenant, Link string
	Subject
	ClaimURL, Code string
	Until          time.Time // when the offer or the code ends
	CancelBy       time.Time // until then a promotion can be cancelled for free
	Mode           string    // what an entry would get: AUTO_PROMOTE, OFFER or FIRST_TO_CLAIM
	ConfirmURL     string    // confirms an email address
	ByPhone        bool      // the contact is a phone number
}

// Subject is the current state of what a message is about, and how the message names it.
type Subject struct {
	notify.Facts
	Title, Location, Address, Resource, Coach string
	Party                                     int
	EndsAt                                    time.Time
	Window                                    *TimeWindow // of an entry without a session
	Plan                                      string
}

// Values returns the variables of the topic, with dates and times in the language of the locale.
func (f Facts) Values(locale string) Values {
	in := localeFor(locale)
	v := make(Values)
	for _, variable := range variables(f.Topic) {
		v[variable.name] = variable.value(f, in)
	}
	return v
}

// when formats the start of the session, or the time window of an entry without one: as a whole, the day, and the time.
func (f Facts) when(in locale) (when, date, clock string) {
	switch {
	case !f.StartsAt.IsZero():
		return in.dateTime(f.StartsAt, f.Zone, f.LocationZone), in.date(f.StartsAt, f.Zone), in.clock(f.StartsAt, f.Zone)
	case f.Window != nil:
		return in.window(*f.Window, f.LocationZone)
	}
	return "", "", ""
}

// until formats a time, with the day if it is not today.
func (l locale) until(t, now time.Time, zone *time.Location) string {
	if civil.DateOf(t, zone) == civil.DateOf(now, zone) {
		return l.clock(t, zone)
	}
	return l.dateTime(t, zone, nil)
}

// TimeWindow is a time window of a waitlist entry: days and times of day at the location, both ends included.
type TimeWindow struct {
	From, Until      civil.Date
	Earliest, Latest civil.TimeOfDay
}

// window formats a time window in the location's zone, in which it was entered: "Wed 18 Mar – Fri 20 Mar, 08:00–09:00".
// If it has the whole day, the times are omitted.
func (l locale) window(in TimeWindow, zone *time.Location) (when, days, times string) {
	first, last := in.From.At(in.Earliest, zone), in.Until.At(in.Latest, zone)
	days = l.date(first, zone)
	if in.Until != in.From {
		days += " – " + l.date(last, zone)
	}
	if in.Earliest == (civil.TimeOfDay{}) && in.Latest.Hour == 23 && in.Latest.Minute == 59 {
		return days, days, ""
	}
	times = l.clock(first, zone) + "–" + l.clock(last, zone)
	return fmt.Sprintf(l.dateAndTime, days, times), days, times
}
