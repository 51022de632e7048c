package notify

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
)

// Said is everything that a message may tell.
type Said struct {
	Topic   Topic
	Details Details
	Now     time.Time
	Zone    *time.Location // the recipient's
	There   *time.Location // the location's

	Name, Tenant, Link                        string
	Title, Location, Address, Resource, Coach string
	Party                                     int
	Start, End                                time.Time
	Window                                    *Window // where there is no session yet
	Plan                                      string
	ClaimURL, Code                            string
	Until                                     time.Time // an offer's end
}

// Values puts it in words of a language: the variables of the topic.
func (s Said) Values(locale string) Values {
	in := wordsFor(locale)
	v := Values{"Name": s.Name, "Tenant": s.Tenant, "Link": s.Link}
	if s.Topic != CreditsLow {
		v["Title"], v["Location"], v["Address"], v["Resource"], v["Coach"], v["Party"] = s.Title, s.Location, s.Address, s.Resource, s.Coach, s.Party
		if !s.Start.IsZero() {
			v["When"], v["Date"] = in.dateTime(s.Start, s.Zone, s.There), in.date(s.Start, s.Zone)
			v["Time"], v["EndTime"] = in.clock(s.Start, s.Zone), in.clock(s.End, s.Zone)
		} else if s.Window != nil {
			v["When"], v["Date"], v["Time"] = in.window(*s.Window, s.There)
		}
	}
	d := s.Details
	switch s.Topic {
	case Waitlisted:
		v["Position"] = d.Position
	case Offered, OfferExpiring:
		v["ClaimURL"], v["Code"] = s.ClaimURL, s.Code
		v["ExpiresAt"], v["Minutes"] = in.until(s.Until, s.Now, s.Zone), int(s.Until.Sub(s.Now).Round(time.Minute)/time.Minute)
	case BookingCancelled:
		v["Reason"], v["Refunded"], v["Late"], v["Waitlist"] = d.Reason, d.Refunded, d.Late, d.Waitlist
	case SessionCancelled:
		v["Reason"], v["Refunded"], v["Waitlist"] = d.Reason, d.Refunded, d.Waitlist
	case Rescheduled:
		if !d.OldStart.IsZero() && !d.OldStart.Equal(s.Start) {
			v["OldWhen"] = in.dateTime(d.OldStart, s.Zone, s.There)
		}
	case Reminder:
		v["In"] = in.span(s.Start.Sub(s.Now))
	case CreditsLow:
		v["Balance"], v["Plan"] = d.Balance, s.Plan
	case StaffNote:
		v["Note"] = d.Note
	case BookingConfirmed, Promoted, CheckInOpen:
	}
	return v.complete(s.Topic)
}

// until names the day, too, where it is not today.
func (w words) until(t, now time.Time, zone *time.Location) string {
	if y, m, d := t.In(zone).Date(); true {
		if ny, nm, nd := now.In(zone).Date(); y == ny && m == nm && d == nd {
			return w.clock(t, zone)
		}
	}
	return w.dateTime(t, zone, nil)
}

// Window is the days, and the times of day at the location, in which somebody would take any session; all included.
type Window struct {
	From, Until      civil.Date
	Earliest, Latest civil.TimeOfDay
}

// window tells it on the location's clock, on which it was wished for: "Wed 18 Mar – Fri 20 Mar, 08:00–09:00". Times are left out where
// any will do.
func (w words) window(in Window, zone *time.Location) (when, days, times string) {
	first, last := in.From.At(in.Earliest, zone), in.Until.At(in.Latest, zone)
	days = w.date(first, zone)
	if in.Until != in.From {
		days += " – " + w.date(last, zone)
	}
	if in.Earliest == (civil.TimeOfDay{}) && in.Latest.Hour == 23 && in.Latest.Minute == 59 {
		return days, days, ""
	}
	times = w.clock(first, zone) + "–" + w.clock(last, zone)
	return fmt.Sprintf(w.joined, days, times), days, times
}
