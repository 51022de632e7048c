package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestListAttendance_NewestFirstWithTotals(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia Meyer")
	day := 24 * time.Hour
	made := -time.Hour
	add := func(starts time.Time, status booking.Status, late bool) tenant.BookingID {
		made += time.Millisecond // so that ids sort in this order
		return studio.AddBooking(studio.AddSession(testkit.Session{Starts: starts}), testkit.Booking{
			Who: mia, Status: status, Late: late, Made: starts.Add(made),
		})
	}
	oldest := add(testkit.Noon.Add(-5*day), booking.Attended, false)
	noShow := add(testkit.Noon.Add(-4*day), booking.NoShow, false)
	late := add(testkit.Noon.Add(-3*day), booking.Cancelled, true)
	studio.SetPolicy(func(p *catalog.PolicyLayer) { p.CancellationWindow = new(time.Duration(0)) })
	inTime := add(testkit.Noon.Add(-3*day), booking.Cancelled, false) // at the same hour: the id decides
	studio.SetPolicy(func(p *catalog.PolicyLayer) { p.CancellationWindow = nil })
	open := add(testkit.Noon.Add(-2*day), booking.Confirmed, false)
	add(testkit.Noon.Add(-day), booking.Expired, false)
	add(testkit.Noon.Add(-day), booking.Pending, false)
	running := add(testkit.Noon, booking.Attended, false)
	add(testkit.Noon.Add(time.Microsecond), booking.Attended, false) // checked in early for what is to come
	add(testkit.Noon.Add(day), booking.Cancelled, true)
	want := []tenant.BookingID{running, open, inTime, late, noShow, oldest}

	q := bookings.AttendanceQuery{Member: mia.Member, Limit: 2}
	var got []tenant.BookingID
	for range want {
		page := expect.Value(studio.App.Bookings.ListAttendance(context.Background(), studio.Coach, q))(t)
		test.EqOp(t, 2, page.Attended)
		test.EqOp(t, 1, page.NoShows)
		test.EqOp(t, 1, page.LateCancelled)
		if len(page.Bookings) == 0 {
			break
		}
		for _, b := range page.Bookings {
			got = append(got, b.ID)
		}
		last := page.Bookings[len(page.Bookings)-1]
		q.BeforeStart, q.BeforeID = last.StartsAt, last.ID
	}
	test.Eq(t, want, got)

	test.Eq(t, bookings.Attendance{Bookings: []booking.Booking{}}, expect.Value(studio.App.Bookings.ListAttendance(
		context.Background(), studio.Coach, bookings.AttendanceQuery{Member: studio.AddMember("New").Member, Limit: 2},
	))(t))
	expect.Reason(t, fault.MemberNotFound)(studio.App.Bookings.ListAttendance(
		context.Background(), studio.Coach, bookings.AttendanceQuery{Member: testkit.NewID[tenant.MemberID](), Limit: 2},
	))
	// A role that may see its own things alone.
	expect.Reason(t, fault.MemberNotFound)(studio.App.Bookings.ListAttendance(
		context.Background(), testkit.SelfOnly(studio.AddMember("Noa")), bookings.AttendanceQuery{
			Member: mia.Member, Limit: 2,
		},
	))
}
