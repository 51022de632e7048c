package boot

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
)

func TestNextAddress_IsOfThisMachine(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8081", "0.0.0.0:80": "127.0.0.1:81", "[::]:8080": "127.0.0.1:8081",
		":65534": "127.0.0.1:65535", ":65535": "127.0.0.1:0", "127.0.0.1:0": "127.0.0.1:0", "localhost:http": "127.0.0.1:0",
		"localhost": "127.0.0.1:0",
	} {
		test.EqOp(t, want, nextAddress(of), test.Sprint(of))
	}
}

func TestHSTS_IsSentForHTTPSOnly(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"https://berth.test": "max-age=31536000", "http://berth.test": ""} {
		w := httptest.NewRecorder()
		hsts(url, http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		test.EqOp(t, want, w.Header().Get("Strict-Transport-Security"), test.Sprint(url))
	}
}

func TestAdminHandler_ServesProfilesOnlyIfAskedFor(t *testing.T) {
	t.Parallel()
	for profiles, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		n := &Node{profiles: profiles, Metrics: prometheus.NewRegistry(), Handler: http.NotFoundHandler()}
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap"} {
			w := httptest.NewRecorder()
			n.AdminHandler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			test.EqOp(t, want, w.Code, test.Sprint(path, " with profiles ", profiles))
		}
	}
}
