package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

type mEntry struct {
	waitlist.Entry
	about *mSession // what there is to tell of: what it was offered last, or wishes for first
	who   *mMember
	in    []*mSession
}

type mOffer struct {
	id     tenant.OfferID
	in     *mSession
	entry  *mEntry
	round  *mRound
	seats  int
	shared bool
	live   bool
	byHand bool
	told   bool // somebody
	until  time.Time
}

type mRound struct {
	freed, keeps int
	tried        []tenant.EntryID // who has let it go, or may still; or has got it
	offers       []*mOffer
}

// kept are the seats that a round keeps: as long as anybody may claim them.
func (r *mRound) kept() int {
	if slices.ContainsFunc(r.offers, func(o *mOffer) bool { return o.live && o.shared }) {
		return r.keeps
	}
	return 0
}

// reserved are the seats of a round that are on offer.
func (r *mRound) reserved() int {
	seats := r.kept()
	for _, o := range r.offers {
		if o.live && !o.shared {
			seats += o.seats
		}
	}
	return seats
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
	if len(e.in) > 0 {
		e.about = e.in[0]
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
	o := &mOffer{
		id: f.Offer, in: s, entry: e, round: r, seats: f.Party, shared: f.Shared, byHand: f.Staff, live: true, until: f.Until,
	}
	m.offers[o.id] = o
	r.tried, r.offers, s.offers = append(r.tried, e.ID), append(r.offers, o), append(s.offers, o)
	e.Status, e.Tries, e.PassedOver, e.about = waitlist.Offered, e.Tries+1, "", s
	return s.fits()
}

// kept moves the end of an offer: never forward, and not after it.
func (m *model) kept(f Fact) error {
	o := m.offers[f.Offer]
	if o == nil || !o.live || !f.At.Before(o.until) || !f.Until.After(o.until) {
		return fmt.Errorf("it may not be kept")
	}
	o.until = f.Until
	return nil
}

// givenUp are seats that a round keeps no longer, though some of its offers may be live still.
func (m *model) givenUp(f Fact, s *mSession) error {
	r := m.rounds[f.Round]
	if f.Party <= 0 || r.kept() < f.Party {
		return fmt.Errorf("the round keeps %d", r.kept())
	}
	r.keeps -= f.Party
	m.freed(s)
	return nil
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
		if !f.On && f.Why != waitlist.Unsendable.String() {
			o.round.tried = without(o.round.tried, e.ID) // it did nothing, and it was not for its member's sake
		}
	}
	if f.Why == waitlist.TooSlow.String() {
		m.owed[s.id]++ // it may fit what else is open
		s.mayDecide = max(s.mayDecide, 1)
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
