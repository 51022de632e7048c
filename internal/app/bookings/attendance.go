package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// AttendanceQuery selects a page of a member's past bookings.
type AttendanceQuery struct {
	Member      tenant.MemberID
	BeforeStart time.Time // with BeforeID, the last booking of the previous page
	BeforeID    tenant.BookingID
	Limit       int
}

// Attendance is a member's past bookings and how many they attended.
type Attendance struct {
	Bookings []booking.Booking // one page, newest first
	// The counts are of all past bookings, not only of the page.
	Attended, NoShows, LateCancelled int
}

// ListAttendance reads the member's bookings in sessions that have started.
func (s *Service) ListAttendance(ctx context.Context, caller tenant.Caller, q AttendanceQuery) (Attendance, error) {
	var member *booking.Member
	var past Attendance
	var count bookingdb.Attendance
	// Until is exclusive, and a session that starts now has started. Postgres keeps microseconds.
	until := s.engine.Now().Add(time.Microsecond)
	var batch pg.Batch
	bookingdb.FindBookingMember(&batch, caller.Tenant, q.Member, &member)
	bookingdb.ListPastBookings(&batch, caller.Tenant, bookingdb.PastQuery{
		Member: q.Member, Until: until, BeforeStart: q.BeforeStart, BeforeID: q.BeforeID, Limit: q.Limit,
		Statuses: []booking.Status{booking.Confirmed, booking.Attended, booking.NoShow, booking.Cancelled},
	}, &past.Bookings)
	bookingdb.CountAttendance(&batch, caller.Tenant, q.Member, until, &count)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return Attendance{}, err
	}
	if member == nil || !caller.CanAccess(q.Member) {
		return Attendance{}, seats.ErrNoMember
	}
	past.Attended, past.NoShows, past.LateCancelled = count.Attended, count.NoShows, count.LateCancelled
	return past, nil
}
