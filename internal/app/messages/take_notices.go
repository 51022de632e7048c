package messages

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// noticeChunk is how many notices are judged at once.
const noticeChunk = 200

// Outgoing is a message to be sent now. Its line in the delivery log is written.
type Outgoing struct {
	Message  notify.Message
	Notice   notify.Notice // as it stands with this attempt
	Provider string        // "twilio", "fcm", "smtp", or "local" for the local outbox
	Own      bool          // through the tenant's own account
	Device   tenant.DeviceID
}

// LocalOutbox is the provider of messages that go nowhere.
const LocalOutbox = "local"

// RunNotices wakes deliver for every tenant when something of it is due, until ctx ends. What is due it learns from what this node
// plans, and from WakeNotices.
func (s *Service) RunNotices(ctx context.Context, deliver func(tenant.TenantID)) {
	s.Notices.Run(ctx, s.engine.Now, deliver)
}

// LoadNoticeAlarm looks up when something of a tenant is due, on whichever node it was planned.
func (s *Service) LoadNoticeAlarm(ctx context.Context, id tenant.TenantID) error {
	var next time.Time
	var batch pg.Batch
	messagedb.FindNextNotice(&batch, id, &next)
	if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
		return err
	}
	if !next.IsZero() {
		s.Notices.Set(id, next)
	}
	return nil
}

// TakeNotices judges what is due for a tenant, and gives the messages that are to be sent now. Before they are, a line of
// the delivery log says that each may have been: whatever happens from here on, nothing is sent twice without the log telling. The
// caller sends them and reports to SettleDeliveries.
func (s *Service) TakeNotices(ctx context.Context, id tenant.TenantID) (DueNotices, error) {
	now := s.engine.Now()
	var due []tenant.NoticeID
	var find pg.Batch
	messagedb.ListDueNotices(&find, id, now, noticeChunk, &due)
	if err := s.engine.Read(ctx, tenant.System(id), &find); err != nil || len(due) == 0 {
		return DueNotices{}, errors.Join(err, s.LoadNoticeAlarm(ctx, id))
	}
	var taken *taking
	spec := engine.Spec[struct{}]{Name: "notice.take", Quiet: true}
	err := engine.Exec(ctx, s.engine, tenant.System(id), spec, func(ctx context.Context, tx *engine.Tx) error {
		taken = &taking{Tx: tx, app: s}
		if err := taken.load(ctx, due); err != nil {
			return err
		}
		for i := range taken.open {
			if err := taken.judge(ctx, &taken.open[i]); err != nil {
				return err
			}
		}
		if err := taken.wait(ctx); err != nil {
			return err
		}
		messagedb.InsertDeliveries(tx.Tx, tx.Tenant, taken.lines)
		messagedb.PutPhoneTenants(tx.Tx, tx.Tenant, onSharedNumber(taken.out))
		messagedb.UpdateNotices(tx.Tx, tx.Tenant, taken.states, tx.Now)
		messagedb.InsertNotices(tx.Tx, tx.Tenant, taken.follow, tx.Now, func(at time.Time) { s.Notices.Set(id, at) })
		outbox.Append(tx.Tx, tx.Tenant, taken.told...)
		return nil
	})
	if err != nil {
		return DueNotices{}, err
	}
	if taken.moved || len(taken.told) > 0 {
		s.engine.NotifyChanged(id)
	}
	for _, offer := range taken.unsendable {
		err = errors.Join(err, s.offers.Unsendable(ctx, id, offer))
	}
	done := DueNotices{Out: taken.out, More: len(due) == noticeChunk, At: now, Unsent: make(map[Unsent]int)}
	for _, line := range taken.lines {
		if line.Status == dropped || line.Status == deferred {
			done.Unsent[Unsent{line.Topic, line.Status, line.Reason}]++
		}
	}
	return done, errors.Join(err, s.LoadNoticeAlarm(ctx, id))
}

// onSharedNumber gives the numbers to which messages go from the number that tenants share.
func onSharedNumber(out []Outgoing) []string {
	var numbers []string
	for _, o := range out {
		if o.Provider == ProviderTwilio && !o.Own {
			numbers = append(numbers, o.Message.To)
		}
	}
	return numbers
}

// DueNotices is what came of a look at what is due.
type DueNotices struct {
	Out    []Outgoing
	At     time.Time // when the attempts began
	More   bool      // more is due
	Unsent map[Unsent]int
}

// Unsent is why messages were not sent, or not yet.
type Unsent struct {
	Topic  notify.Topic
	Status notify.DeliveryStatus
	Reason notify.Reason
}

// SetNoticeAlarm looks at what is due for a tenant after a while.
func (s *Service) SetNoticeAlarm(id tenant.TenantID, wait time.Duration) {
	s.Notices.Set(id, s.engine.Now().Add(wait))
}

// taking is one look at notices that are due.
type taking struct {
	*engine.Tx
	app *Service

	open        []messagedb.OpenNotice
	settings    notify.Settings
	house       house
	senders     Senders
	recipients  map[tenant.UUID]*notify.Recipient
	preferences map[tenant.MemberID]notify.Preferences
	sent        map[tenant.UUID]map[notify.Channel][]time.Time
	subjects    map[tenant.UUID]*messagedb.Subject
	offers      map[tenant.OfferID]*waitlists.OfferFacts
	guests      map[tenant.UUID]*notify.Recipient // by their booking
	templates   []messagedb.OwnTemplate

	out        []Outgoing
	lines      []messagedb.Delivery
	states     []notify.NoticeState
	follow     []notify.Notice
	told       []outbox.Event
	night      []heldBack
	unsendable []tenant.OfferID
	moved      bool // the end of an offer, of which there is an event
}

// heldBack is news of an offer that quiet hours hold back, and when they end; zero: too late for it.
type heldBack struct {
	notice notify.Notice
	to     notify.Recipient
	offer  *waitlists.OfferFacts
	until  time.Time
}

func (t *taking) load(ctx context.Context, due []tenant.NoticeID) error {
	var first pg.Batch
	messagedb.ListNotices(&first, t.Tenant, due, t.Now, &t.open)
	t.house.queue(&first, t.Tenant)
	messagedb.FindNotificationSettings(&first, t.Tenant, &t.settings)
	var sealed *messagedb.Sealed
	messagedb.FindSenders(&first, t.Tenant, &sealed)
	if err := t.Load(ctx, &first); err != nil {
		return err
	}
	t.senders = t.app.unseal(t.Tenant, sealed)
	t.recipients, t.preferences = make(map[tenant.UUID]*notify.Recipient), make(map[tenant.MemberID]notify.Preferences)
	t.sent, t.subjects = make(map[tenant.UUID]map[notify.Channel][]time.Time), make(map[tenant.UUID]*messagedb.Subject)
	t.offers = make(map[tenant.OfferID]*waitlists.OfferFacts)
	var ask struct {
		members    ids[tenant.MemberID]
		bookings   ids[tenant.BookingID]
		entries    ids[tenant.EntryID]
		sessions   ids[tenant.SessionID]
		offers     ids[tenant.OfferID]
		payers     ids[tenant.UUID]
		recipients ids[tenant.UUID]
		topics     ids[notify.Topic]
	}
	for _, n := range t.open {
		ask.members.add(n.Member)
		ask.bookings.add(n.Booking)
		ask.entries.add(n.Entry)
		ask.offers.add(n.Offer)
		ask.payers.add(n.Details.Payer)
		ask.recipients.add(n.Recipient())
		ask.topics.add(n.Topic)
		if n.Booking.IsZero() && n.Entry.IsZero() {
			ask.sessions.add(n.Session)
		}
	}
	var second pg.Batch
	messagedb.ListRecipients(&second, t.Tenant, ask.members.list, t.recipients)
	messagedb.ListPreferences(&second, t.Tenant, ask.members.list, t.preferences)
	messagedb.ListSent(&second, t.Tenant, ask.recipients.list, t.Now.Add(-24*time.Hour), t.sent)
	messagedb.ListSubjects(&second, t.Tenant, ask.bookings.list, ask.entries.list, ask.sessions.list, ask.payers.list, t.subjects)
	messagedb.ListTemplates(&second, t.Tenant, ask.topics.list, &t.templates)
	if len(ask.offers.list) > 0 {
		t.app.offers.Find(&second, t.Tenant, ask.offers.list, t.offers)
	}
	if err := t.Load(ctx, &second); err != nil {
		return err
	}
	return t.loadGuests(ctx)
}

// loadGuests reads who said stop among the guests: a contact is kept as it was written, and so it is looked up in the form in which
// it is written to.
func (t *taking) loadGuests(ctx context.Context) error {
	t.guests = make(map[tenant.UUID]*notify.Recipient)
	for booking, about := range t.subjects {
		if !about.Guest {
			continue
		}
		zone, err := time.LoadLocation(about.TimeZone)
		if err != nil {
			return err
		}
		t.guests[booking] = &notify.Recipient{
			Known: true, Name: about.Name, Email: about.Email, Phone: member.Phone(about.Phone), Zone: zone,
			Stopped: make(map[notify.Channel]notify.Reason),
		}
	}
	if len(t.guests) == 0 {
		return nil
	}
	var third pg.Batch
	messagedb.ListStops(&third, t.Tenant, slices.Collect(maps.Values(t.guests)))
	return t.Load(ctx, &third)
}

// ids is a list without repetitions and zeros.
type ids[I comparable] struct {
	list []I
	seen map[I]bool
}

func (s *ids[I]) add(id I) {
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

// subject gives what a notice is about; an empty one where that is gone.
func (t *taking) subject(n notify.Notice) *messagedb.Subject {
	for _, id := range []tenant.UUID{n.Booking.UUID, n.Entry.UUID, n.Details.Payer, n.Session.UUID} {
		if s := t.subjects[id]; s != nil && !id.IsZero() {
			return s
		}
	}
	return new(messagedb.Subject)
}

func (t *taking) recipient(n notify.Notice) notify.Recipient {
	var r notify.Recipient
	if to := t.recipients[n.Member.UUID]; to != nil {
		r = *to
		r.Preferences = t.preferences[n.Member]
	} else if guest := t.guests[n.Booking.UUID]; guest != nil {
		r = *guest
	}
	if r.Zone == nil {
		r.Zone = t.house.zone
	}
	r.Sent = t.sent[n.Recipient()]
	return r
}

// judge decides about one notice, and writes down what follows.
func (t *taking) judge(ctx context.Context, open *messagedb.OpenNotice) error {
	n := open.Notice
	if open.Sending {
		again, over, why := n.Resume(open.Was)
		switch n = again; {
		case why != "":
			t.drop(n, notify.Recipient{}, why)
			return nil
		case over:
			t.close(n)
			return nil
		}
	}
	about := t.subject(n)
	to := t.recipient(n)
	matter := about.Facts
	offer := t.offers[n.Offer]
	if !n.Topic.IsOffer() {
		offer = nil // whoever has accepted it is told of a booking, however late
	}
	if offer != nil {
		matter.Offer = &offer.Offer
	}
	if n.ReminderDue(matter) {
		t.told = append(t.told, outbox.Event{
			ID: tenant.NextID[tenant.EventID](t.IDs), Type: outbox.BookingReminderDue, Session: n.Session, Booking: n.Booking, Member: n.Member,
			Actor: credit.SystemActor, At: t.Now, Data: map[string]any{"lead_seconds": int(n.Details.Lead.Seconds())},
		})
	}
	verdict := notify.Decide(n, t.settings, to, matter, t.Now)
	switch {
	case verdict.Action == notify.Send:
		n.LastChannel = n.IsOnlyChannel(verdict.Channel, to, matter)
		return t.send(ctx, n, to, about, offer, verdict.Channel)
	case n.Topic == notify.Offered && offer != nil && verdict.Reason == notify.QuietHoursReason:
		t.night = append(t.night, heldBack{n, to, offer, verdict.Until})
	case verdict.Action == notify.Defer:
		t.hold(n, to, verdict.Reason, verdict.Until)
	default:
		t.drop(n, to, verdict.Reason)
	}
	return nil
}

func (t *taking) hold(n notify.Notice, to notify.Recipient, why notify.Reason, until time.Time) {
	t.log(n, to, messagedb.Delivery{Status: deferred, Reason: why, RetryAt: until})
	t.states = append(t.states, n.Waiting(until))
}

func (t *taking) drop(n notify.Notice, to notify.Recipient, why notify.Reason) {
	if !n.OmitFromLog(why) {
		t.log(n, to, messagedb.Delivery{Status: dropped, Reason: why})
	}
	t.close(n)
}

// wait lets offers of which nobody was told, by another lane either, keep their seats until quiet hours are over. Where that is too
// late, the next person is to be asked.
func (t *taking) wait(ctx context.Context) error {
	waits := make(map[tenant.OfferID]bool) // until then: its seats are kept
	for _, u := range t.night {
		inTime := !u.until.IsZero()
		if inTime && u.offer.ExpiresAt.IsZero() && !waits[u.offer.ID] {
			var err error
			if _, inTime, err = t.begin(ctx, u.offer, u.to.Zone, u.until); err != nil {
				return err
			}
		}
		if inTime {
			waits[u.offer.ID] = true
			t.hold(u.notice, u.to, notify.QuietHoursReason, u.until)
		} else {
			t.drop(u.notice, u.to, notify.QuietHoursReason)
		}
	}
	for _, u := range t.night {
		if !waits[u.offer.ID] && u.offer.Live && u.offer.ExpiresAt.IsZero() {
			t.unsendable = append(t.unsendable, u.offer.ID)
		}
	}
	return nil
}

// begin gives the end of an offer's window if it is told at a moment; false where nobody could answer in time.
func (t *taking) begin(ctx context.Context, offer *waitlists.OfferFacts, zone *time.Location, at time.Time) (ends time.Time, inTime bool, err error) {
	ends, inTime, err = t.app.offers.Begin(ctx, t.Tx.Tx, t.Tenant, *offer, zone, t.Now, at)
	t.moved = t.moved || !ends.Equal(offer.Kept)
	return ends, inTime, err
}

// The statuses of lines that were not sent.
const (
	deferred notify.DeliveryStatus = "DEFERRED"
	dropped  notify.DeliveryStatus = "DROPPED"
)

func (t *taking) close(n notify.Notice) { t.states = append(t.states, n.Closed(t.Now)) }

// log adds a line about a notice.
func (t *taking) log(n notify.Notice, to notify.Recipient, d messagedb.Delivery) tenant.DeliveryID {
	d.ID = tenant.NextID[tenant.DeliveryID](t.IDs)
	d.Notice, d.Topic, d.Recipient, d.Member, d.RecipientName = n.ID, n.Topic, n.Recipient(), n.Member, to.Name
	d.Session, d.Booking, d.Offer, d.CreatedAt = n.Session, n.Booking, n.Offer, t.Now
	d.PossibleDuplicate = n.UnknownResults > 0 && d.Status == notify.PossiblySent
	t.lines = append(t.lines, d)
	return d.ID
}

// send makes the messages of one attempt over a channel: one, or for push one for each device.
func (t *taking) send(ctx context.Context, n notify.Notice, to notify.Recipient, about *messagedb.Subject, offer *waitlists.OfferFacts, c notify.Channel) error {
	switch {
	case offer == nil || !offer.ExpiresAt.IsZero():
	case n.Topic != notify.Offered:
		offer.ExpiresAt = offer.Kept // nobody was told, and it is about to end
	default:
		ends, inTime, err := t.begin(ctx, offer, to.Zone, t.Now)
		if err != nil {
			return err
		}
		if !inTime {
			t.drop(n, to, notify.OfferClosed)
			return nil
		}
		offer.ExpiresAt = ends
		if warning, ok := n.ExpiryWarning(t.Now, ends); ok {
			warning.ID = tenant.NextID[tenant.NoticeID](t.IDs)
			t.follow = append(t.follow, warning)
		}
	}
	letter := letter{in: t.Tenant, house: t.house, settings: t.settings, app: t.app, notice: n, to: to, about: about, offer: offer, channel: c, now: t.Now}
	message, rendered, reason, err := letter.write(t.templates)
	if err != nil {
		return err
	}
	n.Attempts++
	provider, own := t.app.carrier(t.senders, c)
	line := messagedb.Delivery{
		Channel: c, Status: notify.PossiblySent, Reason: reason, Provider: provider, Attempt: n.Attempts, Counted: true,
	}
	if provider == LocalOutbox {
		line.Content = &rendered
	}
	add := func(address string, device notify.Device) {
		line.Address = address
		message.ID = t.log(n, to, line)
		line.Counted, line.Content = false, nil // several devices count, and are kept, once
		t.out = append(t.out, Outgoing{Message: message, Notice: n, Provider: provider, Own: own, Device: device.ID})
	}
	switch c {
	case notify.SMS:
		message.To = to.Phone
		add(to.Phone, notify.Device{})
	case notify.Email:
		message.To, message.ToName = to.Email, to.Name
		add(to.Email, notify.Device{})
	case notify.Push:
		for _, d := range to.Devices {
			message.To = d.Token
			add(d.ID.String(), d)
		}
	}
	t.states = append(t.states, n.Started(t.Now))
	// What follows in this look counts it, too.
	if t.sent[n.Recipient()] == nil {
		t.sent[n.Recipient()] = make(map[notify.Channel][]time.Time)
	}
	t.sent[n.Recipient()][c] = append(t.sent[n.Recipient()][c], t.Now)
	return nil
}

// house is what messages say of the tenant.
type house struct {
	name, locale string
	zone         *time.Location
	brand        brand.Brand
}

func (h *house) queue(b *pg.Batch, in tenant.TenantID) {
	accountdb.FindTenantProfile(b, in, &h.name, &h.locale, &h.zone, &h.brand)
}
