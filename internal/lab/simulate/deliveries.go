package simulate

import (
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// The functions of this file send notices through providers and write the results, as internal/app/messages does.

// process decides about one notice, and starts an attempt if it may be sent.
func (d *dispatcher) process(n *notice) {
	d.step = "process a notice"
	if n.sending {
		resumed, closed, why := n.Resume(n.lastStatus())
		n.Notice = resumed
		if closed {
			if why != "" {
				d.checker.checkDropped(n, why)
			} else {
				d.checker.checkSettled(n)
			}
			d.updateNotice(n, n.Closed(d.now))
			return
		}
	}
	to, facts, settings := d.notifyRecipient(n), d.notifyFacts(n), d.settings
	d.injectMessageBugs(n, &to, &facts, &settings)
	v := notify.Decide(n.Notice, settings, to, facts, d.now)
	inTime := v.Kind == notify.Defer
	if n.Topic == notify.Offered && v.Reason == notify.QuietHoursReason && inTime && !d.notified(n.offer) {
		inTime = d.startWindow(n, v.Until)
	}
	switch {
	case v.Kind == notify.Send:
		d.send(n, to, v.Channel)
	case inTime:
		d.checker.checkDeferred(n, v.Reason, v.Until)
		d.updateNotice(n, n.Waiting(v.Until))
	default:
		d.dropNotice(n, v.Reason)
	}
}

// dropNotice closes a notice without sending it. If quiet hours end too late for every notice of an offer, the offer is
// withdrawn, and the next entry gets one.
func (d *dispatcher) dropNotice(n *notice, why notify.Reason) {
	if n.OmitFromLog(why) {
		d.checker.checkOmitted(n)
	} else if d.bug != hideDrops {
		d.checker.checkDropped(n, why)
	}
	d.updateNotice(n, n.Closed(d.now))
	if n.Topic != notify.Offered || why != notify.QuietHoursReason || d.notified(n.offer) ||
		n.offer.Status != waitlist.Live ||
		n.offer.ByHand {
		return
	}
	for _, lane := range n.Topic.Lanes() {
		if other := d.planned[noticeKey{n.Recipient(), n.Topic, n.Thing, n.Revision, lane}]; other != nil && !other.done {
			return // the other lane may still send the offer
		}
	}
	allowRefusal(
		d.transact(
			Operation{Name: "withdraw an offer", Offer: n.offer.ID}, func() error {
				return d.apply(
					d.endOffer(n.offer.Withdraw(waitlist.Unsendable, "", d.now), nil),
				)
			},
		),
	)
}

// notified reports whether the member may know of an offer.
func (d *dispatcher) notified(o *waitlist.Offer) bool {
	return slices.ContainsFunc(d.offerDeliveries[o.ID], func(line *loggedDelivery) bool {
		return line.status != delivery.Failed
	})
}

// startWindow starts the window of an offer when it is sent: now, or when quiet hours end. It returns false if the
// member could not answer in time.
func (d *dispatcher) startWindow(n *notice, at time.Time) bool {
	o, s := n.offer, d.sessions[n.offer.Session]
	rules := s.service.waitlist.Rules
	until, inTime := o.EndWhenSent(rules, at, d.now, rules.ClosesAt(timesOf(s), d.now), n.to.zone)
	if until.Equal(o.ExpiresAt) || d.bug == windowFromCreation {
		return inTime && o.ExpiresAt.After(at)
	}
	allowRefusal(d.transact(Operation{Name: "start an offer window", Offer: o.ID}, func() error {
		saveForUndo(&d.tables, o)
		d.markTouched(s)
		o.ExpiresAt = until
		d.emit(Event{Kind: OfferExtended, Session: o.Session, Member: o.Member, Entry: o.Entry, Offer: o.ID, Until: until})
		d.alarm(until)
		return nil
	}))
	return inTime
}

// startGrace starts the grace of a promotion whose member is told now, unless they were told before.
func (d *dispatcher) startGrace(n *notice) {
	b := n.booking
	told := slices.ContainsFunc(d.promotionDeliveries[b.ID], func(line *loggedDelivery) bool {
		return line.status != delivery.Failed
	})
	if told || b.GraceUntil == nil {
		return
	}
	s := d.sessions[b.Session]
	allowRefusal(d.transact(Operation{Name: "start a grace", Booking: b.ID}, func() error {
		saveForUndo(&d.tables, b)
		d.markTouched(s)
		b.GraceUntil = new(s.service.waitlist.GraceUntil(d.now, s.StartsAt, n.to.zone))
		d.emit(Event{
			Kind: GraceStarted, Session: s.ID, Member: b.Member, Booking: b.ID, Until: *b.GraceUntil,
			Zone: n.to.zone.String(),
		})
		return nil
	}))
}

// injectMessageBugs changes the facts of a decision as the injected bug would.
func (d *dispatcher) injectMessageBugs(n *notice, to *notify.Recipient, f *notify.Facts, s *notify.Settings) {
	switch d.bug {
	case ignoreQuietHours:
		s.QuietHours, to.Quiet = notify.QuietHours{}, nil
	case quietInTenantZone:
		to.Zone = d.locations[0].zone
	case ignoreTenantQuiet:
		if to.Quiet == nil {
			s.QuietHours = notify.QuietHours{}
		}
	case mailAtOnce:
		if to.Email != "" && n.to.quietAt(d.now, d.settings) {
			to.Devices, to.Phone = nil, ""
		}
	case sendDespiteStop:
		to.Stopped = nil
	case ignoreFrequencyCap:
		to.Sent = nil
	case sendStale:
		f.Booked, f.Attended, f.Cancelled, f.SessionGone = true, false, true, false
	case sendMoved:
		f.StartsAt = n.StartsAt
	case sendExpiredOffers:
		if f.Offer != nil {
			f.Offer.Live, f.Offer.ExpiresAt = true, time.Time{}
		}
	case offersIgnoreQuiet:
		if f.Offer != nil {
			f.Offer.EvenInQuiet = true
		}
	default:
	}
}

// lastStatus returns the status of the last attempt.
func (n *notice) lastStatus() delivery.Status {
	if len(n.deliveries) == 0 {
		return ""
	}
	last := n.deliveries[len(n.deliveries)-1]
	was := last.status
	for _, line := range n.deliveries {
		if line.at.Equal(last.at) {
			was = delivery.Advance(was, line.status)
		}
	}
	return was
}

// updateNotice writes the state of a notice. A state that belongs to an earlier attempt is ignored.
func (d *dispatcher) updateNotice(n *notice, s notify.NoticeState) {
	isCurrent := n.sending && n.Attempts == s.AfterAttempt && n.UnknownResults == s.UnknownResults &&
		len(n.FailedChannels) == s.AfterChannels
	if s.AfterAttempt != 0 && !isCurrent {
		return
	}
	n.DueAt, n.sending, n.done = s.DueAt, s.Sending, n.done || s.Done
	n.FailedChannels, n.Attempts, n.UnknownResults = s.FailedChannels, s.Attempts, s.UnknownResults
	if !n.done {
		d.scheduleNotice(n)
	}
}

func (d *dispatcher) notifyRecipient(n *notice) notify.Recipient {
	a := n.to
	r := notify.Recipient{
		Known: a.member == nil || a.member.Active, Name: "Mia", Phone: a.phone, Email: a.email, Locale: a.locale,
		Zone: a.zone, Quiet: a.quiet,
		Preferences: a.preferences, Devices: a.devices, Stopped: make(map[delivery.Channel]notify.Reason),
		Sent: make(map[delivery.Channel][]time.Time),
	}
	if why := d.stops[delivery.SMS][a.phone]; why != "" {
		r.Stopped[delivery.SMS] = why
	}
	if why := d.stops[delivery.Email][a.email]; why != "" {
		r.Stopped[delivery.Email] = why
	}
	a.counted = slices.DeleteFunc(a.counted, func(line *loggedDelivery) bool { return !line.at.After(d.now.Add(-day)) })
	for _, line := range a.counted {
		if line.counted {
			r.Sent[line.channel] = append(r.Sent[line.channel], line.at)
		}
	}
	return r
}

func (d *dispatcher) notifyFacts(n *notice) notify.Facts {
	var f notify.Facts
	about := n.session
	switch {
	case n.booking != nil:
		b := n.booking
		f.Booked, f.Attended = b.Status == booking.Confirmed, b.Status == booking.Attended
		f.Cancelled = b.Status == booking.Cancelled
		if s := d.sessions[b.Session]; s != nil {
			about = s
		}
	case n.entry != nil:
		f.Waiting, about = n.entry.Status.Active(), d.sessionOf(n.entry)
	case n.payer != nil:
		f.Balance, about = n.payer.Balance, nil
	}
	if about != nil {
		f.StartsAt, f.SessionGone = about.StartsAt, about.State == catalog.Cancelled
	}
	if o := n.offer; o != nil && n.Topic.IsOffer() {
		rules := d.sessions[o.Session].service.waitlist.Rules
		f.Offer = &notify.Offer{
			Live: o.Answerable(d.now) == nil, EvenInQuiet: rules.OffersInQuietHours, NoSMS: o.Score < rules.SMSMinScore,
		}
		if d.notified(o) {
			f.Offer.ExpiresAt = o.ExpiresAt
		}
	}
	return f
}

// send starts an attempt over a channel. It first writes log lines that say that the message may have been sent, and
// then sends it.
func (d *dispatcher) send(n *notice, to notify.Recipient, channel delivery.Channel) {
	if n.Topic == notify.Offered && !d.notified(n.offer) {
		if !d.startWindow(n, d.now) {
			d.dropNotice(n, notify.OfferClosed)
			return
		}
		if warning, ok := n.ExpiryWarning(d.now, n.offer.ExpiresAt); ok {
			key := noticeKey{warning.Recipient(), warning.Topic, warning.Thing, warning.Revision, warning.Lane}
			if d.planned[key] == nil {
				follow := d.addNotice(key, warning)
				d.checker.checkExpiryWarning(n, follow)
				d.scheduleNotice(follow)
			}
		}
	}
	if n.Topic == notify.Promoted {
		d.startGrace(n)
	}
	n.Attempts++
	devices := []notify.Device{{}}
	if channel == delivery.Push {
		devices = to.Devices
	}
	var lines []*loggedDelivery
	for i, device := range devices {
		line := &loggedDelivery{
			id: id[tenant.DeliveryID](&d.tables), channel: channel, device: device, attempt: n.Attempts,
			status: delivery.PossiblySent,
			at:     d.now, counted: i == 0,
		}
		lines = append(lines, line)
		if line.counted {
			n.to.counted = append(n.to.counted, line)
		}
	}
	n.deliveries = append(n.deliveries, lines...)
	switch n.Topic {
	case notify.Offered:
		d.offerDeliveries[n.Offer] = append(d.offerDeliveries[n.Offer], lines...)
	case notify.Promoted:
		d.promotionDeliveries[n.Booking] = append(d.promotionDeliveries[n.Booking], lines...)
	default:
	}
	attempt := n.Notice
	d.updateNotice(n, n.Started(d.now))
	text := ""
	if d.chance(0.05) || n.Topic == notify.Reminder && d.chance(0.3) {
		text = d.render(n, to, channel)
	}
	flagged := n.UnknownResults > 0 && d.bug != hideRepeats
	died := d.chance(0.004)
	if died && d.chance(0.5) {
		d.checker.resultLost(n, channel)
		if d.bug == loseAttempt {
			n.done = true
		}
		return
	}
	d.checker.checkAttempt(n, channel, text, flagged)
	d.providers[channel].sendAll(d, n, attempt, lines, died)
}

// render renders the text of a message.
func (d *dispatcher) render(n *notice, to notify.Recipient, channel delivery.Channel) string {
	about := n.session
	if n.booking != nil {
		about = d.sessions[n.booking.Session]
	} else if n.entry != nil {
		about = d.sessionOf(n.entry)
	}
	t := content.Choose(nil, n.Topic, channel, to.Locale, "en")
	facts := content.Facts{
		Topic: n.Topic, Details: n.Details, Now: d.now, Zone: to.Zone, LocationZone: to.Zone, Name: to.Name,
		Tenant: "Harbour Yoga", Link: "https://berth.example/", ClaimURL: "https://berth.example/claim/1", Code: "4821",
		Subject: content.Subject{Plan: "Ten classes"},
	}
	if about != nil {
		facts.Title, facts.StartsAt, facts.EndsAt = about.Title, about.StartsAt, about.EndsAt
		facts.LocationZone = about.location.zone
	}
	if n.offer != nil {
		facts.Until = n.offer.ExpiresAt
	}
	foot := content.Foot{Unsubscribe: "https://berth.example/u/1"}
	out, err := content.Render(t, facts.Values(t.Locale), brand.Brand{}, foot)
	if err != nil {
		d.mustSucceed(err)
	}
	return strings.Join([]string{out.Subject, out.Text, out.HTML}, "\n")
}

// settleAttempt writes the results of an attempt, and what follows from them.
func (d *dispatcher) settleAttempt(
	n *notice, attempt notify.Notice, lines []*loggedDelivery, attempts []notify.Attempt,
) {
	d.step = "settle deliveries"
	channel := lines[0].channel
	end := notify.AfterAttempt(attempt, channel, attempts, d.now, d.rng.Float64())
	switch {
	case d.bug == neverRetry && !end.Done && !end.Unknown:
		end.Done = true
	case d.bug == noChannelFallback && end.ChannelFailed:
		end.Done = true
	case d.bug == assumeSent && end.Unknown:
		end.Done = true
	}
	for i, line := range lines {
		status, failure := attempts[i].Receipt.Status, attempts[i].Err
		if failure != nil {
			if status = delivery.Failed; failure.Kind == delivery.Unknown {
				status = delivery.PossiblySent
			}
		}
		if line.status == delivery.PossiblySent || line.status == delivery.Queued && status == delivery.Sent {
			line.counted = line.counted && !end.NotSent()
			line.status = status
		}
		d.recordStop(n, line, failure)
	}
	d.updateNotice(n, attempt.AfterAttempt(channel, end, d.now))
}

// recordStop stores that an address or device must not be used again.
func (d *dispatcher) recordStop(n *notice, line *loggedDelivery, failure *delivery.Error) {
	why := notify.StopReason(failure)
	switch {
	case why == "":
		return
	case line.channel == delivery.Push:
		d.checker.stopAddress(line.device.ID.String())
	default:
		d.checker.stopAddress(string(line.channel) + n.to.address(line.channel))
	}
	switch {
	case d.bug == keepDeadAddress:
	case line.channel == delivery.Push:
		n.to.devices = slices.DeleteFunc(
			slices.Clone(n.to.devices), func(other notify.Device) bool { return other.ID == line.device.ID },
		)
	default:
		d.addStop(line.channel, n.to.address(line.channel), why)
	}
}

func (d *dispatcher) addStop(channel delivery.Channel, address string, why notify.Reason) {
	if d.stops[channel][address] == "" || why != notify.Bounced {
		d.stops[channel][address] = why
	}
}

func (r *recipient) address(channel delivery.Channel) string {
	if channel == delivery.SMS {
		return r.phone
	}
	return r.email
}

// applyReport writes the status that a provider reports. Reports come twice, late, and in any order.
func (d *dispatcher) applyReport(n *notice, line *loggedDelivery, reported delivery.Status, failure *delivery.Error) {
	d.step = "report a delivery"
	d.checker.reportReceived(n, line, reported)
	status := delivery.Advance(line.status, reported)
	if d.bug == lastReportWins {
		status = reported
	}
	if status == line.status {
		return
	}
	was := line.status
	if line.status = status; !status.NotDelivered() {
		if status.Accepted() && !was.Accepted() && d.bug != ignoreReports {
			n.done, n.sending = true, false
		}
		return
	}
	if notify.StopReason(failure) != "" && line.channel != delivery.Push {
		d.recordStop(n, line, failure)
	}
	known := slices.ContainsFunc(n.deliveries, func(other *loggedDelivery) bool {
		return other.status == delivery.Delivered || other.status == delivery.Read || other.channel == line.channel &&
			other.at.After(line.at) && other.status.Accepted()
	})
	if known || slices.Contains(n.FailedChannels, line.channel) || !n.done && !n.sending || !n.ExpiresAt.After(d.now) ||
		d.bug == ignoreReports {
		return
	}
	n.FailedChannels = append(slices.Clone(n.FailedChannels), line.channel)
	n.done, n.sending, n.DueAt, n.Attempts = false, false, d.now, 0
	d.scheduleNotice(n)
}

// applyReply handles an SMS from a recipient.
func (d *dispatcher) applyReply(a *recipient, text smsReply) {
	if a.phone == "" {
		return
	}
	d.checker.replyReceived(a, text)
	switch reply := notify.ParseReply(text.text); reply.Kind {
	case notify.Stop:
		if d.bug != ignoreStop {
			d.addStop(delivery.SMS, a.phone, notify.OptedOut)
		}
	case notify.Start:
		delete(d.stops[delivery.SMS], a.phone)
	case notify.Accept, notify.Decline, notify.Help, notify.NoReply:
	}
}

// smsReply is an SMS, and what its author means.
type smsReply struct{ text, meaning string }

var replies = []smsReply{
	{"STOP", "stop"}, {" stop. ", "stop"}, {"Unsubscribe", "stop"}, {"cancel", "stop"}, {"opt-out", "stop"},
	{"START", "start"}, {"yes", "start"}, {"Unstop!", "start"}, {"start", "start"}, {"Start", "start"},
	{"Thank you!", ""}, {"who is this", ""}, {"1", ""}, {"help", ""}, {"please stop by", ""},
}
