package rpc

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

func TestBookingChannel_PrefersHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		header string
		body   v1.BookingChannel
		want   catalog.Channel
	}{
		{"", v1.BookingChannel_BOOKING_CHANNEL_UNSPECIFIED, catalog.Online},
		{"", v1.BookingChannel_BOOKING_CHANNEL_ONLINE, catalog.Online},
		{"", v1.BookingChannel_BOOKING_CHANNEL_PHONE, catalog.Phone},
		{"", v1.BookingChannel_BOOKING_CHANNEL_WALK_IN, catalog.WalkIn},
		{"walkIn", v1.BookingChannel_BOOKING_CHANNEL_PHONE, catalog.WalkIn},
		{"WALK_IN", v1.BookingChannel_BOOKING_CHANNEL_UNSPECIFIED, catalog.WalkIn},
		{"phone", v1.BookingChannel_BOOKING_CHANNEL_ONLINE, catalog.Phone},
		{"Online", v1.BookingChannel_BOOKING_CHANNEL_PHONE, catalog.Online},
	} {
		got, err := convert.BookingChannel(http.Header{"X-Booking-Channel": {tt.header}}, tt.body)
		test.NoError(t, err, test.Sprintf("%q over %v is %v (%v), want %v", tt.header, tt.body, got, err, tt.want))
		test.EqOp(t, tt.want, got,
			test.Sprintf("%q over %v is %v (%v), want %v", tt.header, tt.body, got, err, tt.want))
	}
	expect.Reason(t, fault.InvalidField, "fax")(convert.BookingChannel(
		http.Header{"X-Booking-Channel": {"fax"}}, 0,
	))
}

func TestSetBookingHeaders_WritesStatusAndReplay(t *testing.T) {
	t.Parallel()
	response := make(http.Header)
	convert.SetBookingHeaders(response, "WAITLISTED", true)
	for name, want := range map[string]string{"X-Booking-Status": "WAITLISTED", "X-Idempotent": "true"} {
		test.EqOp(t, want, response.Get(name), test.Sprint(name))
	}
}
