package rpc

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/booking"
)

const (
	bookingStatusPrefix = "BOOKING_STATUS_"
	paymentStatusPrefix = "PAYMENT_STATUS_"
)

func contactValue(m *v1.Contact) booking.Contact {
	return booking.Contact{Name: m.GetName(), Email: m.GetEmail(), Phone: m.GetPhone()}
}

// paymentValue reads payment facts. Money that is none is refused.
func paymentValue(m *v1.PaymentFacts) (booking.Payment, error) {
	p := booking.Payment{Status: word[booking.PaymentStatus](paymentStatusPrefix, m.Status), Amount: moneyValue(m.Amount), Method: m.Method}
	if p.Status == "" {
		p.Status = booking.Captured
	}
	return p, p.Validate()
}

func bookingMessage(b booking.Booking) *v1.Booking {
	m := &v1.Booking{
		Id:               idText(b.ID),
		SessionId:        idText(b.Session),
		MemberId:         idText(b.Member),
		MemberName:       b.MemberName,
		PartySize:        int32(b.Party),
		Status:           enum[v1.BookingStatus](v1.BookingStatus_value, bookingStatusPrefix, b.Status),
		Channel:          enum[v1.Channel](v1.Channel_value, "CHANNEL_", b.Channel),
		SubscriptionId:   idText(b.Subscription),
		Credits:          int32(b.Credits),
		ExternalRef:      b.ExternalRef,
		Note:             b.Note,
		Promoted:         b.Promoted,
		LateCancelled:    b.LateCancelled,
		CancelReason:     b.CancelReason,
		CreateTime:       timestamp(b.CreatedAt),
		CheckInMethod:    enum[v1.CheckInMethod](v1.CheckInMethod_value, "CHECK_IN_METHOD_", b.CheckInMethod),
		SessionStartTime: timestamp(b.StartsAt),
		SessionEndTime:   timestamp(b.EndsAt),
		SessionTitle:     b.SessionTitle,
		TimeZone:         b.TimeZone,
		CancellableUntil: timestamp(b.CancellableUntil()),
		GuestTier:        b.GuestTier,
	}
	if b.Status == booking.Pending {
		m.HoldExpireTime = timestamp(orZero(b.HoldUntil))
	}
	if b.Contact != (booking.Contact{}) {
		m.Contact = &v1.Contact{Name: b.Contact.Name, Email: b.Contact.Email, Phone: b.Contact.Phone}
	}
	if b.Payment.Status != "" {
		m.Payment = &v1.Payment{
			Status:  enum[v1.PaymentStatus](v1.PaymentStatus_value, paymentStatusPrefix, b.Payment.Status),
			Amount:  moneyMessage(b.Payment.Amount),
			Method:  b.Payment.Method,
			PayTime: timestamp(orZero(b.Payment.PaidAt)),
		}
	}
	if b.Benefit.Code != "" {
		m.Benefit = &v1.Benefit{
			ProviderCode: b.Benefit.Code, MembershipNumber: b.Benefit.Number, DiscountPercent: int32(b.Benefit.Percent),
		}
	}
	for _, l := range b.Items {
		m.Items = append(m.Items, &v1.BookingItem{
			Id: idText(l.ID), ItemId: idText(l.Item), Name: l.Name, Quantity: int32(l.Quantity), Price: moneyMessage(l.Price),
			Status: enum[v1.BookingItemStatus](v1.BookingItemStatus_value, "BOOKING_ITEM_STATUS_", l.Status),
		})
	}
	if b.CancelledAt != nil {
		m.CancelTime = timestamp(*b.CancelledAt)
	}
	if b.CheckedInAt != nil {
		m.CheckInTime = timestamp(*b.CheckedInAt)
	}
	return m
}

// messages converts a list.
func messages[T, M any](values []T, convert func(T) *M) []*M {
	out := make([]*M, len(values))
	for i, v := range values {
		out[i] = convert(v)
	}
	return out
}
