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

// HoldBooking handles BookingService.HoldBooking.
func (s *Bookings) HoldBooking(
	ctx context.Context, req *connect.Request[v1.HoldBookingRequest],
) (*connect.Response[v1.HoldBookingResponse], error) {
	by, m := request.Caller(ctx), req.Msg
	member := convert.ID[tenant.MemberID](m.MemberId)
	guest := member.IsZero() && m.Contact.GetName() != ""
	if guest || !member.IsZero() && member != by.Member {
		forOthers, err := request.HasPermission(ctx, "booking.hold_for_others")
		switch {
		case err != nil:
			return nil, err
		case forOthers:
		case guest && !by.Member.IsZero():
			guest = false // a member who sends a contact holds for themselves
		default:
			return nil, request.RequirePermission(ctx, "booking.hold_for_others")
		}
	}
	channel, err := convert.BookingChannel(req.Header(), m.Channel)
	if err != nil {
		return nil, err
	}
	hold := bookings.BookRequest{
		Session: convert.ID[tenant.SessionID](m.SessionId), Member: member, Party: max(int(m.PartySize), 1), Channel: channel,
		ExternalRef: m.ExternalRef, Note: m.Note, Hold: true, Guest: guest, Contact: contactValue(m.Contact),
		GuestTier: m.GuestTier,
	}
	for _, c := range m.Items {
		hold.Items = append(
			hold.Items, booking.ItemChoice{Item: convert.ID[tenant.ItemID](c.ItemId), Quantity: int(c.Quantity)},
		)
	}
	place, err := s.Service.Book(ctx, by, hold)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(&v1.HoldBookingResponse{Booking: convert.BookingMessage(*place.Booking)}, place)
}

// ConfirmBooking handles BookingService.ConfirmBooking.
func (s *Bookings) ConfirmBooking(
	ctx context.Context, req *connect.Request[v1.ConfirmBookingRequest],
) (*connect.Response[v1.ConfirmBookingResponse], error) {
	m := req.Msg
	confirm := bookings.ConfirmRequest{
		ID: convert.ID[tenant.BookingID](m.BookingId), Subscription: convert.ID[tenant.SubscriptionID](m.SubscriptionId),
		ProviderCode: m.BenefitProviderCode, Number: m.BenefitMembershipNumber,
	}
	if m.Payment != nil {
		payment, err := paymentValue(m.Payment)
		if err != nil {
			return nil, err
		}
		confirm.Paid = &payment
	}
	if m.Items != nil {
		confirm.Keep = make([]tenant.LineID, len(m.Items.BookingItemIds))
		for i, text := range m.Items.BookingItemIds {
			confirm.Keep[i] = convert.ID[tenant.LineID](text)
		}
	}
	place, err := s.Service.ConfirmBooking(ctx, request.Caller(ctx), confirm)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(&v1.ConfirmBookingResponse{Booking: convert.BookingMessage(*place.Booking)}, place)
}

// ReleaseHold handles BookingService.ReleaseHold.
func (s *Bookings) ReleaseHold(
	ctx context.Context, req *connect.Request[v1.ReleaseHoldRequest],
) (*connect.Response[v1.ReleaseHoldResponse], error) {
	place, err := s.Service.ReleaseHold(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(&v1.ReleaseHoldResponse{Booking: convert.BookingMessage(*place.Booking)}, place)
}

// RescheduleBooking handles BookingService.RescheduleBooking.
func (s *Bookings) RescheduleBooking(
	ctx context.Context, req *connect.Request[v1.RescheduleBookingRequest],
) (*connect.Response[v1.RescheduleBookingResponse], error) {
	moved, err := s.Service.RescheduleBooking(ctx, request.Caller(ctx), bookings.RescheduleRequest{
		ID: convert.ID[tenant.BookingID](req.Msg.BookingId), To: convert.ID[tenant.SessionID](req.Msg.SessionId),
		MoveItems: req.Msg.MoveItems, Notify: req.Msg.Notify == nil || *req.Msg.Notify,
	})
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		&v1.RescheduleBookingResponse{Booking: convert.BookingMessage(*moved.Booking), Promoted: int32(moved.Promoted)},
		moved.Place,
	)
}
