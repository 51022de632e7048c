package bookingapi

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// CheckIn handles CheckInService.CheckIn.
func (s *Bookings) CheckIn(
	ctx context.Context, req *connect.Request[v1.CheckInRequest],
) (*connect.Response[v1.CheckInResponse], error) {
	result, err := s.Service.CheckIn(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CheckInResponse{
		Booking: convert.BookingMessage(result.Booking), AlreadyCheckedIn: result.Already,
	})
}

// UndoCheckIn handles CheckInService.UndoCheckIn.
func (s *Bookings) UndoCheckIn(
	ctx context.Context, req *connect.Request[v1.UndoCheckInRequest],
) (*connect.Response[v1.UndoCheckInResponse], error) {
	b, err := s.Service.UndoCheckIn(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UndoCheckInResponse{Booking: convert.BookingMessage(b)})
}

// SelfCheckIn handles CheckInService.SelfCheckIn.
func (s *Bookings) SelfCheckIn(
	ctx context.Context, req *connect.Request[v1.SelfCheckInRequest],
) (*connect.Response[v1.SelfCheckInResponse], error) {
	result, err := s.Service.SelfCheckIn(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.SessionId), presenceValue(req.Msg),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.SelfCheckInResponse{
		Booking: convert.BookingMessage(result.Booking), AlreadyCheckedIn: result.Already,
	})
}

// GetQrToken handles CheckInService.GetQrToken.
func (s *Bookings) GetQrToken(
	ctx context.Context, req *connect.Request[v1.GetQrTokenRequest],
) (*connect.Response[v1.GetQrTokenResponse], error) {
	qr, err := s.Service.GetQRToken(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetQrTokenResponse{
		Token: qr.Text, ExpireTime: convert.Timestamp(qr.Expires), RefreshTime: convert.Timestamp(qr.Refresh),
	})
}

// CreateDisplayUrl handles CheckInService.CreateDisplayUrl.
func (s *Bookings) CreateDisplayUrl(
	ctx context.Context, req *connect.Request[v1.CreateDisplayUrlRequest],
) (*connect.Response[v1.CreateDisplayUrlResponse], error) {
	link, err := s.Service.CreateDisplayURL(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateDisplayUrlResponse{
		Url: link.URL, Token: link.Token, ExpireTime: convert.Timestamp(link.Expires),
	})
}

// GetDisplay handles CheckInService.GetDisplay.
func (s *Bookings) GetDisplay(
	ctx context.Context, req *connect.Request[v1.GetDisplayRequest],
) (*connect.Response[v1.GetDisplayResponse], error) {
	d, err := s.Service.GetDisplay(ctx, req.Msg.Token)
	if err != nil {
		return nil, err
	}
	return convert.Response(displayMessage(d))
}

// ListAttendance handles CheckInService.ListAttendance.
func (s *Bookings) ListAttendance(
	ctx context.Context, req *connect.Request[v1.ListAttendanceRequest],
) (*connect.Response[v1.ListAttendanceResponse], error) {
	page, err := convert.ParsePage[convert.StartCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	query := bookings.AttendanceQuery{Member: convert.ID[tenant.MemberID](req.Msg.MemberId), Limit: page.Size + 1}
	if page.After != nil {
		query.BeforeStart, query.BeforeID = page.After.Start, tenant.BookingID{UUID: page.After.ID}
	}
	past, err := s.Service.ListAttendance(ctx, request.Caller(ctx), query)
	if err != nil {
		return nil, err
	}
	bookings, next, err := convert.Paginate(page, past.Bookings, func(b booking.Booking) convert.StartCursor {
		return convert.StartCursor{Start: b.StartsAt, ID: b.ID.UUID}
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListAttendanceResponse{
		Bookings: convert.Messages(bookings, convert.BookingMessage), NextPageToken: next,
		Attended: int32(past.Attended), NoShows: int32(past.NoShows), LateCancelled: int32(past.LateCancelled),
	})
}
