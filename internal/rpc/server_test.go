package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/google/go-cmp/cmp"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/bookingapi"
	"github.com/berthhq/berth/internal/rpc/catalogapi"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rpc/messageapi"
	"github.com/berthhq/berth/internal/rpc/scheduleapi"
	"github.com/berthhq/berth/internal/rpc/settingsapi"
	"github.com/berthhq/berth/internal/rpc/waitlistapi"
)

// answer is what came back from a plain HTTP request.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

func send(t *testing.T, client *http.Client, method, url string, header http.Header, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

// wireErrorIn reads an error of a unary Connect call as a client does.
func wireErrorIn(t *testing.T, got answer) *connect.Error {
	t.Helper()
	again := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
		w.WriteHeader(got.Status)
		_, _ = io.WriteString(w, got.Body)
	}))
	defer again.Close()
	_, err := berthv1connect.NewBookingServiceClient(http1, again.URL, connect.WithProtoJSON()).Book(
		t.Context(), connect.NewRequest(new(v1.BookRequest)),
	)
	wire, ok := errors.AsType[*connect.Error](err)
	if !ok {
		t.Fatalf("no error but %+v", got)
	}
	return wire
}

func TestEveryRPCIsServedAndGuarded(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	for procedure, rule := range rules {
		answer := send(t, http1, http.MethodPost, w.url+procedure, http.Header{"Content-Type": {"application/proto"}}, "")
		want := http.StatusUnauthorized
		switch {
		case rule.Kind == v1.Access_RULE_PUBLIC:
			want = http.StatusBadRequest
		case strings.HasSuffix(procedure, "/ImportMembers"), strings.HasSuffix(procedure, "/WatchEvents"):
			want = http.StatusUnsupportedMediaType // a stream is another content type
		}
		if answer.Status != want || want == http.StatusUnauthorized && answer.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s answers %d %v", procedure, answer.Status, answer.Header)
		}
	}
}

// What is not written yet is answered by generated code, which is embedded until then.
func TestEveryRPCHasAHandler(t *testing.T) {
	t.Parallel()
	for _, service := range []any{
		accountapi.Accounts{}, bookingapi.Bookings{}, catalogapi.Catalog{}, eventapi.Events{}, messageapi.Messages{},
		scheduleapi.Schedules{}, settingsapi.Settings{}, waitlistapi.Waitlists{},
	} {
		for field := range reflect.TypeOf(service).Fields() {
			if field.Anonymous {
				t.Errorf("%T leaves RPCs to %s", service, field.Name)
			}
		}
	}
}

func TestReadsAreServedOnGET(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.booking.get = func(
		_ context.Context, r *connect.Request[v1.GetBookingRequest],
	) (*connect.Response[v1.GetBookingResponse], error) {
		if r.HTTPMethod() != http.MethodGet {
			t.Errorf("it came by %s", r.HTTPMethod())
		}
		return convert.Reply(&v1.GetBookingResponse{})
	}
	url := w.url + berthv1connect.BookingServiceGetBookingProcedure + `?connect=v1&encoding=json&message=`
	for message, want := range map[string]int{
		`{"bookingId":"` + aSession + `"}`: http.StatusOK, `{"booking":1}`: http.StatusBadRequest,
	} {
		answer := send(
			t, http1, http.MethodGet, url+strings.ReplaceAll(message, `"`, "%22"),
			http.Header{"Authorization": {"Bearer " + w.token(t, "owner", tenantA)}}, "",
		)
		if answer.Status != want || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %+v", message, answer)
		}
	}
	answer := send(
		t, http1, http.MethodGet, w.url+berthv1connect.BookingServiceBookProcedure+"?message={}&encoding=json", http.Header{},
		"",
	)
	if answer.Status != http.StatusMethodNotAllowed {
		t.Errorf("a mutation on GET: %d", answer.Status)
	}
}

func TestSmallAnswersAreNotCompressed(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	for size, want := range map[int]string{10: "", 4 << 10: "gzip"} {
		w.booking.get = func(
			context.Context, *connect.Request[v1.GetBookingRequest],
		) (*connect.Response[v1.GetBookingResponse], error) {
			return convert.Reply(&v1.GetBookingResponse{Booking: &v1.Booking{Note: strings.Repeat("x", size)}})
		}
		answer := send(t, http1, http.MethodPost, w.url+berthv1connect.BookingServiceGetBookingProcedure, http.Header{
			"Content-Type": {"application/json"}, "Accept-Encoding": {"gzip"},
			"Authorization": {"Bearer " + w.token(t, "owner", tenantA)},
		}, `{"bookingId":"`+aSession+`"}`)
		if got := answer.Header.Get("Content-Encoding"); got != want || answer.Status != http.StatusOK {
			t.Errorf("%d bytes: %d, Content-Encoding %q, want %q", size, answer.Status, got, want)
		}
	}
}

func TestBrowsersOfKnownOriginsMayCall(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	url := w.url + berthv1connect.BookingServiceBookProcedure
	preflight := func(url, origin string) http.Header {
		answer := send(t, http1, http.MethodOptions, url, http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {"POST"},
			"Access-Control-Request-Headers": {
				"authorization,connect-protocol-version,content-type,idempotency-key,x-booking-channel",
			},
		}, "")
		return answer.Header
	}
	if got := preflight(url, "https://app.test"); got.Get("Access-Control-Allow-Origin") != "https://app.test" ||
		!strings.Contains(got.Get("Access-Control-Allow-Headers"), "x-booking-channel") {
		t.Errorf("known origin: %v", got)
	}
	if got := preflight(url, "https://evil.test"); got.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("unknown origin: %v", got)
	}
	same := newWire(t, func(c *Config) { c.Origins = nil })
	if got := preflight(
		same.url+berthv1connect.BookingServiceBookProcedure, "https://app.test",
	); got.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("no origins are allowed: %v", got)
	}
	answer := send(
		t, http1, http.MethodPost, url, http.Header{"Origin": {"https://app.test"}, "Content-Type": {"application/json"}},
		"{}",
	)
	exposed := answer.Header.Get("Access-Control-Expose-Headers")
	for _, name := range []string{
		"X-Booking-Status", "X-Idempotent", "X-Idempotency-Key", "X-Request-Id", "Grpc-Status-Details-Bin",
	} {
		if !strings.Contains(exposed, name) {
			t.Errorf("%s is not exposed: %s", name, exposed)
		}
	}
}

// A page elsewhere may read by GET with its token. Its browser asks beforehand for each address, and keeps that for two
// hours.
func TestPagesOfKnownOriginsMayReadByGET(t *testing.T) {
	t.Parallel()
	s := startTestServer(t, Config{Origins: []string{"https://app.test"}})
	url := s.URL + berthv1connect.TenantServiceGetTenantProcedure + "?connect=v1&encoding=json&message={}"
	asked := send(t, s.Client, http.MethodOptions, url, http.Header{
		"Origin": {"https://app.test"}, "Access-Control-Request-Method": {"GET"},
		"Access-Control-Request-Headers": {"authorization,connect-timeout-ms"},
	}, "")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "https://app.test", "Access-Control-Allow-Methods": "GET",
		"Access-Control-Allow-Headers": "authorization,connect-timeout-ms", "Access-Control-Max-Age": "7200",
	} {
		if got := asked.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	header := bearer(s.Token(t, "member"))
	header.Set("Origin", "https://app.test")
	first := send(t, s.Client, http.MethodGet, url, header, "")
	header.Set("If-None-Match", first.Header.Get("Etag"))
	again := send(t, s.Client, http.MethodGet, url, header, "")
	if first.Status != http.StatusOK || again.Status != http.StatusNotModified {
		t.Errorf("%d, then %d", first.Status, again.Status)
	}
	for _, answer := range []answer{first, again} {
		vary := strings.Join(answer.Header.Values("Vary"), ", ")
		if answer.Header.Get("Access-Control-Allow-Origin") != "https://app.test" || !strings.Contains(vary, "Origin") ||
			!strings.Contains(vary, "Authorization") {
			t.Errorf("%d: %v", answer.Status, answer.Header)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	for sent, kept := range map[string]bool{
		"": false, "a-B_9.z": true, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false, "a b": false,
		"a\"b": false, "ä": false,
	} {
		got := requestID(http.Header{"X-Request-Id": {sent}})
		if kept != (got == sent) || len(got) < 7 {
			t.Errorf("%q became %q", sent, got)
		}
	}
	w := newWire(t)
	answer := send(
		t, http1, http.MethodPost, w.url+berthv1connect.BookingServiceBookProcedure, http.Header{"X-Request-Id": {"abc"}}, "",
	)
	if got := answer.Header.Get("X-Request-Id"); got != "abc" {
		t.Errorf("an answer that Connect gives by itself has the id %q", got)
	}
}

func TestReflection(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	stream := grpcreflect.NewClient(http2, w.url, connect.WithGRPC()).NewStream(t.Context())
	defer stream.Close()
	services, err := stream.ListServices()
	if err != nil {
		t.Fatal(err)
	}
	if len(services) != 12 || !slices.Contains(services, "berth.v1.BookingService") {
		t.Errorf("services: %v", services)
	}
	if _, err := stream.FileContainingSymbol("berth.v1.BookingService"); err != nil {
		t.Error(err)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	check := connect.NewClient[healthpb.HealthCheckRequest, healthpb.HealthCheckResponse](
		http2, w.url+"/grpc.health.v1.Health/Check", connect.WithGRPC(),
	)
	watch := connect.NewClient[healthpb.HealthCheckRequest, healthpb.HealthCheckResponse](
		http2, w.url+"/grpc.health.v1.Health/Watch", connect.WithGRPC(),
	)
	for service, want := range map[string]connect.Code{
		"": 0, "berth.v1.BookingService": 0, "berth.v1.Nothing": connect.CodeNotFound,
	} {
		answer, err := check.CallUnary(t.Context(), connect.NewRequest(&healthpb.HealthCheckRequest{Service: service}))
		if want == 0 && (err != nil || answer.Msg.GetStatus() != healthpb.HealthCheckResponse_SERVING) || want != 0 &&
			connect.CodeOf(err) != want {
			t.Errorf("%q: %v", service, err)
		}
	}
	stream, err := watch.CallServerStream(t.Context(), connect.NewRequest(&healthpb.HealthCheckRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if !stream.Receive() || stream.Msg().GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatal(stream.Msg(), stream.Err())
	}
	get := func(path string) (int, string) {
		answer := send(t, http1, http.MethodGet, w.url+path, http.Header{}, "")
		return answer.Status, answer.Body
	}
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusOK, "/nothing": http.StatusNotFound,
	} {
		if code, body := get(path); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if _, body := get("/.well-known/jwks.json"); !json.Valid([]byte(body)) || !strings.Contains(body, `"keys"`) ||
		strings.Contains(body, `"d"`) {
		t.Errorf("the keys are %s", body)
	}

	w.health.Drain()
	w.health.Drain()
	if !stream.Receive() || stream.Msg().GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Error(stream.Msg(), stream.Err())
	}
	if stream.Receive() || stream.Err() != nil {
		t.Errorf("the watch goes on: %v", stream.Err())
	}
	if code, _ := get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("ready while draining: %d", code)
	}
	if code, _ := get("/healthz"); code != http.StatusOK {
		t.Errorf("dead while draining: %d", code)
	}
}

func TestNotReadyTellsNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWire(t, func(c *Config) {
		c.Health = NewHealth(func(context.Context) error { return errors.New("secret: password wrong") })
	})
	answer := send(t, http1, http.MethodGet, w.url+"/readyz", http.Header{}, "")
	if answer.Status != http.StatusServiceUnavailable || strings.Contains(answer.Body, "secret") {
		t.Errorf("%+v", answer)
	}
}

func TestMetricsCountEveryOutcome(t *testing.T) {
	t.Parallel()
	w := newWire(t, limited)
	w.booking.book = answerBooking
	client := berthv1connect.NewBookingServiceClient(http1, w.url)
	for _, request := range []*connect.Request[v1.BookRequest]{
		as(w.token(t, "member", tenantA), &v1.BookRequest{SessionId: aSession}),
		as(w.token(t, "member", tenantA), &v1.BookRequest{}),
		as("", &v1.BookRequest{}),
		as(w.token(t, "member", tenantA), &v1.BookRequest{Note: strings.Repeat("x", 2*testLimit)}),
	} {
		_, _ = client.Book(t.Context(), request)
	}
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			switch family.GetName() {
			case "berth_rpc_requests_total":
				got[strings.Join(labels, " ")] = metric.GetCounter().GetValue()
			case "berth_rpc_duration_seconds":
				got["measured"] = float64(metric.GetHistogram().GetSampleCount())
			case "berth_rpc_in_flight":
				got["in flight"] = metric.GetGauge().GetValue()
			}
		}
	}
	want := map[string]float64{ // labels are sorted by name: code, procedure, reason
		"ok berth.v1.BookingService/Book ":                             1,
		"invalid_argument berth.v1.BookingService/Book INVALID_FIELD":  1,
		"unauthenticated berth.v1.BookingService/Book UNAUTHENTICATED": 1,
		"unread berth.v1.BookingService/Book ":                         1,
		"measured":                                                     2, "in flight": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
