package berth

import (
	"context"
	"net/http"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// newer is a field, and a value of an enum, that no version has yet.
const newer = 9999

// withUnknown returns the message with a text in a field that clients do not know. In a oneof it is a case of it.
func withUnknown[M proto.Message](m M) M {
	field := protowire.AppendTag(nil, newer, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(field, "from a newer server"))
	return m
}

// newerServer answers with what clients of today do not know.
type newerServer struct {
	berthv1connect.UnimplementedBookingServiceHandler
	berthv1connect.UnimplementedEventServiceHandler
}

func (newerServer) Book(
	context.Context, *connect.Request[v1.BookRequest],
) (*connect.Response[v1.BookResponse], error) {
	return connect.NewResponse(withUnknown(&v1.BookResponse{})), nil
}

func (newerServer) GetBooking(
	context.Context, *connect.Request[v1.GetBookingRequest],
) (*connect.Response[v1.GetBookingResponse], error) {
	return connect.NewResponse(&v1.GetBookingResponse{
		Booking: withUnknown(&v1.Booking{Id: "b", Status: v1.BookingStatus(newer)}),
	}), nil
}

func (newerServer) CancelBooking(
	context.Context, *connect.Request[v1.CancelBookingRequest],
) (*connect.Response[v1.CancelBookingResponse], error) {
	return nil, refused(connect.CodeFailedPrecondition, "TIDE_TOO_LOW", "depth_metres", "2")
}

func (newerServer) WatchEvents(
	_ context.Context, _ *connect.Request[v1.WatchEventsRequest], stream *connect.ServerStream[v1.WatchEventsResponse],
) error {
	return stream.Send(&v1.WatchEventsResponse{
		Cursor: "1", Events: []*v1.Event{withUnknown(&v1.Event{Id: "e", Type: v1.EventType(newer)})},
	})
}

func newerClient(t *testing.T) *Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(berthv1connect.NewBookingServiceHandler(newerServer{}))
	mux.Handle(berthv1connect.NewEventServiceHandler(newerServer{}))
	return New(start(t, mux), WithTokens(StaticToken("token")))
}

func TestNewerServer_AnswersWithFieldsAndValuesThatAreNotKnown(t *testing.T) {
	t.Parallel()
	got, err := newerClient(t).Bookings.GetBooking(t.Context(), connect.NewRequest(&v1.GetBookingRequest{}))
	must.NoError(t, err)
	test.EqOp(t, "b", got.Msg.GetBooking().GetId())
	test.EqOp(t, int32(newer), int32(got.Msg.GetBooking().GetStatus()))
}

func TestNewerServer_AnswersWithAnOutcomeThatIsNotKnown(t *testing.T) {
	t.Parallel()
	got, err := newerClient(t).Bookings.Book(t.Context(), connect.NewRequest(&v1.BookRequest{}))
	must.NoError(t, err)
	test.Nil(t, got.Msg.GetOutcome())
}

func TestNewerServer_RefusesForAReasonThatIsNotKnown(t *testing.T) {
	t.Parallel()
	_, err := newerClient(t).Bookings.CancelBooking(t.Context(), connect.NewRequest(&v1.CancelBookingRequest{}))
	refusal := RefusalOf(err)
	test.EqOp(t, v1.ErrorReason_ERROR_REASON_UNSPECIFIED, refusal.Reason)
	test.EqOp(t, "TIDE_TOO_LOW", refusal.ReasonName)
	test.EqOp(t, connect.CodeFailedPrecondition, refusal.Code)
	test.Eq(t, map[string]string{"depth_metres": "2"}, refusal.Metadata)
}

func TestNewerServer_SendsEventsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	for message, err := range newerClient(t).Watch(t.Context(), &v1.WatchEventsRequest{}) {
		must.NoError(t, err)
		must.Len(t, 1, message.GetEvents())
		test.EqOp(t, "e", message.GetEvents()[0].GetId())
		test.EqOp(t, int32(newer), int32(message.GetEvents()[0].GetType()))
		test.Nil(t, message.GetEvents()[0].GetDetails(), test.Sprint("a case of the oneof that is not known"))
		break
	}
}
