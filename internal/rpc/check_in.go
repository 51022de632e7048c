package rpc

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// checkInService serves berth.v1.CheckInService.
type checkInService struct{ app *app.App }

func (s *checkInService) CheckIn(ctx context.Context, req *connect.Request[v1.CheckInRequest]) (*connect.Response[v1.CheckInResponse], error) {
	in, err := s.app.Bookings.CheckIn(ctx, caller(ctx), id[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CheckInResponse{Booking: bookingMessage(in.Booking), AlreadyCheckedIn: in.Already})
}

func (s *checkInService) UndoCheckIn(ctx context.Context, req *connect.Request[v1.UndoCheckInRequest]) (*connect.Response[v1.UndoCheckInResponse], error) {
	b, err := s.app.Bookings.UndoCheckIn(ctx, caller(ctx), id[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UndoCheckInResponse{Booking: bookingMessage(b)})
}

func (s *checkInService) SelfCheckIn(ctx context.Context, req *connect.Request[v1.SelfCheckInRequest]) (*connect.Response[v1.SelfCheckInResponse], error) {
	in, err := s.app.Bookings.SelfCheckIn(ctx, caller(ctx), id[tenant.SessionID](req.Msg.SessionId), presence(req.Msg))
	if err != nil {
		return nil, err
	}
	return reply(&v1.SelfCheckInResponse{Booking: bookingMessage(in.Booking), AlreadyCheckedIn: in.Already})
}

func (s *checkInService) GetQrToken(ctx context.Context, req *connect.Request[v1.GetQrTokenRequest]) (*connect.Response[v1.GetQrTokenResponse], error) {
	qr, err := s.app.Bookings.GetQRToken(ctx, caller(ctx), id[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetQrTokenResponse{Token: qr.Text, ExpireTime: timestamp(qr.Expires), RefreshTime: timestamp(qr.Refresh)})
}

func (s *checkInService) CreateDisplayUrl(ctx context.Context, req *connect.Request[v1.CreateDisplayUrlRequest]) (*connect.Response[v1.CreateDisplayUrlResponse], error) {
	link, err := s.app.Bookings.CreateDisplayURL(ctx, caller(ctx), id[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateDisplayUrlResponse{Url: link.URL, Token: link.Token, ExpireTime: timestamp(link.Expires)})
}

func (s *checkInService) GetDisplay(ctx context.Context, req *connect.Request[v1.GetDisplayRequest]) (*connect.Response[v1.GetDisplayResponse], error) {
	d, err := s.app.Bookings.GetDisplay(ctx, req.Msg.Token)
	if err != nil {
		return nil, err
	}
	return reply(displayMessage(d))
}

func (s *checkInService) ListAttendance(ctx context.Context, req *connect.Request[v1.ListAttendanceRequest]) (*connect.Response[v1.ListAttendanceResponse], error) {
	page, err := openPage[startCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	query := appbookings.AttendanceQuery{Member: id[tenant.MemberID](req.Msg.MemberId), Limit: page.Size + 1}
	if page.After != nil {
		query.BeforeStart, query.BeforeID = page.After.Start, tenant.BookingID{UUID: page.After.ID}
	}
	past, err := s.app.Bookings.ListAttendance(ctx, caller(ctx), query)
	if err != nil {
		return nil, err
	}
	bookings, next, err := cut(page, past.Bookings, func(b booking.Booking) startCursor { return startCursor{b.StartsAt, b.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListAttendanceResponse{
		Bookings: messages(bookings, bookingMessage), NextPageToken: next,
		Attended: int32(past.Attended), NoShows: int32(past.NoShows), LateCancelled: int32(past.LateCancelled),
	})
}
