package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

type modelEntry struct {
	waitlist.Entry
	messageSession *modelSession // the one that messages name: of the last offer, or the first in the entry
	member         *modelMember
	sessions       []*modelSession
	toldUntil      time.Time // that it is over
}

type modelOffer struct {
	id       tenant.OfferID
	session  *modelSession
	entry    *modelEntry
	round    *modelRound
	seats    int
	shared   bool
	live     bool
	byHand   bool
	notified bool // the member may know of it
	until    time.Time
}

type modelRound struct {
	freed, keeps int
	// entries that got an offer in the round or were promoted, except those that may get another
	tried  []tenant.EntryID
	offers []*modelOffer
	gaveUp []*modelMember // whose seats they were, or who declined them
	// Of a round that began when booking opened: how many seats it may give, and how many are booked.
	opening     bool
	most, taken int
}

// asked counts the members who got an offer.
func (r *modelRound) asked() int {
	members := make(map[*modelMember]bool)
	for _, o := range r.offers {
		if slices.Contains(r.tried, o.entry.ID) {
			members[o.entry.member] = true
		}
	}
	return len(members)
}

// keptSeats returns the seats that a round keeps. It keeps them as long as an offer can claim them.
func (r *modelRound) keptSeats() int {
	if slices.ContainsFunc(r.offers, func(o *modelOffer) bool { return o.live && o.shared }) {
		return r.keeps
	}
	return 0
}

// reservedSeats returns the seats of a round that are on offer.
func (r *modelRound) reservedSeats() int {
	seats := r.keptSeats()
	for _, o := range r.offers {
		if o.live && !o.shared {
			seats += o.seats
		}
	}
	return seats
}

func (m *model) joined(ev Event) error {
	e := &modelEntry{Entry: *ev.target, member: m.members[ev.Member]}
	wished := ev.target.AnyOf
	if !e.Session.IsZero() {
		wished = []tenant.SessionID{e.Session}
	}
	for _, id := range wished {
		s := m.sessions[id]
		e.sessions = append(e.sessions, s)
		open, unlimited := s.open()
		if unlimited || open >= e.Party {
			return fmt.Errorf("there are seats")
		}
		for _, other := range e.member.entries {
			if slices.Contains(other.sessions, s) {
				return fmt.Errorf("the member has another entry for the session")
			}
		}
		for _, b := range e.member.bookings {
			if b.session == s && b.active() {
				return fmt.Errorf("the member has a booking")
			}
		}
	}
	for _, s := range m.sessions {
		if e.Window != nil && m.waits(e, s) && matchesWindow(s, e, 0) && s.onSale() && m.bookable(s) {
			if open, unlimited := s.open(); unlimited || open >= e.Party {
				return fmt.Errorf("there are seats at %s", s.starts)
			}
		}
	}
	if len(e.sessions) > 0 {
		e.messageSession = e.sessions[0]
	}
	for id := range m.undecided { // by a hold that expired before, in the same operation
		if len(m.waitingFor(m.sessions[id])) == 0 {
			delete(m.undecided, id)
		}
	}
	m.entries[e.ID] = e
	e.member.entries = append(e.member.entries, e)
	return nil
}

func (m *model) close(e *modelEntry, as waitlist.Status) {
	e.Status = as
	e.member.entries = without(e.member.entries, e)
	delete(m.entries, e.ID)
}

// entryLeft takes in that an entry was closed, or waits again, after its offer ended.
func (m *model) entryLeft(ev Event, e *modelEntry) error {
	for _, o := range m.offers {
		if o.live && o.entry == e {
			return fmt.Errorf("it has a live offer")
		}
	}
	if ev.Kind == Requeued {
		e.Status = waitlist.Waiting
		return nil
	}
	if ev.Over {
		if m.canWait(e) {
			return fmt.Errorf("it can still get a seat")
		}
		m.tell(e)
		if ev.Silent != !m.now.Before(e.toldUntil) {
			return fmt.Errorf("it is news until %s", e.toldUntil)
		}
	}
	if got := m.taken[e.ID]; got != ev.Booking {
		return fmt.Errorf("it ends with booking %s, and should with %s", short(ev.Booking.UUID), short(got.UUID))
	}
	delete(m.taken, e.ID)
	m.close(e, waitlist.Cancelled)
	return nil
}

// canWait reports whether an entry can still get a seat: before the end of its last day, or in one of its sessions.
func (m *model) canWait(e *modelEntry) bool {
	if e.Window != nil {
		return m.now.Before(m.lastMidnight(e))
	}
	return slices.ContainsFunc(e.sessions, func(s *modelSession) bool {
		late, _ := s.fillsLate()
		again := late > 0 && m.now.Before(s.starts.Add(late)) && m.now.Before(s.ends)
		return !s.cancelled && (again || m.now.Before(s.fillsUntil(m.now)))
	})
}

// lastMidnight returns when the last day of a time window is over, at its location.
func (m *model) lastMidnight(e *modelEntry) time.Time {
	zone := time.UTC
	for _, s := range m.sessions {
		if e.Window.Service == s.service.id && e.Window.Location == s.service.location.id {
			zone = s.service.location.zone
		}
	}
	last := e.Window.Until
	return time.Date(last.Year, last.Month, last.Day+1, 0, 0, 0, 0, zone)
}

// tell notes until when it is news that an entry is over: for half a day after the last of its sessions or days.
func (m *model) tell(e *modelEntry) {
	if e.Window != nil {
		e.toldUntil = m.lastMidnight(e).Add(12 * time.Hour)
	}
	for _, s := range e.sessions {
		for _, at := range []time.Time{s.starts, s.fillsUntil(m.now)} {
			if at = at.Add(12 * time.Hour); at.After(e.toldUntil) {
				e.toldUntil = at
			}
		}
	}
	if latest := m.now.Add(12 * time.Hour); e.toldUntil.After(latest) {
		e.toldUntil = latest
	}
}

// checkOver checks, after a sweep, that nobody waits who can no longer get a seat.
func (m *model) checkOver(now time.Time) error {
	m.now = now
	for _, e := range m.entries {
		if e.Status == waitlist.Waiting && !m.canWait(e) {
			return fmt.Errorf("entry %s still waits, and can get no seat", short(e.ID.UUID))
		}
	}
	return nil
}

// take records which entries of a member end because they have booked a session: those that name it, or whose time
// window has it.
func (m *model) take(member *modelMember, s *modelSession, b tenant.BookingID) {
	for _, e := range member.entries {
		in := slices.Contains(e.sessions, s)
		if w := e.Window; w != nil && w.Service == s.service.id && w.Location == s.service.location.id {
			in = matchesWindow(s, e, 0)
		}
		if in {
			m.taken[e.ID] = b
		}
	}
}

func (m *model) offered(ev Event, s *modelSession, e *modelEntry) error {
	switch {
	case !m.granted[ev.Entry]:
		return fmt.Errorf("no decision granted it")
	case e.Status != waitlist.Waiting:
		return fmt.Errorf("the entry was %s", e.Status)
	}
	delete(m.granted, ev.Entry)
	r := m.rounds[ev.Round]
	o := &modelOffer{
		id: ev.Offer, session: s, entry: e, round: r, seats: ev.Party, shared: ev.Shared, byHand: ev.Staff, live: true,
		until: ev.Until,
	}
	m.offers[o.id] = o
	r.tried, r.offers, s.offers = append(r.tried, e.ID), append(r.offers, o), append(s.offers, o)
	e.Status, e.Tries, e.PassedOver, e.messageSession = waitlist.Offered, e.Tries+1, "", s
	return s.checkCapacity()
}

// offerExtended moves the end of a live offer. It can only move to a later time, and only before the offer has expired.
func (m *model) offerExtended(ev Event) error {
	o := m.offers[ev.Offer]
	if o == nil || !o.live || !ev.At.Before(o.until) || !ev.Until.After(o.until) {
		return fmt.Errorf("it must not be extended")
	}
	o.until = ev.Until
	return nil
}

// seatsReleased takes in that a round keeps fewer seats, although some of its offers may still be live.
func (m *model) seatsReleased(ev Event, s *modelSession) error {
	r := m.rounds[ev.Round]
	if ev.Party <= 0 || r.keptSeats() < ev.Party {
		return fmt.Errorf("the round keeps %d", r.keptSeats())
	}
	r.keeps -= ev.Party
	m.seatsFreed(s)
	return nil
}

func (m *model) offerEnded(ev Event, s *modelSession, e *modelEntry) error {
	o := m.offers[ev.Offer]
	switch {
	case !o.live:
		return fmt.Errorf("it ended twice")
	case (ev.Ended == waitlist.Accepted || ev.Ended == waitlist.Declined) && !ev.At.Before(o.until):
		return fmt.Errorf("it was answered after its end, %s", o.until)
	case ev.Ended == waitlist.RanOut && ev.At.Before(o.until):
		return fmt.Errorf("it ended before its end, %s", o.until)
	}
	o.live = false
	delete(m.offers, o.id)
	if ev.Ended == waitlist.Declined {
		o.round.gaveUp = append(o.round.gaveUp, e.member)
	}
	if ev.Ended == waitlist.Withdrawn {
		e.Tries--
		if !ev.On && ev.Why != waitlist.Unsendable {
			o.round.tried = without(o.round.tried, e.ID) // the offer had no effect, and the member did not give it up
		}
	}
	if ev.Why == waitlist.TooSlow {
		m.undecided[s.id]++ // it may fit other open seats
		s.maxDecisions = max(s.maxDecisions, 1)
	}
	if ev.Ended == waitlist.Accepted {
		took := min(ev.Party, o.seats)
		o.round.taken += took
		if o.shared {
			o.round.keeps -= took
			if o.round.keeps > 0 {
				s.maxDecisions++ // about seats that no offer can claim any more
			}
			o.round.keeps = o.round.keptSeats()
		} else if took < o.seats {
			m.seatsFreed(s)
		}
		return nil
	}
	had := o.round.keeps
	o.round.keeps = o.round.keptSeats()
	if o.shared && (o.round.keeps > 0 || had == 0) {
		return nil // other offers may claim the seats, or one has
	}
	if s.seats() < 0 {
		return fmt.Errorf("seats below zero")
	}
	m.seatsFreed(s)
	return nil
}
