package booking_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func TestView_ShowsAvailabilityOfSlot(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*booking.Slot)
		want   booking.Availability
	}{
		"seats are open":              {func(*booking.Slot) {}, booking.Available},
		"unlimited":                   {func(s *booking.Slot) { s.Capacity, s.SeatsTaken = nil, 99 }, booking.Available},
		"some held, one open":         {func(s *booking.Slot) { s.SeatsTaken, s.Holds = 9, 3 }, booking.Available},
		"full, and a hold may expire": {func(s *booking.Slot) { s.SeatsTaken, s.Holds = 10, 1 }, booking.Held},
		"full":                        {func(s *booking.Slot) { s.SeatsTaken = 10 }, booking.Taken},
		"blocked":                     {func(s *booking.Slot) { s.Blocked = true }, booking.OffSale},
		"blocked and full": {
			func(s *booking.Slot) { s.Blocked, s.SeatsTaken, s.Holds = true, 10, 1 }, booking.OffSale,
		},
		"a draft":   {func(s *booking.Slot) { s.State = catalog.Draft }, booking.OffSale},
		"cancelled": {func(s *booking.Slot) { s.State = catalog.Cancelled }, booking.OffSale},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openSlot()
			tt.change(&s)
			test.EqOp(t, tt.want, s.Availability())
		})
	}
}
