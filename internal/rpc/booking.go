package rpc

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// bookingService serves berth.v1.BookingService.
type bookingService struct{ app *app.App }

func (s *bookingService) Book(ctx context.Context, req *connect.Request[v1.BookRequest]) (*connect.Response[v1.BookResponse], error) {
	by, m := caller(ctx), req.Msg
	member := id[tenant.MemberID](m.MemberId)
	if !member.IsZero() && member != by.Member {
		if err := must(ctx, "booking.create_for_others"); err != nil {
			return nil, err
		}
	}
	channel, err := bookingChannel(req.Header(), m.Channel)
	if err != nil {
		return nil, err
	}
	place, err := s.app.Bookings.Book(ctx, by, appbookings.BookRequest{
		Session: id[tenant.SessionID](m.SessionId), Member: member, Party: max(int(m.PartySize), 1),
		Subscription: id[tenant.SubscriptionID](m.SubscriptionId), Channel: channel,
		ExternalRef: m.ExternalRef, Note: m.Note, NoWaitlist: m.NoWaitlist,
	})
	if err != nil {
		return nil, err
	}
	answer := &v1.BookResponse{}
	if place.Booking != nil {
		answer.Outcome = &v1.BookResponse_Booking{Booking: bookingMessage(*place.Booking)}
	} else {
		answer.Outcome = &v1.BookResponse_Entry{Entry: entryMessage(*place.Entry)}
	}
	return placed(answer, place)
}

func (s *bookingService) CancelBooking(ctx context.Context, req *connect.Request[v1.CancelBookingRequest]) (*connect.Response[v1.CancelBookingResponse], error) {
	up, err := s.app.Bookings.CancelBooking(ctx, caller(ctx), appbookings.CancelRequest{
		ID: id[tenant.BookingID](req.Msg.BookingId), Reason: req.Msg.Reason, Notify: true,
	})
	if err != nil {
		return nil, err
	}
	answer := &v1.CancelBookingResponse{CreditRefunded: up.Refunded, Late: up.Late, Promoted: int32(up.Promoted)}
	if up.Booking != nil {
		answer.Outcome = &v1.CancelBookingResponse_Booking{Booking: bookingMessage(*up.Booking)}
	} else {
		answer.Outcome = &v1.CancelBookingResponse_Entry{Entry: entryMessage(*up.Entry)}
	}
	return placed(answer, up.Place)
}

func (s *bookingService) AdminCancelBooking(ctx context.Context, req *connect.Request[v1.AdminCancelBookingRequest]) (*connect.Response[v1.AdminCancelBookingResponse], error) {
	up, err := s.app.Bookings.CancelBooking(ctx, caller(ctx), appbookings.CancelRequest{
		ID: id[tenant.BookingID](req.Msg.BookingId), Reason: req.Msg.Reason, Notify: req.Msg.Notify == nil || *req.Msg.Notify,
	})
	if err != nil {
		return nil, err
	}
	answer := &v1.AdminCancelBookingResponse{CreditRefunded: up.Refunded, Late: up.Late, Promoted: int32(up.Promoted)}
	if up.Booking != nil {
		answer.Outcome = &v1.AdminCancelBookingResponse_Booking{Booking: bookingMessage(*up.Booking)}
	} else {
		answer.Outcome = &v1.AdminCancelBookingResponse_Entry{Entry: entryMessage(*up.Entry)}
	}
	return placed(answer, up.Place)
}

func (s *bookingService) GetBooking(ctx context.Context, req *connect.Request[v1.GetBookingRequest]) (*connect.Response[v1.GetBookingResponse], error) {
	b, err := s.app.Bookings.GetBooking(ctx, caller(ctx), id[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetBookingResponse{Booking: bookingMessage(b)})
}

func (s *bookingService) ListMyBookings(ctx context.Context, req *connect.Request[v1.ListMyBookingsRequest]) (*connect.Response[v1.ListMyBookingsResponse], error) {
	page, err := openPage[startCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	query := appbookings.MyBookings{Member: id[tenant.MemberID](req.Msg.MemberId), Limit: page.Size + 1}
	if within := req.Msg.StartsWithin; within != nil {
		query.From, query.Until = instant(within.Start), instant(within.End)
	}
	for _, status := range req.Msg.Statuses {
		query.Statuses = append(query.Statuses, word[booking.Status](bookingStatusPrefix, status))
	}
	if page.After != nil {
		query.AfterStart, query.AfterID = page.After.Start, tenant.BookingID{UUID: page.After.ID}
	}
	bookings, entries, err := s.app.Bookings.ListMyBookings(ctx, caller(ctx), query)
	if err != nil {
		return nil, err
	}
	bookings, next, err := cut(page, bookings, func(b booking.Booking) startCursor { return startCursor{b.StartsAt, b.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListMyBookingsResponse{
		Bookings: messages(bookings, bookingMessage), Entries: messages(entries, entryMessage), NextPageToken: next,
	})
}

func (s *bookingService) ListRoster(ctx context.Context, req *connect.Request[v1.ListRosterRequest]) (*connect.Response[v1.ListRosterResponse], error) {
	roster, err := s.app.Bookings.ListRoster(ctx, caller(ctx), id[tenant.SessionID](req.Msg.SessionId), req.Msg.IncludeInactive)
	if err != nil {
		return nil, err
	}
	answer := &v1.ListRosterResponse{
		Bookings: messages(roster.Bookings, bookingMessage), Entries: messages(roster.Entries, entryMessage),
		SeatsTaken: int32(roster.Slot.SeatsTaken),
	}
	if roster.Slot.Capacity != nil {
		answer.Capacity = new(int32(*roster.Slot.Capacity))
	}
	return reply(answer)
}

func (s *bookingService) MarkNoShow(ctx context.Context, req *connect.Request[v1.MarkNoShowRequest]) (*connect.Response[v1.MarkNoShowResponse], error) {
	b, err := s.app.Bookings.MarkNoShow(ctx, caller(ctx), id[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return placed(&v1.MarkNoShowResponse{Booking: bookingMessage(b)}, seats.Place{Booking: &b})
}

func (s *bookingService) UndoNoShow(ctx context.Context, req *connect.Request[v1.UndoNoShowRequest]) (*connect.Response[v1.UndoNoShowResponse], error) {
	b, err := s.app.Bookings.UndoNoShow(ctx, caller(ctx), id[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return placed(&v1.UndoNoShowResponse{Booking: bookingMessage(b)}, seats.Place{Booking: &b})
}

// placed answers with the headers that tell what became of a place.
func placed[A any](answer *A, p seats.Place) (*connect.Response[A], error) { //nolint:unparam // handlers return it as it is
	status := "WAITLISTED"
	switch {
	case p.Booking != nil:
		status = string(p.Booking.Status)
	case p.Entry.Position == 0:
		status = string(p.Entry.Status)
	}
	res := connect.NewResponse(answer)
	setBookingHeaders(res.Header(), status, p.Repeated)
	return res, nil
}

// must refuses a caller who lacks a second permission.
func must(ctx context.Context, permission string) error {
	ok, err := may(ctx, permission)
	if err == nil && !ok {
		err = fault.New(fault.PermissionDenied, fault.Denied, "Your roles do not allow that.").With("permission", permission)
	}
	return err
}
