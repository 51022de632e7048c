package admission

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCodecs_RejectUndecodableMessages(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	w.booking.book = bookStub
	for name, tc := range map[string]struct {
		body, kind, encoding string
		field, message       string
	}{
		"unknown field": {
			body: `{"sessionId":"` + someSession + `","partySizes":2}`, field: "partySizes",
			message: `There is no field "partySizes".`,
		},
		"unknown field inside": {body: `{"nonsense":{"a":[1,2]}}`, field: "nonsense"},
		"wrong type":           {body: `{"partySize":"many"}`, field: "partySize"},
		"unknown enum":         {body: `{"channel":"FAX"}`, field: "channel"},
		"twice":                {body: `{"note":"a","note":"b"}`, field: "note"},
		"cut off":              {body: `{"note":"a`},
		"not an object":        {body: `[]`},
		"empty":                {body: ``, message: "The message cannot be read: the body is empty; send at least {}."},
		"long":                 {body: `{"partySize":"` + strings.Repeat("é", 4000) + `"}`, field: "partySize"},
		"binary":               {body: "\x0a\xff", kind: "application/proto"},
		"no UTF-8":             {body: "\x0a\x01\xff", kind: "application/proto"},
		"no gzip":              {body: "{}", encoding: "gzip", message: "The message cannot be read: unexpected EOF."},
		"no gzip either": {
			body: strings.Repeat("{}", 20), encoding: "gzip", message: "The message cannot be read: gzip: invalid header.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{
				"Content-Type": {cmp.Or(tc.kind, "application/json")}, "Content-Encoding": {tc.encoding},
				"Authorization": {"Bearer " + w.token(t, "owner", tenantA)},
			}
			got := errorFromResponse(t, send(
				t, http1, http.MethodPost, w.url+berthv1connect.BookingServiceBookProcedure, header, tc.body,
			))
			want := apiError{Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD"}
			if tc.field != "" {
				want.Metadata = map[string]string{"field": tc.field}
			}
			test.EqOp(t, "", gocmp.Diff(want, apiErrorOf(t, got)))
			must.LessEq(t, 300, len(got.Message()), must.Sprintf("message %q", got.Message()))
			test.True(t, tc.message == "" || tc.message == got.Message(), test.Sprintf("message %q", got.Message()))
			test.EqOp(t, (name == "long"), strings.HasSuffix(got.Message(), "…."),
				test.Sprintf("message %q", got.Message()))
		})
	}
}

func TestBinaryCodec_IgnoresUnknownFields(t *testing.T) {
	t.Parallel()
	var m v1.BookRequest
	must.NoError(t, (binaryCodec{newDecodeLimits(expect.Value(Rules())(t))}).Unmarshal(
		protowire.AppendString(protowire.AppendTag(nil, 999, protowire.BytesType), "from the future"), &m,
	))
	test.NoError(t, decodeError(&m))
}

func TestCodecs_RoundTrip(t *testing.T) {
	t.Parallel()
	want := &v1.BookRequest{
		SessionId: someSession, PartySize: new(int32(2)), Channel: v1.BookingChannel_BOOKING_CHANNEL_PHONE,
	}
	limits := newDecodeLimits(expect.Value(Rules())(t))
	for _, codec := range []connect.Codec{binaryCodec{limits}, jsonCodec{"json", limits}} {
		var got v1.BookRequest
		must.NoError(t, codec.Unmarshal(expect.Value(codec.Marshal(want))(t), &got), must.Sprint(codec.Name()))
		test.True(t, proto.Equal(want, &got), test.Sprintf("%s: %v became %v", codec.Name(), want, &got))
	}
}
