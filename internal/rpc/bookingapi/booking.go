package bookingapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// Book handles BookingService.Book.
func (s *Bookings) Book(ctx context.Context, req *v1.BookRequest) (*v1.BookResponse, error) {
	by, err := request.CallerWith(ctx, bookings.CreateForOthers)
	if err != nil {
		return nil, err
	}
	channel, err := convert.BookingChannel(request.Header(ctx), req.Channel)
	if err != nil {
		return nil, err
	}
	book := bookRequestValue(req)
	book.Channel = channel
	result, err := s.Service.Book(ctx, by, book)
	if err != nil {
		return nil, err
	}
	response := &v1.BookResponse{}
	if result.Booking != nil {
		response.Outcome = &v1.BookResponse_Booking{Booking: convert.BookingMessage(*result.Booking)}
	} else {
		response.Outcome = &v1.BookResponse_Entry{Entry: convert.EntryMessage(*result.Entry)}
	}
	return convert.BookingResponse(ctx, response, result)
}

// CancelBooking handles BookingService.CancelBooking.
func (s *Bookings) CancelBooking(ctx context.Context, req *v1.CancelBookingRequest) (*v1.CancelBookingResponse, error) {
	if req.OverrideWindow || req.Notify != nil {
		if err := request.RequirePermission(ctx, bookings.CancelAny); err != nil {
			return nil, err
		}
	}
	cancelled, err := s.Service.CancelBooking(ctx, request.Caller(ctx), cancelRequestValue(req))
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(ctx, &v1.CancelBookingResponse{
		Booking:        convert.BookingMessage(*cancelled.Booking),
		CreditRefunded: cancelled.Refunded, Late: cancelled.Late, Promoted: int32(cancelled.Promoted),
	}, cancelled.Result)
}

// GetBooking handles BookingService.GetBooking.
func (s *Bookings) GetBooking(ctx context.Context, req *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
	b, err := s.Service.GetBooking(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	return &v1.GetBookingResponse{Booking: convert.BookingMessage(b)}, nil
}

// ListMyBookings handles BookingService.ListMyBookings.
func (s *Bookings) ListMyBookings(
	ctx context.Context, req *v1.ListMyBookingsRequest,
) (*v1.ListMyBookingsResponse, error) {
	page, err := convert.ParsePage[convert.StartCursor](req)
	if err != nil {
		return nil, err
	}
	query := bookings.MyBookingsQuery{Member: convert.ID[tenant.MemberID](req.MemberId), Limit: page.Limit()}
	if within := req.StartsWithin; within != nil {
		query.From, query.Until = convert.Time(within.Start), convert.Time(within.End)
	}
	for _, status := range req.Statuses {
		query.Statuses = append(query.Statuses, convert.EnumName[booking.Status](convert.BookingStatusPrefix, status))
	}
	if page.After != nil {
		query.AfterStart, query.AfterID = page.After.Start, tenant.BookingID{UUID: page.After.ID}
	}
	bookings, entries, err := s.Service.ListMyBookings(ctx, request.Caller(ctx), query)
	if err != nil {
		return nil, err
	}
	bookings, next := convert.Paginate(page, bookings, func(b booking.Booking) convert.StartCursor {
		return convert.StartCursor{Start: b.StartsAt, ID: b.ID.UUID}
	})
	return &v1.ListMyBookingsResponse{
		Bookings: convert.Messages(bookings, convert.BookingMessage),
		Entries:  convert.Messages(entries, convert.EntryMessage), NextPageToken: next,
	}, nil
}

// GetSessionRoster handles BookingService.GetSessionRoster.
func (s *Bookings) GetSessionRoster(
	ctx context.Context, req *v1.GetSessionRosterRequest,
) (*v1.GetSessionRosterResponse, error) {
	roster, err := s.Service.ListRoster(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.SessionId), req.IncludeInactive,
	)
	if err != nil {
		return nil, err
	}
	response := &v1.GetSessionRosterResponse{
		Bookings:   convert.Messages(roster.Bookings, convert.BookingMessage),
		Entries:    convert.Messages(roster.Entries, convert.EntryMessage),
		SeatsTaken: int32(roster.Slot.SeatsTaken),
	}
	if roster.Slot.Capacity != nil {
		response.Capacity = new(int32(*roster.Slot.Capacity))
	}
	return response, nil
}

// MarkNoShow handles BookingService.MarkNoShow.
func (s *Bookings) MarkNoShow(ctx context.Context, req *v1.MarkNoShowRequest) (*v1.MarkNoShowResponse, error) {
	b, err := s.Service.MarkNoShow(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.MarkNoShowResponse{Booking: convert.BookingMessage(b)}, seats.Result{Booking: &b},
	)
}

// UndoNoShow handles BookingService.UndoNoShow.
func (s *Bookings) UndoNoShow(ctx context.Context, req *v1.UndoNoShowRequest) (*v1.UndoNoShowResponse, error) {
	b, err := s.Service.UndoNoShow(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.UndoNoShowResponse{Booking: convert.BookingMessage(b)}, seats.Result{Booking: &b},
	)
}
