package bookingapi

import (
	"context"
	"time"

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
	by, err := request.CallerWith(ctx, booking.CreateForOthers)
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
		response.Outcome = &v1.BookResponse_Booking{Booking: convert.BookingMessage(*result.Booking, s.Now())}
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
		Booking:        convert.BookingMessage(*cancelled.Booking, s.Now()),
		CreditRefunded: cancelled.Refunded, Late: cancelled.Late, Promoted: int32(cancelled.Promoted),
	}, cancelled.Result)
}

// GetBooking handles BookingService.GetBooking.
func (s *Bookings) GetBooking(ctx context.Context, req *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
	b, err := s.Service.GetBooking(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	messages, err := s.bookingMessages(ctx, b)
	if err != nil {
		return nil, err
	}
	return &v1.GetBookingResponse{Booking: messages[0]}, nil
}

// BatchGetBookings handles BookingService.BatchGetBookings.
func (s *Bookings) BatchGetBookings(
	ctx context.Context, req *v1.BatchGetBookingsRequest,
) (*v1.BatchGetBookingsResponse, error) {
	ids := make([]tenant.BookingID, len(req.BookingIds))
	for i, text := range req.BookingIds {
		ids[i] = convert.ID[tenant.BookingID](text)
	}
	found, missing, err := s.Service.BatchGetBookings(ctx, request.Caller(ctx), ids)
	if err != nil {
		return nil, err
	}
	messages, err := s.bookingMessages(ctx, found...)
	if err != nil {
		return nil, err
	}
	response := &v1.BatchGetBookingsResponse{Bookings: messages}
	for _, id := range missing {
		response.MissingIds = append(response.MissingIds, convert.IDText(id))
	}
	return response, nil
}

// UpdateBooking handles BookingService.UpdateBooking.
func (s *Bookings) UpdateBooking(ctx context.Context, req *v1.UpdateBookingRequest) (*v1.UpdateBookingResponse, error) {
	expect, err := convert.ExpectedVersion(req.Etag)
	if err != nil {
		return nil, err
	}
	b, err := s.Service.UpdateBooking(
		ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId), expect,
		editBooking(req.Booking, req.UpdateMask.GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.UpdateBookingResponse{Booking: convert.BookingMessage(b, s.Now())}, seats.Result{Booking: &b},
	)
}

// bookingCursor is a position in a list of bookings, and the position in the event log where the list began.
type bookingCursor struct {
	Start       time.Time
	Session, ID tenant.UUID
	End         string
}

// ListBookings handles BookingService.ListBookings.
func (s *Bookings) ListBookings(ctx context.Context, req *v1.ListBookingsRequest) (*v1.ListBookingsResponse, error) {
	page, err := convert.ParsePage[bookingCursor](req)
	if err != nil {
		return nil, err
	}
	caller, err := request.Scoped(ctx, req.Scope, bookings.ReadAny)
	if err != nil {
		return nil, err
	}
	query := bookings.BookingQuery{BookingFilter: filterValue(req.Filter), Limit: page.Limit()}
	if after := page.After; after != nil {
		query.AfterStart, query.AfterSession.UUID, query.AfterID.UUID = after.Start, after.Session, after.ID
	}
	list, err := s.Service.ListBookings(ctx, caller, query)
	if err != nil {
		return nil, err
	}
	if page.After != nil {
		list.End = page.After.End
	}
	found, next := convert.Paginate(page, list.Bookings, func(b booking.Booking) bookingCursor {
		return bookingCursor{b.StartsAt, b.Session.UUID, b.ID.UUID, list.End}
	})
	messages, err := s.bookingMessages(ctx, found...)
	if err != nil {
		return nil, err
	}
	return &v1.ListBookingsResponse{Bookings: messages, NextPageToken: next, EndCursor: list.End}, nil
}

// GetSessionRoster handles BookingService.GetSessionRoster.
func (s *Bookings) GetSessionRoster(
	ctx context.Context, req *v1.GetSessionRosterRequest,
) (*v1.GetSessionRosterResponse, error) {
	roster, err := s.Service.GetSessionRoster(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.SessionId), statusValues(req.Statuses)...,
	)
	if err != nil {
		return nil, err
	}
	messages, err := s.bookingMessages(ctx, roster.Bookings...)
	if err != nil {
		return nil, err
	}
	response := &v1.GetSessionRosterResponse{
		Bookings:   messages,
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
		ctx, &v1.MarkNoShowResponse{Booking: convert.BookingMessage(b, s.Now())}, seats.Result{Booking: &b},
	)
}

// UndoNoShow handles BookingService.UndoNoShow.
func (s *Bookings) UndoNoShow(ctx context.Context, req *v1.UndoNoShowRequest) (*v1.UndoNoShowResponse, error) {
	b, err := s.Service.UndoNoShow(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.UndoNoShowResponse{Booking: convert.BookingMessage(b, s.Now())}, seats.Result{Booking: &b},
	)
}
