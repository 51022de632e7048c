package booking_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestView_ShowsAvailabilityOfSlot(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		differ set
		want   booking.Availability
	}{
		"seats are open":              {nil, booking.Available},
		"unlimited":                   {set{"Capacity": nil, "SeatsTaken": 99}, booking.Available},
		"some held, one open":         {set{"SeatsTaken": 9, "Holds": 3}, booking.Available},
		"full, and a hold may expire": {set{"SeatsTaken": 10, "Holds": 1}, booking.Held},
		"full":                        {set{"SeatsTaken": 10}, booking.Taken},
		"blocked":                     {set{"Blocked": true}, booking.OffSale},
		"blocked and full": {
			set{"Blocked": true, "SeatsTaken": 10, "Holds": 1}, booking.OffSale,
		},
		"a draft":   {set{"State": catalog.Draft}, booking.OffSale},
		"cancelled": {set{"State": catalog.Cancelled}, booking.OffSale},
	} {
		test.EqOp(t, tt.want, vary.From(openSlot(), tt.differ).Availability(), test.Sprint(name))
	}
}
