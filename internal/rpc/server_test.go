package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/bookingapi"
	"github.com/berthhq/berth/internal/rpc/catalogapi"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rpc/messageapi"
	"github.com/berthhq/berth/internal/rpc/scheduleapi"
	"github.com/berthhq/berth/internal/rpc/settingsapi"
	"github.com/berthhq/berth/internal/rpc/waitlistapi"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
)

func TestServer_GuardsEveryRPC(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	rules := expect.Value(Rules())(t)
	for procedure, rule := range rules {
		response := send(t, http1, http.MethodPost, w.url+procedure, http.Header{"Content-Type": {"application/proto"}}, "")
		want := http.StatusUnauthorized
		switch {
		case rule.Kind == v1.Access_RULE_PUBLIC:
			want = http.StatusBadRequest
		case strings.HasSuffix(procedure, "/ImportMembers"), strings.HasSuffix(procedure, "/WatchEvents"):
			want = http.StatusUnsupportedMediaType // streams have another content type
		}
		test.EqOp(t, want, response.Status,
			test.Sprintf("%s: status %d, header %v", procedure, response.Status, response.Header))
		test.True(t, want != http.StatusUnauthorized || response.Header.Get("WWW-Authenticate") == "Bearer",
			test.Sprintf("%s: status %d, header %v", procedure, response.Status, response.Header))
	}
}

// An RPC without a handler would be served by an embedded, generated handler that returns Unimplemented.
func TestHandlers_ImplementEveryRPC(t *testing.T) {
	t.Parallel()
	for _, service := range []any{
		accountapi.Accounts{}, bookingapi.Bookings{}, catalogapi.Catalog{}, eventapi.Events{}, messageapi.Messages{},
		scheduleapi.Schedules{}, settingsapi.Settings{}, waitlistapi.Waitlists{},
	} {
		for field := range reflect.TypeOf(service).Fields() {
			test.False(t, field.Anonymous, test.Sprintf("%T leaves RPCs to %s", service, field.Name))
		}
	}
}

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
	response := send(
		t, http1, http.MethodGet, w.url+berthv1connect.BookingServiceBookProcedure+"?message={}&encoding=json", http.Header{},
		"",
	)
	test.EqOp(t, http.StatusMethodNotAllowed, response.Status, test.Sprint("a mutation on GET"))
}

// Over HTTP/2, the client keeps the connection alive and leaves one stream unread.
func TestServer_EndsResponsesThatAreNotRead(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]*http.Client{"HTTP/1.1": http1, "HTTP/2": http2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			url := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				var err error
				for part := make([]byte, 1<<20); err == nil; {
					_, err = w.Write(part)
				}
				ended <- err
			}), traffic.ConnLimits{WriteTimeout: 100 * time.Millisecond})
			response := expect.Value(client.Do(
				expect.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t),
			))(t)
			defer response.Body.Close()
			test.Error(t, <-ended)
		})
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

// A page of another origin may read by GET with its token. Its browser sends a preflight request for each URL and
// caches the response for two hours.
func TestCORS_AllowsGETWithToken(t *testing.T) {
	t.Parallel()
	s := startTestServer(t, Config{Origins: []string{"https://app.test"}})
	url := s.URL + berthv1connect.TenantServiceGetTenantProcedure + "?connect=v1&encoding=json&message={}"
	preflight := send(t, s.Client, http.MethodOptions, url, http.Header{
		"Origin": {"https://app.test"}, "Access-Control-Request-Method": {"GET"},
		"Access-Control-Request-Headers": {"authorization,connect-timeout-ms"},
	}, "")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "https://app.test", "Access-Control-Allow-Methods": "GET",
		"Access-Control-Allow-Headers": "authorization,connect-timeout-ms", "Access-Control-Max-Age": "7200",
	} {
		test.EqOp(t, want, preflight.Header.Get(name), test.Sprint(name))
	}
	header := bearer(s.Token(t, "member"))
	header.Set("Origin", "https://app.test")
	first := send(t, s.Client, http.MethodGet, url, header, "")
	header.Set("If-None-Match", first.Header.Get("Etag"))
	second := send(t, s.Client, http.MethodGet, url, header, "")
	test.EqOp(t, http.StatusOK, first.Status, test.Sprintf("%d, then %d", first.Status, second.Status))
	test.EqOp(t, http.StatusNotModified, second.Status, test.Sprintf("%d, then %d", first.Status, second.Status))
	for _, response := range []httpResponse{first, second} {
		vary := strings.Join(response.Header.Values("Vary"), ", ")
		test.EqOp(t, "https://app.test", response.Header.Get("Access-Control-Allow-Origin"),
			test.Sprintf("%d: %v", response.Status, response.Header))
		test.StrContains(t, vary, "Origin", test.Sprintf("%d: %v", response.Status, response.Header))
		test.StrContains(t, vary, "Authorization", test.Sprintf("%d: %v", response.Status, response.Header))
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

func TestReflection_ListsServicesIfItIsOn(t *testing.T) {
	t.Parallel()
	off := grpcreflect.NewClient(http2, newStubServer(t).url, connect.WithGRPC()).NewStream(t.Context())
	defer off.Close()
	test.EqOp(t, connect.CodeUnimplemented, connect.CodeOf(errorOf(off.ListServices())))
	stream := grpcreflect.NewClient(
		http2, newStubServer(t, func(c *Config) { c.Reflection = true }).url, connect.WithGRPC(),
	).NewStream(t.Context())
	defer stream.Close()
	services := expect.Value(stream.ListServices())(t)
	must.SliceLen(t, 12, services, must.Sprintf("services: %v", services))
	test.True(t, slices.Contains(services, "berth.v1.BookingService"), test.Sprintf("services: %v", services))
	test.NoError(t, errorOf(stream.FileContainingSymbol("berth.v1.BookingService")))
}

func TestHealth_FollowsDraining(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	check := connect.NewClient[healthpb.HealthCheckRequest, healthpb.HealthCheckResponse](
		http2, w.url+"/grpc.health.v1.Health/Check", connect.WithGRPC(),
	)
	watch := connect.NewClient[healthpb.HealthCheckRequest, healthpb.HealthCheckResponse](
		http2, w.url+"/grpc.health.v1.Health/Watch", connect.WithGRPC(),
	)
	for service, want := range map[string]connect.Code{
		"": 0, "berth.v1.BookingService": 0, "berth.v1.Nothing": connect.CodeNotFound,
	} {
		response, err := check.CallUnary(t.Context(), connect.NewRequest(&healthpb.HealthCheckRequest{Service: service}))
		test.True(t, want != 0 || err == nil && response.Msg.GetStatus() == healthpb.HealthCheckResponse_SERVING,
			test.Sprintf("%q: %v", service, err))
		test.True(t, want == 0 || connect.CodeOf(err) == want, test.Sprintf("%q: %v", service, err))
	}
	stream := expect.Value(watch.CallServerStream(t.Context(), connect.NewRequest(&healthpb.HealthCheckRequest{})))(t)
	defer stream.Close()
	must.True(t, stream.Receive(), must.Sprint(stream.Msg(), stream.Err()))
	must.EqOp(t, healthpb.HealthCheckResponse_SERVING, stream.Msg().GetStatus(),
		must.Sprint(stream.Msg(), stream.Err()))
	unknown := expect.Value(watch.CallServerStream(
		t.Context(), connect.NewRequest(&healthpb.HealthCheckRequest{Service: "berth.v1.Nothing"}),
	))(t)
	defer unknown.Close()
	must.True(t, unknown.Receive(), must.Sprint(unknown.Msg(), unknown.Err()))
	must.EqOp(t, healthpb.HealthCheckResponse_SERVICE_UNKNOWN, unknown.Msg().GetStatus(),
		must.Sprint(unknown.Msg(), unknown.Err()))
	get := func(path string) (int, string) {
		response := send(t, http1, http.MethodGet, w.url+path, http.Header{}, "")
		return response.Status, response.Body
	}
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusNotFound,
		"/berth.v1.Nothing/Check": http.StatusNotFound,
	} {
		code, body := get(path)
		test.EqOp(t, want, code, test.Sprintf("%s: %d %s", path, code, body))
	}
	_, body := get("/.well-known/jwks.json")
	test.True(t, json.Valid([]byte(body)), test.Sprintf("the keys are %s", body))
	test.StrContains(t, body, `"keys"`, test.Sprintf("the keys are %s", body))
	test.StrNotContains(t, body, `"d"`, test.Sprintf("the keys are %s", body))

	w.health.Drain()
	w.health.Drain()
	test.True(t, stream.Receive(), test.Sprint(stream.Msg(), stream.Err()))
	test.EqOp(t, healthpb.HealthCheckResponse_NOT_SERVING, stream.Msg().GetStatus(),
		test.Sprint(stream.Msg(), stream.Err()))
	test.False(t, stream.Receive(), test.Sprintf("the streams do not end: %v, %v", stream.Err(), unknown.Err()))
	must.NoError(t, stream.Err(), must.Sprintf("the streams do not end: %v, %v", stream.Err(), unknown.Err()))
	test.False(t, unknown.Receive(), test.Sprintf("the streams do not end: %v, %v", stream.Err(), unknown.Err()))
	test.NoError(t, unknown.Err(), test.Sprintf("the streams do not end: %v, %v", stream.Err(), unknown.Err()))
	code, _ := get("/readyz")
	test.EqOp(t, http.StatusServiceUnavailable, code, test.Sprint("ready while draining"))
	code, _ = get("/healthz")
	test.EqOp(t, http.StatusOK, code, test.Sprint("dead while draining"))
}

func TestReadyz_HidesCause(t *testing.T) {
	t.Parallel()
	w := newStubServer(t, func(c *Config) {
		c.Health = NewHealth(func(context.Context) error { return errors.New("secret: password wrong") })
	})
	response := send(t, http1, http.MethodGet, w.url+"/readyz", http.Header{}, "")
	test.EqOp(t, http.StatusServiceUnavailable, response.Status)
	test.StrNotContains(t, response.Body, "secret")
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
	test.Error(t, streamError(berthv1connect.NewMemberServiceClient(http1, w.url).ImportMembers(
		t.Context(), as(w.token(t, "owner", tenantA), &v1.ImportMembersRequest{}),
	)))
	const (
		book   = " procedure=berth.v1.BookingService/Book reason="
		upload = " procedure=berth.v1.MemberService/ImportMembers"
	)
	test.Eq(t, map[string]float64{
		"berth_rpc_requests_total code=ok" + book:                                           1,
		"berth_rpc_requests_total code=invalid_argument" + book + "INVALID_FIELD":           2,
		"berth_rpc_requests_total code=unauthenticated" + book + "UNAUTHENTICATED":          1,
		"berth_rpc_requests_total code=unread" + book:                                       1,
		"berth_rpc_duration_seconds procedure=berth.v1.BookingService/Book":                 3,
		"berth_rpc_duration_seconds" + upload:                                               1,
		"berth_rpc_requests_total code=invalid_argument" + upload + " reason=INVALID_FIELD": 1,
		"berth_rpc_in_flight": 0,
	}, expect.Metrics(t, w.metrics, "berth_rpc_"))
	test.EqOp(t, "", w.log.String(), test.Sprint("callers make mistakes all the time"))
}
