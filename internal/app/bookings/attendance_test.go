package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestListAttendance_NewestFirstWithTotals(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia Meyer")
	day := 24 * time.Hour
	made := -time.Hour
	add := func(starts time.Time, status booking.Status, late bool) tenant.BookingID {
		made += time.Millisecond // so that ids sort in this order
		return h.AddBooking(h.AddSession(testkit.Session{Starts: starts}), testkit.Booking{
			Who: mia, Status: status, Late: late, Made: starts.Add(made),
		})
	}
	oldest := add(testkit.Noon.Add(-5*day), booking.Attended, false)
	noShow := add(testkit.Noon.Add(-4*day), booking.NoShow, false)
	late := add(testkit.Noon.Add(-3*day), booking.Cancelled, true)
	h.SetPolicy(func(p *catalog.Policy) { p.Cancellation = new(time.Duration(0)) })
	inTime := add(testkit.Noon.Add(-3*day), booking.Cancelled, false) // at the same hour: the id decides
	h.SetPolicy(func(p *catalog.Policy) { p.Cancellation = nil })
	open := add(testkit.Noon.Add(-2*day), booking.Confirmed, false)
	add(testkit.Noon.Add(-day), booking.Expired, false)
	add(testkit.Noon.Add(-day), booking.Pending, false)
	running := add(testkit.Noon, booking.Attended, false)
	add(testkit.Noon.Add(2*time.Millisecond), booking.Attended, false) // checked in early for what is to come
	add(testkit.Noon.Add(day), booking.Cancelled, true)
	want := []tenant.BookingID{running, open, inTime, late, noShow, oldest}

	q := bookings.AttendanceQuery{Member: mia.Member, Limit: 2}
	var got []tenant.BookingID
	for range want {
		page, err := h.App.Bookings.ListAttendance(context.Background(), h.Coach, q)
		if err != nil {
			t.Fatal(err)
		}
		if counts := [3]int{page.Attended, page.NoShows, page.LateCancelled}; counts != [3]int{2, 1, 1} {
			t.Errorf("attended, no-shows, late: %v", counts)
		}
		if len(page.Bookings) == 0 {
			break
		}
		for _, b := range page.Bookings {
			got = append(got, b.ID)
		}
		last := page.Bookings[len(page.Bookings)-1]
		q.BeforeStart, q.BeforeID = last.StartsAt, last.ID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	empty, err := h.App.Bookings.ListAttendance(
		context.Background(), h.Coach, bookings.AttendanceQuery{Member: h.AddMember("New").Member, Limit: 2},
	)
	if diff := cmp.Diff(bookings.Attendance{Bookings: []booking.Booking{}}, empty); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	_, err = h.App.Bookings.ListAttendance(
		context.Background(), h.Coach, bookings.AttendanceQuery{Member: testkit.NewID[tenant.MemberID](), Limit: 2},
	)
	testkit.WantReason(t, err, fault.MemberNotFound)
	// A role that may see its own things alone.
	_, err = h.App.Bookings.ListAttendance(
		context.Background(), testkit.SelfOnly(h.AddMember("Noa")), bookings.AttendanceQuery{Member: mia.Member, Limit: 2},
	)
	testkit.WantReason(t, err, fault.MemberNotFound)
}
