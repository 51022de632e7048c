package bookingapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// HoldBooking handles BookingService.HoldBooking.
func (s *Bookings) HoldBooking(ctx context.Context, req *v1.HoldBookingRequest) (*v1.HoldBookingResponse, error) {
	by, err := request.CallerWith(ctx, booking.HoldForOthers)
	if err != nil {
		return nil, err
	}
	channel, err := convert.BookingChannel(request.Header(ctx), req.Channel)
	if err != nil {
		return nil, err
	}
	hold := holdRequestValue(req)
	hold.Channel = channel
	result, err := s.Service.Book(ctx, by, hold)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.HoldBookingResponse{Booking: convert.BookingMessage(*result.Booking, s.Now())}, result,
	)
}

// ConfirmBooking handles BookingService.ConfirmBooking.
func (s *Bookings) ConfirmBooking(
	ctx context.Context, req *v1.ConfirmBookingRequest,
) (*v1.ConfirmBookingResponse, error) {
	confirm := bookings.ConfirmRequest{
		ID: convert.ID[tenant.BookingID](req.BookingId), Subscription: convert.ID[tenant.SubscriptionID](req.SubscriptionId),
		ProviderCode: req.BenefitProviderCode, Number: req.BenefitMembershipNumber,
	}
	if req.Payment != nil {
		if err := request.RequirePermission(ctx, bookings.RecordPayments); err != nil {
			return nil, err
		}
		confirm.Paid = new(paymentValue(req.Payment))
	}
	if req.Items != nil {
		confirm.Keep = make([]tenant.ItemLineID, len(req.Items.BookingItemIds))
		for i, text := range req.Items.BookingItemIds {
			confirm.Keep[i] = convert.ID[tenant.ItemLineID](text)
		}
	}
	result, err := s.Service.ConfirmBooking(ctx, request.Caller(ctx), confirm)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.ConfirmBookingResponse{Booking: convert.BookingMessage(*result.Booking, s.Now())}, result,
	)
}

// ReleaseHold handles BookingService.ReleaseHold.
func (s *Bookings) ReleaseHold(ctx context.Context, req *v1.ReleaseHoldRequest) (*v1.ReleaseHoldResponse, error) {
	result, err := s.Service.ReleaseHold(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.ReleaseHoldResponse{Booking: convert.BookingMessage(*result.Booking, s.Now())}, result,
	)
}

// RescheduleBooking handles BookingService.RescheduleBooking.
func (s *Bookings) RescheduleBooking(
	ctx context.Context, req *v1.RescheduleBookingRequest,
) (*v1.RescheduleBookingResponse, error) {
	moved, err := s.Service.RescheduleBooking(ctx, request.Caller(ctx), bookings.RescheduleRequest{
		ID: convert.ID[tenant.BookingID](req.BookingId), To: convert.ID[tenant.SessionID](req.SessionId),
		MoveItems: req.MoveItems, Notify: convert.TrueUnlessSet(req.Notify),
	})
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(ctx, &v1.RescheduleBookingResponse{
		Booking: convert.BookingMessage(*moved.Booking, s.Now()), Promoted: int32(moved.Promoted),
	}, moved.Result)
}
