package messages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// letter is one notice, on its way to being written for one recipient.
type letter struct {
	in       tenant.TenantID
	house    house
	settings notify.Settings
	app      *Service
	notice   notify.Notice
	to       notify.Recipient
	about    *messagedb.Subject
	offer    *waitlists.OfferFacts
	channel  notify.Channel
	now      time.Time
}

// write makes the message but for its address. A wording of the tenant's own that cannot be used gives way to the default,
// and the reason says so.
func (l letter) write(own []messagedb.OwnTemplate) (notify.Message, notify.Rendered, notify.Reason, error) {
	wordings := make([]notify.Template, len(own))
	for i, o := range own {
		wordings[i] = o.Template
	}
	locales := []string{l.to.Locale, cmp.Or(l.settings.Locale, l.house.locale)}
	unsubscribe := ""
	if l.channel == notify.Email {
		unsubscribe = l.app.unsubscribeLink(l.in, l.notice, l.to)
	}
	var reason notify.Reason
	t := notify.Choose(wordings, l.notice.Topic, l.channel, locales...)
	values := l.values(t.Locale)
	out, err := notify.Render(t, values, l.house.brand, unsubscribe)
	if err != nil {
		reason = notify.BadTemplate
		t = notify.Choose(nil, l.notice.Topic, l.channel, locales...)
		if out, err = notify.Render(t, values, l.house.brand, unsubscribe); err != nil {
			return notify.Message{}, out, reason, err
		}
	}
	m := notify.Message{
		Channel: l.channel, Text: out.Text, Link: out.Link, Unsubscribe: unsubscribe, ExpiresAt: l.notice.ExpiresAt,
		CollapseKey: l.notice.Thing.String(), Data: map[string]string{"topic": string(l.notice.Topic)},
	}
	for name, id := range map[string]interface {
		IsZero() bool
		String() string
	}{"booking_id": l.notice.Booking, "session_id": l.notice.Session, "offer_id": l.notice.Offer, "entry_id": l.notice.Entry} {
		if !id.IsZero() {
			m.Data[name] = id.String()
		}
	}
	if l.offer != nil && !l.offer.ExpiresAt.IsZero() && l.offer.ExpiresAt.Before(m.ExpiresAt) {
		m.ExpiresAt = l.offer.ExpiresAt
	}
	switch l.notice.Topic {
	case notify.Offered, notify.OfferExpiring, notify.Promoted, notify.SessionCancelled, notify.Reminder:
		m.HighPriority = true
	default: // they can wait until somebody looks
	}
	switch l.channel {
	case notify.SMS:
	case notify.Push:
		m.Title = out.Subject
	case notify.Email:
		m.Subject, m.HTML = out.Subject, out.HTML
		m.From = notify.Mailbox{Name: cmp.Or(l.settings.SenderName, l.house.name)}
		if l.settings.ReplyTo != "" {
			m.ReplyTo = notify.Mailbox{Name: m.From.Name, Address: l.settings.ReplyTo}
		}
		if entry, ok := l.entry(m.From.Name); ok {
			m.Calendar = new(notify.Invitation(entry))
			out.Calendar = string(m.Calendar.Body)
		}
	}
	return m, out, reason, nil
}

// values puts what the message tells in words of a language, on the recipient's clock.
func (l letter) values(locale string) notify.Values {
	zone, err := time.LoadLocation(l.about.TimeZone)
	if err != nil || l.about.TimeZone == "" {
		zone = l.to.Zone
	}
	said := notify.Content{
		Topic: l.notice.Topic, Details: l.notice.Details, Now: l.now, Zone: l.to.Zone, LocationZone: zone,
		Name: l.to.Name, Tenant: l.house.name, Link: l.app.publicURL + "/",
		Title: l.about.Title, Location: l.about.Location, Address: l.about.Address, Resource: l.about.Resource, Coach: l.about.Coach,
		Party: l.about.Party, Start: l.about.StartsAt, End: l.about.EndsAt, Window: l.about.Window, Plan: l.about.PlanNamed,
	}
	if l.offer != nil {
		said.ClaimURL, said.Code, said.Until = l.offer.ClaimURL, l.offer.Code, l.offer.ExpiresAt
	}
	return said.Values(locale)
}

// entry gives the calendar entry of a booking, for the mails that change it.
func (l letter) entry(from string) (notify.CalendarEntry, bool) {
	if l.notice.Booking.IsZero() {
		return notify.CalendarEntry{}, false
	}
	gone := false
	switch l.notice.Topic {
	case notify.BookingConfirmed, notify.Promoted, notify.Rescheduled:
	case notify.BookingCancelled, notify.SessionCancelled:
		gone = true
	default:
		return notify.CalendarEntry{}, false
	}
	e := calendarEntry(*l.about)
	e.UID = l.notice.Booking.String() + "@" + l.app.host()
	e.Sequence, e.Stamp, e.Gone = notify.CalendarSequence(l.about.Made, l.notice.At), l.now, gone
	e.Organizer = notify.Mailbox{Name: from, Address: cmp.Or(l.settings.ReplyTo, l.app.mailFrom, "noreply@"+l.app.host())}
	e.Attendee = notify.Mailbox{Name: l.to.Name, Address: l.to.Email}
	return e, true
}

func calendarEntry(s messagedb.Subject) notify.CalendarEntry {
	place := slices.DeleteFunc([]string{s.Location, s.Resource, s.Address}, func(part string) bool { return part == "" })
	return notify.CalendarEntry{Start: s.StartsAt, End: s.EndsAt, Summary: s.Title, Location: strings.Join(place, ", "), Details: s.Coach}
}

// host is what the service is called where browsers reach it.
func (s *Service) host() string {
	u, err := url.Parse(s.publicURL)
	if err != nil || u.Hostname() == "" {
		return "localhost"
	}
	return u.Hostname()
}
