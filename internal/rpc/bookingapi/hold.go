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

// What BookingService does for slots that are held, paid for, and moved.

func (s *Bookings) HoldBooking(
	ctx context.Context, req *connect.Request[v1.HoldBookingRequest],
) (*connect.Response[v1.HoldBookingResponse], error) {
	by, m := request.Caller(ctx), req.Msg
	member := convert.ID[tenant.MemberID](m.MemberId)
	guest := member.IsZero() && m.Contact.GetName() != ""
	if guest || !member.IsZero() && member != by.Member {
		forOthers, err := request.May(ctx, "booking.hold_for_others")
		switch {
		case err != nil:
			return nil, err
		case forOthers:
		case guest && !by.Member.IsZero():
			guest = false // a member who leaves a contact holds for themselves
		default:
			return nil, convert.Must(ctx, "booking.hold_for_others")
		}
	}
	channel, err := convert.BookingChannel(req.Header(), m.Channel)
	if err != nil {
		return nil, err
	}
	request := bookings.BookRequest{
		Session: convert.ID[tenant.SessionID](m.SessionId), Member: member, Party: max(int(m.PartySize), 1), Channel: channel,
		ExternalRef: m.ExternalRef, Note: m.Note, Hold: true, Guest: guest, Contact: contactValue(m.Contact),
		GuestTier: m.GuestTier,
	}
	for _, c := range m.Items {
		request.Items = append(
			request.Items, booking.ItemChoice{Item: convert.ID[tenant.ItemID](c.ItemId), Quantity: int(c.Quantity)},
		)
	}
	place, err := s.Bookings.Book(ctx, by, request)
	if err != nil {
		return nil, err
	}
	return convert.Placed(&v1.HoldBookingResponse{Booking: convert.BookingMessage(*place.Booking)}, place)
}

func (s *Bookings) ConfirmBooking(
	ctx context.Context, req *connect.Request[v1.ConfirmBookingRequest],
) (*connect.Response[v1.ConfirmBookingResponse], error) {
	m := req.Msg
	confirm := bookings.ConfirmRequest{
		ID: convert.ID[tenant.BookingID](m.BookingId), Subscription: convert.ID[tenant.SubscriptionID](m.SubscriptionId),
		ProviderCode: m.BenefitProviderCode, Number: m.BenefitMembershipNumber,
	}
	if m.Payment != nil {
		paid, err := paymentValue(m.Payment)
		if err != nil {
			return nil, err
		}
		confirm.Paid = &paid
	}
	if m.Items != nil {
		confirm.Keep = make([]tenant.LineID, len(m.Items.BookingItemIds))
		for i, text := range m.Items.BookingItemIds {
			confirm.Keep[i] = convert.ID[tenant.LineID](text)
		}
	}
	place, err := s.Bookings.ConfirmBooking(ctx, request.Caller(ctx), confirm)
	if err != nil {
		return nil, err
	}
	return convert.Placed(&v1.ConfirmBookingResponse{Booking: convert.BookingMessage(*place.Booking)}, place)
}

func (s *Bookings) ReleaseHold(
	ctx context.Context, req *connect.Request[v1.ReleaseHoldRequest],
) (*connect.Response[v1.ReleaseHoldResponse], error) {
	place, err := s.Bookings.ReleaseHold(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.Msg.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.Placed(&v1.ReleaseHoldResponse{Booking: convert.BookingMessage(*place.Booking)}, place)
}

func (s *Bookings) RescheduleBooking(
	ctx context.Context, req *connect.Request[v1.RescheduleBookingRequest],
) (*connect.Response[v1.RescheduleBookingResponse], error) {
	moved, err := s.Bookings.RescheduleBooking(ctx, request.Caller(ctx), bookings.RescheduleRequest{
		ID: convert.ID[tenant.BookingID](req.Msg.BookingId), To: convert.ID[tenant.SessionID](req.Msg.SessionId),
		MoveItems: req.Msg.MoveItems, Notify: req.Msg.Notify == nil || *req.Msg.Notify,
	})
	if err != nil {
		return nil, err
	}
	return convert.Placed(
		&v1.RescheduleBookingResponse{Booking: convert.BookingMessage(*moved.Booking), Promoted: int32(moved.Promoted)},
		moved.Place,
	)
}
