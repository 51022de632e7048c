package admission

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Programs that speak plain JSON read the reason of an error, and its metadata, without protobuf: whoever refuses the
// call, whatever encoding its messages have, and at the end of a stream.
func TestErrors_HaveTheirReasonInPlainJSON(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	w.booking.get = func(context.Context, *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
		return nil, fault.New(fault.FailedPrecondition, fault.SessionFull, "Full.").WithMetadata("seats", "2")
	}
	why := strings.Repeat("why ", 1000) // long enough to be compressed
	w.events.watch = func(
		_ context.Context, r *v1.WatchEventsRequest, out *connect.ServerStream[v1.WatchEventsResponse],
	) error {
		if err := out.Send(new(v1.WatchEventsResponse)); err != nil {
			return err
		}
		text := "wh"
		if r.GetCursor() == "long" {
			text = why
		}
		return fault.New(fault.InvalidArgument, fault.InvalidField, "Wrong.").WithMetadata("why", text)
	}
	member, owner := w.token(t, "member", tenantA), w.token(t, "owner", tenantA)
	booking := &v1.GetBookingRequest{BookingId: someSession}
	type plain struct {
		Code, Message, Reason string
		Metadata              map[string]string
		Details               []struct{ Type, Value string }
	}
	for name, tt := range map[string]struct {
		procedure, kind, token string
		message                proto.Message
		code, reason           string
		metadata               map[string]string
	}{
		"of a use case": {
			berthv1connect.BookingServiceGetBookingProcedure, "application/json", member, booking,
			"failed_precondition", "SESSION_FULL", map[string]string{"seats": "2"},
		},
		"to messages in protobuf": {
			berthv1connect.BookingServiceGetBookingProcedure, "application/proto", member, booking,
			"failed_precondition", "SESSION_FULL", map[string]string{"seats": "2"},
		},
		"before the message is read": {
			berthv1connect.BookingServiceGetBookingProcedure, "application/json", "", booking,
			"unauthenticated", "UNAUTHENTICATED", nil,
		},
		"of a field": {
			berthv1connect.BookingServiceGetBookingProcedure, "application/json", member,
			&v1.GetBookingRequest{BookingId: "x"}, "invalid_argument", "INVALID_FIELD", map[string]string{"field": "booking_id"},
		},
		"of a stream": {
			berthv1connect.EventServiceWatchEventsProcedure, "application/connect+json", owner,
			&v1.WatchEventsRequest{}, "invalid_argument", "INVALID_FIELD", map[string]string{"why": "wh"},
		},
		"of a stream in protobuf": {
			berthv1connect.EventServiceWatchEventsProcedure, "application/connect+proto", owner,
			&v1.WatchEventsRequest{}, "invalid_argument", "INVALID_FIELD", map[string]string{"why": "wh"},
		},
		"of a stream, compressed": {
			berthv1connect.EventServiceWatchEventsProcedure, "application/connect+json", owner,
			&v1.WatchEventsRequest{Cursor: "long"}, "invalid_argument", "INVALID_FIELD", map[string]string{"why": why},
		},
		"of a stream, before its message is read": {
			berthv1connect.EventServiceWatchEventsProcedure, "application/connect+json", "",
			&v1.WatchEventsRequest{}, "unauthenticated", "UNAUTHENTICATED", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := strings.HasPrefix(tt.kind, "application/connect+")
			body := marshalAs(t, tt.kind, tt.message)
			if stream {
				body = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
			}
			r := expect.Value(http.NewRequestWithContext(
				t.Context(), http.MethodPost, w.url+tt.procedure, bytes.NewReader(body)))(t)
			r.Header.Set("Content-Type", tt.kind)
			r.Header.Set("Connect-Accept-Encoding", "gzip")
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			response := expect.Value(http1.Do(r))(t)
			defer response.Body.Close()
			text := expect.Value(io.ReadAll(response.Body))(t)
			test.EqOp(t, !stream, response.StatusCode >= http.StatusBadRequest)
			if stream {
				text = lastMessage(t, text)
			}
			var got plain
			must.NoError(t, json.Unmarshal(text, &got), must.Sprintf("%s", text))
			test.EqOp(t, tt.code, got.Code)
			test.EqOp(t, tt.reason, got.Reason)
			test.Eq(t, tt.metadata, got.Metadata)
			test.NotEqOp(t, "", got.Message)
			must.SliceNotEmpty(t, got.Details, must.Sprint("for clients with protobuf"))
			test.EqOp(t, "google.rpc.ErrorInfo", got.Details[0].Type)
		})
	}
}

// marshalAs encodes a message for a content type.
func marshalAs(t *testing.T, kind string, message proto.Message) []byte {
	t.Helper()
	if strings.HasSuffix(kind, "proto") {
		return expect.Value(proto.Marshal(message))(t)
	}
	return expect.Value(protojson.Marshal(message))(t)
}

// lastMessage returns the error in the message that ends a stream.
func lastMessage(t *testing.T, stream []byte) []byte {
	t.Helper()
	for len(stream) >= envelopeHead {
		size := int(binary.BigEndian.Uint32(stream[1:]))
		must.GreaterEq(t, envelopeHead+size, len(stream))
		if stream[0]&flagEndOfStream != 0 {
			test.EqOp(t, flagEndOfStream, stream[0], test.Sprint("it is plain"))
			test.EqOp(t, envelopeHead+size, len(stream), test.Sprint("nothing follows"))
			var end struct{ Error json.RawMessage }
			must.NoError(t, json.Unmarshal(stream[envelopeHead:], &end))
			return end.Error
		}
		stream = stream[envelopeHead+size:]
	}
	t.Fatal("the stream has no end")
	return nil
}

// However its bytes are cut, the same stream results, and only its last message is another.
func TestEndOfStream_DoesNotDependOnHowBytesAreCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var sent []byte
		for _, m := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 20), 0, 4).Draw(r, "messages") {
			sent = append(binary.BigEndian.AppendUint32(append(sent, 0), uint32(len(m))), m...)
		}
		want := bytes.Clone(sent)
		end := []byte(`{"error":{"code":"internal"},"metadata":{"a":["b"]}}`)
		end = append(binary.BigEndian.AppendUint32([]byte{flagEndOfStream}, uint32(len(end))), end...)
		sent, want = append(sent, end...), append(want, end...)
		var got []byte
		var s endOfStream
		for len(sent) > 0 {
			n := rapid.IntRange(1, len(sent)).Draw(r, "cut")
			got = append(got, s.next(sent[:n])...)
			sent = sent[n:]
		}
		if !bytes.Equal(want, got) {
			r.Fatalf("got %q, want %q", got, want)
		}
	})
}
