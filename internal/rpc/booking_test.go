package rpc

import (
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"google.golang.org/protobuf/proto"

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
				SessionId: session, Contact: &v1.Contact{Name: "John Smith"}, Channel: v1.Channel_CHANNEL_ONLINE,
				ExternalRef: t.Name(),
			})
			request.Header().Set("X-Booking-Channel", "phone")
			held := expect.Value(client.HoldBooking(t.Context(), request))(t)
			test.EqOp(t, v1.Channel_CHANNEL_PHONE, held.Msg.GetBooking().GetChannel())
			test.EqOp(t, "PENDING", held.Header().Get("X-Booking-Status"))
			test.EqOp(t, idempotent, held.Header().Get("X-Idempotent"))
		}
	})
}

// Each error has the code and reason on which clients branch.
func TestBookingRPCs_ReturnReasons(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	client := berthv1connect.NewBookingServiceClient(s.Client, s.URL)
	member := s.Token(t, "member")
	soon, otherTenant := s.create(t, s.input(monday.Add(3*time.Hour))).GetId(), s.NewTenant(t, "Other tenant")
	id := ask[*v1.BookResponse](t, s, member, &v1.BookRequest{SessionId: soon}).GetBooking().GetId()
	for want, request := range map[string]proto.Message{
		"failed_precondition CANCELLATION_WINDOW": &v1.CancelBookingRequest{BookingId: id},
		"not_found BOOKING_NOT_FOUND":             &v1.CancelBookingRequest{BookingId: someSession},
		"not_found SESSION_NOT_FOUND":             &v1.HoldBookingRequest{SessionId: someSession},
		"permission_denied TENANT_FORBIDDEN":      &v1.HoldBookingRequest{TenantId: otherTenant.String(), SessionId: soon},
		"permission_denied PERMISSION_DENIED": &v1.HoldBookingRequest{ // for others, as a member
			SessionId: soon, MemberId: s.Members["coach"].String(),
		},
		"invalid_argument INVALID_FIELD guest_tier": &v1.HoldBookingRequest{
			SessionId: soon, Contact: &v1.Contact{Name: "Me"}, GuestTier: "member",
		},
	} {
		refused(t, want)(s.call(t, member, request))
	}
	for channel, want := range map[string]string{
		"fax": "invalid_argument INVALID_FIELD X-Booking-Channel", "walkIn": "failed_precondition CHANNEL_CLOSED",
	} {
		request := as(member, &v1.HoldBookingRequest{SessionId: soon})
		request.Header().Set("X-Booking-Channel", channel)
		refused(t, want)(client.HoldBooking(t.Context(), request))
	}
}
