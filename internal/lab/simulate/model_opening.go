package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/waitlist"
)

// opens returns when members can first book a session.
func (s *modelSession) opens() time.Time { return s.starts.Add(-s.service.policy.AdvanceWindow) }

// bookable reports whether members can book a session now, if it has seats.
func (m *model) bookable(s *modelSession) bool {
	return !m.now.Before(s.opens()) && m.now.Before(s.starts.Add(-s.service.policy.BookingClosesBefore))
}

// bookingOpened takes in that a session is filled for who waited for its opening. If it has seats, a decision follows.
func (m *model) bookingOpened(s *modelSession) error {
	switch {
	case m.now.Before(s.opens()):
		return fmt.Errorf("it opens at %s", s.opens())
	case s.opened:
		return fmt.Errorf("it has opened before")
	}
	s.opened = true
	if open, unlimited := s.open(); (open > 0 || unlimited) && s.onSale() && m.now.Before(s.ends) &&
		s.service.waitlist.Enabled && len(m.waitingFor(s)) > 0 {
		s.opening = true
		m.seatsFreed(s)
	}
	return nil
}

// forEntries returns how many of the open seats entries can get in a round: half of them when booking opens, and never
// more in that round.
func (r *modelRound) forEntries(open int, by waitlist.Trigger) int {
	switch {
	case by == waitlist.ByOpening:
		return open - open/2
	case r != nil && r.opening:
		return max(min(open, r.most-r.taken-r.reservedSeats()), 0)
	}
	return open
}

// waitedForOpening reports whether entries have waited for a session to open, could get seats, and were passed by.
func (m *model) waitedForOpening(s *modelSession) bool {
	if s.opened || m.now.Before(s.opens()) || !s.published.Before(s.opens()) || !s.onSale() {
		return false
	}
	waited := slices.DeleteFunc(m.waitingFor(s), func(e *modelEntry) bool { return !e.CreatedAt.Before(s.opens()) })
	open, unlimited := s.open()
	return (open > 0 || unlimited) && m.now.Before(s.ends) &&
		len(m.expectedGrants(s, open-open/2, new(modelRound), waited, waitlist.ByOpening)) > 0
}

// checkOpenings checks, after a sweep, that no session was left out that has opened.
func (m *model) checkOpenings(now time.Time) error {
	m.now = now
	for _, s := range m.sessions {
		if m.waitedForOpening(s) {
			return fmt.Errorf("booking of session %s has opened, and nothing followed", short(s.id.UUID))
		}
	}
	return nil
}
