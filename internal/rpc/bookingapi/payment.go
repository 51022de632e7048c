package bookingapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
)

// RecordPayment handles BookingService.RecordPayment.
func (s *Bookings) RecordPayment(
	ctx context.Context, req *v1.RecordPaymentRequest,
) (*v1.RecordPaymentResponse, error) {
	by, err := paymentCaller(ctx)
	if err != nil {
		return nil, err
	}
	result, err := s.Service.RecordPayment(
		ctx, by, convert.ID[tenant.BookingID](req.BookingId), paymentValue(req.Payment), req.BeyondDue,
	)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.RecordPaymentResponse{Booking: convert.BookingMessage(*result.Booking, s.Now())}, result,
	)
}

// RefundPayment handles BookingService.RefundPayment.
func (s *Bookings) RefundPayment(
	ctx context.Context, req *v1.RefundPaymentRequest,
) (*v1.RefundPaymentResponse, error) {
	by, err := paymentCaller(ctx)
	if err != nil {
		return nil, err
	}
	result, err := s.Service.RefundPayment(ctx, by, convert.ID[tenant.BookingID](req.BookingId), refundValue(req))
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(
		ctx, &v1.RefundPaymentResponse{Booking: convert.BookingMessage(*result.Booking, s.Now())}, result,
	)
}

func refundValue(m *v1.RefundPaymentRequest) payment.Facts {
	return payment.Facts{
		Kind: payment.Refund, Amount: convert.MoneyValue(m.Amount), Method: m.Method, Reference: m.Reference,
	}
}

// ListPaymentLines handles BookingService.ListPaymentLines.
func (s *Bookings) ListPaymentLines(
	ctx context.Context, req *v1.ListPaymentLinesRequest,
) (*v1.ListPaymentLinesResponse, error) {
	lines, err := s.Service.ListPaymentLines(ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId))
	if err != nil {
		return nil, err
	}
	actors := make([]string, len(lines))
	for i, l := range lines {
		actors[i] = l.Actor
	}
	names, err := request.ActorNames(ctx, actors...)
	if err != nil {
		return nil, err
	}
	return &v1.ListPaymentLinesResponse{Lines: convert.Messages(lines, func(l payment.Line) *v1.PaymentLine {
		return paymentLineMessage(l, names)
	})}, nil
}

// paymentCaller returns the caller of an RPC that changes payments. Members with the permission may access any booking.
// A service account may access those that it made, unless it may confirm any.
func paymentCaller(ctx context.Context) (tenant.Caller, error) {
	if caller := request.Caller(ctx); !caller.Member.IsZero() {
		return caller, nil
	}
	return request.CallerWith(ctx, bookings.ConfirmAny)
}
