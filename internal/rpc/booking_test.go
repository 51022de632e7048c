package rpc

import (
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// In every protocol, a hold's channel is the one of the header, and the headers of its response tell its status, and
// whether an earlier call with the external reference made it.
func TestHoldBooking_ReadsAndSetsHeaders(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.create(t, s.input(monday.Add(48*time.Hour))).GetId()
	eachProtocol(t, func(t *testing.T, web *http.Client, options connect.ClientOption) {
		t.Helper()
		client := berthv1connect.NewBookingServiceClient(web, s.URL, options)
		for _, idempotent := range []string{"false", "true"} {
			request := as(s.Token(t, "owner"), &v1.HoldBookingRequest{
				SessionId:   session,
				Contact:     &v1.BookingContact{Name: "John Smith"},
				Channel:     v1.BookingChannel_BOOKING_CHANNEL_ONLINE,
				ExternalRef: t.Name(),
			})
			request.Header().Set("X-Booking-Channel", "phone")
			held := expect.Value(client.HoldBooking(t.Context(), request))(t)
			test.EqOp(t, v1.BookingChannel_BOOKING_CHANNEL_PHONE, held.Msg.GetBooking().GetChannel())
			test.EqOp(t, "PENDING", held.Header().Get("X-Booking-Status"))
			test.EqOp(t, idempotent, held.Header().Get("X-Idempotent"))
		}
	})
}
