package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// AttendanceQuery asks for a member's past.
type AttendanceQuery struct {
	Member      tenant.MemberID
	BeforeStart time.Time // keyset: the last start and id of the page before
	BeforeID    tenant.BookingID
	Limit       int
}

// Attendance is what became of a member's bookings.
type Attendance struct {
	Bookings []booking.Booking // newest first
	// Counted over all of them, not over the page.
	Attended, NoShows, LateCancelled int
}

// ListAttendance reads it, for the sessions that have started.
func (s *Service) ListAttendance(ctx context.Context, caller tenant.Caller, q AttendanceQuery) (Attendance, error) {
	var who *booking.Member
	var past Attendance
	var count bookingdb.Attendance
	// Until is exclusive, and a session that starts now has started.
	until := s.engine.Now().Add(time.Microsecond)
	var batch pg.Batch
	bookingdb.FindBookingMember(&batch, caller.Tenant, q.Member, &who)
	bookingdb.ListOwnBookings(&batch, caller.Tenant, bookingdb.OwnBookings{
		Member: q.Member, Until: until, Newest: true, AfterStart: q.BeforeStart, AfterID: q.BeforeID, Limit: q.Limit,
		Statuses: []booking.Status{booking.Confirmed, booking.Attended, booking.NoShow, booking.Cancelled},
	}, &past.Bookings)
	bookingdb.CountAttendance(&batch, caller.Tenant, q.Member, until, &count)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return Attendance{}, err
	}
	if who == nil || !caller.CanAccess(q.Member) {
		return Attendance{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	past.Attended, past.NoShows, past.LateCancelled = count.Attended, count.NoShows, count.LateCancelled
	return past, nil
}
