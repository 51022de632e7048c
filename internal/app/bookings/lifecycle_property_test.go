package bookings_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/testkit"
)

// Whatever people do with their bookings, and in whatever order: each act answers with what is so afterwards, every
// invariant holds after each, and once all is over every seat, item, credit and count against a limit is back.
func TestBookings_KeepInvariants(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		l := testkit.NewLife(studio.OtherTenant())
		acts := l.Actions()
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(acts))), 6, 24).Draw(rt, "acts") {
			err := acts[name](rt)
			f := testkit.FaultOf(err)
			must.False(
				rt, err != nil && (f == nil || f.Kind == fault.Internal || f.Kind == fault.Unavailable),
				must.Sprintf("%s: %v", name, err),
			)
			l.WantSound(rt, name)
		}
		wantStatuses(l, rt)
		l.End(rt)
		l.WantSound(rt, "the end")
		l.WantNothingTaken(rt)
	})
}

// wantStatuses fails where a booking is not what the last answer about it said. A hold may have run out since.
func wantStatuses(l *testkit.Life, t *rapid.T) {
	for id, told := range l.Statuses {
		is := booking.Status(l.BookingStatus(id))
		test.False(
			t, is != told && (told != booking.Pending || is != booking.Expired),
			test.Sprintf("%s is %s, and was said to be %s", id, is, told),
		)
	}
}
