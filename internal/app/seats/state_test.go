package seats_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// What the operations of a batch request of a session is summed, so that each knows whether it could find it full.
func TestMayBeFull_SumsTheRequestsOfABatch(t *testing.T) {
	t.Parallel()
	state := seats.NewState(new(seats.Snapshots))()
	q := &engine.Query{Batch: new(pg.Batch), State: state}
	state.Load(q)
	one, other := tenant.SessionID{UUID: tenant.UUID{1}}, tenant.SessionID{UUID: tenant.UUID{2}}
	slot := booking.Slot{ID: one, Capacity: new(4), SeatsTaken: 1}
	seats.RequestSeats(q, one, 2)
	seats.RequestSeats(q, one, 1)
	seats.RequestSeats(q, other, 9)
	test.False(t, seats.MayBeFull(q, &slot), test.Sprint("three seats are open, and three are requested"))
	seats.RequestSeats(q, one, 1)
	test.True(t, seats.MayBeFull(q, &slot), test.Sprint("three seats are open, and four are requested"))
	for name, slot := range map[string]booking.Slot{
		"waitlist": {ID: other, Waiting: 1}, "holds": {ID: other, Holds: 1},
	} {
		test.True(t, seats.MayBeFull(q, &slot), test.Sprintf("a session with %s cannot be full", name))
	}
	test.False(t, seats.MayBeFull(q, &booking.Slot{ID: other}), test.Sprint("a session without a limit can be full"))
}
