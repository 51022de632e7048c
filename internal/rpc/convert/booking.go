package convert

import (
	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/rules/booking"
)

// Prefixes of enum values about bookings.
const (
	BookingStatusPrefix = "BOOKING_STATUS_"
	PaymentStatusPrefix = "PAYMENT_STATUS_"
)

// BookingMessage converts a booking.
func BookingMessage(b booking.Booking) *v1.Booking {
	m := &v1.Booking{
		Id:               IDText(b.ID),
		SessionId:        IDText(b.Session),
		MemberId:         IDText(b.Member),
		MemberName:       b.MemberName,
		PartySize:        int32(b.Party),
		Status:           Enum[v1.BookingStatus](v1.BookingStatus_value, BookingStatusPrefix, b.Status),
		Channel:          Enum[v1.Channel](v1.Channel_value, ChannelPrefix, b.Channel),
		SubscriptionId:   IDText(b.Subscription),
		Credits:          int32(b.Credits),
		ExternalRef:      b.ExternalRef,
		Note:             b.Note,
		Promoted:         b.Promoted,
		LateCancelled:    b.LateCancelled,
		CancelReason:     b.CancelReason,
		CreateTime:       Timestamp(b.CreatedAt),
		CheckInMethod:    Enum[v1.CheckInMethod](v1.CheckInMethod_value, "CHECK_IN_METHOD_", b.CheckInMethod),
		SessionStartTime: Timestamp(b.StartsAt),
		SessionEndTime:   Timestamp(b.EndsAt),
		SessionTitle:     b.SessionTitle,
		TimeZone:         b.TimeZone,
		CancellableUntil: Timestamp(b.CancellableUntil()),
		GuestTier:        b.GuestTier,
	}
	if b.Status == booking.Pending {
		m.HoldExpireTime = Timestamp(OrZero(b.HoldUntil))
	}
	if b.Contact != (booking.Contact{}) {
		m.Contact = &v1.Contact{Name: b.Contact.Name, Email: b.Contact.Email, Phone: b.Contact.Phone}
	}
	if b.Payment.Status != "" {
		m.Payment = &v1.Payment{
			Status:  Enum[v1.PaymentStatus](v1.PaymentStatus_value, PaymentStatusPrefix, b.Payment.Status),
			Amount:  MoneyMessage(b.Payment.Amount),
			Method:  b.Payment.Method,
			PayTime: Timestamp(OrZero(b.Payment.PaidAt)),
		}
	}
	if b.Benefit.Code != "" {
		m.Benefit = &v1.Benefit{
			ProviderCode: b.Benefit.Code, MembershipNumber: b.Benefit.Number, DiscountPercent: int32(b.Benefit.Percent),
		}
	}
	for _, l := range b.Items {
		m.Items = append(m.Items, &v1.BookingItem{
			Id: IDText(l.ID), ItemId: IDText(l.Item), Name: l.Name, Quantity: int32(l.Quantity), Price: MoneyMessage(l.Price),
			Status: Enum[v1.BookingItemStatus](v1.BookingItemStatus_value, "BOOKING_ITEM_STATUS_", l.Status),
		})
	}
	if b.CancelledAt != nil {
		m.CancelTime = Timestamp(*b.CancelledAt)
	}
	if b.CheckedInAt != nil {
		m.CheckInTime = Timestamp(*b.CheckedInAt)
	}
	return m
}

// BookingResponse returns a response with the booking headers of a booking or a waitlist entry. The error is always
// nil, so that handlers can return the result directly.
func BookingResponse[M any](message *M, p seats.Place) (*connect.Response[M], error) {
	status := "WAITLISTED"
	switch {
	case p.Booking != nil:
		status = string(p.Booking.Status)
	case p.Entry.Position == 0:
		status = string(p.Entry.Status)
	}
	res := connect.NewResponse(message)
	SetBookingHeaders(res.Header(), status, p.Repeated)
	return res, nil
}
