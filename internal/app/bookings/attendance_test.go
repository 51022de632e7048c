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

	first, other := studio.AddService(catalog.Service{Name: "Other"}), studio.AddLocation(catalog.Location{Name: "Pier 2"})
	elsewhere := studio.AddBooking(studio.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(-6 * day), Service: first, Location: other,
	}), testkit.Booking{Who: mia, Status: booking.NoShow, Made: testkit.Noon.Add(-7 * day)})
	for name, tt := range map[string]struct {
		query bookings.AttendanceQuery
		want  []tenant.BookingID
		// How many attended, did not come, and cancelled late.
		counts [3]int
	}{
		"since": {
			bookings.AttendanceQuery{From: testkit.Noon.Add(-2 * day)}, []tenant.BookingID{running, open}, [3]int{1},
		},
		"until": {
			bookings.AttendanceQuery{Until: testkit.Noon.Add(-5 * day)}, []tenant.BookingID{elsewhere}, [3]int{0, 1},
		},
		"so far": {bookings.AttendanceQuery{From: testkit.Noon, Until: testkit.Noon.Add(9 * day)}, want[:1], [3]int{1}},
		"status": {
			bookings.AttendanceQuery{Statuses: []booking.Status{booking.NoShow}}, []tenant.BookingID{noShow, elsewhere},
			[3]int{0, 2},
		},
		"service":  {bookings.AttendanceQuery{Service: first}, []tenant.BookingID{elsewhere}, [3]int{0, 1}},
		"location": {bookings.AttendanceQuery{Location: studio.Location}, want, [3]int{2, 1, 1}},
	} {
		tt.query.Member, tt.query.Limit = mia.Member, 10
		page := expect.Value(studio.App.Bookings.ListAttendance(t.Context(), studio.Coach, tt.query))(t)
		var ids []tenant.BookingID
		for _, b := range page.Bookings {
			ids = append(ids, b.ID)
		}
		test.Eq(t, tt.want, ids, test.Sprint(name))
		test.EqOp(t, tt.counts, [3]int{page.Attended, page.NoShows, page.LateCancelled}, test.Sprint(name))
	}

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
