package admission

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestServer_ServesReadsOnGET(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	w.booking.get = func(ctx context.Context, _ *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
		info, _ := connect.CallInfoForHandlerContext(ctx)
		test.EqOp(t, http.MethodGet, info.HTTPMethod())
		return &v1.GetBookingResponse{}, nil
	}
	url := w.url + berthv1connect.BookingServiceGetBookingProcedure + `?connect=v1&encoding=json&message=`
	for message, want := range map[string]int{
		`{"bookingId":"` + someSession + `"}`: http.StatusOK, `{"booking":1}`: http.StatusBadRequest,
	} {
		response := send(
			t, http1, http.MethodGet, url+strings.ReplaceAll(message, `"`, "%22"),
			http.Header{"Authorization": {"Bearer " + w.token(t, "owner", tenantA)}}, "",
		)
		test.EqOp(t, want, response.Status, test.Sprintf("%s: %+v", message, response))
		test.EqOp(t, "no-store", response.Header.Get("Cache-Control"), test.Sprintf("%s: %+v", message, response))
		test.EqOp(t, "nosniff", response.Header.Get("X-Content-Type-Options"),
			test.Sprintf("%s: %+v", message, response))
	}
	for authorization, want := range map[string]int{
		"": http.StatusUnauthorized, "Bearer " + w.token(t, "owner", tenantA): http.StatusMethodNotAllowed,
	} {
		response := send(
			t, http1, http.MethodGet, w.url+berthv1connect.BookingServiceBookProcedure+"?message={}&encoding=json",
			http.Header{"Authorization": {authorization}}, "",
		)
		test.EqOp(t, want, response.Status, test.Sprint("a mutation on GET"))
	}
}

// A proxy and a server may disagree which of two tokens counts.
func TestServer_RejectsTwoTokens(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	w.booking.get = func(context.Context, *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
		return new(v1.GetBookingResponse), nil
	}
	mine := "Bearer " + w.token(t, "owner", tenantA)
	for count, want := range map[int]int{0: http.StatusUnauthorized, 1: http.StatusOK, 2: http.StatusUnauthorized} {
		response := send(t, http1, http.MethodPost, w.url+berthv1connect.BookingServiceGetBookingProcedure, http.Header{
			"Content-Type": {"application/json"}, "Authorization": slices.Repeat([]string{mine}, count),
		}, `{"bookingId":"`+someSession+`"}`)
		test.EqOp(t, want, response.Status, test.Sprintf("%d headers: %s", count, response.Body))
	}
}

func TestServer_CompressesLargeResponsesOnly(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	for size, want := range map[int]string{900: "", 1 << 10: "gzip"} {
		w.booking.get = func(context.Context, *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
			return &v1.GetBookingResponse{Booking: &v1.Booking{Note: strings.Repeat("x", size)}}, nil
		}
		response := send(t, http1, http.MethodPost, w.url+berthv1connect.BookingServiceGetBookingProcedure, http.Header{
			"Content-Type": {"application/json"}, "Accept-Encoding": {"gzip"},
			"Authorization": {"Bearer " + w.token(t, "owner", tenantA)},
		}, `{"bookingId":"`+someSession+`"}`)
		got := response.Header.Get("Content-Encoding")
		test.EqOp(t, want, got,
			test.Sprintf("%d bytes: %d, Content-Encoding %q, want %q", size, response.Status, got, want))
		test.EqOp(t, http.StatusOK, response.Status,
			test.Sprintf("%d bytes: %d, Content-Encoding %q, want %q", size, response.Status, got, want))
	}
}

func TestCORS_AllowsConfiguredOrigins(t *testing.T) {
	t.Parallel()
	url := newStubServer(t).url + berthv1connect.BookingServiceBookProcedure
	preflight := func(url, origin string) http.Header {
		response := send(t, http1, http.MethodOptions, url, http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {"POST"},
			"Access-Control-Request-Headers": {
				"authorization,connect-protocol-version,content-type,idempotency-key,if-none-match,x-booking-channel,x-request-id",
			},
		}, "")
		return response.Header
	}
	none := newStubServer(t, func(c *Config) { c.Origins = nil })
	for name, c := range map[string]struct{ url, origin, allowed string }{
		"known origin":           {url, "https://app.test", "https://app.test"},
		"unknown origin":         {url, "https://evil.test", ""},
		"no origins are allowed": {none.url + berthv1connect.BookingServiceBookProcedure, "https://app.test", ""},
	} {
		got := preflight(c.url, c.origin)
		test.EqOp(t, c.allowed, got.Get("Access-Control-Allow-Origin"), test.Sprintf("%s: %v", name, got))
	}
	test.StrContains(t, preflight(url, "https://app.test").Get("Access-Control-Allow-Headers"), "x-booking-channel")
	response := send(
		t, http1, http.MethodPost, url, http.Header{"Origin": {"https://app.test"}, "Content-Type": {"application/json"}},
		"{}",
	)
	exposed := response.Header.Get("Access-Control-Expose-Headers")
	for _, name := range []string{
		"X-Booking-Status", "X-Idempotent", "X-Idempotency-Key", "X-Request-Id", "Grpc-Status-Details-Bin",
		"Etag", "Retry-After",
	} {
		test.StrContains(t, exposed, name, test.Sprintf("%s is not exposed: %s", name, exposed))
	}
}

func TestRequestID_KeepsSafeIDs(t *testing.T) {
	t.Parallel()
	for sent, kept := range map[string]bool{
		"": false, "azAZ-09_.": true, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false, "a b": false,
		"a\"b": false, "ä": false,
	} {
		got := requestID(http.Header{"X-Request-Id": {sent}})
		test.EqOp(t, (got == sent), kept, test.Sprintf("%q became %q", sent, got))
		test.GreaterEq(t, 7, len(got), test.Sprintf("%q became %q", sent, got))
	}
	w := newStubServer(t)
	response := send(
		t, http1, http.MethodPost, w.url+berthv1connect.BookingServiceBookProcedure, http.Header{"X-Request-Id": {"abc"}}, "",
	)
	test.EqOp(t, "abc", response.Header.Get("X-Request-Id"),
		test.Sprint("an answer that Connect gives by itself has the id"))
}

func TestMetrics_CountEveryOutcome(t *testing.T) {
	t.Parallel()
	w := newStubServer(t, withTestLimit)
	w.booking.book = bookStub
	client := berthv1connect.NewBookingServiceClient(http1, w.url)
	for _, request := range []*connect.Request[v1.BookRequest]{
		as(w.token(t, "member", tenantA), &v1.BookRequest{SessionId: someSession}),
		as(w.token(t, "member", tenantA), &v1.BookRequest{}),
		as(w.token(t, "member", tenantA), &v1.BookRequest{SessionId: someSession, Note: "\x00"}),
		as("", &v1.BookRequest{}),
		as(w.token(t, "member", tenantA), &v1.BookRequest{Note: strings.Repeat("x", 2*testLimit)}),
	} {
		_, _ = client.Book(t.Context(), request)
	}
	test.Error(t, streamError(berthv1connect.NewEventServiceClient(http1, w.url).WatchEvents(
		t.Context(), as(w.token(t, "owner", tenantA), &v1.WatchEventsRequest{Cursor: strings.Repeat("x", 201)}),
	)))
	const (
		book  = " procedure=berth.v1.BookingService/Book reason="
		watch = " procedure=berth.v1.EventService/WatchEvents"
	)
	test.Eq(t, map[string]float64{
		"berth_rpc_requests_total code=ok" + book:                                          1,
		"berth_rpc_requests_total code=invalid_argument" + book + "INVALID_FIELD":          2,
		"berth_rpc_requests_total code=unauthenticated" + book + "UNAUTHENTICATED":         1,
		"berth_rpc_requests_total code=unread" + book:                                      1,
		"berth_rpc_duration_seconds procedure=berth.v1.BookingService/Book":                3,
		"berth_rpc_duration_seconds" + watch:                                               1,
		"berth_rpc_requests_total code=invalid_argument" + watch + " reason=INVALID_FIELD": 1,
		"berth_rpc_in_flight": 0,
	}, expect.Metrics(t, w.metrics, "berth_rpc_"))
	test.EqOp(t, "", w.log.String(), test.Sprint("callers make mistakes all the time"))
}
