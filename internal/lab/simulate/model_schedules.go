package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

type modelSession struct {
	id                      tenant.SessionID
	service                 *service
	starts, ends            time.Time
	capacity                *int
	cancelled, blocked      bool
	bookings                []*modelBooking
	offers                  []*modelOffer
	rounds                  []*modelRound
	localDate, localTime    string // day and time of the start at the location
	isoYear, isoWeek        int
	coach                   tenant.MemberID
	decisions, maxDecisions int // in one transaction
	// The round of the last decision, if it has one, and the entries that it passed over for a reason that can go.
	lastRound *modelRound
	passed    []*modelEntry
	// When it was published, and whether who waited for booking to open has got seats, or gets them now.
	published       time.Time
	opened, opening bool
}

// seats returns the seats that bookings take, offers reserve, and rounds keep for the first to claim.
func (s *modelSession) seats() (taken int) {
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
		taken += r.keptSeats()
	}
	return taken
}

func (s *modelSession) open() (seats int, unlimited bool) {
	if s.capacity == nil {
		return 0, true
	}
	return *s.capacity - s.seats(), false
}

// fillsUntil returns until when entries can get seats: until booking closes, or, once it has, for a while after the
// start. A single seat is given for another while than those of a class, and not before the start once booking closed.
func (s *modelSession) fillsUntil(now time.Time) time.Time {
	until := s.starts.Add(-s.service.policy.BookingClosesBefore)
	late, single := s.fillsLate()
	if late > 0 && !until.After(now) && (!single || !now.Before(s.starts)) {
		until = s.starts.Add(late)
	}
	if s.ends.Before(until) {
		until = s.ends
	}
	return until
}

func (s *modelSession) fillsLate() (late time.Duration, single bool) {
	if s.capacity != nil && *s.capacity == 1 {
		return s.service.waitlist.FillAfterStartSingle, true
	}
	return s.service.waitlist.FillAfterStart, false
}

func (s *modelSession) onSale() bool { return !s.cancelled && !s.blocked }

func (s *modelSession) checkCapacity() error {
	if open, unlimited := s.open(); open < 0 && !unlimited {
		return fmt.Errorf("the session is oversold by %d", -open)
	}
	return nil
}

// seatsFreed records that seats of a session are free. A decision about them must follow.
func (m *model) seatsFreed(s *modelSession) {
	m.undecided[s.id]++
	s.maxDecisions++
}

func (m *model) sessionCancelled(s *modelSession) error {
	s.cancelled = true
	if n := s.seats(); n > 0 {
		return fmt.Errorf("%d seats are still taken", n)
	}
	for _, e := range m.entries {
		if slices.Contains(e.sessions, s) {
			e.sessions = without(e.sessions, s)
		}
	}
	return nil
}
