package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// messageChecker checks the dispatcher: which notices it plans, each message that it sends, and each reason for not
// sending one.
type messageChecker struct {
	*dispatcher
	expected     map[messageKey]*expectedMessage
	entries      map[tenant.EntryID]*modelEntry // including closed ones
	offers       map[tenant.OfferID]*modelOffer
	stopped      map[string]bool // numbers, addresses and devices that must not be used
	maybeStopped map[string]bool // those that the dispatcher may know must not be used
	accepted     map[recipientChannel][]time.Time
	attempted    map[recipientChannel][]time.Time
}

type recipientChannel struct {
	recipient tenant.UUID
	channel   delivery.Channel
}

func newMessageChecker(d *dispatcher) *messageChecker {
	return &messageChecker{
		dispatcher: d, expected: make(map[messageKey]*expectedMessage), entries: make(map[tenant.EntryID]*modelEntry),
		offers:  make(map[tenant.OfferID]*modelOffer),
		stopped: make(map[string]bool), maybeStopped: make(map[string]bool), accepted: make(map[recipientChannel][]time.Time),
		attempted: make(map[recipientChannel][]time.Time),
	}
}

// track keeps the entries and offers that later events name.
func (c *messageChecker) track(ev Event) {
	switch ev.Kind {
	case Joined:
		c.entries[ev.Entry] = c.model.entries[ev.Entry]
	case Offered:
		for _, o := range c.model.sessions[ev.Session].offers { // it may have ended in the same transaction
			if o.id == ev.Offer {
				c.offers[o.id] = o
			}
		}
	default:
	}
}

func (c *messageChecker) failf(m *expectedMessage, format string, args ...any) {
	c.mustSucceed(
		c.fail(
			"%s, %s, to %s, due %s: %s", m.topic, m.lane, short(m.recipient), m.due.UTC().Format(time.RFC3339),
			fmt.Sprintf(format, args...),
		),
	)
}

// expectUpdate fails unless the message is updated by a time, or soon after a pause that includes it.
func (c *messageChecker) expectUpdate(m *expectedMessage, by time.Time) {
	updates := m.updates
	for _, from := range []time.Time{c.now, c.pausedUntil} {
		if by.Before(from) {
			by = from
		}
	}
	c.schedule(by.Add(time.Minute), func() {
		switch {
		case m.closed || m.accepted > 0 || m.updates != updates:
		case c.pausedUntil.After(by):
			c.expectUpdate(m, c.pausedUntil)
		default:
			c.failf(m, "it was not updated")
		}
	})
}

// checkPlanned compares the notices of an event with the expected messages.
func (c *messageChecker) checkPlanned(h loggedEvent, all []*notice) {
	c.step = "plan " + h.String()
	want := make(map[messageKey]*expectedMessage)
	for _, m := range c.expectedOf(h) {
		if c.expected[m.messageKey] == nil {
			want[m.messageKey] = m
		}
	}
	for _, n := range all {
		key := messageKeyOf(n.Notice)
		m := want[key]
		if m == nil {
			m = &expectedMessage{messageKey: key, to: n.to, due: n.DueAt}
			if c.expected[key] != nil {
				c.failf(m, "it is planned twice")
			} else {
				c.failf(m, "it was not expected")
			}
			return
		}
		delete(want, key)
		n.expected, c.expected[key] = m, m
		c.expectUpdate(m, m.due)
	}
	for _, m := range want {
		c.failf(m, "it is not planned")
		return
	}
}

// checkExpiryWarning expects the warning before the end of an offer, once the offer is sent.
func (c *messageChecker) checkExpiryWarning(first, follow *notice) {
	m := *first.expected
	left := m.offer.until.Sub(c.now)
	m.messageKey = messageKeyOf(follow.Notice)
	m.due, m.until = m.offer.until.Add(-left/4), m.offer.until
	m.updates, m.accepted, m.attempts, m.unknown, m.closed = 0, 0, 0, 0, false
	m.failed, m.delayedUntil = make(map[delivery.Channel]bool), time.Time{}
	follow.expected = &m
	if c.expected[m.messageKey] != nil || left < 10*time.Minute {
		c.failf(&m, "it was not expected")
	}
	c.expected[m.messageKey] = &m
	c.expectUpdate(&m, m.due)
}

// usableChannels returns the channels that the recipient wants and that could deliver the message.
func (c *messageChecker) usableChannels(m *expectedMessage) []delivery.Channel {
	var usable []delivery.Channel
	for _, channel := range laneChannels(m.topic, m.lane) {
		address := m.to.address(channel)
		reached := len(m.to.devices) > 0
		if channel != delivery.Push {
			reached = address != "" && !c.maybeStopped[string(channel)+address]
		}
		silenced := channel == delivery.SMS && c.isAboutOffer(m) &&
			c.dispatcher.offers[m.offer.id].Score < m.offer.session.service.waitlist.SMSMinScore
		if reached && !silenced && !m.failed[channel] && m.to.wants(m.topic, channel) {
			usable = append(usable, channel)
		}
	}
	return usable
}

func (c *messageChecker) isAboutOffer(m *expectedMessage) bool {
	return m.topic == notify.Offered || m.topic == notify.OfferExpiring
}

// ignoresQuiet reports whether a message may be sent in quiet hours.
func (c *messageChecker) ignoresQuiet(m *expectedMessage, channel delivery.Channel) bool {
	return channel == delivery.Email || c.isAboutOffer(m) &&
		m.offer.session.service.waitlist.OffersInQuietHours
}

// mailWaits reports whether a mail must wait in quiet hours: another channel comes before it, and can be used when they
// end.
func (c *messageChecker) mailWaits(m *expectedMessage, usable []delivery.Channel) bool {
	return m.to.quietAt(c.now, c.settings) && m.to.quietEnd(c.now, c.settings).Before(m.until) &&
		slices.ContainsFunc(usable, func(channel delivery.Channel) bool { return !c.ignoresQuiet(m, channel) })
}

func countLastDay(times []time.Time, now time.Time) (n int) {
	for _, at := range times {
		if now.Sub(at) < 24*time.Hour {
			n++
		}
	}
	return n
}

// checkAttempt checks an attempt that starts.
func (c *messageChecker) checkAttempt(n *notice, channel delivery.Channel, text string, flagged bool) {
	m := n.expected
	m.updates++
	m.attempts++
	m.flagged = flagged
	key := recipientChannel{m.recipient, channel}
	c.attempted[key] = append(
		slices.DeleteFunc(c.attempted[key], func(at time.Time) bool { return c.now.Sub(at) >= 24*time.Hour }), c.now,
	)
	c.checkFirstNotified(m)
	latest := m.due
	for _, at := range []time.Time{m.delayedUntil, c.pausedUntil} {
		if at.After(latest) {
			latest = at
		}
	}
	switch why := c.obsoleteBecause(m); {
	case why != "":
		c.failf(m, "%s is sent, and %s", channel, why)
	case !slices.Contains(laneChannels(m.topic, m.lane), channel) || !m.to.wants(m.topic, channel):
		c.failf(m, "it is sent by %s, which the member does not want", channel)
	case channel != delivery.Push && c.stopped[string(channel)+m.to.address(channel)]:
		c.failf(m, "%s is sent to an address that was stopped", channel)
	case m.to.quietAt(c.now, c.settings) && !c.ignoresQuiet(m, channel):
		c.failf(m, "%s is sent in quiet hours, at %s", channel, c.now.In(m.to.zone))
	case channel == delivery.Email && c.mailWaits(m, c.usableChannels(m)):
		c.failf(m, "%s is sent in quiet hours, at %s, and another channel only waits", channel, c.now.In(m.to.zone))
	case c.now.Before(m.due):
		c.failf(m, "it is sent %s before it is due", m.due.Sub(c.now))
	case c.now.Sub(latest) > 5*time.Second:
		c.failf(m, "it is sent %s late", c.now.Sub(latest))
	case text != "" && !showsTime(text, m):
		c.failf(m, "the text does not contain %s: %s", m.start.In(m.to.zone), text)
	}
	c.report.Messages++
	if flagged {
		c.report.Repeated++
	}
	if m.topic == notify.Reminder {
		c.report.Reminders++
	}
}

// maxLate is how much later than planned an offer may be sent without extending it.
const maxLate = 30 * time.Second

// checkFirstNotified checks that a member has the whole offer window from the time of the first message.
func (c *messageChecker) checkFirstNotified(m *expectedMessage) {
	if m.topic != notify.Offered || m.offer.notified {
		return
	}
	m.offer.notified = true
	if should := c.offerEnd(m, c.now); should.Sub(m.offer.until) > maxLate {
		c.failf(m, "it is sent with an end at %s, and should end at %s", m.offer.until.UTC(), should.UTC())
	}
}

// offerEnd returns the end that an offer should have if it is sent at a time. It returns zero if there is not enough
// time.
func (c *messageChecker) offerEnd(m *expectedMessage, sentAt time.Time) time.Time {
	switch {
	case !m.offer.byHand:
	case sentAt.Before(m.offer.until):
		return m.offer.until // staff have chosen it
	default:
		return time.Time{}
	}
	s := m.offer.session
	return offerUntil(s.service.waitlist.Rules, sentAt, s.fillsUntil(c.now), m.to.zone)
}

// showsTime reports whether a text contains the time on the recipient's clock.
func showsTime(text string, m *expectedMessage) bool {
	at := m.start
	if m.topic == notify.OfferExpiring {
		at = m.offer.until
	}
	return at.IsZero() || strings.Contains(text, at.In(m.to.zone).Format("15:04")) ||
		strings.Contains(text, at.In(m.to.zone).Format("3:04")) ||
		m.topic != notify.Reminder
}

// providerAccepted takes in that a provider accepted a message.
func (c *messageChecker) providerAccepted(n *notice, line *loggedDelivery) {
	m := n.expected
	key := recipientChannel{m.recipient, line.channel}
	if line.channel == delivery.Push && c.stopped[line.device.ID.String()] {
		c.failf(m, "it is sent to a device that is unregistered")
	}
	if m.accepted == m.attempts {
		line.acceptedAs = m.accepted
		return // the message of another device
	}
	if m.accepted > 0 && !m.flagged {
		c.failf(m, "it is sent twice, and the log does not say so")
	}
	m.accepted, line.acceptedAs = m.attempts, m.attempts
	c.accepted[key] = append(
		slices.DeleteFunc(c.accepted[key], func(at time.Time) bool { return c.now.Sub(at) >= 24*time.Hour }), line.at,
	)
	if limit := c.settings.PerDay[line.channel]; len(c.accepted[key]) > limit {
		c.failf(m, "it is message %d in 24 hours by %s, and the cap is %d", len(c.accepted[key]), line.channel, limit)
	}
}

// attemptFailed takes in that a message was not sent, or possibly not.
func (c *messageChecker) attemptFailed(n *notice, line *loggedDelivery, failure *delivery.Error) {
	m := n.expected
	m.failed[line.channel] = true
	if failure.Kind == delivery.OptedOut || failure.Kind == delivery.Unregistered && line.channel != delivery.Push {
		c.maybeStopped[string(line.channel)+m.to.address(line.channel)] = true
	}
	if failure.Kind == delivery.Unknown {
		m.unknown++
	}
	c.allowDelay(m, 12*time.Minute+failure.RetryAfter)
}

func (c *messageChecker) allowDelay(m *expectedMessage, wait time.Duration) {
	if at := c.now.Add(wait); at.After(m.delayedUntil) {
		m.delayedUntil = at
	}
	c.expectUpdate(m, m.delayedUntil)
}

// resultLost takes in that the result of an attempt will never be written.
func (c *messageChecker) resultLost(n *notice, channel delivery.Channel) {
	m := n.expected
	c.checkFirstNotified(m)
	m.updates++
	m.unknown++
	m.failed[channel] = true
	key := recipientChannel{m.recipient, channel}
	c.attempted[key] = append(c.attempted[key], c.now)
	c.allowDelay(m, 2*time.Minute+5*time.Second)
}

// reportReceived takes in a provider's report. If the message is lost, it must be sent over another channel, if one is
// usable.
func (c *messageChecker) reportReceived(n *notice, line *loggedDelivery, status delivery.Status) {
	m := n.expected
	if !status.NotDelivered() || m.accepted != line.acceptedAs {
		return
	}
	m.accepted = 0
	m.failed[line.channel] = true
	if c.now.Before(m.until) && len(c.usableChannels(m)) > 0 {
		c.allowDelay(m, 0)
	}
}

// checkFinalStatus checks the log after all reports have come, in any order.
func (c *messageChecker) checkFinalStatus(n *notice, line *loggedDelivery, as delivery.Status) {
	c.schedule(c.now.Add(2*time.Minute), func() {
		switch {
		case c.pausedUntil.Add(time.Minute).After(c.now):
			c.checkFinalStatus(n, line, as)
		case line.status != as:
			c.failf(n.expected, "the log says %s, and it was %s", line.status, as)
		}
	})
}

// stopAddress takes in that an address or a device must not be used again.
func (c *messageChecker) stopAddress(key string) { c.stopped[key], c.maybeStopped[key] = true, true }

// replyReceived takes in an SMS from a recipient.
func (c *messageChecker) replyReceived(a *recipient, text smsReply) {
	key := string(delivery.SMS) + a.phone
	switch text.meaning {
	case "stop":
		c.stopAddress(key)
	case "start":
		delete(c.stopped, key)
		delete(c.maybeStopped, key)
	}
}

// checkSettled checks a notice that is closed because its attempt counts as sent.
func (c *messageChecker) checkSettled(n *notice) {
	if n.expected.updates++; n.expected.accepted == 0 {
		c.failf(n.expected, "it counts as sent, and was not sent")
	}
}

// isHeld reports whether a channel must wait, for quiet hours or the frequency cap.
func (c *messageChecker) isHeld(m *expectedMessage, channel delivery.Channel) bool {
	return m.to.quietAt(c.now, c.settings) && !c.ignoresQuiet(m, channel) ||
		channel == delivery.Email && c.mailWaits(m, c.usableChannels(m)) ||
		countLastDay(c.attempted[recipientChannel{m.recipient, channel}], c.now) >= c.settings.PerDay[channel]
}

// checkDeferred checks the reason why a message waits.
func (c *messageChecker) checkDeferred(n *notice, why notify.Reason, until time.Time) {
	m := n.expected
	m.updates++
	c.report.Deferred++
	usable := c.usableChannels(m)
	quietEnd := m.to.quietEnd(c.now, c.settings)
	free := slices.DeleteFunc(slices.Clone(usable), func(channel delivery.Channel) bool { return c.isHeld(m, channel) })
	switch {
	case c.obsoleteBecause(m) != "":
		c.failf(m, "it waits, and %s", c.obsoleteBecause(m))
	case len(free) > 0:
		c.failf(m, "it waits for %s, and could be sent by %v", why, free)
	case why == notify.QuietHoursReason && !until.Equal(quietEnd):
		c.failf(m, "it waits until %s, and quiet hours end at %s", until.In(m.to.zone), quietEnd.In(m.to.zone))
	case why == notify.FrequencyCap && (until.Sub(c.now) > 24*time.Hour || !until.After(c.now)):
		c.failf(m, "it waits until %s", until)
	case why != notify.QuietHoursReason && why != notify.FrequencyCap || !until.Before(m.until):
		c.failf(m, "it waits until %s because of %s, and is useless from %s", until, why, m.until)
	}
	m.delayedUntil = until
	c.expectUpdate(m, until)
}

// checkDropped checks the reason why a message is never sent.
func (c *messageChecker) checkDropped(n *notice, why notify.Reason) {
	m := n.expected
	m.updates++
	m.closed = true
	c.report.Dropped++
	usable := c.usableChannels(m)
	justified := false
	switch why {
	case notify.Superseded, notify.NotBooked, notify.Moved, notify.OfferClosed, notify.TooLate:
		justified = c.obsoleteBecause(m) != ""
	case notify.OptedOut, notify.Bounced, notify.Unsubscribed, notify.Unreachable, notify.ProviderRefused:
		justified = len(usable) == 0 && c.obsoleteBecause(m) == ""
	case notify.QuietHoursReason, notify.FrequencyCap:
		justified = !slices.ContainsFunc(usable, func(channel delivery.Channel) bool { return !c.isHeld(m, channel) }) &&
			c.obsoleteBecause(m) == ""
		if m.topic == notify.Offered && why == notify.QuietHoursReason {
			quietEnd := m.to.quietEnd(c.now, c.settings)
			justified = justified && (!quietEnd.Before(m.until) || c.offerEnd(m, quietEnd).IsZero())
		}
	case notify.PossiblySent:
		justified = m.unknown >= 3
	default:
	}
	if !justified {
		c.failf(
			m, "it is dropped because of %s, which is wrong: obsolete %q, usable %v, %d unknown", why, c.obsoleteBecause(m),
			usable, m.unknown,
		)
	}
}

// checkOmitted checks a message that has no line in the log.
func (c *messageChecker) checkOmitted(n *notice) {
	m := n.expected
	m.updates++
	m.closed = true
	if m.lane != notify.Alert || !topicDefaults[m.topic].ownMail || len(c.usableChannels(m)) > 0 {
		c.failf(m, "it is dropped, and the log does not say so")
	}
}
