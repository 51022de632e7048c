package simulate

import (
	"math/rand/v2"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// post tells people what concerns them. Like package app it reads what happened in order, plans notices, judges them
// when they are due, and takes them to providers; unlike anything else here it may stand still for hours. It has chance
// of its own, so that a life goes the same way whoever hears of it, as far as people do not answer by SMS.
type post struct {
	*world
	rng      *rand.Rand
	settings notify.Settings
	people   map[tenant.UUID]*addressee
	staff    []*addressee
	log      []happened
	read     int // in log
	reading  bool
	upFrom   time.Time // it stands still until then
	planned  map[noticeKey]*notice
	tellings map[tenant.OfferID][]*delivery
	stops    map[notify.Channel]map[string]notify.Reason // by address
	carriers map[notify.Channel]*carrier
	judged   *judgement
}

// happened is an event, on its way to be read.
type happened struct {
	Fact
	event tenant.EventID
}

// addressee is somebody as messages reach them.
type addressee struct {
	who      tenant.UUID
	member   *member // nil: staff
	phone    string
	email    string
	locale   string
	zone     *time.Location
	quiet    *notify.QuietHours
	chosen   notify.Preferences
	devices  []notify.Device
	counted  []*delivery
	answers  float64 // how likely they answer an SMS
	deadLine bool    // the number does not exist
	deadMail bool
}

// notice is one as it is kept, with what it is about.
type notice struct {
	notify.Notice
	to      *addressee
	booking *booking.Booking
	entry   *entryRow
	offer   *waitlist.Offer
	payer   *subscription
	session *row
	sending bool
	done    bool
	lines   []*delivery
	owed    *owed
}

// noticeKey is unique.
type noticeKey struct {
	who      tenant.UUID
	topic    notify.Topic
	thing    tenant.UUID
	revision string
	lane     notify.Lane
}

// delivery is a line of the delivery log that tells of an attempt.
type delivery struct {
	id      tenant.DeliveryID
	channel notify.Channel
	device  notify.Device
	attempt int
	status  notify.DeliveryStatus
	taken   int // the attempt, of all, with which the provider took it
	at      time.Time
	counted bool
}

func newPost(w *world, o Options) *post {
	p := &post{
		world: w, rng: rand.New(rand.NewPCG(o.Seed, 0x706f7374)), //nolint:gosec // chance that can be repeated
		people: make(map[tenant.UUID]*addressee), planned: make(map[noticeKey]*notice),
		stops:    map[notify.Channel]map[string]notify.Reason{notify.SMS: {}, notify.Email: {}},
		carriers: make(map[notify.Channel]*carrier), tellings: make(map[tenant.OfferID][]*delivery),
	}
	p.settings = notify.DefaultSettings()
	p.settings.EmailInQuiet = p.chance(0.3)
	p.settings.CreditsLowAt = p.rng.IntN(3)
	p.settings.Quiet = p.anyNight()
	for _, c := range notify.Channels() {
		p.settings.PerDay[c] = 1 + p.rng.IntN(8) // few, so that it matters
	}
	if p.chance(0.3) {
		p.settings.Reminders = []time.Duration{48 * time.Hour, 24 * time.Hour, 2 * time.Hour}
	}
	for _, c := range notify.Channels() {
		p.carriers[c] = &carrier{breaker: notify.Breaker{FailureLimit: trip, Pause: pause, MaxPause: 2 * time.Minute}}
	}
	p.judged = newJudgement(p)
	for range 2 {
		p.staff = append(p.staff, p.address(id[tenant.MemberID](&w.tables).UUID, nil))
	}
	for _, m := range w.members {
		p.address(m.ID.UUID, m)
	}
	for d := p.upTo(5 * day); d < o.Length; d += p.upTo(5*day) + time.Hour {
		w.later(d, p.standStill)
	}
	for d := p.upTo(3 * day); d < o.Length; d += p.upTo(3*day) + time.Hour {
		w.later(d, func() { p.carriers[pick(p.world, notify.Channels())].fail(p) })
	}
	for d := time.Duration(0); d < o.Length; d += day {
		w.later(d+p.upTo(day), p.change)
	}
	return p
}

func (p *post) upTo(d time.Duration) time.Duration { return time.Duration(p.rng.Int64N(int64(d))) }

func (p *post) chance(of float64) bool { return p.rng.Float64() < of }

func (p *post) anyNight() notify.QuietHours {
	if p.chance(0.1) {
		// within a day, near where clocks change
		return notify.QuietHours{Start: civil.TimeOfDay{Hour: 1}, End: civil.TimeOfDay{Hour: 2 + p.rng.IntN(4), Minute: 30}}
	}
	return notify.QuietHours{
		Start: civil.TimeOfDay{Hour: 20 + p.rng.IntN(4)}, End: civil.TimeOfDay{Hour: 2 + p.rng.IntN(7)},
	}
}

// address gives somebody a number, an address and devices, or not.
func (p *post) address(who tenant.UUID, m *member) *addressee {
	a := &addressee{
		who: who, member: m, email: short(who) + "@example.com", zone: p.venues[0].zone, chosen: make(notify.Preferences),
		answers: p.rng.Float64() / 3,
	}
	a.locale = []string{"", "en", "de-AT", "fr", "pt-BR"}[p.rng.IntN(5)]
	if m != nil && m.zone != "" {
		a.zone = zones[m.zone]
	}
	if p.chance(0.8) {
		a.phone = "+1555" + short(who)
	}
	if m != nil && p.chance(0.1) {
		a.phone = "+1555" // the family's
	}
	a.deadLine, a.deadMail = p.chance(0.05), p.chance(0.05)
	if p.chance(0.3) {
		a.quiet = new(p.anyNight())
	}
	for range p.rng.IntN(3) {
		p.register(a)
	}
	if p.chance(0.3) {
		for _, t := range notify.Topics() {
			a.chosen[notify.PreferenceKey{Topic: t, Channel: notify.SMS}] = true
		}
	}
	p.people[who] = a
	return a
}

func (p *post) register(a *addressee) {
	d := notify.Device{ID: id[tenant.DeviceID](&p.tables)}
	d.Token = d.ID.String()
	a.devices = append(a.devices, d)
}

// change lets somebody think differently about messages.
func (p *post) change() {
	for _, m := range p.members {
		a := p.people[m.ID.UUID]
		if !p.chance(0.1) {
			continue
		}
		switch p.rng.IntN(4) {
		case 0:
			c := notify.PreferenceKey{
				Topic: notify.Topics()[p.rng.IntN(len(notify.Topics()))], Channel: notify.Channels()[p.rng.IntN(3)],
			}
			a.chosen[c] = p.chance(0.5)
		case 1:
			if len(a.devices) < 3 {
				p.register(a)
			}
		case 2:
			if a.quiet = nil; p.chance(0.5) {
				a.quiet = new(p.anyNight())
			}
		case 3:
			p.reply(a, pick(p.world, replies))
		}
	}
}

// standStill lets nothing be read, judged or sent for a while.
func (p *post) standStill() {
	length := p.upTo(10 * time.Minute)
	if p.chance(0.2) {
		length = p.upTo(30 * time.Hour)
	}
	if until := p.now.Add(length.Truncate(time.Second)); until.After(p.upFrom) {
		p.upFrom = until
	}
}

// whenUp has something done at a time, or once the post moves again.
func (p *post) whenUp(at time.Time, do func()) {
	p.on(at, func() {
		if p.now.Before(p.upFrom) {
			p.whenUp(p.upFrom, do)
			return
		}
		do()
	})
}

// hear takes in what happened.
func (p *post) hear(f Fact) {
	if _, told := eventTypes[f.What]; !told && f.What != Booked && f.What != Decided {
		return
	}
	if f.What == Offered {
		p.entries[f.Entry].offered = p.rows[f.Session]
	}
	p.log = append(p.log, happened{f, id[tenant.EventID](&p.tables)})
	if !p.reading {
		p.reading = true
		p.whenUp(p.now.Add(p.upTo(2*time.Second).Truncate(time.Millisecond)), p.readLog)
	}
}

// readLog plans what has not been planned yet. Now and then a reader dies, and what it has read is read once more.
func (p *post) readLog() {
	p.reading = false
	for _, h := range p.log[p.read:] {
		p.plan(h)
		if p.chance(0.02) {
			p.plan(h)
		}
	}
	p.read = len(p.log)
	if p.read > 1000 {
		p.log, p.read = p.log[:0], 0
	}
}

// eventTypes are the events that facts are told as.
var eventTypes = map[What]string{
	Confirmed: "booking.confirmed", Cancelled: "booking.cancelled", Rescheduled: "booking.rescheduled",
	Joined: "waitlist.joined",
	Left:   "waitlist.left", Offered: "offer.created", Renewed: "credits.changed",
}

// eventOf says a fact as package app does.
func (p *post) eventOf(h happened) (notify.Event, bool) {
	e := notify.Event{
		ID: h.event, Type: eventTypes[h.What], Session: h.Session, Booking: h.Booking, Member: h.Member, Entry: h.Entry,
		Offer: h.Offer,
		Gone:  h.Gone, Spent: h.Spent, Silent: h.Silent, At: h.At, Payer: h.Subscription.UUID,
		Details: notify.Details{Refunded: h.Refunded, Late: h.Late, Waitlist: !h.Entry.IsZero() && h.Booking.IsZero()},
	}
	switch h.What {
	case Booked:
		if e.Type = "booking.confirmed"; h.Promoted && h.Offer.IsZero() {
			e.Type = "waitlist.promoted"
		}
	case Decided:
		e.Type, e.Details.Note = "waitlist.staff_note", h.decision.Note
		return e, e.Details.Note != ""
	default:
	}
	return e, true
}

// plan writes the notices that an event leads to.
func (p *post) plan(h happened) {
	e, told := p.eventOf(h)
	if !told {
		return
	}
	var all []*notice
	for _, n := range notify.Plan(e, p.parties(e), p.settings, p.now) {
		key := noticeKey{n.Recipient(), n.Topic, n.Thing, n.Revision, n.Lane}
		if n.Topic == notify.Reminder && p.flaw == remindByCalendar {
			to := p.people[n.Recipient()].zone
			n.DueAt = civil.DateOf(n.StartsAt, to).AddDays(-1).At(civil.TimeOf(n.StartsAt, to), to)
		}
		if p.planned[key] != nil && p.flaw != planTwice || p.flaw == forgetMoved && h.What == Rescheduled &&
			n.Topic == notify.Reminder {
			continue
		}
		all = append(all, p.keep(key, n))
	}
	p.judged.planned(h, all)
	for _, n := range all {
		p.look(n)
	}
}

// keep adds a notice to those that are planned.
func (p *post) keep(key noticeKey, n notify.Notice) *notice {
	n.ID = id[tenant.NoticeID](&p.tables)
	kept := &notice{
		Notice: n, to: p.people[n.Recipient()], booking: p.bookings[n.Booking], entry: p.entries[n.Entry],
		offer: p.offers[n.Offer],
		payer: p.subs[tenant.SubscriptionID{UUID: n.Details.Payer}], session: p.rows[n.Session],
	}
	p.planned[key] = kept
	return kept
}

// parties are the people that an event concerns, as package messagedb reads them.
func (p *post) parties(e notify.Event) []notify.Person {
	var all []notify.Person
	switch b, entry, payer := p.bookings[e.Booking], p.entries[e.Entry], p.subs[tenant.SubscriptionID{UUID: e.Payer}]; {
	case e.Type == "waitlist.staff_note":
		for _, a := range p.staff {
			all = append(all, notify.Person{Member: tenant.MemberID{UUID: a.who}, Session: e.Session})
		}
	case e.Type == "credits.changed":
		if payer != nil && payer.Plan.Kind == credit.Credits {
			all = append(all, notify.Person{Member: payer.Member, Payer: payer.ID.UUID, Balance: payer.Balance})
		}
	case b != nil:
		party := p.rows[b.Session].party()
		party.Member, party.Booking, party.Booked, party.Taken = b.Member, b.ID, b.Status == booking.Confirmed, b.Credits
		if u := p.subs[b.Subscription]; u != nil && u.Plan.Kind == credit.Credits {
			party.Payer, party.Balance = u.ID.UUID, u.Balance
		}
		all = append(all, party)
	case entry != nil && p.rowOf(entry) != nil:
		party := p.rowOf(entry).party()
		party.Member, party.Entry = entry.Member, entry.ID
		all = append(all, party)
	}
	for i := range all {
		all[i].Preferences = p.people[all[i].Member.UUID].chosen
	}
	return all
}

func (s *row) party() notify.Person {
	return notify.Person{
		Session: s.ID, StartsAt: s.StartsAt, EndsAt: s.EndsAt, SessionGone: s.State == catalog.Cancelled,
		CheckInOpens: s.StartsAt.Add(-s.under.policy.CheckInOpens),
	}
}

// rowOf is the session that there is to tell about an entry; nil where it is none.
func (p *post) rowOf(e *entryRow) *row {
	switch {
	case e.offered != nil:
		return e.offered
	case !e.Session.IsZero():
		return p.rows[e.Session]
	case len(e.AnyOf) > 0:
		return p.rows[e.AnyOf[0]]
	}
	return nil
}

// look judges a notice when it is due.
func (p *post) look(n *notice) {
	due := n.DueAt
	if due.Before(p.now) {
		due = p.now
	}
	p.whenUp(due.Add(p.upTo(time.Second).Truncate(time.Millisecond)), func() {
		if !n.done && !n.DueAt.After(p.now) {
			p.take(n)
		}
	})
}

// forget drops what is settled, and what nobody can hear of any more.
func (p *post) forget() {
	long := p.now.Add(-2 * day)
	for key, n := range p.planned {
		if n.done && n.ExpiresAt.Before(long) {
			delete(p.planned, key)
			delete(p.judged.owed, n.owed.owedKey)
		}
	}
	for entry := range p.judged.entries {
		if p.entries[entry] == nil {
			delete(p.judged.entries, entry)
		}
	}
	for offer := range p.judged.offers {
		if p.offers[offer] == nil {
			delete(p.judged.offers, offer)
			delete(p.tellings, offer)
		}
	}
}
