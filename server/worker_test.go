package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pgtest"
)

// A worker serves health checks only, and metrics at the admin address. It sends messages even with --send=off.
func TestWorker_ServesHealthOnly(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	makeKeys(t, data)
	c := start(t, "worker", "--database-url", db.URL, "--data", data, "--listen", "127.0.0.1:0", "--log-format", "text",
		"--send=off",
		"--public-url", "https://berth.example")
	address, _, _ := strings.Cut(c.err.after(t, "address="), " ")
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/metrics": http.StatusNotFound,
		"/": http.StatusNotFound, "/berth.v1.SessionService/ListSessions": http.StatusNotFound,
		"/.well-known/jwks.json":                   http.StatusNotFound,
		"/healthz/../berth.v1.MemberService/GetMe": http.StatusNotFound,
	} {
		status, text := get(t, "http://"+address+path)
		test.EqOp(t, want, status, test.Sprintf("%s: %d %s", path, status, text))
	}
	c.stop()
	test.EqOp(t, 0, c.wait(t), test.Sprint("it does not end well"))
}
