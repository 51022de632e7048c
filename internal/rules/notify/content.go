package notify

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
)

// Content has everything that a message can contain.
type Content struct {
	Topic        Topic
	Details      Details
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
func (s Content) Values(locale string) Values {
	in := localeFor(locale)
	v := Values{"Name": s.Name, "Tenant": s.Tenant, "Link": s.Link}
	if s.Topic.aboutSession() {
		v["Title"], v["Location"], v["Address"] = s.Title, s.Location, s.Address
		v["Resource"], v["Coach"], v["Party"] = s.Resource, s.Coach, s.Party
		if !s.Start.IsZero() {
			v["When"], v["Date"] = in.dateTime(s.Start, s.Zone, s.LocationZone), in.date(s.Start, s.Zone)
			v["Time"], v["EndTime"] = in.clock(s.Start, s.Zone), in.clock(s.End, s.Zone)
		} else if s.Window != nil {
			v["When"], v["Date"], v["Time"] = in.window(*s.Window, s.LocationZone)
		}
	}
	d := s.Details
	switch s.Topic {
	case Waitlisted:
		v["Position"] = d.Position
	case Offered, OfferExpiring:
		v["ClaimURL"], v["Code"] = s.ClaimURL, s.Code
		v["ExpiresAt"] = in.until(s.Until, s.Now, s.Zone)
		v["Minutes"] = int(s.Until.Sub(s.Now).Round(time.Minute) / time.Minute)
	case BookingCancelled:
		v["Reason"], v["Refunded"], v["Late"], v["Waitlist"] = d.Reason, d.Refunded, d.Late, d.Waitlist
	case SessionCancelled:
		v["Reason"], v["Refunded"], v["Waitlist"] = d.Reason, d.Refunded, d.Waitlist
	case Rescheduled:
		if !d.OldStart.IsZero() && !d.OldStart.Equal(s.Start) {
			v["OldWhen"] = in.dateTime(d.OldStart, s.Zone, s.LocationZone)
		}
	case Reminder:
		v["In"] = in.span(s.Start.Sub(s.Now))
	case CreditsLow:
		v["Balance"], v["Plan"] = d.Balance, s.Plan
	case StaffNote:
		v["Note"] = d.Note
	case AccessChanged:
		if d.Access != nil {
			v["Change"] = in.accessChange(*d.Access)
		}
	case ContactCode:
		v["Code"], v["ConfirmURL"] = s.Code, s.ConfirmURL
		v["Minutes"] = int(s.Until.Sub(s.Now).Round(time.Minute) / time.Minute)
	case ContactChanged:
		v["ByPhone"] = s.ByPhone
	case DomainLapsed:
		v["From"] = d.From
	case BookingConfirmed, Promoted, CheckInOpen:
	}
	return v.complete(s.Topic)
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
