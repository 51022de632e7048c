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

func (s *Bookings) CheckIn(
	ctx context.Context, req *connect.Request[v1.CheckInRequest],
) (*connect.Response[v1.CheckInResponse], error) {
	in, err := s.Bookings.CheckIn(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CheckInResponse{Booking: convert.BookingMessage(in.Booking), AlreadyCheckedIn: in.Already})
}

func (s *Bookings) UndoCheckIn(
	ctx context.Context, req *connect.Request[v1.UndoCheckInRequest],
) (*connect.Response[v1.UndoCheckInResponse], error) {
	b, err := s.Bookings.UndoCheckIn(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UndoCheckInResponse{Booking: convert.BookingMessage(b)})
}

func (s *Bookings) SelfCheckIn(
	ctx context.Context, req *connect.Request[v1.SelfCheckInRequest],
) (*connect.Response[v1.SelfCheckInResponse], error) {
	in, err := s.Bookings.SelfCheckIn(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.SessionId), presence(req.Msg),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.SelfCheckInResponse{
		Booking: convert.BookingMessage(in.Booking), AlreadyCheckedIn: in.Already,
	})
}

func (s *Bookings) GetQrToken(
	ctx context.Context, req *connect.Request[v1.GetQrTokenRequest],
) (*connect.Response[v1.GetQrTokenResponse], error) {
	qr, err := s.Bookings.GetQRToken(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetQrTokenResponse{
		Token: qr.Text, ExpireTime: convert.Timestamp(qr.Expires), RefreshTime: convert.Timestamp(qr.Refresh),
	})
}

func (s *Bookings) CreateDisplayUrl(
	ctx context.Context, req *connect.Request[v1.CreateDisplayUrlRequest],
) (*connect.Response[v1.CreateDisplayUrlResponse], error) {
	link, err := s.Bookings.CreateDisplayURL(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateDisplayUrlResponse{
		Url: link.URL, Token: link.Token, ExpireTime: convert.Timestamp(link.Expires),
	})
}

func (s *Bookings) GetDisplay(
	ctx context.Context, req *connect.Request[v1.GetDisplayRequest],
) (*connect.Response[v1.GetDisplayResponse], error) {
	d, err := s.Bookings.GetDisplay(ctx, req.Msg.Token)
	if err != nil {
		return nil, err
	}
	return convert.Reply(displayMessage(d))
}

func (s *Bookings) ListAttendance(
	ctx context.Context, req *connect.Request[v1.ListAttendanceRequest],
) (*connect.Response[v1.ListAttendanceResponse], error) {
	page, err := convert.OpenPage[convert.StartCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	query := bookings.AttendanceQuery{Member: convert.ID[tenant.MemberID](req.Msg.MemberId), Limit: page.Size + 1}
	if page.After != nil {
		query.BeforeStart, query.BeforeID = page.After.Start, tenant.BookingID{UUID: page.After.ID}
	}
	past, err := s.Bookings.ListAttendance(ctx, request.Caller(ctx), query)
	if err != nil {
		return nil, err
	}
	bookings, next, err := convert.Cut(page, past.Bookings, func(b booking.Booking) convert.StartCursor {
		return convert.StartCursor{Start: b.StartsAt, ID: b.ID.UUID}
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListAttendanceResponse{
		Bookings: convert.Messages(bookings, convert.BookingMessage), NextPageToken: next,
		Attended: int32(past.Attended), NoShows: int32(past.NoShows), LateCancelled: int32(past.LateCancelled),
	})
}
