package messages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// composer writes the message of a notice to one recipient over one channel.
type composer struct {
	service *Service
	tenant  tenant.TenantID
	now     time.Time
	facts   tenantFacts
	notice  *noticeFacts
	to      notify.Recipient
	channel delivery.Channel
}

// compose returns the message without its address. If the tenant's own template cannot be rendered it uses the default,
// and the reason says so.
func (c composer) compose() (delivery.Message, content.Rendered, notify.Reason, error) {
	locales := []string{c.to.Locale, cmp.Or(c.facts.settings.Locale, c.facts.profile.locale)}
	unsubscribe := ""
	if c.channel == delivery.Email && !c.notice.Topic.Fixed() && !c.notice.Topic.Mandatory(c.channel) {
		unsubscribe = c.service.unsubscribeLink(c.tenant, c.notice.Notice, c.to)
	}
	var reason notify.Reason
	t := content.Choose(templatesOf(c.facts.templates), c.notice.Topic, c.channel, locales...)
	values, foot := c.values(t.Locale), c.service.foot(c.facts.senders, unsubscribe)
	out, err := content.Render(t, values, c.facts.profile.brand, foot)
	if err != nil {
		reason = notify.BadTemplate
		t = content.Choose(nil, c.notice.Topic, c.channel, locales...)
		if out, err = content.Render(t, values, c.facts.profile.brand, foot); err != nil {
			return delivery.Message{}, out, reason, err // never send an empty message
		}
	}
	m := delivery.Message{
		Channel: c.channel, Text: out.Text, Link: out.Link, Unsubscribe: unsubscribe, ExpiresAt: c.notice.ExpiresAt,
		CollapseKey: c.notice.Thing.String(), Data: map[string]string{"topic": string(c.notice.Topic)},
		HighPriority: c.notice.Topic.Urgent(),
	}
	for name, id := range map[string]tenant.UUID{
		"booking_id": c.notice.Booking.UUID, "session_id": c.notice.Session.UUID,
		"offer_id": c.notice.Offer.UUID, "entry_id": c.notice.Entry.UUID,
	} {
		if !id.IsZero() {
			m.Data[name] = id.String()
		}
	}
	if o := c.notice.offer; o != nil && !o.ExpiresAt.IsZero() && o.ExpiresAt.Before(m.ExpiresAt) {
		m.ExpiresAt = o.ExpiresAt
	}
	switch c.channel {
	case delivery.SMS:
	case delivery.Push:
		m.Title = out.Subject
	case delivery.Email:
		m.Subject, m.HTML, m.ToName = out.Subject, out.HTML, c.to.Name
		addressMail(&m, c.facts.senders, c.facts.settings, c.facts.profile)
		if entry, ok := c.entry(m.From.Name); ok {
			m.Calendar = new(content.Invitation(entry))
			out.Calendar = string(m.Calendar.Body)
		}
	}
	return m, out, reason, nil
}

// templatesOf returns the texts of a tenant's own templates.
func templatesOf(own []messagedb.OwnTemplate) []content.Template {
	return pg.Array(own, func(o messagedb.OwnTemplate) content.Template { return o.Template })
}

// values returns the variables of the message in the language of a locale. Times are in the recipient's zone.
func (c composer) values(locale string) content.Values {
	zone, err := time.LoadLocation(c.notice.subject.TimeZone)
	if err != nil || c.notice.subject.TimeZone == "" {
		zone = c.to.Zone
	}
	facts := content.Facts{
		Topic: c.notice.Topic, Details: c.notice.Details, Now: c.now, Zone: c.to.Zone, LocationZone: zone,
		Name: c.to.Name, Tenant: c.facts.profile.name, Link: c.service.publicURL + "/", Subject: c.notice.subject.Subject,
	}
	if c.notice.Topic == notify.ContactCode {
		link := contacts.Link{Tenant: c.tenant, Member: c.notice.Member, Code: tenant.CodeID{UUID: c.notice.Thing}}
		facts.Code = c.notice.code
		facts.Until = c.notice.ExpiresAt
		facts.ConfirmURL = c.service.publicURL + contacts.LinkPath + c.service.codes.WriteLink(link)
	}
	facts.CancelBy, facts.Mode = c.notice.cancelBy, string(c.notice.mode)
	facts.ByPhone = c.channel == delivery.SMS
	if o := c.notice.offer; o != nil {
		facts.ClaimURL, facts.Code, facts.Until = o.ClaimURL, o.Code, o.ExpiresAt
	}
	return facts.Values(locale)
}

// entry returns the calendar entry of a booking, for mails about a change of it.
func (c composer) entry(from string) (content.CalendarEntry, bool) {
	change := c.notice.Topic.Calendar()
	if c.notice.Booking.IsZero() || change == notify.NoCalendarChange {
		return content.CalendarEntry{}, false
	}
	e := calendarEntry(c.notice.subject)
	host := c.service.host()
	e.UID = c.notice.Booking.String() + "@" + host
	e.Sequence, e.Stamp = content.CalendarSequence(c.notice.subject.Made, c.notice.At), c.now
	e.Gone = change == notify.RemoveCalendarEntry
	address := cmp.Or(c.facts.settings.ReplyTo, c.service.mailFrom, "noreply@"+host)
	e.Organizer = delivery.Mailbox{Name: from, Address: address}
	e.Attendee = delivery.Mailbox{Name: c.to.Name, Address: c.to.Email}
	return e, true
}

func calendarEntry(s messagedb.Subject) content.CalendarEntry {
	where := slices.DeleteFunc([]string{s.Location, s.Resource, s.Address}, func(part string) bool { return part == "" })
	return content.CalendarEntry{
		Start: s.StartsAt, End: s.EndsAt, Summary: s.Title, Location: strings.Join(where, ", "), Details: s.Coach,
	}
}

// host is the host name of the public URL.
func (s *Service) host() string {
	u, err := url.Parse(s.publicURL)
	if err != nil || u.Hostname() == "" {
		return "localhost"
	}
	return u.Hostname()
}
