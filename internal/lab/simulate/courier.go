package simulate

import (
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// The functions of this file take notices to providers, and write down what became of them, as package app does.

// take judges one notice, and begins an attempt where that is the verdict.
func (p *post) take(n *notice) {
	p.act = "take a notice"
	if n.sending {
		again, over, why := n.Resume(n.was())
		n.Notice = again
		if over {
			if why != "" {
				p.judged.dropped(n, why)
			} else {
				p.judged.arrived(n)
			}
			p.stand(n, n.Closed(p.now))
			return
		}
	}
	to, matter, settings := p.recipient(n), p.matter(n), p.settings
	p.overlook(n, &to, &matter, &settings)
	v := notify.Decide(n.Notice, settings, to, matter, p.now)
	inTime := v.Action == notify.Defer
	if n.Topic == notify.Offered && v.Reason == notify.QuietHoursReason && inTime && !p.told(n.offer) {
		inTime = p.begin(n, v.Until)
	}
	switch {
	case v.Action == notify.Send:
		p.send(n, to, v.Channel)
	case inTime:
		p.judged.deferred(n, v.Reason, v.Until)
		p.stand(n, n.Waiting(v.Until))
	default:
		p.drop(n, v.Reason)
	}
}

// drop sends a notice never. Where nobody can be told of an offer any more before quiet hours end, the next person is
// asked.
func (p *post) drop(n *notice, why notify.Reason) {
	if n.OmitFromLog(why) {
		p.judged.silent(n)
	} else if p.flaw != dropUnsaid {
		p.judged.dropped(n, why)
	}
	p.stand(n, n.Closed(p.now))
	if n.Topic != notify.Offered || why != notify.QuietHoursReason || p.told(n.offer) || n.offer.Status != waitlist.Live ||
		n.offer.ByHand {
		return
	}
	for _, lane := range n.Topic.Lanes() {
		if other := p.planned[noticeKey{n.Recipient(), n.Topic, n.Thing, n.Revision, lane}]; other != nil && !other.done {
			return // it may do better
		}
	}
	try(
		p.do(
			"give an offer up", func() error { return p.apply(p.end(n.offer.Withdraw(waitlist.Unsendable, "", p.now), nil)) },
		),
	)
}

// told reports whether somebody may know of an offer.
func (p *post) told(o *waitlist.Offer) bool {
	return slices.ContainsFunc(p.tellings[o.ID], func(d *delivery) bool { return d.status != notify.Failed })
}

// begin lets the window of an offer begin when it is told: now, or when quiet hours end. False: nobody could answer in
// time.
func (p *post) begin(n *notice, at time.Time) bool {
	o, s := n.offer, p.rows[n.offer.Session]
	rules := s.under.waitlist.Rules
	until, inTime := o.EndWhenTold(
		rules, at, p.now, rules.ClosesAt(s.StartsAt, s.EndsAt, s.under.policy.BookingCloses, p.now), n.to.zone,
	)
	if until.Equal(o.ExpiresAt) || p.flaw == nightEats {
		return inTime && o.ExpiresAt.After(at)
	}
	try(p.do("keep an offer", func() error {
		before(&p.tables, o)
		p.touch(s)
		o.ExpiresAt = until
		p.say(Fact{What: Kept, Session: o.Session, Member: o.Member, Entry: o.Entry, Offer: o.ID, Until: until})
		p.alarm(until)
		return nil
	}))
	return inTime
}

// overlook leaves out what a flaw does not look at.
func (p *post) overlook(n *notice, to *notify.Recipient, m *notify.Facts, s *notify.Settings) {
	switch p.flaw {
	case wakeUp:
		s.Quiet, to.Quiet = notify.QuietHours{}, nil
	case tenantsNight:
		to.Zone = p.venues[0].zone
	case ownNightOnly:
		if to.Quiet == nil {
			s.Quiet = notify.QuietHours{}
		}
	case writeAnyway:
		to.Stopped = nil
	case writeOften:
		to.Sent = nil
	case writeStale:
		m.Booked, m.Attended, m.Cancelled, m.SessionGone = true, false, true, false
	case writeMoved:
		m.StartsAt = n.StartsAt
	case writeLate:
		if m.Offer != nil {
			m.Offer.Live, m.Offer.ExpiresAt = true, time.Time{}
		}
	case wakeForOffers:
		if m.Offer != nil {
			m.Offer.EvenInQuiet = true
		}
	default:
	}
}

// was is the status of the last attempt.
func (n *notice) was() notify.DeliveryStatus {
	if len(n.lines) == 0 {
		return ""
	}
	last := n.lines[len(n.lines)-1]
	was := last.status
	for _, d := range n.lines {
		if d.at.Equal(last.at) {
			was = notify.Advance(was, d.status)
		}
	}
	return was
}

// stand writes where a notice stands.
func (p *post) stand(n *notice, s notify.NoticeState) {
	current := n.sending && n.Attempts == s.Attempt && n.UnknownResults == s.Unsure && len(n.FailedChannels) == s.Channels
	if s.Attempt != 0 && !current {
		return
	}
	n.DueAt, n.sending, n.FailedChannels, n.Attempts, n.UnknownResults, n.done = s.DueAt, s.Sending, s.Tried, s.Attempts, s.Unsure, n.done || s.Done
	if !n.done {
		p.look(n)
	}
}

func (p *post) recipient(n *notice) notify.Recipient {
	a := n.to
	r := notify.Recipient{
		Known: a.member == nil || a.member.Active, Name: "Mia", Phone: a.phone, Email: a.email, Locale: a.locale,
		Zone: a.zone, Quiet: a.quiet,
		Preferences: a.chosen, Devices: a.devices, Stopped: make(map[notify.Channel]notify.Reason),
		Sent: make(map[notify.Channel][]time.Time),
	}
	if why := p.stops[notify.SMS][a.phone]; why != "" {
		r.Stopped[notify.SMS] = why
	}
	if why := p.stops[notify.Email][a.email]; why != "" {
		r.Stopped[notify.Email] = why
	}
	a.counted = slices.DeleteFunc(a.counted, func(d *delivery) bool { return !d.at.After(p.now.Add(-day)) })
	for _, d := range a.counted {
		if d.counted {
			r.Sent[d.channel] = append(r.Sent[d.channel], d.at)
		}
	}
	return r
}

func (p *post) matter(n *notice) notify.Facts {
	var m notify.Facts
	about := n.session
	switch {
	case n.booking != nil:
		b := n.booking
		m.Booked, m.Attended, m.Cancelled = b.Status == booking.Confirmed, b.Status == booking.Attended, b.Status == booking.Cancelled
		if s := p.rows[b.Session]; s != nil {
			about = s
		}
	case n.entry != nil:
		m.Waiting, about = n.entry.Status.Active(), p.rowOf(n.entry)
	case n.payer != nil:
		m.Balance, about = n.payer.Balance, nil
	}
	if about != nil {
		m.StartsAt, m.SessionGone = about.StartsAt, about.State == catalog.Cancelled
	}
	if o := n.offer; o != nil && n.Topic.IsOffer() {
		rules := p.rows[o.Session].under.waitlist.Rules
		m.Offer = &notify.Offer{
			Live: o.Answerable(p.now) == nil, EvenInQuiet: rules.OffersInQuietHours, NoSMS: o.Score < rules.SMSMinScore,
		}
		if p.told(o) {
			m.Offer.ExpiresAt = o.ExpiresAt
		}
	}
	return m
}

// send begins an attempt over a channel: lines of the log that say that it may have been sent, and after that the
// messages themselves.
func (p *post) send(n *notice, to notify.Recipient, c notify.Channel) {
	if n.Topic == notify.Offered && !p.told(n.offer) {
		if !p.begin(n, p.now) {
			p.drop(n, notify.OfferClosed)
			return
		}
		if warning, ok := n.ExpiryWarning(p.now, n.offer.ExpiresAt); ok {
			key := noticeKey{warning.Recipient(), warning.Topic, warning.Thing, warning.Revision, warning.Lane}
			if p.planned[key] == nil {
				follow := p.keep(key, warning)
				p.judged.warned(n, follow)
				p.look(follow)
			}
		}
	}
	n.Attempts++
	devices := []notify.Device{{}}
	if c == notify.Push {
		devices = to.Devices
	}
	var lines []*delivery
	for i, device := range devices {
		d := &delivery{
			id: id[tenant.DeliveryID](&p.tables), channel: c, device: device, attempt: n.Attempts, status: notify.PossiblySent,
			at: p.now, counted: i == 0,
		}
		lines = append(lines, d)
		if d.counted {
			n.to.counted = append(n.to.counted, d)
		}
	}
	n.lines = append(n.lines, lines...)
	if n.Topic == notify.Offered {
		p.tellings[n.Offer] = append(p.tellings[n.Offer], lines...)
	}
	attempt := n.Notice
	p.stand(n, n.Started(p.now))
	text := ""
	if p.chance(0.05) || n.Topic == notify.Reminder && p.chance(0.3) {
		text = p.write(n, to, c)
	}
	flagged := n.UnknownResults > 0 && p.flaw != repeatUnsaid
	died := p.chance(0.004)
	if died && p.chance(0.5) {
		p.judged.lost(n, c)
		if p.flaw == loseAttempt {
			n.done = true
		}
		return
	}
	p.judged.starts(n, c, text, flagged)
	p.carriers[c].carry(p, n, attempt, lines, died)
}

// write renders the message.
func (p *post) write(n *notice, to notify.Recipient, c notify.Channel) string {
	about := n.session
	if n.booking != nil {
		about = p.rows[n.booking.Session]
	} else if n.entry != nil {
		about = p.rowOf(n.entry)
	}
	t := notify.Choose(nil, n.Topic, c, to.Locale, "en")
	said := notify.Content{
		Topic: n.Topic, Details: n.Details, Now: p.now, Zone: to.Zone, LocationZone: to.Zone, Name: to.Name,
		Tenant: "Harbour Yoga", Link: "https://berth.example/",
		Plan: "Ten classes", ClaimURL: "https://berth.example/claim/1", Code: "4821",
	}
	if about != nil {
		said.Title, said.Start, said.End, said.LocationZone = about.Title, about.StartsAt, about.EndsAt, about.at.zone
	}
	if n.offer != nil {
		said.Until = n.offer.ExpiresAt
	}
	out, err := notify.Render(t, said.Values(t.Locale), brand.Brand{}, "https://berth.example/u/1")
	if err != nil {
		p.must(err)
	}
	return strings.Join([]string{out.Subject, out.Text, out.HTML}, "\n")
}

// settle writes what senders gave for an attempt, and what follows.
func (p *post) settle(n *notice, attempt notify.Notice, lines []*delivery, attempts []notify.Attempt) {
	p.act = "settle deliveries"
	c := lines[0].channel
	end := notify.AfterAttempt(attempt, c, attempts, p.now, p.rng.Float64())
	switch {
	case p.flaw == giveUp && !end.Done && !end.Unknown:
		end.Done = true
	case p.flaw == stayOnChannel && end.ChannelFailed:
		end.Done = true
	case p.flaw == trustSilence && end.Unknown:
		end.Done = true
	}
	for i, d := range lines {
		status, failure := attempts[i].Receipt.Status, attempts[i].Err
		if failure != nil {
			if status = notify.Failed; failure.Kind == notify.Unknown {
				status = notify.PossiblySent
			}
		}
		if d.status == notify.PossiblySent || d.status == notify.Queued && status == notify.Sent {
			d.counted = d.counted && !end.NotSent()
			d.status = status
		}
		p.stop(n, d, failure)
	}
	p.stand(n, attempt.AfterAttempt(c, end, p.now))
}

// stop keeps in mind that an address or device must not be used again.
func (p *post) stop(n *notice, d *delivery, failure *notify.SendError) {
	why := failure.StopReason()
	switch {
	case why == "":
		return
	case d.channel == notify.Push:
		p.judged.toldToStop(d.device.ID.String())
	default:
		p.judged.toldToStop(string(d.channel) + n.to.address(d.channel))
	}
	switch {
	case p.flaw == keepToken:
	case d.channel == notify.Push:
		n.to.devices = slices.DeleteFunc(
			slices.Clone(n.to.devices), func(other notify.Device) bool { return other.ID == d.device.ID },
		)
	default:
		p.putStop(d.channel, n.to.address(d.channel), why)
	}
}

func (p *post) putStop(c notify.Channel, address string, why notify.Reason) {
	if p.stops[c][address] == "" || why != notify.BouncedReason {
		p.stops[c][address] = why
	}
}

func (a *addressee) address(c notify.Channel) string {
	if c == notify.SMS {
		return a.phone
	}
	return a.email
}

// reported writes what a provider tells about a message later. Reports come twice, late, and in any order.
func (p *post) reported(n *notice, d *delivery, told notify.DeliveryStatus, failure *notify.SendError) {
	p.act = "report a delivery"
	p.judged.reported(n, d, told)
	status := notify.Advance(d.status, told)
	if p.flaw == believeLast {
		status = told
	}
	if status == d.status {
		return
	}
	was := d.status
	if d.status = status; !status.NotDelivered() {
		if status.Accepted() && !was.Accepted() && p.flaw != ignoreReports {
			n.done, n.sending = true, false
		}
		return
	}
	if failure.StopReason() != "" && d.channel != notify.Push {
		p.stop(n, d, failure)
	}
	known := slices.ContainsFunc(n.lines, func(other *delivery) bool {
		return other.status == notify.Delivered || other.status == notify.Read || other.channel == d.channel &&
			other.at.After(d.at) && other.status.Accepted()
	})
	if known || slices.Contains(n.FailedChannels, d.channel) || !n.done && !n.sending || !n.ExpiresAt.After(p.now) ||
		p.flaw == ignoreReports {
		return
	}
	n.FailedChannels = append(slices.Clone(n.FailedChannels), d.channel)
	n.done, n.sending, n.DueAt, n.Attempts = false, false, p.now, 0
	p.look(n)
}

// reply is an SMS from somebody.
func (p *post) reply(a *addressee, text answer) {
	if a.phone == "" {
		return
	}
	p.judged.replied(a, text)
	switch command := notify.ParseReply(text.says); command.Kind {
	case notify.Stop:
		if p.flaw != ignoreStop {
			p.putStop(notify.SMS, a.phone, notify.OptedOutReason)
		}
	case notify.Start:
		delete(p.stops[notify.SMS], a.phone)
	case notify.Accept, notify.Decline, notify.Help, notify.NoReply:
	}
}

// answer is an SMS, and what whoever writes it means.
type answer struct{ says, means string }

var replies = []answer{
	{"STOP", "stop"}, {" stop. ", "stop"}, {"Unsubscribe", "stop"}, {"cancel", "stop"}, {"opt-out", "stop"},
	{"START", "start"}, {"yes", "start"}, {"Unstop!", "start"}, {"start", "start"}, {"Start", "start"},
	{"Thank you!", ""}, {"who is this", ""}, {"1", ""}, {"help", ""}, {"please stop by", ""},
}
