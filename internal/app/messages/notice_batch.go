package messages

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// The statuses of attempts that were not sent.
const (
	deferred delivery.Status = "DEFERRED"
	dropped  delivery.Status = "DROPPED"
)

// noticeBatch decides about due notices in one transaction.
type noticeBatch struct {
	*engine.Tx
	service *Service

	// What decide reads.
	open        []messagedb.OpenNotice
	settings    notify.Settings
	profile     tenantProfile
	senders     Senders
	recipients  map[tenant.UUID]*notify.Recipient
	preferences map[tenant.MemberID]notify.Preferences
	sent        map[tenant.UUID]map[delivery.Channel][]time.Time
	subjects    map[tenant.UUID]*messagedb.Subject
	offers      map[tenant.OfferID]*waitlists.OfferFacts
	guests      map[tenant.UUID]*notify.Recipient     // by their booking
	addressed   map[tenant.NoticeID]*notify.Recipient // the contacts of notices that are for one
	pending     map[tenant.MemberID][]member.PendingContact
	templates   []messagedb.OwnTemplate
	sending     *notify.Sending // nil: no limits

	// What follows.
	out        []Outgoing
	lines      []messagedb.Delivery
	states     []notify.NoticeState
	planned    []notify.Notice
	events     []outbox.Event
	quiet      []quietOffer
	unsendable []tenant.OfferID
	alarms     []notify.SendingAlarm
	extended   bool // an offer was extended, which is an event
}

// quietOffer is a notice of an offer that quiet hours hold back.
type quietOffer struct {
	notice notify.Notice
	to     notify.Recipient
	offer  *waitlists.OfferFacts
	until  time.Time // the end of quiet hours; zero: too late for the offer
}

func newNoticeBatch(s *Service, tx *engine.Tx) *noticeBatch {
	return &noticeBatch{
		Tx: tx, service: s,
		recipients:  make(map[tenant.UUID]*notify.Recipient),
		preferences: make(map[tenant.MemberID]notify.Preferences),
		sent:        make(map[tenant.UUID]map[delivery.Channel][]time.Time),
		subjects:    make(map[tenant.UUID]*messagedb.Subject),
		offers:      make(map[tenant.OfferID]*waitlists.OfferFacts),
		guests:      make(map[tenant.UUID]*notify.Recipient),
		addressed:   make(map[tenant.NoticeID]*notify.Recipient),
		pending:     make(map[tenant.MemberID][]member.PendingContact),
	}
}

func (b *noticeBatch) load(ctx context.Context, due []tenant.NoticeID) error {
	var sealed *messagedb.Sealed
	var first pg.Batch
	messagedb.ListNotices(&first, b.Tenant, due, b.Now, &b.open)
	b.profile.queue(&first, b.Tenant)
	messagedb.FindNotificationSettings(&first, b.Tenant, &b.settings)
	messagedb.FindSenders(&first, b.Tenant, &sealed)
	if err := b.Load(ctx, &first); err != nil {
		return err
	}
	b.senders = b.service.unseal(b.Tenant, sealed)
	var (
		members    idSet[tenant.MemberID]
		bookings   idSet[tenant.BookingID]
		entries    idSet[tenant.EntryID]
		sessions   idSet[tenant.SessionID]
		offers     idSet[tenant.OfferID]
		payers     idSet[tenant.UUID]
		recipients idSet[tenant.UUID]
		topics     idSet[notify.Topic]
		confirming idSet[tenant.MemberID]
	)
	for _, n := range b.open {
		members.add(n.Member)
		bookings.add(n.Booking)
		entries.add(n.Entry)
		offers.add(n.Offer)
		payers.add(n.Details.Payer)
		recipients.add(n.Recipient())
		if !n.Topic.Fixed() {
			topics.add(n.Topic)
		}
		if n.Details.To != "" {
			confirming.add(n.Member)
			b.addressed[n.ID] = new(notify.Recipient{}.At(
				n.Topic.Channels(n.Lane)[0], n.Details.To, make(map[delivery.Channel]notify.Reason),
			))
		}
		if n.Booking.IsZero() && n.Entry.IsZero() {
			sessions.add(n.Session)
		}
	}
	var sending sendingFacts
	limits := b.service.limits(b.senders)
	var second pg.Batch
	if len(limits) > 0 {
		countries := limits.Limited(delivery.SMS) && len(b.settings.PhoneCountries) == 0
		sending.queue(&second, b.Tenant, countries, b.Now)
	}
	messagedb.ListRecipients(&second, b.Tenant, members.list, b.service.opener(b.Tenant), b.recipients)
	messagedb.ListPreferences(&second, b.Tenant, members.list, b.preferences)
	messagedb.ListSent(&second, b.Tenant, recipients.list, b.Now.Add(-24*time.Hour), b.sent)
	messagedb.ListSubjects(&second, b.Tenant, bookings.list, entries.list, sessions.list, payers.list, b.subjects)
	messagedb.ListTemplates(&second, b.Tenant, topics.list, &b.templates)
	if len(confirming.list) > 0 {
		accountdb.ListPendingContacts(&second, b.Tenant, confirming.list, b.pending)
		messagedb.ListStops(&second, b.Tenant, slices.Collect(maps.Values(b.addressed)))
	}
	if len(offers.list) > 0 {
		b.service.offers.ReadOffers(&second, b.Tenant, offers.list, b.offers)
	}
	if err := b.Load(ctx, &second); err != nil {
		return err
	}
	if len(limits) > 0 {
		b.sending = sending.sending(b.Tenant, limits, b.settings, b.Now)
	}
	return b.loadGuests(ctx)
}

// loadGuests reads the stops of guests. A booking stores a contact as it was entered, so it first needs the number in
// the form to which messages are sent.
func (b *noticeBatch) loadGuests(ctx context.Context) error {
	for booking, subject := range b.subjects {
		if !subject.Guest {
			continue
		}
		zone, err := time.LoadLocation(subject.TimeZone)
		if err != nil {
			return err
		}
		b.guests[booking] = &notify.Recipient{
			Known: true, Name: subject.Name, Email: subject.Email, Phone: member.Phone(subject.Phone), Zone: zone,
			Stopped: make(map[delivery.Channel]notify.Reason),
		}
	}
	if len(b.guests) == 0 {
		return nil
	}
	var third pg.Batch
	messagedb.ListStops(&third, b.Tenant, slices.Collect(maps.Values(b.guests)))
	return b.Load(ctx, &third)
}

// idSet is a list without repeated values and zeros.
type idSet[I comparable] struct {
	list []I
	seen map[I]bool
}

func (s *idSet[I]) add(id I) {
	var none I
	if id == none || s.seen[id] {
		return
	}
	if s.seen == nil {
		s.seen = make(map[I]bool)
	}
	s.seen[id] = true
	s.list = append(s.list, id)
}

// subject returns what a notice is about; an empty subject if that is gone.
func (b *noticeBatch) subject(n notify.Notice) *messagedb.Subject {
	for _, id := range []tenant.UUID{n.Booking.UUID, n.Entry.UUID, n.Details.Payer, n.Session.UUID} {
		if s := b.subjects[id]; s != nil && !id.IsZero() {
			return s
		}
	}
	return new(messagedb.Subject)
}

func (b *noticeBatch) recipient(n notify.Notice) notify.Recipient {
	var r notify.Recipient
	if to := b.recipients[n.Member.UUID]; to != nil {
		r = *to
		r.Preferences = b.preferences[n.Member]
		if at := b.addressed[n.ID]; at != nil {
			r = r.At(n.Topic.Channels(n.Lane)[0], n.Details.To, at.Stopped)
		}
	} else if guest := b.guests[n.Booking.UUID]; guest != nil {
		r = *guest
	}
	r.Sent = b.sent[n.Recipient()]
	r.Full = b.full(n, r)
	return r
}

// full returns the channels of a notice whose sending quota is used up, and when there is room again.
func (b *noticeBatch) full(n notify.Notice, r notify.Recipient) map[delivery.Channel]time.Time {
	full := make(map[delivery.Channel]time.Time)
	for _, c := range n.Topic.Channels(n.Lane) {
		if !b.sending.Limited(c) || !r.Reachable(c) {
			continue
		}
		if at := b.sending.RoomAt(c, sendingCountry(c, r.Phone)); !at.IsZero() {
			full[c] = at
		}
	}
	return full
}

// decide decides about one notice, and notes what follows.
func (b *noticeBatch) decide(ctx context.Context, open *messagedb.OpenNotice) error {
	n := open.Notice
	if open.Sending {
		again, over, why := n.Resume(open.Was)
		switch n = again; {
		case why != "":
			b.drop(n, notify.Recipient{}, notify.Decision{Reason: why})
			return nil
		case over:
			b.close(n)
			return nil
		}
	}
	subject := b.subject(n)
	to := b.recipient(n)
	matter := subject.Facts
	matter.CodeOpen = slices.ContainsFunc(b.pending[n.Member], func(p member.PendingContact) bool {
		_, readable := b.code(n)
		return p.Code.UUID == n.Thing && p.Open(b.Now) && readable
	})
	offer := b.offers[n.Offer]
	if !n.Topic.IsOffer() {
		offer = nil // after an accepted offer the notice is about the booking, and is sent however late it is
	}
	if offer != nil {
		matter.Offer = &offer.Offer
	}
	if n.ReminderDue(matter) {
		b.events = append(b.events, outbox.Event{
			ID: tenant.NextID[tenant.EventID](b.IDs), Session: n.Session, Booking: n.Booking, Member: n.Member,
			Actor: credit.SystemActor, Data: event.BookingReminderDue{LeadSeconds: int(n.Details.Lead.Seconds())}, At: b.Now,
		})
	}
	decision := notify.Decide(n, b.settings, to, matter, b.Now)
	switch {
	case decision.Action == notify.Send:
		n.LastChannel = n.IsOnlyChannel(decision.Channel, to, matter)
		return b.send(ctx, n, to, subject, offer, decision.Channel)
	case n.Topic == notify.Offered && offer != nil && decision.Reason == notify.QuietHoursReason:
		b.quiet = append(b.quiet, quietOffer{n, to, offer, decision.Until})
	case decision.Action == notify.Defer:
		if c := decision.Channel; decision.Reason == notify.SendingQuotaReason {
			b.sending.Wait(c, sendingCountry(c, to.Phone), decision.Until)
		}
		b.wait(n, to, decision)
	default:
		b.drop(n, to, decision)
	}
	return nil
}

// code returns the code that a notice tells. It returns false if no key of the service opens it.
func (b *noticeBatch) code(n notify.Notice) (string, bool) {
	code, err := b.service.seals.Open(b.Tenant, n.Details.Sealed)
	return string(code), err == nil
}

// wait defers a notice.
func (b *noticeBatch) wait(n notify.Notice, to notify.Recipient, d notify.Decision) {
	b.log(n, to, messagedb.Delivery{Channel: d.Channel, Status: deferred, Reason: d.Reason, RetryAt: d.Until})
	b.states = append(b.states, n.Waiting(d.Until))
}

func (b *noticeBatch) drop(n notify.Notice, to notify.Recipient, d notify.Decision) {
	if !n.OmitFromLog(d.Reason) {
		b.log(n, to, messagedb.Delivery{Channel: d.Channel, Status: dropped, Reason: d.Reason})
	}
	b.close(n)
}

func (b *noticeBatch) close(n notify.Notice) { b.states = append(b.states, n.Closed(b.Now)) }

// deferOffers extends the offers that quiet hours hold back until those end. If that is too late for an offer, and no
// other lane has told its member either, the offer goes to the next entry.
func (b *noticeBatch) deferOffers(ctx context.Context) error {
	extended := make(map[tenant.OfferID]bool)
	for _, q := range b.quiet {
		inTime := !q.until.IsZero()
		if inTime && q.offer.ExpiresAt.IsZero() && !extended[q.offer.ID] {
			var err error
			if _, inTime, err = b.startWindow(ctx, q.offer, q.to.Zone, q.until); err != nil {
				return err
			}
		}
		if inTime {
			extended[q.offer.ID] = true
			b.wait(q.notice, q.to, notify.Decision{Reason: notify.QuietHoursReason, Until: q.until})
		} else {
			b.drop(q.notice, q.to, notify.Decision{Reason: notify.QuietHoursReason})
		}
	}
	for _, q := range b.quiet {
		if !extended[q.offer.ID] && q.offer.Live && q.offer.ExpiresAt.IsZero() {
			b.unsendable = append(b.unsendable, q.offer.ID)
		}
	}
	return nil
}

// startWindow returns the end of an offer's window if its member is told at a time. It returns false if that leaves no
// time to answer.
func (b *noticeBatch) startWindow(
	ctx context.Context, offer *waitlists.OfferFacts, zone *time.Location, at time.Time,
) (ends time.Time, inTime bool, err error) {
	ends, inTime, err = b.service.offers.StartOffer(ctx, b.Tx.Tx, b.Tenant, *offer, zone, b.Now, at)
	b.extended = b.extended || !ends.Equal(offer.Kept)
	return ends, inTime, err
}

// log adds an attempt to the delivery log.
func (b *noticeBatch) log(n notify.Notice, to notify.Recipient, d messagedb.Delivery) tenant.DeliveryID {
	d.ID = tenant.NextID[tenant.DeliveryID](b.IDs)
	d.Notice, d.Topic, d.Recipient, d.Member, d.RecipientName = n.ID, n.Topic, n.Recipient(), n.Member, to.Name
	d.Session, d.Booking, d.Offer, d.CreatedAt = n.Session, n.Booking, n.Offer, b.Now
	d.PossibleDuplicate = n.UnknownResults > 0 && d.Status == delivery.PossiblySent
	b.lines = append(b.lines, d)
	return d.ID
}

// send makes the messages of one attempt over a channel.
func (b *noticeBatch) send(
	ctx context.Context, n notify.Notice, to notify.Recipient, subject *messagedb.Subject,
	offer *waitlists.OfferFacts, c delivery.Channel,
) error {
	switch {
	case offer == nil || !offer.ExpiresAt.IsZero():
	case n.Topic != notify.Offered:
		offer.ExpiresAt = offer.Kept // the member was not told of the offer, and it is about to end
	default:
		ends, inTime, err := b.startWindow(ctx, offer, to.Zone, b.Now)
		if err != nil {
			return err
		}
		if !inTime {
			b.drop(n, to, notify.Decision{Reason: notify.OfferClosed})
			return nil
		}
		offer.ExpiresAt = ends
		if warning, ok := n.ExpiryWarning(b.Now, ends); ok {
			warning.ID = tenant.NextID[tenant.NoticeID](b.IDs)
			b.planned = append(b.planned, warning)
		}
	}
	text := composer{noticeBatch: b, notice: n, to: to, subject: subject, offer: offer, channel: c}
	message, rendered, reason := text.compose()
	n.Attempts++
	provider, own := b.service.provider(b.senders, c)
	line := messagedb.Delivery{
		Channel: c, Status: delivery.PossiblySent, Reason: reason, Provider: provider, Attempt: n.Attempts,
		Platform: b.service.platform(ChannelSender{c, provider, own}), Counted: n.Topic.Counted(),
	}
	if provider == LocalOutbox {
		line.Content = &rendered
	}
	var counted notify.SendingKey
	if b.sending.Limited(c) {
		counted = b.sending.Count(c, sendingCountry(c, to.Phone))
	}
	for _, d := range destinations(c, to) {
		line.Address, message.To = d.logged, d.address
		message.ID = b.log(n, to, line)
		line.Counted, line.Content = false, nil // a message to several devices counts once, and is kept once
		b.out = append(b.out, Outgoing{
			Message: message, Notice: n, Provider: provider, Own: own, Device: d.device, Counted: counted,
		})
	}
	b.states = append(b.states, n.Started(b.Now))
	if !n.Topic.Counted() {
		return nil
	}
	// The frequency cap of later notices in this batch counts it, too.
	if b.sent[n.Recipient()] == nil {
		b.sent[n.Recipient()] = make(map[delivery.Channel][]time.Time)
	}
	b.sent[n.Recipient()][c] = append(b.sent[n.Recipient()][c], b.Now)
	return nil
}

// destination is where a message is sent, and what the delivery log keeps of that: a device's id rather than its token.
type destination struct {
	address, logged string
	device          tenant.DeviceID
}

// destinations returns the recipient's number, email address, or each of their devices.
func destinations(c delivery.Channel, to notify.Recipient) []destination {
	switch c {
	case delivery.SMS:
		return []destination{{address: to.Phone, logged: to.Phone}}
	case delivery.Email:
		return []destination{{address: to.Email, logged: to.Email}}
	default:
		return pg.Array(to.Devices, func(d notify.Device) destination { return destination{d.Token, d.ID.String(), d.ID} })
	}
}
