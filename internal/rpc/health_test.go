package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestHealth_FollowsDraining(t *testing.T) {
	t.Parallel()
	w := newBareServer(t)
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
		if want != 0 {
			test.EqOp(t, want, connect.CodeOf(err), test.Sprintf("%q", service))
			continue
		}
		must.NoError(t, err, must.Sprintf("%q", service))
		test.EqOp(t, healthpb.HealthCheckResponse_SERVING, response.Msg.GetStatus(), test.Sprintf("%q", service))
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

func TestReadyz_TellsOperatorsTheCause(t *testing.T) {
	t.Parallel()
	var err error
	for want, status := range map[string]int{"ready\n": 200, "not ready: no keys\n": 503} {
		if err = nil; status != 200 {
			err = errors.New("no keys")
		}
		w := httptest.NewRecorder()
		NewHealth(func(context.Context) error { return err }).ServeReason(w,
			httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		test.EqOp(t, want, w.Body.String())
		test.EqOp(t, status, w.Code)
	}
}

func TestReadyz_HidesCause(t *testing.T) {
	t.Parallel()
	w := newBareServer(t, func(c *Config) {
		c.Health = NewHealth(func(context.Context) error { return errors.New("secret: password wrong") })
	})
	response := send(t, http1, http.MethodGet, w.url+"/readyz", http.Header{}, "")
	test.EqOp(t, http.StatusServiceUnavailable, response.Status)
	test.StrNotContains(t, response.Body, "secret")
}

// Anyone may ask for the health, as often as they like, and each check is a query.
func TestHealth_ChecksOnceASecond(t *testing.T) {
	t.Parallel()
	var checks atomic.Int32
	h := NewHealth(func(ctx context.Context) error {
		checks.Add(1)
		return errors.Join(ctx.Err(), errors.New("down"))
	})
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 100 {
		test.EqError(t, h.ready(gone), "down", test.Sprint("who asked has left, and others still want to know"))
	}
	test.LessEq(t, 2, checks.Load())
	h.checked = h.checked.Add(-2 * checkInterval)
	before := checks.Load()
	test.Error(t, h.ready(t.Context()))
	test.EqOp(t, before+1, checks.Load())
}
