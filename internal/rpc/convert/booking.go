package convert

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// Prefixes of enum values about bookings.
const (
	BookingStatusPrefix = "BOOKING_STATUS_"
	PaymentStatusPrefix = "PAYMENT_STATUS_"
)

// BookingMessage converts a booking. The time is the present: it decides what cancelling would do.
func BookingMessage(b booking.Booking, now time.Time) *v1.Booking {
	m := &v1.Booking{
		Id:             IDText(b.ID),
		Session:        SessionSummaryMessage(b.Summary()),
		MemberId:       IDText(b.Member),
		MemberName:     b.MemberName,
		PartySize:      int32(b.Party),
		Status:         Enum[v1.BookingStatus](v1.BookingStatus_value, BookingStatusPrefix, b.Status),
		Channel:        Enum[v1.BookingChannel](v1.BookingChannel_value, ChannelPrefix, b.Channel),
		SubscriptionId: IDText(b.Subscription),
		Credits:        int32(b.Credits),
		ExternalRef:    b.ExternalRef,
		Note:           b.Note,
		Promoted:       b.Promoted,
		LateCancelled:  b.LateCancelled,
		CancelReason:   b.CancelReason,
		CreatedBy:      creator(b),
		CreateTime:     Timestamp(b.CreatedAt),
		UpdateTime:     Timestamp(b.UpdatedAt),
		Etag:           Etag(b.Version),
		CheckInMethod:  Enum[v1.CheckInMethod](v1.CheckInMethod_value, "CHECK_IN_METHOD_", b.CheckInMethod),
		CancelDeadline: Timestamp(b.CancelDeadline()),
		GuestTier:      b.GuestTier,
	}
	if c := b.Cancellation(now); c != nil {
		m.Cancellation = cancellationMessage(*c)
	}
	if b.Status == booking.Pending {
		m.HoldExpireTime = Timestamp(OrZero(b.HoldUntil))
	}
	if b.Contact != (booking.Contact{}) {
		m.Contact = &v1.BookingContact{Name: b.Contact.Name, Email: b.Contact.Email, Phone: b.Contact.Phone}
	}
	if b.Payment.Status != "" {
		m.Payment = &v1.Payment{
			Status:  Enum[v1.PaymentStatus](v1.PaymentStatus_value, PaymentStatusPrefix, b.Payment.Status),
			Amount:  MoneyMessage(b.Payment.Amount),
			Method:  b.Payment.Method,
			PayTime: Timestamp(OrZero(b.Payment.PaidAt)),
		}
		if b.Payment.Refunded.Units != 0 || b.Payment.Refunded.Nanos != 0 {
			m.Payment.RefundedAmount = MoneyMessage(b.Payment.Refunded)
		}
		if b.Payment.ToRefund.Units != 0 || b.Payment.ToRefund.Nanos != 0 {
			m.Payment.ToRefund = MoneyMessage(b.Payment.ToRefund)
		}
	}
	if b.Benefit.Code != "" {
		m.Benefit = &v1.Benefit{
			ProviderCode: b.Benefit.Code, MembershipNumber: b.Benefit.Number, DiscountPercent: int32(b.Benefit.Percent),
			Verified: b.Benefit.Verified,
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

// creator is who created a booking, with the name if it is the member: then it is known.
func creator(b booking.Booking) *v1.Actor {
	if b.CreatedBy == IDText(b.Member) {
		return Actor(b.CreatedBy, b.MemberName)
	}
	return Actor(b.CreatedBy, "")
}

// BookingMessages converts bookings.
func BookingMessages(bookings []booking.Booking, now time.Time) []*v1.Booking {
	return Messages(bookings, func(b booking.Booking) *v1.Booking { return BookingMessage(b, now) })
}

func cancellationMessage(c booking.Cancellation) *v1.BookingCancellation {
	return &v1.BookingCancellation{
		Kind: Enum[v1.BookingCancellationKind](
			v1.BookingCancellationKind_value, "BOOKING_CANCELLATION_KIND_", c.Kind,
		),
		ReturnedCredits: int32(c.Credits),
		Reason:          Enum[v1.ErrorReason](v1.ErrorReason_value, "ERROR_REASON_", c.Reason),
	}
}

// SessionSummaryMessage converts what is shown of a session.
func SessionSummaryMessage(s catalog.SessionSummary) *v1.SessionSummary {
	return &v1.SessionSummary{
		Id: IDText(s.ID), Title: s.Title, StartTime: Timestamp(s.StartsAt), EndTime: Timestamp(s.EndsAt),
		TimeZone: s.TimeZone, LocationId: IDText(s.Location), LocationName: s.LocationName, CoachName: s.CoachName,
		ServiceId: IDText(s.Service),
	}
}

// BookingResponse returns a response after it has set the booking headers of a booking or a waitlist entry. The error
// is always nil, so that handlers can return the result directly.
func BookingResponse[M any](ctx context.Context, message *M, r seats.Result) (*M, error) {
	status := "WAITLISTED"
	switch {
	case r.Booking != nil:
		status = string(r.Booking.Status)
	case r.Entry.Position == 0:
		status = string(r.Entry.Status)
	}
	SetBookingHeaders(request.ResponseHeader(ctx), status, r.Repeated)
	return message, nil
}

// Headers of requests and responses that browsers may send and read across origins.
const (
	BookingStatusHeader      = "X-Booking-Status"
	IdempotentHeader         = "X-Idempotent"
	IdempotencyKeyEchoHeader = "X-Idempotency-Key"
	BookingChannelHeader     = "X-Booking-Channel"
	IdempotencyKeyHeader     = "Idempotency-Key"
)

// BookingChannel returns the channel of the header, or else of the body, or else ONLINE. The header wins, because a
// gateway knows how a booking came in and the app behind it may not.
func BookingChannel(header http.Header, body v1.BookingChannel) (catalog.Channel, error) {
	if text := header.Get(BookingChannelHeader); text != "" {
		switch strings.ReplaceAll(strings.ToUpper(text), "_", "") {
		case "ONLINE":
			return catalog.Online, nil
		case "PHONE":
			return catalog.Phone, nil
		case "WALKIN":
			return catalog.WalkIn, nil
		}
		return "", fault.Invalid(
			BookingChannelHeader, "The header %s must be online, phone or walk_in.", BookingChannelHeader,
		)
	}
	switch body {
	case v1.BookingChannel_BOOKING_CHANNEL_PHONE:
		return catalog.Phone, nil
	case v1.BookingChannel_BOOKING_CHANNEL_WALK_IN:
		return catalog.WalkIn, nil
	default:
		return catalog.Online, nil
	}
}

// SetBookingHeaders sets the headers of a response that tell a gateway what it needs without reading the body: the
// status of the booking without its prefix, or WAITLISTED; and whether the response repeats an earlier one.
func SetBookingHeaders(response http.Header, status string, repeated bool) {
	response.Set(BookingStatusHeader, status)
	response.Set(IdempotentHeader, strconv.FormatBool(repeated))
}
