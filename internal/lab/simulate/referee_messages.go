package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// judgement watches the post: what it plans, each message that leaves, and each reason that it gives for one that does
// not.
type judgement struct {
	*post
	owed     map[owedKey]*owed
	entries  map[tenant.EntryID]*mEntry // those that have ended, too
	offers   map[tenant.OfferID]*mOffer
	stopped  map[string]bool // numbers, addresses and devices that the post was told not to use
	doubtful map[string]bool // those that it may have been told about
	taken    map[recipientOn][]time.Time
	tried    map[recipientOn][]time.Time
}

type recipientOn struct {
	who tenant.UUID
	on  notify.Channel
}

func newJudgement(p *post) *judgement {
	return &judgement{
		post: p, owed: make(map[owedKey]*owed), entries: make(map[tenant.EntryID]*mEntry),
		offers:  make(map[tenant.OfferID]*mOffer),
		stopped: make(map[string]bool), doubtful: make(map[string]bool), taken: make(map[recipientOn][]time.Time),
		tried: make(map[recipientOn][]time.Time),
	}
}

// note keeps what later events are about.
func (j *judgement) note(f Fact) {
	switch f.What {
	case Joined:
		j.entries[f.Entry] = j.model.entries[f.Entry]
	case Offered:
		j.offers[f.Offer] = j.model.offers[f.Offer]
	default:
	}
}

func (j *judgement) object(o *owed, format string, args ...any) {
	j.must(
		j.wrong(
			"%s, %s, to %s, due %s: %s", o.topic, o.lane, short(o.who), o.due.UTC().Format(time.RFC3339),
			fmt.Sprintf(format, args...),
		),
	)
}

// expect demands that something comes of a message in time, once the post moves.
func (j *judgement) expect(o *owed, by time.Time) {
	looks := o.looks
	for _, from := range []time.Time{j.now, j.upFrom} {
		if by.Before(from) {
			by = from
		}
	}
	j.on(by.Add(time.Minute), func() {
		switch {
		case o.over || o.has > 0 || o.looks != looks:
		case j.upFrom.After(by):
			j.expect(o, j.upFrom)
		default:
			j.object(o, "nothing came of it")
		}
	})
}

// planned holds the notices of an event against what is owed.
func (j *judgement) planned(h happened, all []*notice) {
	j.act = "plan " + h.String()
	want := make(map[owedKey]*owed)
	for _, o := range j.owe(h) {
		if j.owed[o.owedKey] == nil {
			want[o.owedKey] = o
		}
	}
	for _, n := range all {
		key := keyOf(n.Notice)
		o := want[key]
		if o == nil {
			o = &owed{owedKey: key, to: n.to, due: n.DueAt}
			if j.owed[key] != nil {
				j.object(o, "it is planned twice")
			} else {
				j.object(o, "nobody is owed it")
			}
			return
		}
		delete(want, key)
		n.owed, j.owed[key] = o, o
		j.expect(o, o.due)
	}
	for _, o := range want {
		j.object(o, "it is not planned")
		return
	}
}

// warned takes in that an offer was told for the first time, and its end is announced.
func (j *judgement) warned(first, follow *notice) {
	o := *first.owed
	left := o.offer.until.Sub(j.now)
	o.owedKey = keyOf(follow.Notice)
	o.due, o.until, o.looks, o.has, o.begun, o.unsure, o.over = o.offer.until.Add(-left/4), o.offer.until, 0, 0, 0, 0, false
	o.failed, o.excused = make(map[notify.Channel]bool), time.Time{}
	follow.owed = &o
	if j.owed[o.owedKey] != nil || left < 10*time.Minute {
		j.object(&o, "nobody is owed it")
	}
	j.owed[o.owedKey] = &o
	j.expect(&o, o.due)
}

// mayUse gives the channels by which a message could reach somebody who wants it.
func (j *judgement) mayUse(o *owed) []notify.Channel {
	var usable []notify.Channel
	for _, c := range route(o.topic, o.lane) {
		address := o.to.address(c)
		reached := len(o.to.devices) > 0
		if c != notify.Push {
			reached = address != "" && !j.doubtful[string(c)+address]
		}
		silenced := c == notify.SMS && j.ofOffer(o) && j.post.offers[o.offer.id].Score < o.offer.in.under.waitlist.SMSMinScore
		if reached && !silenced && !o.failed[c] && o.to.wants(o.topic, c) {
			usable = append(usable, c)
		}
	}
	return usable
}

func (j *judgement) ofOffer(o *owed) bool {
	return o.topic == notify.Offered || o.topic == notify.OfferExpiring
}

// mayWake reports whether quiet hours do not hold for a message.
func (j *judgement) mayWake(o *owed, c notify.Channel) bool {
	return c == notify.Email && j.settings.EmailInQuiet || j.ofOffer(o) && o.offer.in.under.waitlist.OffersInQuietHours
}

func within(times []time.Time, now time.Time) (n int) {
	for _, at := range times {
		if now.Sub(at) < 24*time.Hour {
			n++
		}
	}
	return n
}

// starts looks at an attempt that begins.
func (j *judgement) starts(n *notice, c notify.Channel, text string, flagged bool) {
	o := n.owed
	o.looks++
	o.begun++
	o.flagged = flagged
	on := recipientOn{o.who, c}
	j.tried[on] = append(
		slices.DeleteFunc(j.tried[on], func(at time.Time) bool { return j.now.Sub(at) >= 24*time.Hour }), j.now,
	)
	j.firstTold(o)
	latest := o.due
	for _, at := range []time.Time{o.excused, j.upFrom} {
		if at.After(latest) {
			latest = at
		}
	}
	switch why := j.gone(o); {
	case why != "":
		j.object(o, "%s is sent, and %s", c, why)
	case !slices.Contains(route(o.topic, o.lane), c) || !o.to.wants(o.topic, c):
		j.object(o, "it is sent by %s, which is not wanted", c)
	case c != notify.Push && j.stopped[string(c)+o.to.address(c)]:
		j.object(o, "%s is sent to an address that was stopped", c)
	case o.to.quietAt(j.now, j.settings) && !j.mayWake(o, c):
		j.object(o, "%s is sent when it is %s there", c, j.now.In(o.to.zone))
	case j.now.Before(o.due):
		j.object(o, "it is sent %s before it is due", o.due.Sub(j.now))
	case j.now.Sub(latest) > 5*time.Second:
		j.object(o, "it is sent %s late", j.now.Sub(latest))
	case text != "" && !says(text, o):
		j.object(o, "it does not say %s: %s", o.start.In(o.to.zone), text)
	}
	j.report.Messages++
	if flagged {
		j.report.Repeated++
	}
	if o.topic == notify.Reminder {
		j.report.Reminders++
	}
}

// late is how much later than planned an offer may be told with the end that it has.
const late = 30 * time.Second

// firstTold holds against each other how long somebody has for an offer who may be told of it now, and how long they
// should have.
func (j *judgement) firstTold(o *owed) {
	if o.topic != notify.Offered || o.offer.told {
		return
	}
	o.offer.told = true
	if should := j.window(o, j.now); should.Sub(o.offer.until) > late {
		j.object(o, "it is told with an end at %s, which should be %s", o.offer.until.UTC(), should.UTC())
	}
}

// window is the end that an offer should have of which somebody is told at a time; zero: there is no time for it.
func (j *judgement) window(o *owed, told time.Time) time.Time {
	switch {
	case !o.offer.byHand:
	case told.Before(o.offer.until):
		return o.offer.until // staff have chosen it
	default:
		return time.Time{}
	}
	s := o.offer.in
	rules := s.under.waitlist.Rules
	closes := s.starts.Add(-s.under.policy.BookingCloses)
	if !j.now.Before(closes) && rules.FillAfterStart > 0 {
		closes = s.starts.Add(rules.FillAfterStart)
	}
	if closes.After(s.ends) {
		closes = s.ends
	}
	return offerUntil(rules, told, closes, o.to.zone)
}

// says reports whether a text tells the time on the recipient's clock.
func says(text string, o *owed) bool {
	at := o.start
	if o.topic == notify.OfferExpiring {
		at = o.offer.until
	}
	return at.IsZero() || strings.Contains(text, at.In(o.to.zone).Format("15:04")) ||
		strings.Contains(text, at.In(o.to.zone).Format("3:04")) ||
		o.topic != notify.Reminder
}

// handed takes in that a provider has a message.
func (j *judgement) handed(n *notice, d *delivery) {
	o := n.owed
	on := recipientOn{o.who, d.channel}
	if d.channel == notify.Push && j.stopped[d.device.ID.String()] {
		j.object(o, "it is sent to a device that is gone")
	}
	if o.has == o.begun {
		d.taken = o.has
		return // to another device
	}
	if o.has > 0 && !o.flagged {
		j.object(o, "it is sent twice, and the log does not say so")
	}
	o.has, d.taken = o.begun, o.begun
	j.taken[on] = append(
		slices.DeleteFunc(j.taken[on], func(at time.Time) bool { return j.now.Sub(at) >= 24*time.Hour }), d.at,
	)
	if most := j.settings.PerDay[d.channel]; len(j.taken[on]) > most {
		j.object(o, "it is number %d of a day by %s, and %d may be sent", len(j.taken[on]), d.channel, most)
	}
}

// refused takes in that a message was not sent, or maybe not.
func (j *judgement) refused(n *notice, d *delivery, failure *notify.SendError) {
	o := n.owed
	o.failed[d.channel] = true
	if failure.Kind == notify.OptedOut || failure.Kind == notify.Unregistered && d.channel != notify.Push {
		j.doubtful[string(d.channel)+o.to.address(d.channel)] = true
	}
	if failure.Kind == notify.Unknown {
		o.unsure++
	}
	j.excuse(o, 12*time.Minute+failure.RetryAfter)
}

func (j *judgement) excuse(o *owed, wait time.Duration) {
	if at := j.now.Add(wait); at.After(o.excused) {
		o.excused = at
	}
	j.expect(o, o.excused)
}

// lost takes in that nobody will write what became of an attempt.
func (j *judgement) lost(n *notice, c notify.Channel) {
	o := n.owed
	j.firstTold(o)
	o.looks++
	o.unsure++
	o.failed[c] = true
	on := recipientOn{o.who, c}
	j.tried[on] = append(j.tried[on], j.now)
	j.excuse(o, 2*time.Minute+5*time.Second)
}

// reported takes in what the post is told of a message that a provider has. Where it is lost, it has to go by another
// channel, if it may.
func (j *judgement) reported(n *notice, d *delivery, status notify.DeliveryStatus) {
	o := n.owed
	if !status.NotDelivered() || o.has != d.taken {
		return
	}
	o.has = 0
	o.failed[d.channel] = true
	if j.now.Before(o.until) && len(j.mayUse(o)) > 0 {
		j.excuse(o, 0)
	}
}

// ends looks at what the log says once all reports are there, in whatever order they came.
func (j *judgement) ends(n *notice, d *delivery, as notify.DeliveryStatus) {
	j.on(j.now.Add(2*time.Minute), func() {
		switch {
		case j.upFrom.Add(time.Minute).After(j.now):
			j.ends(n, d, as)
		case d.status != as:
			j.object(n.owed, "the log says %s, and it was %s", d.status, as)
		}
	})
}

// toldToStop takes in that the post was told not to use an address or a device.
func (j *judgement) toldToStop(key string) { j.stopped[key], j.doubtful[key] = true, true }

// replied takes in what somebody answered, and meant.
func (j *judgement) replied(a *addressee, text answer) {
	key := string(notify.SMS) + a.phone
	switch text.means {
	case "stop":
		j.toldToStop(key)
	case "start":
		delete(j.stopped, key)
		delete(j.doubtful, key)
	}
}

// arrived looks at a message that is settled because its attempt is said to have arrived.
func (j *judgement) arrived(n *notice) {
	if n.owed.looks++; n.owed.has == 0 {
		j.object(n.owed, "it counts as sent, and was not")
	}
}

// held reports whether a channel must keep still.
func (j *judgement) held(o *owed, c notify.Channel) bool {
	return o.to.quietAt(j.now, j.settings) && !j.mayWake(o, c) ||
		within(j.tried[recipientOn{o.who, c}], j.now) >= j.settings.PerDay[c]
}

// deferred looks at the reason for which a message waits.
func (j *judgement) deferred(n *notice, why notify.Reason, until time.Time) {
	o := n.owed
	o.looks++
	j.report.PutOff++
	usable := j.mayUse(o)
	wakes := o.to.wakes(j.now, j.settings)
	free := slices.DeleteFunc(slices.Clone(usable), func(c notify.Channel) bool { return j.held(o, c) })
	switch {
	case j.gone(o) != "":
		j.object(o, "it waits, and %s", j.gone(o))
	case len(free) > 0:
		j.object(o, "it waits for %s, and could be sent by %v", why, free)
	case why == notify.QuietHoursReason && !until.Equal(wakes):
		j.object(o, "it waits until %s, and quiet hours end at %s", until.In(o.to.zone), wakes.In(o.to.zone))
	case why == notify.FrequencyCap && (until.Sub(j.now) > 24*time.Hour || !until.After(j.now)):
		j.object(o, "it waits until %s", until)
	case why != notify.QuietHoursReason && why != notify.FrequencyCap || !until.Before(o.until):
		j.object(o, "it waits until %s because of %s, and is of no use from %s", until, why, o.until)
	}
	o.excused = until
	j.expect(o, until)
}

// dropped looks at the reason for which a message is never sent.
func (j *judgement) dropped(n *notice, why notify.Reason) {
	o := n.owed
	o.looks++
	o.over = true
	j.report.Withheld++
	usable := j.mayUse(o)
	so := false
	switch why {
	case notify.Superseded, notify.NotBooked, notify.Moved, notify.OfferClosed, notify.TooLate:
		so = j.gone(o) != ""
	case notify.OptedOutReason, notify.BouncedReason, notify.Unsubscribed, notify.Unreachable, notify.ProviderRefused:
		so = len(usable) == 0 && j.gone(o) == ""
	case notify.QuietHoursReason, notify.FrequencyCap:
		so = !slices.ContainsFunc(usable, func(c notify.Channel) bool { return !j.held(o, c) }) && j.gone(o) == ""
		if o.topic == notify.Offered && why == notify.QuietHoursReason {
			wakes := o.to.wakes(j.now, j.settings)
			so = so && (!wakes.Before(o.until) || j.window(o, wakes).IsZero())
		}
	case notify.PossiblySentReason:
		so = o.unsure >= 3
	default:
	}
	if !so {
		j.object(
			o, "it is dropped because of %s, which is not so: %q, usable %v, %d unsure", why, j.gone(o), usable, o.unsure,
		)
	}
}

// silent looks at a message of which the log says nothing.
func (j *judgement) silent(n *notice) {
	o := n.owed
	o.looks++
	o.over = true
	if o.lane != notify.Alert || !ways[o.topic].mail || len(j.mayUse(o)) > 0 {
		j.object(o, "it is dropped, and the log does not say so")
	}
}
