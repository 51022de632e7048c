package bookingapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
)

// CheckIn handles CheckInService.CheckIn.
func (s *Bookings) CheckIn(ctx context.Context, req *v1.CheckInRequest) (*v1.CheckInResponse, error) {
	result, err := s.Service.CheckIn(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	return &v1.CheckInResponse{
		Booking: convert.BookingMessage(result.Booking, s.Now()), AlreadyCheckedIn: result.Already,
	}, nil
}

// UndoCheckIn handles CheckInService.UndoCheckIn.
func (s *Bookings) UndoCheckIn(ctx context.Context, req *v1.UndoCheckInRequest) (*v1.UndoCheckInResponse, error) {
	b, err := s.Service.UndoCheckIn(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	return &v1.UndoCheckInResponse{Booking: convert.BookingMessage(b, s.Now())}, nil
}

// SelfCheckIn handles CheckInService.SelfCheckIn.
func (s *Bookings) SelfCheckIn(ctx context.Context, req *v1.SelfCheckInRequest) (*v1.SelfCheckInResponse, error) {
	result, err := s.Service.SelfCheckIn(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.SessionId), presenceValue(req),
	)
	if err != nil {
		return nil, err
	}
	return &v1.SelfCheckInResponse{
		Booking: convert.BookingMessage(result.Booking, s.Now()), AlreadyCheckedIn: result.Already,
	}, nil
}

// GetQrToken handles CheckInService.GetQrToken.
func (s *Bookings) GetQrToken(ctx context.Context, req *v1.GetQrTokenRequest) (*v1.GetQrTokenResponse, error) {
	qr, err := s.Service.GetQRToken(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.SessionId))
	if err != nil {
		return nil, err
	}
	return &v1.GetQrTokenResponse{
		Token: qr.Text, ExpireTime: convert.Timestamp(qr.Expires), RefreshTime: convert.Timestamp(qr.Refresh),
	}, nil
}

// CreateDisplayLink handles CheckInService.CreateDisplayLink.
func (s *Bookings) CreateDisplayLink(
	ctx context.Context, req *v1.CreateDisplayLinkRequest,
) (*v1.CreateDisplayLinkResponse, error) {
	link, err := s.Service.CreateDisplayLink(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.SessionId))
	if err != nil {
		return nil, err
	}
	messages, err := displayLinkMessages(ctx, link.Link)
	if err != nil {
		return nil, err
	}
	return &v1.CreateDisplayLinkResponse{DisplayLink: messages[0], Url: link.URL, Token: link.Token}, nil
}

// ListDisplayLinks handles CheckInService.ListDisplayLinks.
func (s *Bookings) ListDisplayLinks(
	ctx context.Context, req *v1.ListDisplayLinksRequest,
) (*v1.ListDisplayLinksResponse, error) {
	links, err := s.Service.ListDisplayLinks(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.SessionId))
	if err != nil {
		return nil, err
	}
	messages, err := displayLinkMessages(ctx, links...)
	if err != nil {
		return nil, err
	}
	return &v1.ListDisplayLinksResponse{DisplayLinks: messages}, nil
}

// RevokeDisplayLink handles CheckInService.RevokeDisplayLink.
func (s *Bookings) RevokeDisplayLink(
	ctx context.Context, req *v1.RevokeDisplayLinkRequest,
) (*v1.RevokeDisplayLinkResponse, error) {
	link, err := s.Service.RevokeDisplayLink(
		ctx, request.Caller(ctx), convert.ID[tenant.DisplayLinkID](req.DisplayLinkId),
	)
	if err != nil {
		return nil, err
	}
	messages, err := displayLinkMessages(ctx, link)
	if err != nil {
		return nil, err
	}
	return &v1.RevokeDisplayLinkResponse{DisplayLink: messages[0]}, nil
}

// displayLinkMessages converts links, with the names of those who created and revoked them.
func displayLinkMessages(ctx context.Context, links ...checkin.DisplayLink) ([]*v1.DisplayLink, error) {
	var actors []string
	for _, l := range links {
		actors = append(actors, l.CreatedBy, l.RevokedBy)
	}
	names, err := request.ActorNames(ctx, actors...)
	if err != nil {
		return nil, err
	}
	return convert.Messages(links, func(l checkin.DisplayLink) *v1.DisplayLink {
		return displayLinkMessage(l, names)
	}), nil
}

// GetCheckInDisplay handles CheckInService.GetCheckInDisplay.
func (s *Bookings) GetCheckInDisplay(
	ctx context.Context, req *v1.GetCheckInDisplayRequest,
) (*v1.GetCheckInDisplayResponse, error) {
	d, err := s.Service.GetCheckInDisplay(ctx, req.Token)
	if err != nil {
		return nil, err
	}
	return displayMessage(d), nil
}

// ListAttendance handles CheckInService.ListAttendance.
func (s *Bookings) ListAttendance(
	ctx context.Context, req *v1.ListAttendanceRequest,
) (*v1.ListAttendanceResponse, error) {
	page, err := convert.ParsePage[convert.StartCursor](req)
	if err != nil {
		return nil, err
	}
	query := attendanceQueryValue(req.GetFilter())
	query.Member, query.Limit = convert.ID[tenant.MemberID](req.MemberId), page.Limit()
	if page.After != nil {
		query.BeforeStart, query.BeforeID = page.After.Start, tenant.BookingID{UUID: page.After.ID}
	}
	past, err := s.Service.ListAttendance(ctx, request.Caller(ctx), query)
	if err != nil {
		return nil, err
	}
	bookings, next := convert.Paginate(page, past.Bookings, func(b booking.Booking) convert.StartCursor {
		return convert.StartCursor{Start: b.StartsAt, ID: b.ID.UUID}
	})
	messages, err := s.bookingMessages(ctx, bookings...)
	if err != nil {
		return nil, err
	}
	return &v1.ListAttendanceResponse{
		Bookings: messages, NextPageToken: next,
		Attended: int32(past.Attended), NoShows: int32(past.NoShows), LateCancelled: int32(past.LateCancelled),
	}, nil
}

func attendanceQueryValue(f *v1.AttendanceFilter) bookings.AttendanceQuery {
	return bookings.AttendanceQuery{
		From: convert.Time(f.GetStartsWithin().GetStart()), Until: convert.Time(f.GetStartsWithin().GetEnd()),
		Statuses: statusValues(f.GetStatuses()),
		Service:  convert.ID[tenant.ServiceID](f.GetServiceId()), Location: convert.ID[tenant.LocationID](f.GetLocationId()),
	}
}
