package convert_test

import (
	"net/http"
	"testing"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
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

func TestBookingHeaders_TellStatusAndRepetition(t *testing.T) {
	t.Parallel()
	got := http.Header{}
	convert.SetBookingHeaders(got, "CONFIRMED", true)
	test.Eq(t, http.Header{"X-Booking-Status": {"CONFIRMED"}, "X-Idempotent": {"true"}}, got)
	convert.SetBookingHeaders(got, "CANCELLED", false)
	test.Eq(t, http.Header{"X-Booking-Status": {"CANCELLED"}, "X-Idempotent": {"false"}}, got)
}
