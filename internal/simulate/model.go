package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

// model is what must be so, told by facts alone. It keeps no counter: seats, balances, quotas and queues are worked out anew
// from what happened, with arithmetic of its own, whenever they are asked for.
type model struct {
	sessions map[tenant.SessionID]*mSession
	bookings map[tenant.BookingID]*mBooking
	entries  map[tenant.EntryID]*mEntry
	offers   map[tenant.OfferID]*mOffer
	rounds   map[tenant.RoundID]*mRound
	members  map[tenant.MemberID]*mMember
	subs     map[tenant.SubscriptionID]*mSub

	owed    map[tenant.SessionID]int // seats were freed, and nothing was decided yet
	granted map[tenant.EntryID]bool  // by a decision, and not given yet
	now     time.Time
}

type mSession struct {
	id                   tenant.SessionID
	under                *ruling
	starts, ends         time.Time
	capacity             *int
	off, blocked         bool
	bookings             []*mBooking
	offers               []*mOffer
	rounds               []*mRound
	local, clock         string // day and time of the start at the location
	isoYear, isoWeek     int
	coach                tenant.MemberID
	decisions, mayDecide int // in one transaction
}

type mBooking struct {
	id        tenant.BookingID
	in        *mSession
	who       *mMember
	party     int
	status    booking.Status
	sub       *mSub
	credits   int
	counted   bool
	exclusive bool
	until     time.Time // of a hold
	grace     time.Time
}

type mEntry struct {
	waitlist.Entry
	who *mMember
	in  []*mSession
}

type mOffer struct {
	id     tenant.OfferID
	in     *mSession
	entry  *mEntry
	round  *mRound
	seats  int
	shared bool
	live   bool
	until  time.Time
}

type mRound struct {
	freed, keeps int
	tried        []tenant.EntryID
	offers       []*mOffer
}

type mMember struct {
	*member  // name, tier, tags and zone
	active   bool
	bookings []*mBooking
	entries  []*mEntry
	subs     []*mSub
}

type mSub struct {
	plan    credit.Plan
	status  credit.Status
	ends    time.Time // zero: never
	renews  time.Time // zero: never
	balance int
}

func newModel() *model {
	return &model{
		sessions: make(map[tenant.SessionID]*mSession), bookings: make(map[tenant.BookingID]*mBooking), entries: make(map[tenant.EntryID]*mEntry),
		offers: make(map[tenant.OfferID]*mOffer), rounds: make(map[tenant.RoundID]*mRound), members: make(map[tenant.MemberID]*mMember),
		subs: make(map[tenant.SubscriptionID]*mSub), owed: make(map[tenant.SessionID]int), granted: make(map[tenant.EntryID]bool),
	}
}

// seats are those that bookings take, that offers reserve, and that rounds keep for whoever claims them first.
func (s *mSession) seats() (taken int) {
	for _, b := range s.bookings {
		if b.active() {
			taken += b.party
		}
	}
	for _, o := range s.offers {
		if o.live && !o.shared {
			taken += o.seats
		}
	}
	for _, r := range s.rounds {
		taken += r.kept()
	}
	return taken
}

// kept are the seats that a round keeps: as long as anybody may claim them.
func (r *mRound) kept() int {
	if slices.ContainsFunc(r.offers, func(o *mOffer) bool { return o.live }) {
		return r.keeps
	}
	return 0
}

func (s *mSession) open() (seats int, unlimited bool) {
	if s.capacity == nil {
		return 0, true
	}
	return *s.capacity - s.seats(), false
}

func (s *mSession) onSale() bool { return !s.off && !s.blocked }

func (b *mBooking) active() bool {
	return b.status == booking.Pending || b.status == booking.Confirmed || b.status == booking.Attended
}

// advance lets the periods of a subscription pass, one after the other.
func (s *mSub) advance(now time.Time) {
	if s.status == credit.Expired || s.status == credit.Cancelled {
		return
	}
	for !s.renews.IsZero() && !now.Before(s.renews) {
		s.balance = s.plan.Credits
		s.renews = s.renews.Add(*s.plan.Period)
	}
	if !s.ends.IsZero() && !now.Before(s.ends) {
		s.status, s.balance = credit.Expired, 0
	}
}

// used counts bookings against the limits of a plan, on the day and in the week of a session.
func (m *mMember) used(s *mSub, at *mSession, but *mBooking) (day, week int) {
	for _, b := range m.bookings {
		if b.sub != s || !b.counted || b == but {
			continue
		}
		if b.in.local == at.local {
			day++
		}
		if b.in.isoYear == at.isoYear && b.in.isoWeek == at.isoWeek {
			week++
		}
	}
	return day, week
}

// terms are what a booking is paid with.
type terms struct {
	sub       *mSub
	credits   int
	exclusive bool
	counted   bool
}

// mayBook tells what a booking would be paid with, or why it cannot be.
func (m *model) mayBook(who *mMember, s *mSession, party int, named tenant.SubscriptionID, staff bool) (terms, string) {
	for _, b := range who.bookings {
		if b.in == s && b.active() {
			return terms{}, "has a booking"
		}
	}
	return m.mayPay(who, s, party, named, staff)
}

func (m *model) mayPay(who *mMember, s *mSession, party int, named tenant.SubscriptionID, staff bool) (terms, string) {
	if staff && named.IsZero() {
		return terms{}, ""
	}
	var usable []*mSub
	for _, u := range who.subs {
		u.advance(m.now)
		if u.plan.Kind != credit.Course && (u.status == credit.Active || u.status == credit.Debt) && (named.IsZero() || m.subs[named] == u) {
			usable = append(usable, u)
		}
	}
	switch {
	case len(usable) == 0:
		return terms{}, "has no plan"
	case len(usable) > 1:
		return terms{}, "has several plans"
	case usable[0].status == credit.Debt:
		return terms{}, "is in debt"
	}
	u := usable[0]
	t := terms{sub: u, exclusive: !u.plan.AllowOverlap, counted: u.plan.DailyLimit != nil || u.plan.WeeklyLimit != nil}
	if day, week := who.used(u, s, nil); !staff && (u.plan.DailyLimit != nil && day >= *u.plan.DailyLimit || u.plan.WeeklyLimit != nil && week >= *u.plan.WeeklyLimit) {
		return terms{}, "is at a limit"
	}
	if t.exclusive && who.busy(s, nil) {
		return terms{}, "is elsewhere"
	}
	if u.plan.Kind == credit.Credits {
		if u.balance < party {
			return terms{}, "has too few credits"
		}
		t.credits = party
	}
	return t, ""
}

// busy reports whether a booking that tolerates no overlap is on at the time of a session.
func (m *mMember) busy(s *mSession, but *mBooking) bool {
	for _, b := range m.bookings {
		if b != but && b.active() && b.exclusive && b.in.starts.Before(s.ends) && s.starts.Before(b.in.ends) {
			return true
		}
	}
	return false
}

// freed notes that seats of a session are free: it must be decided about them.
func (m *model) freed(s *mSession) {
	m.owed[s.id]++
	s.mayDecide++
}

// apply takes the facts of a transaction in. The error tells what cannot be.
func (m *model) apply(facts []Fact, now time.Time) error {
	m.now = now
	for _, f := range facts {
		if s := m.sessions[f.Session]; s != nil {
			s.decisions, s.mayDecide = 0, 0
		}
		if s := m.sessions[f.To]; s != nil {
			s.decisions, s.mayDecide = 0, 0
		}
	}
	for _, f := range facts {
		if err := m.one(f); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	for entry := range m.granted {
		return fmt.Errorf("a decision gave entry %s something that it did not get", short(entry.UUID))
	}
	for session := range m.owed {
		delete(m.owed, session)
		s := m.sessions[session]
		open, unlimited := s.open()
		if (open > 0 || unlimited) && s.onSale() && now.Before(s.ends) && s.under.waitlist.Enabled && len(m.inLine(s)) > 0 {
			return fmt.Errorf("%d seats of session %s are open, somebody waits for them, and nothing was decided", open, short(session.UUID))
		}
	}
	return nil
}

// one takes one fact in.
func (m *model) one(f Fact) error {
	s, b, e := m.sessions[f.Session], m.bookings[f.Booking], m.entries[f.Entry]
	switch f.What {
	case Published:
		at := f.schedule.StartsAt.In(f.schedule.at.zone)
		s = &mSession{
			id: f.Session, under: f.schedule.under, starts: f.schedule.StartsAt, ends: f.schedule.EndsAt, capacity: f.Capacity,
			local: at.Format(time.DateOnly), clock: at.Format("15:04"), coach: f.schedule.Coach,
		}
		s.isoYear, s.isoWeek = at.ISOWeek()
		m.sessions[s.id] = s
		m.freed(s)
	case Blocked:
		s.blocked = true
	case Unblocked:
		s.blocked = false
		m.freed(s)
	case Resized:
		raised := s.capacity != nil && *f.Capacity > *s.capacity
		if s.capacity = f.Capacity; raised {
			m.freed(s)
		}
	case CalledOff:
		return m.calledOff(s)
	case RulesEdited:
	case Subscribed, StatusSet:
		m.subscribed(f)
	case MemberSet:
		m.members[f.Member].active = f.On
	case Booked, Held:
		return m.booked(f, s, e)
	case Confirmed:
		return m.confirmed(f, s, b)
	case Released, HoldExpired, Cancelled, NoShow:
		return m.ended(f, s, b)
	case Rescheduled:
		return m.rescheduled(f, s, b)
	case CheckedIn:
		if b.status != booking.Confirmed {
			return fmt.Errorf("it was %s", b.status)
		}
		b.status = booking.Attended
	case NoShowUndo:
		b.status = booking.Confirmed
	case Joined:
		return m.joined(f)
	case Prioritized:
		e.Flagged = f.On
	case Left, Stays:
		return m.left(f, e)
	case Decided:
		return m.decided(f, s)
	case Offered:
		return m.offered(f, s, e)
	case OfferEnded:
		return m.offerEnded(f, s, e)
	}
	return nil
}

func (m *model) calledOff(s *mSession) error {
	s.off = true
	if n := s.seats(); n > 0 {
		return fmt.Errorf("%d seats are taken still", n)
	}
	for _, e := range m.entries {
		if slices.Contains(e.in, s) {
			e.in = without(e.in, s)
		}
	}
	return nil
}

func (m *model) subscribed(f Fact) {
	u := m.subs[f.Subscription]
	if u == nil {
		u = &mSub{plan: f.plan.Plan, balance: f.plan.Plan.Credits}
		if u.plan.Kind != credit.Credits {
			u.balance = 0
		} else if u.plan.Period != nil {
			u.renews = f.At.Add(*u.plan.Period)
		}
		if u.plan.Term != nil {
			u.ends = f.At.Add(*u.plan.Term)
		}
		m.subs[f.Subscription] = u
		m.members[f.Member].subs = append(m.members[f.Member].subs, u)
	}
	u.advance(f.At)
	u.status = f.plan.Status
}

func (m *model) booked(f Fact, s *mSession, e *mEntry) error {
	who := m.members[f.Member]
	b := &mBooking{id: f.Booking, in: s, who: who, party: f.Party, status: booking.Confirmed, grace: f.Until}
	switch {
	case !who.active && f.Offer.IsZero(): // an offer stays good
		return fmt.Errorf("the member is gone")
	case !s.onSale():
		return fmt.Errorf("the session is off sale")
	case !f.Promoted && !f.At.Before(s.starts.Add(-s.under.policy.BookingCloses)):
		return fmt.Errorf("booking has closed")
	case !f.Promoted && f.At.Before(s.starts.Add(-s.under.policy.Advance)):
		return fmt.Errorf("booking has not opened")
	case f.Promoted && f.Offer.IsZero() && !m.granted[f.Entry]:
		return fmt.Errorf("no decision promoted the entry")
	case f.Promoted && (e == nil || !e.Status.Active()):
		return fmt.Errorf("the entry does not wait")
	case f.What == Held:
		b.status, b.until, b.grace = booking.Pending, f.Until, time.Time{}
		if until := f.At.Add(s.under.policy.HoldTTL); !f.Until.Equal(until) && (!until.After(s.starts) || !f.Until.Equal(s.starts)) {
			return fmt.Errorf("it holds until %s", f.Until)
		}
	}
	for _, other := range who.entries {
		if other != e && other.Session == s.id && !f.Promoted {
			return fmt.Errorf("the member waits for the session already")
		}
	}
	if f.What == Held {
		if _, refusal := m.mayBook(who, s, 0, tenant.SubscriptionID{}, true); refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
	} else {
		paid, refusal := m.mayBook(who, s, f.Party, f.Subscription, f.Staff)
		if refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
		b.take(paid)
	}
	if e != nil && f.Promoted {
		delete(m.granted, f.Entry)
		m.close(e, waitlist.Booked)
	}
	m.bookings[b.id] = b
	s.bookings, who.bookings = append(s.bookings, b), append(who.bookings, b)
	return s.fits()
}

func (b *mBooking) take(t terms) {
	b.sub, b.credits, b.exclusive, b.counted = t.sub, t.credits, t.exclusive, t.counted
	if t.sub != nil {
		t.sub.balance -= t.credits
	}
}

func (s *mSession) fits() error {
	if open, unlimited := s.open(); open < 0 && !unlimited {
		return fmt.Errorf("the session is oversold by %d", -open)
	}
	return nil
}

func (m *model) confirmed(f Fact, s *mSession, b *mBooking) error {
	if b.status != booking.Pending || !f.At.Before(b.until) {
		return fmt.Errorf("it was %s until %s", b.status, b.until)
	}
	if !f.On {
		paid, refusal := m.mayPay(b.who, s, b.party, tenant.SubscriptionID{}, false)
		if refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
		b.take(paid)
	}
	b.status = booking.Confirmed
	return nil
}

// ended is what becomes of a booking that gives its seats up.
func (m *model) ended(f Fact, s *mSession, b *mBooking) error {
	wasActive := b.active()
	switch f.What {
	case Released, HoldExpired:
		if b.status != booking.Pending || f.At.Before(b.until) == (f.What == HoldExpired) {
			return fmt.Errorf("it was %s until %s", b.status, b.until)
		}
		b.status = booking.Expired
	case NoShow:
		if b.status != booking.Confirmed || f.At.Before(s.starts) {
			return fmt.Errorf("it was %s", b.status)
		}
		b.status = booking.NoShow
		if !f.Staff {
			return nil // the session is over: its seats are nobody's
		}
	default:
		if err := m.cancelled(f, s, b); err != nil {
			return err
		}
	}
	if wasActive && !f.Gone {
		m.freed(s)
	}
	return nil
}

func (m *model) cancelled(f Fact, s *mSession, b *mBooking) error {
	policy := s.under.policy
	notice := policy.Cancellation
	if tier := policy.Tiers[b.who.Tier]; tier.Cancellation != nil {
		notice = *tier.Cancellation
	}
	deadline := s.starts.Add(-notice)
	if b.grace.After(deadline) {
		deadline = b.grace
	}
	late := f.At.After(deadline) && !f.Gone
	switch {
	case late && !f.Staff && !policy.AllowLateCancellation:
		return fmt.Errorf("it was too late to cancel")
	case late != f.Late:
		return fmt.Errorf("late is %v, and the deadline was %s", f.Late, deadline)
	case !b.active() && !f.Gone:
		return fmt.Errorf("it was %s", b.status)
	}
	if b.sub != nil && !late {
		b.sub.advance(f.At)
		b.sub.balance += b.credits
		b.credits = 0
	}
	b.status, b.counted = booking.Cancelled, false
	return nil
}

func (m *model) rescheduled(f Fact, s *mSession, b *mBooking) error {
	to := m.sessions[f.To]
	if day, week := b.who.used(b.sub, to, b); b.counted && !f.Staff &&
		(b.sub.plan.DailyLimit != nil && day >= *b.sub.plan.DailyLimit || b.sub.plan.WeeklyLimit != nil && week >= *b.sub.plan.WeeklyLimit) {
		return fmt.Errorf("the member is at a limit there")
	}
	s.bookings = without(s.bookings, b)
	to.bookings = append(to.bookings, b)
	b.in, b.grace = to, time.Time{}
	if b.exclusive && b.who.busy(to, b) {
		return fmt.Errorf("the member is elsewhere")
	}
	m.freed(s)
	to.mayDecide++
	return to.fits()
}

func (m *model) joined(f Fact) error {
	e := &mEntry{Entry: *f.wish, who: m.members[f.Member]}
	wished := f.wish.AnyOf
	if !e.Session.IsZero() {
		wished = []tenant.SessionID{e.Session}
	}
	for _, id := range wished {
		s := m.sessions[id]
		e.in = append(e.in, s)
		open, unlimited := s.open()
		if unlimited || open >= e.Party {
			return fmt.Errorf("there are seats")
		}
		for _, other := range e.who.entries {
			if slices.Contains(other.in, s) {
				return fmt.Errorf("it is the second of the member")
			}
		}
		for _, b := range e.who.bookings {
			if b.in == s && b.active() {
				return fmt.Errorf("the member has a booking")
			}
		}
	}
	m.entries[e.ID] = e
	e.who.entries = append(e.who.entries, e)
	return nil
}

func (m *model) close(e *mEntry, as waitlist.Status) {
	e.Status = as
	e.who.entries = without(e.who.entries, e)
	delete(m.entries, e.ID)
}

// left is what becomes of an entry that got nothing.
func (m *model) left(f Fact, e *mEntry) error {
	for _, o := range m.offers {
		if o.live && o.entry == e {
			return fmt.Errorf("it has a live offer")
		}
	}
	if f.What == Stays {
		e.Status = waitlist.Waiting
		return nil
	}
	m.close(e, waitlist.Cancelled)
	return nil
}

func (m *model) offered(f Fact, s *mSession, e *mEntry) error {
	switch {
	case !m.granted[f.Entry]:
		return fmt.Errorf("no decision said so")
	case e.Status != waitlist.Waiting:
		return fmt.Errorf("the entry was %s", e.Status)
	}
	delete(m.granted, f.Entry)
	r := m.rounds[f.Round]
	o := &mOffer{id: f.Offer, in: s, entry: e, round: r, seats: f.Party, shared: f.Shared, live: true, until: f.Until}
	m.offers[o.id] = o
	r.tried, r.offers, s.offers = append(r.tried, e.ID), append(r.offers, o), append(s.offers, o)
	e.Status, e.Tries = waitlist.Offered, e.Tries+1
	return s.fits()
}

func (m *model) offerEnded(f Fact, s *mSession, e *mEntry) error {
	o := m.offers[f.Offer]
	switch {
	case !o.live:
		return fmt.Errorf("it ends twice")
	case (f.Ended == waitlist.Accepted || f.Ended == waitlist.Declined) && !f.At.Before(o.until):
		return fmt.Errorf("it was answered after its end, %s", o.until)
	case f.Ended == waitlist.RanOut && f.At.Before(o.until):
		return fmt.Errorf("it ended before its end, %s", o.until)
	}
	o.live = false
	delete(m.offers, o.id)
	if f.Ended == waitlist.Withdrawn {
		e.Tries--
	}
	if f.Ended == waitlist.Accepted {
		if o.shared {
			o.round.keeps -= o.seats
			if o.round.keeps > 0 {
				s.mayDecide++ // about what nobody else claims
			}
			o.round.keeps = o.round.kept()
		}
		return nil
	}
	had := o.round.keeps
	o.round.keeps = o.round.kept()
	if o.shared && (o.round.keeps > 0 || had == 0) {
		return nil // others may claim them, or somebody has
	}
	if s.seats() < 0 {
		return fmt.Errorf("seats below zero")
	}
	m.freed(s)
	return nil
}

func (m *model) forget(session tenant.SessionID) {
	s := m.sessions[session]
	delete(m.sessions, session)
	for _, b := range s.bookings {
		delete(m.bookings, b.id)
		b.who.bookings = without(b.who.bookings, b)
	}
	for id, r := range m.rounds {
		if slices.Contains(s.rounds, r) {
			delete(m.rounds, id)
		}
	}
}

func (m *model) forgetSubscription(id tenant.SubscriptionID) {
	u := m.subs[id]
	delete(m.subs, id)
	for _, who := range m.members {
		who.subs = without(who.subs, u)
	}
}
