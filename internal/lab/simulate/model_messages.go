package simulate

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// expectedMessage is a message that a recipient must get. If it is not sent, the log must say why.
type expectedMessage struct {
	messageKey
	to           *recipient
	due          time.Time
	until        time.Time // useless from then on
	start        time.Time // as the text says; zero if it names none
	booking      *modelBooking
	entry        *modelEntry
	offer        *modelOffer
	subscription *subscription
	closed       bool // no further update is expected
	updates      int  // how often it was updated
	accepted     int  // the attempt that the provider accepted; 0 if none, or if it was reported as lost
	attempts     int
	unknown      int // attempts whose result is not known
	failed       map[delivery.Channel]bool
	// delayedUntil is until when it may be late.
	delayedUntil time.Time
	flagged      bool
}

// messageKey identifies a message: news by the event, and messages before a session by its start.
type messageKey struct {
	recipient tenant.UUID
	topic     notify.Topic
	lane      notify.Lane
	event     tenant.EventID
	bookingID tenant.BookingID
	start     int64
	lead      time.Duration
}

func messageKeyOf(n notify.Notice) messageKey {
	key := messageKey{recipient: n.Recipient(), topic: n.Topic, lane: n.Lane}
	if n.Topic == notify.Reminder || n.Topic == notify.CheckInOpen {
		key.bookingID, key.start, key.lead = n.Booking, n.StartsAt.Unix(), n.Details.Lead
		return key
	}
	var err error
	if key.event, err = tenant.Parse[tenant.EventID](n.Revision); err != nil {
		panic(err) // the simulation wrote it
	}
	return key
}

// topicDefault is how a topic is sent without a preference. Its channels are letters: s is SMS, p push and e email.
// With ownMail, email has a lane of its own.
type topicDefault struct {
	channels string
	ownMail  bool
}

var topicDefaults = map[notify.Topic]topicDefault{
	notify.BookingConfirmed: {"pe", true}, notify.Waitlisted: {"e", true}, notify.Promoted: {"pse", true},
	notify.Offered:       {"pse", true},
	notify.OfferExpiring: {"ps", false}, notify.BookingCancelled: {"e", true}, notify.SessionCancelled: {"pse", true},
	notify.Rescheduled: {"pe", true},
	notify.Reminder:    {"pe", false}, notify.CheckInOpen: {"p", false}, notify.CreditsLow: {"e", true},
	notify.StaffNote: {"pe", true}, notify.WaitlistEnded: {"pe", true},
}

// laneChannels returns the channels of a lane.
func laneChannels(t notify.Topic, lane notify.Lane) []delivery.Channel {
	switch {
	case lane == notify.Mail:
		return []delivery.Channel{delivery.Email}
	case topicDefaults[t].ownMail:
		return []delivery.Channel{delivery.Push, delivery.SMS}
	}
	return []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}
}

// wants reports whether a recipient wants messages about a topic over a channel.
func (r *recipient) wants(t notify.Topic, channel delivery.Channel) bool {
	if on, chosen := r.preferences[notify.PreferenceKey{Topic: t, Channel: channel}]; chosen {
		return on
	}
	letter := map[delivery.Channel]byte{delivery.SMS: 's', delivery.Push: 'p', delivery.Email: 'e'}[channel]
	return slices.Contains([]byte(topicDefaults[t].channels), letter)
}

// lanes returns the lanes in which a recipient gets messages about a topic. It returns at least one, so that the log
// can say why nothing was sent.
func (r *recipient) lanes(t notify.Topic) []notify.Lane {
	all := []notify.Lane{notify.Alert}
	if topicDefaults[t].ownMail {
		all = append(all, notify.Mail)
	}
	var wanted []notify.Lane
	for _, lane := range all {
		if slices.ContainsFunc(laneChannels(t, lane), func(channel delivery.Channel) bool { return r.wants(t, channel) }) {
			wanted = append(wanted, lane)
		}
	}
	if wanted == nil {
		return all[:1]
	}
	return wanted
}

// quietAt reports whether a time is in the recipient's quiet hours.
func (r *recipient) quietAt(t time.Time, s notify.Settings) bool {
	q := s.QuietHours
	if r.quiet != nil {
		q = *r.quiet
	}
	clock := t.In(r.zone)
	at, from, until := clock.Hour()*60+clock.Minute(), q.Start.Hour*60+q.Start.Minute, q.End.Hour*60+q.End.Minute
	if from < until {
		return from <= at && at < until
	}
	return from != until && (from <= at || at < until)
}

// quietEnd returns the first minute that is not in quiet hours.
func (r *recipient) quietEnd(t time.Time, s notify.Settings) time.Time {
	for r.quietAt(t, s) {
		t = t.Truncate(time.Minute).Add(time.Minute)
	}
	return t
}

const (
	newsTTL = 24 * time.Hour     // how long news is useful
	mailTTL = 7 * 24 * time.Hour // how long an email is useful
)

// expectedOf returns the messages that follow from an event that is read now.
func (c *messageChecker) expectedOf(h loggedEvent) (all []*expectedMessage) {
	now := c.now
	add := func(m expectedMessage, t notify.Topic, lane notify.Lane) {
		m.topic, m.lane, m.recipient, m.failed = t, lane, m.to.id, make(map[delivery.Channel]bool)
		all = append(all, &m)
	}
	news := func(m expectedMessage, t notify.Topic, until, mailUntil time.Time) {
		if h.Silent || now.Sub(h.At) > newsTTL {
			return
		}
		m.event, m.due = h.id, now
		for _, lane := range m.to.lanes(t) {
			if m.until = until; lane == notify.Mail && mailUntil.After(until) {
				m.until = mailUntil
			}
			add(m, t, lane)
		}
	}
	low := func(m expectedMessage, u *subscription, spent int) {
		if h.Silent || u == nil || u.Plan.Kind != credit.Credits || spent <= 0 || u.Balance > c.settings.CreditsLowAt ||
			u.Balance > 0 && u.Balance+spent <= c.settings.CreditsLowAt {
			return
		}
		m = expectedMessage{to: m.to, subscription: u, due: now, until: now.Add(mailTTL)}
		m.event = h.id
		for _, lane := range m.to.lanes(notify.CreditsLow) {
			add(m, notify.CreditsLow, lane)
		}
	}
	remind := func(m expectedMessage) {
		before := func(t notify.Topic, due time.Time, lead time.Duration) {
			if due.After(now) {
				m.due, m.until, m.messageKey = due, m.start, messageKey{bookingID: m.booking.id, start: m.start.Unix(), lead: lead}
				for _, lane := range m.to.lanes(t) {
					add(m, t, lane)
				}
			}
		}
		for _, lead := range c.settings.Reminders {
			before(notify.Reminder, time.Unix(m.start.Unix()-int64(lead.Seconds()), 0), lead)
		}
		before(notify.CheckInOpen, m.start.Add(-m.booking.session.service.policy.CheckInOpensBefore), 0)
	}

	if h.Kind == Decided {
		for _, a := range c.staff {
			news(expectedMessage{to: a}, notify.StaffNote, now.Add(newsTTL), time.Time{})
		}
		return all
	}
	m := expectedMessage{
		to: c.recipients[h.Member.UUID], booking: c.model.bookings[h.Booking], entry: c.entries[h.Entry],
		offer: c.model.offers[h.Offer],
	}
	if h.Kind == Renewed {
		low(m, c.subs[h.Subscription], h.Spent)
		return all
	}
	var session *modelSession
	switch {
	case m.booking != nil:
		session, m.entry, m.offer = m.booking.session, nil, nil
	case m.entry == nil || m.entry.messageSession == nil:
		return nil
	default:
		session = m.entry.messageSession
	}
	m.start = session.starts
	switch h.Kind {
	case Booked, Confirmed, Rescheduled:
		topic := notify.BookingConfirmed
		if h.Kind == Rescheduled {
			topic = notify.Rescheduled
		} else if h.Promoted && h.Offer.IsZero() {
			topic = notify.Promoted
		}
		news(m, topic, m.start, time.Time{})
		remind(m)
		if h.Kind != Rescheduled {
			low(m, c.subs[c.bookings[m.booking.id].Subscription], m.booking.credits)
		}
	case Joined:
		news(m, notify.Waitlisted, m.start, time.Time{})
	case Cancelled, Left:
		if h.SessionCancelled || h.Kind == Left && session.cancelled {
			news(m, notify.SessionCancelled, m.start, now.Add(mailTTL))
		} else if h.Over {
			news(m, notify.WaitlistEnded, m.entry.toldUntil, time.Time{})
		} else {
			news(m, notify.BookingCancelled, now.Add(newsTTL), now.Add(mailTTL))
		}
	case Offered:
		m.offer = c.offers[h.Offer]
		until := m.start
		if !until.After(now) {
			until = session.ends
		}
		news(m, notify.Offered, until, time.Time{})
	default:
	}
	return all
}

// obsoleteBecause returns why a message is no longer true, or "".
func (c *messageChecker) obsoleteBecause(m *expectedMessage) string {
	session := (*modelSession)(nil)
	switch {
	case m.booking != nil:
		session = m.booking.session
	case m.entry != nil:
		session = m.entry.messageSession
	}
	switch {
	case m.to.member != nil && !c.model.members[m.to.member.ID].active:
		return "the member is inactive"
	case !c.now.Before(m.until):
		return "it is too late"
	}
	off := session != nil && session.cancelled
	moved := session != nil && !session.starts.Equal(m.start)
	switch m.topic {
	case notify.BookingConfirmed, notify.Promoted, notify.Rescheduled, notify.Reminder, notify.CheckInOpen:
		if m.booking.status != booking.Confirmed || off || moved {
			return "the booking is not confirmed for that time"
		}
	case notify.Waitlisted:
		if !m.entry.Status.Active() || off || moved {
			return "the entry does not wait for that time"
		}
	case notify.BookingCancelled:
		if m.booking != nil && m.booking.status != booking.Cancelled {
			return "it is not cancelled"
		}
	case notify.Offered, notify.OfferExpiring:
		if !m.offer.live || off || moved || !c.now.Before(m.offer.until) {
			return "the offer is over"
		}
	case notify.CreditsLow:
		if m.subscription.Balance > c.settings.CreditsLowAt {
			return "the balance is not low"
		}
	default: // it stays true, or is not simulated
	}
	return ""
}
