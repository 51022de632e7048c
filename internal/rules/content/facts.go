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

	Name, Tenant, Link                        string
	Title, Location, Address, Resource, Coach string
	Party                                     int
	Start, End                                time.Time
	Window                                    *TimeWindow // if there is no session yet
	Plan                                      string
	ClaimURL, Code                            string
	Until                                     time.Time // when the offer ends
	ConfirmURL                                string    // confirms an email address
	ByPhone                                   bool      // the contact is a phone number
}

// Values returns the variables of the topic, with dates and times in the language of the locale.
func (f Facts) Values(locale string) Values {
	in := localeFor(locale)
	v := Values{"Name": f.Name, "Tenant": f.Tenant, "Link": f.Link}
	if f.Topic.AboutSession() {
		v["Title"], v["Location"], v["Address"] = f.Title, f.Location, f.Address
		v["Resource"], v["Coach"], v["Party"] = f.Resource, f.Coach, f.Party
		if !f.Start.IsZero() {
			v["When"], v["Date"] = in.dateTime(f.Start, f.Zone, f.LocationZone), in.date(f.Start, f.Zone)
			v["Time"], v["EndTime"] = in.clock(f.Start, f.Zone), in.clock(f.End, f.Zone)
		} else if f.Window != nil {
			v["When"], v["Date"], v["Time"] = in.window(*f.Window, f.LocationZone)
		}
	}
	d := f.Details
	switch f.Topic {
	case notify.Waitlisted:
		v["Position"] = d.Position
	case notify.Offered, notify.OfferExpiring:
		v["ClaimURL"], v["Code"] = f.ClaimURL, f.Code
		v["ExpiresAt"] = in.until(f.Until, f.Now, f.Zone)
		v["Minutes"] = int(f.Until.Sub(f.Now).Round(time.Minute) / time.Minute)
	case notify.BookingCancelled:
		v["Reason"], v["Refunded"], v["Late"], v["Waitlist"] = d.Reason, d.Refunded, d.Late, d.Waitlist
	case notify.SessionCancelled:
		v["Reason"], v["Refunded"], v["Waitlist"] = d.Reason, d.Refunded, d.Waitlist
	case notify.Rescheduled:
		if !d.OldStart.IsZero() && !d.OldStart.Equal(f.Start) {
			v["OldWhen"] = in.dateTime(d.OldStart, f.Zone, f.LocationZone)
		}
	case notify.Reminder:
		v["In"] = in.span(f.Start.Sub(f.Now))
	case notify.CreditsLow:
		v["Balance"], v["Plan"] = d.Balance, f.Plan
	case notify.StaffNote:
		v["Note"] = d.Note
	case notify.AccessChanged:
		if d.Access != nil {
			v["Change"] = in.accessChange(*d.Access)
		}
	case notify.ContactCode:
		v["Code"], v["ConfirmURL"] = f.Code, f.ConfirmURL
		v["Minutes"] = int(f.Until.Sub(f.Now).Round(time.Minute) / time.Minute)
	case notify.ContactChanged:
		v["ByPhone"] = f.ByPhone
	case notify.DomainLapsed:
		v["From"] = d.From
	case notify.BookingConfirmed, notify.Promoted, notify.CheckInOpen:
	}
	return v.complete(f.Topic)
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
