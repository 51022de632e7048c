package convert_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/testing/protocmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestBookingChannel_HeaderWinsOverBody(t *testing.T) {
	t.Parallel()
	const phone = v1.BookingChannel_BOOKING_CHANNEL_PHONE
	for header, want := range map[string]catalog.Channel{
		"": catalog.Phone, "online": catalog.Online, "Phone": catalog.Phone, "walk_in": catalog.WalkIn,
		"walkIn": catalog.WalkIn, "WALK_IN": catalog.WalkIn,
	} {
		test.EqOp(t, want, expect.Value(convert.BookingChannel(
			http.Header{convert.BookingChannelHeader: {header}}, phone,
		))(t), test.Sprint(header))
	}
	for body, want := range map[v1.BookingChannel]catalog.Channel{
		v1.BookingChannel_BOOKING_CHANNEL_UNSPECIFIED: catalog.Online,
		v1.BookingChannel_BOOKING_CHANNEL_ONLINE:      catalog.Online,
		v1.BookingChannel_BOOKING_CHANNEL_WALK_IN:     catalog.WalkIn,
	} {
		test.EqOp(t, want, expect.Value(convert.BookingChannel(http.Header{}, body))(t), test.Sprint(body))
	}
	expect.Reason(t, fault.InvalidField)(
		convert.BookingChannel(http.Header{convert.BookingChannelHeader: {"fax"}}, phone),
	)
}

// A booking says what cancelling it does at that time.
func TestBookingMessage_SaysWhatCancellingDoes(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 20, 18, 0, 0, 0, time.UTC)
	b := booking.Booking{
		Status: booking.Confirmed, Credits: 2, Policy: catalog.Defaults(), StartsAt: start, EndsAt: start.Add(time.Hour),
	}
	at := func(now time.Time) *v1.BookingCancellation { return convert.BookingMessage(b, now).GetCancellation() }
	test.Eq(t, &v1.BookingCancellation{
		Kind: v1.BookingCancellationKind_BOOKING_CANCELLATION_KIND_FREE, ReturnedCredits: 2,
	}, at(b.CancelDeadline()), test.Cmp(protocmp.Transform()))
	test.Eq(t, &v1.BookingCancellation{
		Kind:   v1.BookingCancellationKind_BOOKING_CANCELLATION_KIND_REFUSED,
		Reason: v1.ErrorReason_ERROR_REASON_CANCELLATION_WINDOW,
	}, at(start), test.Cmp(protocmp.Transform()))
	b.Policy.AllowLateCancellation = true
	test.Eq(t, &v1.BookingCancellation{
		Kind: v1.BookingCancellationKind_BOOKING_CANCELLATION_KIND_LATE,
	}, at(start), test.Cmp(protocmp.Transform()))
	test.Eq(t, &v1.BookingCancellation{
		Kind:   v1.BookingCancellationKind_BOOKING_CANCELLATION_KIND_REFUSED,
		Reason: v1.ErrorReason_ERROR_REASON_BOOKING_STATE,
	}, at(b.EndsAt), test.Cmp(protocmp.Transform()))
	b.Status = booking.Attended
	test.Nil(t, at(start))
}

func TestBookingHeaders_TellStatusAndRepetition(t *testing.T) {
	t.Parallel()
	got := http.Header{}
	convert.SetBookingHeaders(got, "CONFIRMED", true)
	test.Eq(t, http.Header{"X-Booking-Status": {"CONFIRMED"}, "X-Idempotent": {"true"}}, got)
	convert.SetBookingHeaders(got, "CANCELLED", false)
	test.Eq(t, http.Header{"X-Booking-Status": {"CANCELLED"}, "X-Idempotent": {"false"}}, got)
}
