package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/berthhq/berth/internal/pgtest"
)

// A worker serves health checks and metrics only. It sends messages even with --send=off.
func TestWorker_ServesHealthAndMetricsOnly(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	c := start(t, "worker", "--database-url", db.URL, "--data", data, "--listen", "127.0.0.1:0", "--log-format", "text",
		"--send=off",
		"--public-url", "https://berth.example")
	address, _, _ := strings.Cut(c.err.after(t, "address="), " ")
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/metrics": http.StatusOK,
		"/": http.StatusNotFound, "/berth.v1.SessionService/ListSessions": http.StatusNotFound,
		"/.well-known/jwks.json":                   http.StatusNotFound,
		"/healthz/../berth.v1.MemberService/GetMe": http.StatusNotFound,
	} {
		if status, text := get(t, "http://"+address+path); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	c.stop()
	if c.wait(t) != 0 {
		t.Error("it does not end well")
	}
}
