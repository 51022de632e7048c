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

func newMessageChecker(p *dispatcher) *messageChecker {
	return &messageChecker{
		dispatcher: p, expected: make(map[messageKey]*expectedMessage), entries: make(map[tenant.EntryID]*modelEntry),
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
		c.offers[ev.Offer] = c.model.offers[ev.Offer]
	default:
	}
}

func (c *messageChecker) failf(o *expectedMessage, format string, args ...any) {
	c.mustSucceed(
		c.fail(
			"%s, %s, to %s, due %s: %s", o.topic, o.lane, short(o.recipient), o.due.UTC().Format(time.RFC3339),
			fmt.Sprintf(format, args...),
		),
	)
}

// expectUpdate fails unless the message is updated by a time, or soon after a pause that includes it.
func (c *messageChecker) expectUpdate(o *expectedMessage, by time.Time) {
	updates := o.updates
	for _, from := range []time.Time{c.now, c.pausedUntil} {
		if by.Before(from) {
			by = from
		}
	}
	c.schedule(by.Add(time.Minute), func() {
		switch {
		case o.closed || o.accepted > 0 || o.updates != updates:
		case c.pausedUntil.After(by):
			c.expectUpdate(o, c.pausedUntil)
		default:
			c.failf(o, "it was not updated")
		}
	})
}

// checkPlanned compares the notices of an event with the expected messages.
func (c *messageChecker) checkPlanned(h loggedEvent, all []*notice) {
	c.step = "plan " + h.String()
	want := make(map[messageKey]*expectedMessage)
	for _, o := range c.expectedOf(h) {
		if c.expected[o.messageKey] == nil {
			want[o.messageKey] = o
		}
	}
	for _, n := range all {
		key := messageKeyOf(n.Notice)
		o := want[key]
		if o == nil {
			o = &expectedMessage{messageKey: key, to: n.to, due: n.DueAt}
			if c.expected[key] != nil {
				c.failf(o, "it is planned twice")
			} else {
				c.failf(o, "it was not expected")
			}
			return
		}
		delete(want, key)
		n.expected, c.expected[key] = o, o
		c.expectUpdate(o, o.due)
	}
	for _, o := range want {
		c.failf(o, "it is not planned")
		return
	}
}

// checkExpiryWarning expects the warning before the end of an offer, once the offer is sent.
func (c *messageChecker) checkExpiryWarning(first, follow *notice) {
	o := *first.expected
	left := o.offer.until.Sub(c.now)
	o.messageKey = messageKeyOf(follow.Notice)
	o.due, o.until = o.offer.until.Add(-left/4), o.offer.until
	o.updates, o.accepted, o.attempts, o.unknown, o.closed = 0, 0, 0, 0, false
	o.failed, o.delayedUntil = make(map[delivery.Channel]bool), time.Time{}
	follow.expected = &o
	if c.expected[o.messageKey] != nil || left < 10*time.Minute {
		c.failf(&o, "it was not expected")
	}
	c.expected[o.messageKey] = &o
	c.expectUpdate(&o, o.due)
}

// usableChannels returns the channels that the recipient wants and that could deliver the message.
func (j *messageChecker) usableChannels(o *expectedMessage) []delivery.Channel {
	var usable []delivery.Channel
	for _, c := range laneChannels(o.topic, o.lane) {
		address := o.to.address(c)
		reached := len(o.to.devices) > 0
		if c != delivery.Push {
			reached = address != "" && !j.maybeStopped[string(c)+address]
		}
		silenced := c == delivery.SMS && j.isAboutOffer(o) &&
			j.dispatcher.offers[o.offer.id].Score < o.offer.session.service.waitlist.SMSMinScore
		if reached && !silenced && !o.failed[c] && o.to.wants(o.topic, c) {
			usable = append(usable, c)
		}
	}
	return usable
}

func (c *messageChecker) isAboutOffer(o *expectedMessage) bool {
	return o.topic == notify.Offered || o.topic == notify.OfferExpiring
}

// ignoresQuiet reports whether a message may be sent in quiet hours.
func (j *messageChecker) ignoresQuiet(o *expectedMessage, c delivery.Channel) bool {
	return c == delivery.Email && j.settings.EmailInQuiet || j.isAboutOffer(o) &&
		o.offer.session.service.waitlist.OffersInQuietHours
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
func (j *messageChecker) checkAttempt(n *notice, c delivery.Channel, text string, flagged bool) {
	o := n.expected
	o.updates++
	o.attempts++
	o.flagged = flagged
	key := recipientChannel{o.recipient, c}
	j.attempted[key] = append(
		slices.DeleteFunc(j.attempted[key], func(at time.Time) bool { return j.now.Sub(at) >= 24*time.Hour }), j.now,
	)
	j.checkFirstNotified(o)
	latest := o.due
	for _, at := range []time.Time{o.delayedUntil, j.pausedUntil} {
		if at.After(latest) {
			latest = at
		}
	}
	switch why := j.obsoleteBecause(o); {
	case why != "":
		j.failf(o, "%s is sent, and %s", c, why)
	case !slices.Contains(laneChannels(o.topic, o.lane), c) || !o.to.wants(o.topic, c):
		j.failf(o, "it is sent by %s, which the member does not want", c)
	case c != delivery.Push && j.stopped[string(c)+o.to.address(c)]:
		j.failf(o, "%s is sent to an address that was stopped", c)
	case o.to.quietAt(j.now, j.settings) && !j.ignoresQuiet(o, c):
		j.failf(o, "%s is sent in quiet hours, at %s", c, j.now.In(o.to.zone))
	case j.now.Before(o.due):
		j.failf(o, "it is sent %s before it is due", o.due.Sub(j.now))
	case j.now.Sub(latest) > 5*time.Second:
		j.failf(o, "it is sent %s late", j.now.Sub(latest))
	case text != "" && !showsTime(text, o):
		j.failf(o, "the text does not contain %s: %s", o.start.In(o.to.zone), text)
	}
	j.report.Messages++
	if flagged {
		j.report.Repeated++
	}
	if o.topic == notify.Reminder {
		j.report.Reminders++
	}
}

// maxLate is how much later than planned an offer may be sent without extending it.
const maxLate = 30 * time.Second

// checkFirstNotified checks that a member has the whole offer window from the time of the first message.
func (c *messageChecker) checkFirstNotified(o *expectedMessage) {
	if o.topic != notify.Offered || o.offer.notified {
		return
	}
	o.offer.notified = true
	if should := c.offerEnd(o, c.now); should.Sub(o.offer.until) > maxLate {
		c.failf(o, "it is sent with an end at %s, and should end at %s", o.offer.until.UTC(), should.UTC())
	}
}

// offerEnd returns the end that an offer should have if it is sent at a time. It returns zero if there is not enough
// time.
func (c *messageChecker) offerEnd(o *expectedMessage, sentAt time.Time) time.Time {
	switch {
	case !o.offer.byHand:
	case sentAt.Before(o.offer.until):
		return o.offer.until // staff have chosen it
	default:
		return time.Time{}
	}
	s := o.offer.session
	rules := s.service.waitlist.Rules
	closes := s.starts.Add(-s.service.policy.BookingCloses)
	if !c.now.Before(closes) && rules.FillAfterStart > 0 {
		closes = s.starts.Add(rules.FillAfterStart)
	}
	if closes.After(s.ends) {
		closes = s.ends
	}
	return offerUntil(rules, sentAt, closes, o.to.zone)
}

// showsTime reports whether a text contains the time on the recipient's clock.
func showsTime(text string, o *expectedMessage) bool {
	at := o.start
	if o.topic == notify.OfferExpiring {
		at = o.offer.until
	}
	return at.IsZero() || strings.Contains(text, at.In(o.to.zone).Format("15:04")) ||
		strings.Contains(text, at.In(o.to.zone).Format("3:04")) ||
		o.topic != notify.Reminder
}

// providerAccepted takes in that a provider accepted a message.
func (c *messageChecker) providerAccepted(n *notice, d *loggedDelivery) {
	o := n.expected
	key := recipientChannel{o.recipient, d.channel}
	if d.channel == delivery.Push && c.stopped[d.device.ID.String()] {
		c.failf(o, "it is sent to a device that is unregistered")
	}
	if o.accepted == o.attempts {
		d.acceptedAs = o.accepted
		return // the message of another device
	}
	if o.accepted > 0 && !o.flagged {
		c.failf(o, "it is sent twice, and the log does not say so")
	}
	o.accepted, d.acceptedAs = o.attempts, o.attempts
	c.accepted[key] = append(
		slices.DeleteFunc(c.accepted[key], func(at time.Time) bool { return c.now.Sub(at) >= 24*time.Hour }), d.at,
	)
	if limit := c.settings.PerDay[d.channel]; len(c.accepted[key]) > limit {
		c.failf(o, "it is message %d in 24 hours by %s, and the cap is %d", len(c.accepted[key]), d.channel, limit)
	}
}

// attemptFailed takes in that a message was not sent, or possibly not.
func (c *messageChecker) attemptFailed(n *notice, d *loggedDelivery, failure *delivery.Error) {
	o := n.expected
	o.failed[d.channel] = true
	if failure.Kind == delivery.OptedOut || failure.Kind == delivery.Unregistered && d.channel != delivery.Push {
		c.maybeStopped[string(d.channel)+o.to.address(d.channel)] = true
	}
	if failure.Kind == delivery.Unknown {
		o.unknown++
	}
	c.allowDelay(o, 12*time.Minute+failure.RetryAfter)
}

func (c *messageChecker) allowDelay(o *expectedMessage, wait time.Duration) {
	if at := c.now.Add(wait); at.After(o.delayedUntil) {
		o.delayedUntil = at
	}
	c.expectUpdate(o, o.delayedUntil)
}

// resultLost takes in that the result of an attempt will never be written.
func (j *messageChecker) resultLost(n *notice, c delivery.Channel) {
	o := n.expected
	j.checkFirstNotified(o)
	o.updates++
	o.unknown++
	o.failed[c] = true
	key := recipientChannel{o.recipient, c}
	j.attempted[key] = append(j.attempted[key], j.now)
	j.allowDelay(o, 2*time.Minute+5*time.Second)
}

// reportReceived takes in a provider's report. If the message is lost, it must be sent over another channel, if one is
// usable.
func (c *messageChecker) reportReceived(n *notice, d *loggedDelivery, status delivery.Status) {
	o := n.expected
	if !status.NotDelivered() || o.accepted != d.acceptedAs {
		return
	}
	o.accepted = 0
	o.failed[d.channel] = true
	if c.now.Before(o.until) && len(c.usableChannels(o)) > 0 {
		c.allowDelay(o, 0)
	}
}

// checkFinalStatus checks the log after all reports have come, in any order.
func (c *messageChecker) checkFinalStatus(n *notice, d *loggedDelivery, as delivery.Status) {
	c.schedule(c.now.Add(2*time.Minute), func() {
		switch {
		case c.pausedUntil.Add(time.Minute).After(c.now):
			c.checkFinalStatus(n, d, as)
		case d.status != as:
			c.failf(n.expected, "the log says %s, and it was %s", d.status, as)
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
func (j *messageChecker) isHeld(o *expectedMessage, c delivery.Channel) bool {
	return o.to.quietAt(j.now, j.settings) && !j.ignoresQuiet(o, c) ||
		countLastDay(j.attempted[recipientChannel{o.recipient, c}], j.now) >= j.settings.PerDay[c]
}

// checkDeferred checks the reason why a message waits.
func (j *messageChecker) checkDeferred(n *notice, why notify.Reason, until time.Time) {
	o := n.expected
	o.updates++
	j.report.Deferred++
	usable := j.usableChannels(o)
	quietEnd := o.to.quietEnd(j.now, j.settings)
	free := slices.DeleteFunc(slices.Clone(usable), func(c delivery.Channel) bool { return j.isHeld(o, c) })
	switch {
	case j.obsoleteBecause(o) != "":
		j.failf(o, "it waits, and %s", j.obsoleteBecause(o))
	case len(free) > 0:
		j.failf(o, "it waits for %s, and could be sent by %v", why, free)
	case why == notify.QuietHoursReason && !until.Equal(quietEnd):
		j.failf(o, "it waits until %s, and quiet hours end at %s", until.In(o.to.zone), quietEnd.In(o.to.zone))
	case why == notify.FrequencyCap && (until.Sub(j.now) > 24*time.Hour || !until.After(j.now)):
		j.failf(o, "it waits until %s", until)
	case why != notify.QuietHoursReason && why != notify.FrequencyCap || !until.Before(o.until):
		j.failf(o, "it waits until %s because of %s, and is useless from %s", until, why, o.until)
	}
	o.delayedUntil = until
	j.expectUpdate(o, until)
}

// checkDropped checks the reason why a message is never sent.
func (j *messageChecker) checkDropped(n *notice, why notify.Reason) {
	o := n.expected
	o.updates++
	o.closed = true
	j.report.Dropped++
	usable := j.usableChannels(o)
	justified := false
	switch why {
	case notify.Superseded, notify.NotBooked, notify.Moved, notify.OfferClosed, notify.TooLate:
		justified = j.obsoleteBecause(o) != ""
	case notify.OptedOut, notify.Bounced, notify.Unsubscribed, notify.Unreachable, notify.ProviderRefused:
		justified = len(usable) == 0 && j.obsoleteBecause(o) == ""
	case notify.QuietHoursReason, notify.FrequencyCap:
		justified = !slices.ContainsFunc(usable, func(c delivery.Channel) bool { return !j.isHeld(o, c) }) &&
			j.obsoleteBecause(o) == ""
		if o.topic == notify.Offered && why == notify.QuietHoursReason {
			quietEnd := o.to.quietEnd(j.now, j.settings)
			justified = justified && (!quietEnd.Before(o.until) || j.offerEnd(o, quietEnd).IsZero())
		}
	case notify.PossiblySent:
		justified = o.unknown >= 3
	default:
	}
	if !justified {
		j.failf(
			o, "it is dropped because of %s, which is wrong: obsolete %q, usable %v, %d unknown", why, j.obsoleteBecause(o),
			usable, o.unknown,
		)
	}
}

// checkOmitted checks a message that has no line in the log.
func (c *messageChecker) checkOmitted(n *notice) {
	o := n.expected
	o.updates++
	o.closed = true
	if o.lane != notify.Alert || !topicDefaults[o.topic].ownMail || len(c.usableChannels(o)) > 0 {
		c.failf(o, "it is dropped, and the log does not say so")
	}
}
