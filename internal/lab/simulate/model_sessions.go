package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

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

func (s *mSession) open() (seats int, unlimited bool) {
	if s.capacity == nil {
		return 0, true
	}
	return *s.capacity - s.seats(), false
}

func (s *mSession) onSale() bool { return !s.off && !s.blocked }

func (s *mSession) fits() error {
	if open, unlimited := s.open(); open < 0 && !unlimited {
		return fmt.Errorf("the session is oversold by %d", -open)
	}
	return nil
}

// freed notes that seats of a session are free: it must be decided about them.
func (m *model) freed(s *mSession) {
	m.owed[s.id]++
	s.mayDecide++
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
