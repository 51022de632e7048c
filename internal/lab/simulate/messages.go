package simulate

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// dispatcher sends messages to members and staff. Like the service, it reads events in order, plans notices, decides
// when they are due, and sends them through providers. It can pause for hours. It has a random source of its own, so
// that messages do not change what the rest of the simulation does, except through replies by SMS.
type dispatcher struct {
	*world
	rng             *rand.Rand
	settings        notify.Settings
	recipients      map[tenant.UUID]*recipient
	staff           []*recipient
	log             []loggedEvent
	readUpTo        int // index in log
	reading         bool
	pausedUntil     time.Time // the dispatcher does nothing before
	planned         map[noticeKey]*notice
	offerDeliveries map[tenant.OfferID][]*loggedDelivery
	// promotionDeliveries are the messages about bookings that the waitlist made without an offer.
	promotionDeliveries map[tenant.BookingID][]*loggedDelivery
	stops               map[delivery.Channel]map[string]notify.Reason // by address
	providers           map[delivery.Channel]*provider
	checker             *messageChecker
}

// loggedEvent is an event in the log that the dispatcher reads.
type loggedEvent struct {
	Event
	id tenant.EventID
}

// recipient is a member or a staff member, with addresses and preferences.
type recipient struct {
	id          tenant.UUID
	member      *memberRow // nil: staff
	phone       string
	email       string
	locale      string
	zone        *time.Location
	quiet       *notify.QuietHours
	preferences notify.Preferences
	devices     []notify.Device
	counted     []*loggedDelivery
	replyRate   float64 // probability of a reply to an SMS
	deadPhone   bool    // the number does not exist
	deadEmail   bool
}

// notice is a stored notice, with the rows that it is about.
type notice struct {
	notify.Notice
	to         *recipient
	booking    *booking.Booking
	entry      *entryRow
	offer      *waitlist.Offer
	payer      *subscription
	session    *sessionRow
	sending    bool
	done       bool
	deliveries []*loggedDelivery
	expected   *expectedMessage
}

// noticeKey is the unique key of notices.
type noticeKey struct {
	recipient tenant.UUID
	topic     notify.Topic
	thing     tenant.UUID
	revision  string
	lane      notify.Lane
}

// loggedDelivery is the line of one attempt in the delivery log.
type loggedDelivery struct {
	id         tenant.DeliveryID
	channel    delivery.Channel
	device     notify.Device
	attempt    int
	status     delivery.Status
	acceptedAs int // the number of the attempt that the provider accepted
	at         time.Time
	counted    bool
}

func newDispatcher(w *world, o Options) *dispatcher {
	d := &dispatcher{
		world: w, rng: rand.New(rand.NewPCG(o.Seed, 0x706f7374)), //nolint:gosec // reproducible, not secret
		recipients: make(map[tenant.UUID]*recipient), planned: make(map[noticeKey]*notice),
		stops:     map[delivery.Channel]map[string]notify.Reason{delivery.SMS: {}, delivery.Email: {}},
		providers: make(map[delivery.Channel]*provider), offerDeliveries: make(map[tenant.OfferID][]*loggedDelivery),
		promotionDeliveries: make(map[tenant.BookingID][]*loggedDelivery),
	}
	d.settings = notify.DefaultSettings()
	d.settings.CreditsLowAt = d.rng.IntN(3)
	d.settings.QuietHours = d.randomQuietHours()
	for _, channel := range delivery.Channels() {
		d.settings.PerDay[channel] = 1 + d.rng.IntN(8) // few, so that the cap is reached
	}
	if d.chance(0.3) {
		d.settings.Reminders = []time.Duration{48 * time.Hour, 24 * time.Hour, 2 * time.Hour}
	}
	for _, channel := range delivery.Channels() {
		d.providers[channel] = &provider{
			breaker: delivery.Breaker{FailureLimit: failureLimit, Pause: breakerPause, MaxPause: 2 * time.Minute},
		}
	}
	d.checker = newMessageChecker(d)
	for range 2 {
		d.staff = append(d.staff, d.addRecipient(id[tenant.MemberID](&w.tables).UUID, nil))
	}
	for _, m := range w.members {
		d.addRecipient(m.ID.UUID, m)
	}
	for length := d.randomDuration(5 * day); length < o.Length; length += d.randomDuration(5*day) + time.Hour {
		w.scheduleIn(length, d.pause)
	}
	for length := d.randomDuration(3 * day); length < o.Length; length += d.randomDuration(3*day) + time.Hour {
		w.scheduleIn(length, func() { d.providers[pick(d.world, delivery.Channels())].startFailing(d) })
	}
	for length := time.Duration(0); length < o.Length; length += day {
		w.scheduleIn(length+d.randomDuration(day), d.changePreferences)
	}
	return d
}

func (d *dispatcher) randomDuration(length time.Duration) time.Duration {
	return time.Duration(d.rng.Int64N(int64(length)))
}

func (d *dispatcher) chance(of float64) bool { return d.rng.Float64() < of }

func (d *dispatcher) randomQuietHours() notify.QuietHours {
	if d.chance(0.1) {
		// quiet hours within a day, near the time when clocks change
		return notify.QuietHours{Start: civil.TimeOfDay{Hour: 1}, End: civil.TimeOfDay{Hour: 2 + d.rng.IntN(4), Minute: 30}}
	}
	return notify.QuietHours{
		Start: civil.TimeOfDay{Hour: 20 + d.rng.IntN(4)}, End: civil.TimeOfDay{Hour: 2 + d.rng.IntN(7)},
	}
}

// mobilePrefix and eight digits are a mobile number. Others get no text messages.
const mobilePrefix = "+49151"

// addRecipient adds a recipient with random addresses, devices and preferences.
func (d *dispatcher) addRecipient(member tenant.UUID, m *memberRow) *recipient {
	a := &recipient{
		id: member, member: m, email: short(member) + "@example.com", zone: d.locations[0].zone,
		preferences: make(notify.Preferences),
		replyRate:   d.rng.Float64() / 3,
	}
	a.locale = []string{"", "en", "de-AT", "fr", "pt-BR"}[d.rng.IntN(5)]
	if m != nil && m.zone != "" {
		a.zone = zones[m.zone]
	}
	if d.chance(0.8) {
		number := short(member)
		a.phone = mobilePrefix + strings.Repeat("0", max(0, 8-len(number))) + number
	}
	if m != nil && d.chance(0.1) {
		a.phone = mobilePrefix + "99999999" // shared by a family
	}
	a.deadPhone, a.deadEmail = d.chance(0.05), d.chance(0.05)
	if d.chance(0.3) {
		a.quiet = new(d.randomQuietHours())
	}
	for range d.rng.IntN(3) {
		d.addDevice(a)
	}
	if d.chance(0.3) {
		for _, t := range notify.Topics() {
			a.preferences[notify.PreferenceKey{Topic: t, Channel: delivery.SMS}] = true
		}
	}
	d.recipients[member] = a
	return a
}

func (d *dispatcher) addDevice(a *recipient) {
	device := notify.Device{ID: id[tenant.DeviceID](&d.tables)}
	device.Token = device.ID.String()
	a.devices = append(a.devices, device)
}

// changePreferences changes the preferences, devices or quiet hours of some members.
func (d *dispatcher) changePreferences() {
	for _, m := range d.members {
		a := d.recipients[m.ID.UUID]
		if !d.chance(0.1) {
			continue
		}
		switch d.rng.IntN(4) {
		case 0:
			key := notify.PreferenceKey{
				Topic: notify.Topics()[d.rng.IntN(len(notify.Topics()))], Channel: delivery.Channels()[d.rng.IntN(3)],
			}
			a.preferences[key] = d.chance(0.5)
		case 1:
			if len(a.devices) < 3 {
				d.addDevice(a)
			}
		case 2:
			if a.quiet = nil; d.chance(0.5) {
				a.quiet = new(d.randomQuietHours())
			}
		case 3:
			d.applyReply(a, pick(d.world, replies))
		}
	}
}

// pause stops the dispatcher for a while: it reads, decides and sends nothing.
func (d *dispatcher) pause() {
	length := d.randomDuration(10 * time.Minute)
	if d.chance(0.2) {
		length = d.randomDuration(30 * time.Hour)
	}
	if until := d.now.Add(length.Truncate(time.Second)); until.After(d.pausedUntil) {
		d.pausedUntil = until
	}
}

// whenRunning schedules a task at a time, or at the end of a pause.
func (d *dispatcher) whenRunning(at time.Time, do func()) {
	d.schedule(at, func() {
		if d.now.Before(d.pausedUntil) {
			d.whenRunning(d.pausedUntil, do)
			return
		}
		do()
	})
}

// receive appends an event to the log, if messages can follow from it.
func (d *dispatcher) receive(ev Event) {
	if dataOf(ev) == nil && ev.Kind != Decided {
		return
	}
	if ev.Kind == Offered {
		d.entries[ev.Entry].lastOffered = d.sessions[ev.Session]
	}
	d.log = append(d.log, loggedEvent{ev, id[tenant.EventID](&d.tables)})
	if !d.reading {
		d.reading = true
		d.whenRunning(d.now.Add(d.randomDuration(2*time.Second).Truncate(time.Millisecond)), d.readLog)
	}
}

// readLog plans the notices of events that were not read yet. Sometimes a reader crashes, and an event is read again.
func (d *dispatcher) readLog() {
	d.reading = false
	for _, h := range d.log[d.readUpTo:] {
		d.planNotices(h)
		if d.chance(0.02) {
			d.planNotices(h)
		}
	}
	d.readUpTo = len(d.log)
	if d.readUpTo > 1000 {
		d.log, d.readUpTo = d.log[:0], 0
	}
}

// notifyEvent converts an event as the service does. It returns false if no messages can follow from it.
func notifyEvent(h loggedEvent) (notify.Event, bool) {
	e := notify.Event{
		ID: h.id, Session: h.Session, Booking: h.Booking, Member: h.Member, Entry: h.Entry, Offer: h.Offer, At: h.At,
		Data: dataOf(h.Event),
	}
	return notify.EventOf(e, credit.SystemActor), e.Data != nil
}

// dataOf returns what the service writes of an event, or nil if no messages can follow from it.
func dataOf(ev Event) event.Data {
	switch ev.Kind {
	case Booked:
		if ev.Promoted && ev.Offer.IsZero() {
			return event.WaitlistPromoted{}
		}
		return event.BookingConfirmed{Imported: false}
	case Confirmed:
		return event.BookingConfirmed{Imported: false}
	case Cancelled:
		return event.BookingCancelled{
			Refunded: ev.Refunded, Late: ev.Late, Reason: "", Notify: !ev.Silent, SessionGone: ev.SessionCancelled,
		}
	case Rescheduled:
		return event.BookingRescheduled{FromSession: tenant.SessionID{}, FromStart: time.Time{}, Notify: !ev.Silent}
	case Joined:
		return event.WaitlistJoined{Position: 0}
	case Left:
		return event.WaitlistLeft{Reason: "", Notify: !ev.Silent, TellUntil: ev.Until}
	case Offered:
		return event.OfferCreated{Expires: time.Time{}, FirstToClaim: false, Try: 0}
	case Renewed:
		return event.CreditsChanged{Subscription: ev.Subscription, Amount: -ev.Spent, Balance: 0}
	case Decided:
		if ev.decision.Note != "" {
			return event.WaitlistStaffNote{Decision: tenant.DecisionID{}, Move: "", Note: ev.decision.Note}
		}
	default:
	}
	return nil
}

// planNotices adds the notices that follow from an event.
func (d *dispatcher) planNotices(h loggedEvent) {
	e, relevant := notifyEvent(h)
	if !relevant {
		return
	}
	var all []*notice
	for _, n := range notify.Plan(e, d.persons(e), d.settings, d.now) {
		key := noticeKey{n.Recipient(), n.Topic, n.Thing, n.Revision, n.Lane}
		if n.Topic == notify.Reminder && d.bug == remindByCalendar {
			to := d.recipients[n.Recipient()].zone
			n.DueAt = civil.DateOf(n.StartsAt, to).AddDays(-1).At(civil.TimeOf(n.StartsAt, to), to)
		}
		if d.planned[key] != nil && d.bug != planTwice || d.bug == noReminderAfterMove && h.Kind == Rescheduled &&
			n.Topic == notify.Reminder {
			continue
		}
		all = append(all, d.addNotice(key, n))
	}
	d.checker.checkPlanned(h, all)
	for _, n := range all {
		d.scheduleNotice(n)
	}
}

// addNotice adds a planned notice.
func (d *dispatcher) addNotice(key noticeKey, n notify.Notice) *notice {
	n.ID = id[tenant.NoticeID](&d.tables)
	kept := &notice{
		Notice: n, to: d.recipients[n.Recipient()], booking: d.bookings[n.Booking], entry: d.entries[n.Entry],
		offer: d.offers[n.Offer],
		payer: d.subs[tenant.SubscriptionID{UUID: n.Details.Payer}], session: d.sessions[n.Session],
	}
	d.planned[key] = kept
	return kept
}

// persons returns the people whom an event concerns, as package messagedb reads them.
func (d *dispatcher) persons(e notify.Event) []notify.Person {
	var all []notify.Person
	_, note := e.Data.(event.WaitlistStaffNote)
	_, credits := e.Data.(event.CreditsChanged)
	switch b, entry, payer := d.bookings[e.Booking], d.entries[e.Entry], d.subs[tenant.SubscriptionID{UUID: e.Payer}]; {
	case note:
		for _, a := range d.staff {
			all = append(all, notify.Person{Member: tenant.MemberID{UUID: a.id}, Session: e.Session})
		}
	case credits:
		if payer != nil && payer.Plan.Kind == credit.Credits {
			all = append(all, notify.Person{Member: payer.Member, Payer: payer.ID.UUID, Balance: payer.Balance})
		}
	case b != nil:
		party := d.sessions[b.Session].person()
		party.Member, party.Booking, party.Booked, party.Taken = b.Member, b.ID, b.Status == booking.Confirmed, b.Credits
		if u := d.subs[b.Subscription]; u != nil && u.Plan.Kind == credit.Credits {
			party.Payer, party.Balance = u.ID.UUID, u.Balance
		}
		all = append(all, party)
	case entry != nil && d.sessionOf(entry) != nil:
		party := d.sessionOf(entry).person()
		party.Member, party.Entry = entry.Member, entry.ID
		all = append(all, party)
	}
	for i := range all {
		all[i].Preferences = d.recipients[all[i].Member.UUID].preferences
	}
	return all
}

func (s *sessionRow) person() notify.Person {
	return notify.Person{
		Session: s.ID, StartsAt: s.StartsAt, EndsAt: s.EndsAt, SessionGone: s.State == catalog.Cancelled,
		CheckInOpens: s.StartsAt.Add(-s.service.policy.CheckInOpensBefore),
	}
}

// sessionOf returns the session that messages about an entry name, or nil if there is none.
func (d *dispatcher) sessionOf(e *entryRow) *sessionRow {
	switch {
	case e.lastOffered != nil:
		return e.lastOffered
	case !e.Session.IsZero():
		return d.sessions[e.Session]
	case len(e.AnyOf) > 0:
		return d.sessions[e.AnyOf[0]]
	}
	return nil
}

// scheduleNotice processes a notice when it is due.
func (d *dispatcher) scheduleNotice(n *notice) {
	due := n.DueAt
	if due.Before(d.now) {
		due = d.now
	}
	d.whenRunning(due.Add(d.randomDuration(time.Second).Truncate(time.Millisecond)), func() {
		if !n.done && !n.DueAt.After(d.now) {
			d.process(n)
		}
	})
}

// forgetOld deletes notices that are settled and no longer useful.
func (d *dispatcher) forgetOld() {
	long := d.now.Add(-2 * day)
	for key, n := range d.planned {
		if n.done && n.ExpiresAt.Before(long) {
			delete(d.planned, key)
			delete(d.checker.expected, n.expected.messageKey)
		}
	}
	for entry := range d.checker.entries {
		if d.entries[entry] == nil {
			delete(d.checker.entries, entry)
		}
	}
	for offer := range d.checker.offers {
		if d.offers[offer] == nil {
			delete(d.checker.offers, offer)
			delete(d.offerDeliveries, offer)
		}
	}
	for id := range d.promotionDeliveries {
		if d.bookings[id] == nil {
			delete(d.promotionDeliveries, id)
		}
	}
}
