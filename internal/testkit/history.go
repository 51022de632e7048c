package testkit

import (
	"cmp"
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Booking describes a booking and what became of it. Zero values are a confirmed booking of one seat, online and now.
type Booking struct {
	Who     tenant.Caller // zero: a new member
	Status  booking.Status
	Party   int
	Channel catalog.Channel
	Late    bool // cancelled at the start of the session
	Made    time.Time
}

// AddBooking creates a booking and brings it into its status: the clock moves to when it was made and to when it
// ended, and back. Bookings that expire take other holds of the tenant with them.
func (s *Studio) AddBooking(session tenant.SessionID, b Booking) tenant.BookingID {
	s.T.Helper()
	ctx, now := context.Background(), s.Clock.Now()
	defer s.Clock.Set(now)
	if b.Who.Member.IsZero() {
		b.Who = s.AddMember("Member")
	}
	if !b.Made.IsZero() {
		s.Clock.Set(b.Made)
	}
	result := expect.Value(s.App.Bookings.Book(ctx, s.Owner, bookings.BookRequest{
		Session: session, Member: b.Who.Member, Party: cmp.Or(b.Party, 1), Channel: cmp.Or(b.Channel, catalog.Online),
		Hold: b.Status == booking.Pending || b.Status == booking.Expired, RefuseFull: true,
	}))(s.T)
	id, start := result.Booking.ID, result.Booking.StartsAt
	switch b.Status {
	case booking.Attended:
		s.Clock.Set(start)
		expect.OK(s.T)(s.CheckIn(s.Coach, id))
	case booking.NoShow:
		s.Clock.Set(start)
		expect.OK(s.T)(s.App.Bookings.MarkNoShow(ctx, s.Coach, id))
	case booking.Cancelled:
		if b.Late {
			s.Clock.Set(start)
		}
		expect.OK(s.T)(s.App.Bookings.CancelBooking(ctx, s.Owner, bookings.CancelRequest{ID: id, OverrideWindow: true}))
	case booking.Expired:
		s.Clock.Set(*result.Booking.HoldUntil)
		expect.OK(s.T)(s.App.Waitlists.ExpireHolds(ctx, s.Tenant))
	case booking.Pending, booking.Confirmed:
	}
	return id
}
