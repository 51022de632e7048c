package rpc

import (
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

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/admission"
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
	w := newBareServer(t)
	rules := expect.Value(admission.Rules())(t)
	for procedure, rule := range rules {
		response := send(t, http1, http.MethodPost, w.url+procedure, http.Header{"Content-Type": {"application/proto"}}, "")
		want := http.StatusUnauthorized // also of streams, which have another content type
		if rule.Kind == v1.Access_RULE_PUBLIC {
			want = http.StatusBadRequest
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

// A page of another origin may read by GET with its token. Its browser sends a preflight request for each URL and
// caches the response for two hours.
func TestCORS_AllowsGETWithToken(t *testing.T) {
	t.Parallel()
	s := startTestServer(t, Config{Admission: admission.Config{Origins: []string{"https://app.test"}}})
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

func TestReflection_ListsServicesIfItIsOn(t *testing.T) {
	t.Parallel()
	off := grpcreflect.NewClient(http2, newBareServer(t).url, connect.WithGRPC()).NewStream(t.Context())
	defer off.Close()
	test.EqOp(t, connect.CodeUnimplemented, connect.CodeOf(errorOf(off.ListServices())))
	stream := grpcreflect.NewClient(
		http2, newBareServer(t, func(c *Config) { c.Reflection = true }).url, connect.WithGRPC(),
	).NewStream(t.Context())
	defer stream.Close()
	services := expect.Value(stream.ListServices())(t)
	must.SliceLen(t, 17, services, must.Sprintf("services: %v", services))
	test.True(t, slices.Contains(services, "berth.v1.BookingService"), test.Sprintf("services: %v", services))
	test.NoError(t, errorOf(stream.FileContainingSymbol("berth.v1.BookingService")))
}
