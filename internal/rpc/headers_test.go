package rpc

import (
	"net/http"
	"testing"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func TestBookingChannel_PrefersHeader(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		header string
		body   v1.Channel
		want   catalog.Channel
	}{
		{"", v1.Channel_CHANNEL_UNSPECIFIED, catalog.Online},
		{"", v1.Channel_CHANNEL_ONLINE, catalog.Online},
		{"", v1.Channel_CHANNEL_PHONE, catalog.Phone},
		{"", v1.Channel_CHANNEL_WALK_IN, catalog.WalkIn},
		{"walkIn", v1.Channel_CHANNEL_PHONE, catalog.WalkIn},
		{"WALK_IN", v1.Channel_CHANNEL_UNSPECIFIED, catalog.WalkIn},
		{"phone", v1.Channel_CHANNEL_ONLINE, catalog.Phone},
		{"Online", v1.Channel_CHANNEL_PHONE, catalog.Online},
	} {
		got, err := convert.BookingChannel(http.Header{"X-Booking-Channel": {test.header}}, test.body)
		if err != nil || got != test.want {
			t.Errorf("%q over %v is %v (%v), want %v", test.header, test.body, got, err, test.want)
		}
	}
	if _, err := convert.BookingChannel(
		http.Header{"X-Booking-Channel": {"fax"}}, 0,
	); fault.ReasonOf(err) != fault.InvalidField {
		t.Errorf("fax: %v", err)
	}
}

func TestSetBookingHeaders_WritesStatusAndReplay(t *testing.T) {
	t.Parallel()
	response := make(http.Header)
	convert.SetBookingHeaders(response, "WAITLISTED", true)
	for name, want := range map[string]string{"X-Booking-Status": "WAITLISTED", "X-Idempotent": "true"} {
		if got := response.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestEtag_RoundTrips(t *testing.T) {
	t.Parallel()
	if got, err := convert.ExpectedVersion(""); got != nil || err != nil {
		t.Error(got, err)
	}
	if got, err := convert.ExpectedVersion(convert.Etag(7)); err != nil || got == nil || *got != 7 {
		t.Error(got, err)
	}
	for _, text := range []string{"7", "v", "v07", "v7 ", "w7"} {
		if _, err := convert.ExpectedVersion(text); fault.ReasonOf(err) != fault.ETagMismatch {
			t.Errorf("%q: %v", text, err)
		}
	}
}
