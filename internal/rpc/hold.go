package rpc

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// What BookingService does for slots that are held, paid for, and moved.

func (s *bookingService) HoldBooking(ctx context.Context, req *connect.Request[v1.HoldBookingRequest]) (*connect.Response[v1.HoldBookingResponse], error) {
	by, m := caller(ctx), req.Msg
	member := id[tenant.MemberID](m.MemberId)
	guest := member.IsZero() && m.Contact.GetName() != ""
	if guest || !member.IsZero() && member != by.Member {
		forOthers, err := may(ctx, "booking.hold_for_others")
		switch {
		case err != nil:
			return nil, err
		case forOthers:
		case guest && !by.Member.IsZero():
			guest = false // a member who leaves a contact holds for themselves
		default:
			return nil, must(ctx, "booking.hold_for_others")
		}
	}
	channel, err := bookingChannel(req.Header(), m.Channel)
	if err != nil {
		return nil, err
	}
	request := appbookings.BookRequest{
		Session: id[tenant.SessionID](m.SessionId), Member: member, Party: max(int(m.PartySize), 1), Channel: channel,
		ExternalRef: m.ExternalRef, Note: m.Note, Hold: true, Guest: guest, Contact: contactValue(m.Contact), GuestTier: m.GuestTier,
	}
	for _, c := range m.Items {
		request.Items = append(request.Items, booking.Choice{Item: id[tenant.ItemID](c.ItemId), Quantity: int(c.Quantity)})
	}
	place, err := s.app.Bookings.Book(ctx, by, request)
	if err != nil {
		return nil, err
	}
	return placed(&v1.HoldBookingResponse{Booking: bookingMessage(*place.Booking)}, place)
}

func (s *bookingService) ConfirmBooking(ctx context.Context, req *connect.Request[v1.ConfirmBookingRequest]) (*connect.Response[v1.ConfirmBookingResponse], error) {
	m := req.Msg
	request := appbookings.ConfirmRequest{
		ID: id[tenant.BookingID](m.BookingId), Subscription: id[tenant.SubscriptionID](m.SubscriptionId),
		ProviderCode: m.BenefitProviderCode, Number: m.BenefitMembershipNumber,
	}
	if m.Payment != nil {
		paid, err := paymentValue(m.Payment)
		if err != nil {
			return nil, err
		}
		request.Paid = &paid
	}
	if m.Items != nil {
		request.Keep = make([]tenant.LineID, len(m.Items.BookingItemIds))
		for i, text := range m.Items.BookingItemIds {
			request.Keep[i] = id[tenant.LineID](text)
		}
	}
	place, err := s.app.Bookings.ConfirmBooking(ctx, caller(ctx), request)
	if err != nil {
		return nil, err
	}
	return placed(&v1.ConfirmBookingResponse{Booking: bookingMessage(*place.Booking)}, place)
}

func (s *bookingService) ReleaseHold(ctx context.Context, req *connect.Request[v1.ReleaseHoldRequest]) (*connect.Response[v1.ReleaseHoldResponse], error) {
	place, err := s.app.Bookings.ReleaseHold(ctx, caller(ctx), id[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return placed(&v1.ReleaseHoldResponse{Booking: bookingMessage(*place.Booking)}, place)
}

func (s *bookingService) RescheduleBooking(ctx context.Context, req *connect.Request[v1.RescheduleBookingRequest]) (*connect.Response[v1.RescheduleBookingResponse], error) {
	moved, err := s.app.Bookings.RescheduleBooking(ctx, caller(ctx), appbookings.RescheduleRequest{
		ID: id[tenant.BookingID](req.Msg.BookingId), To: id[tenant.SessionID](req.Msg.SessionId),
		MoveItems: req.Msg.MoveItems, Notify: req.Msg.Notify == nil || *req.Msg.Notify,
	})
	if err != nil {
		return nil, err
	}
	return placed(&v1.RescheduleBookingResponse{Booking: bookingMessage(*moved.Booking), Promoted: int32(moved.Promoted)}, moved.Place)
}
