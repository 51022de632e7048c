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

// AttendanceQuery selects a page of a member's past bookings. All conditions that are set must match.
type AttendanceQuery struct {
	Member      tenant.MemberID
	From, Until time.Time        // of the session's start, half-open; zero: any
	Statuses    []booking.Status // empty: all but holds
	Service     tenant.ServiceID
	Location    tenant.LocationID
	BeforeStart time.Time // with BeforeID, the last booking of the previous page
	BeforeID    tenant.BookingID
	Limit       int
}

// Attendance is a member's past bookings and how many they attended.
type Attendance struct {
	Bookings []booking.Booking // one page, newest first
	// The counts are of all that the query selects, not only of the page.
	Attended, NoShows, LateCancelled int
}

// ListAttendance reads the member's bookings in sessions that have started.
func (s *Service) ListAttendance(ctx context.Context, caller tenant.Caller, q AttendanceQuery) (Attendance, error) {
	var member *booking.Member
	var past Attendance
	var count bookingdb.Attendance
	// Until is exclusive, and a session that starts now has started. Postgres keeps microseconds.
	until := s.engine.Now().Add(time.Microsecond)
	if !q.Until.IsZero() && q.Until.Before(until) {
		until = q.Until
	}
	filter := bookingdb.PastFilter{
		Member: q.Member, Statuses: q.Statuses, From: q.From, Until: until, Service: q.Service, Location: q.Location,
	}
	if len(filter.Statuses) == 0 {
		filter.Statuses = []booking.Status{booking.Confirmed, booking.Attended, booking.NoShow, booking.Cancelled}
	}
	var batch pg.Batch
	bookingdb.FindBookingMember(&batch, caller.Tenant, q.Member, &member)
	bookingdb.ListPastBookings(&batch, caller.Tenant, bookingdb.PastQuery{
		PastFilter: filter, BeforeStart: q.BeforeStart, BeforeID: q.BeforeID, Limit: q.Limit,
	}, &past.Bookings)
	bookingdb.CountAttendance(&batch, caller.Tenant, filter, &count)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return Attendance{}, err
	}
	if member == nil || !caller.CanAccess(q.Member) {
		return Attendance{}, seats.ErrNoMember
	}
	past.Attended, past.NoShows, past.LateCancelled = count.Attended, count.NoShows, count.LateCancelled
	return past, nil
}
