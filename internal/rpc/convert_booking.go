package rpc

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/waitlist"
)

const bookingStatusPrefix = "BOOKING_STATUS_"

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
	}
	if b.CancelledAt != nil {
		m.CancelTime = timestamp(*b.CancelledAt)
	}
	if b.CheckedInAt != nil {
		m.CheckInTime = timestamp(*b.CheckedInAt)
	}
	return m
}

func entryMessage(e waitlist.Entry) *v1.WaitlistEntry {
	return &v1.WaitlistEntry{
		Id:               idText(e.ID),
		SessionId:        idText(e.Session),
		MemberId:         idText(e.Member),
		MemberName:       e.MemberName,
		PartySize:        int32(e.Party),
		Status:           enum[v1.WaitlistEntryStatus](v1.WaitlistEntryStatus_value, "WAITLIST_ENTRY_STATUS_", e.Status),
		Position:         int32(e.Position),
		CreateTime:       timestamp(e.CreatedAt),
		SessionStartTime: timestamp(e.SessionStarts),
		SessionTitle:     e.SessionTitle,
		TimeZone:         e.TimeZone,
		BookingId:        idText(e.Booking),
		PassedOverReason: e.PassedOver,
	}
}

// messages converts a list.
func messages[T, M any](values []T, convert func(T) *M) []*M {
	out := make([]*M, len(values))
	for i, v := range values {
		out[i] = convert(v)
	}
	return out
}
