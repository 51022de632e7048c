package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// model is what must be so, told by facts alone. It keeps no counter: seats, balances, quotas and queues are worked out
// anew from what happened, with arithmetic of its own, whenever they are asked for.
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

type mMember struct {
	*member  // name, tier, tags and zone
	active   bool
	bookings []*mBooking
	entries  []*mEntry
	subs     []*mSub
}

func newModel() *model {
	return &model{
		sessions: make(map[tenant.SessionID]*mSession), bookings: make(map[tenant.BookingID]*mBooking),
		entries: make(map[tenant.EntryID]*mEntry),
		offers:  make(map[tenant.OfferID]*mOffer), rounds: make(map[tenant.RoundID]*mRound),
		members: make(map[tenant.MemberID]*mMember),
		subs:    make(map[tenant.SubscriptionID]*mSub), owed: make(map[tenant.SessionID]int),
		granted: make(map[tenant.EntryID]bool),
	}
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
			return fmt.Errorf(
				"%d seats of session %s are open, somebody waits for them, and nothing was decided", open, short(session.UUID),
			)
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
	case RulesEdited, Renewed:
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
	case LookedAgain:
		m.lookedAgain(f, s)
	case Offered:
		return m.offered(f, s, e)
	case Kept:
		return m.kept(f)
	case OfferEnded:
		return m.offerEnded(f, s, e)
	case GivenUp:
		return m.givenUp(f, s)
	}
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
