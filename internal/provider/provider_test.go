package provider_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/notify"
)

// ask sends one request to a test server and returns the recorded exchange.
func ask(t *testing.T, answer http.HandlerFunc) (*provider.Exchange, *http.Response, error) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	ctx, exchange, done := provider.NewExchange(t.Context(), 20*time.Second)
	t.Cleanup(done)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := provider.Client(provider.Transport{Base: provider.SharedTransport(&http.Transport{})}).Do(req)
	return exchange, res, err
}

func TestFailure_ClassifiesStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]notify.FailureKind{
		301: notify.Misconfigured, 302: notify.Misconfigured, 308: notify.Misconfigured,
		400: notify.Permanent, 401: notify.Misconfigured, 402: notify.Misconfigured, 403: notify.Misconfigured,
		404: notify.Misconfigured, 405: notify.Misconfigured, 408: notify.Transient, 413: notify.Permanent,
		422: notify.Permanent, 425: notify.Transient, 429: notify.Transient,
		500: notify.Unknown, 501: notify.Unknown, 502: notify.Unknown, 503: notify.Transient, 504: notify.Unknown,
	} {
		exchange, res, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/other")
			w.WriteHeader(status)
		})
		if err != nil || res.StatusCode != status || exchange.Accepted() {
			t.Fatalf("%d: %v, %v", status, res, err)
		}
		if got := exchange.Failure(nil); got.Kind != want {
			t.Errorf("%d: %v", status, got)
		}
	}
}

func TestTransport_ReadsWholeResponse(t *testing.T) {
	t.Parallel()
	exchange, res, err := ask(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "yes") })
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body) // after the exchange
	if err != nil || string(body) != "yes" || !exchange.Accepted() || exchange.NotSent() {
		t.Errorf("%q, %v", body, err)
	}
}

// The server accepts the request and then breaks the connection.
func TestFailure_OfTruncatedResponseIsUnknown(t *testing.T) {
	t.Parallel()
	exchange, _, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "ye")
	})
	if got := exchange.Failure(err); err == nil || got.Kind != notify.Unknown || !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Errorf("%v, %v", err, got)
	}
}

func TestTransport_MakesOneRequestOnly(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	ctx, exchange, done := provider.NewExchange(t.Context(), 20*time.Second)
	defer done()
	client := provider.Client(provider.Transport{Base: provider.SharedTransport(nil)})
	repeat := func(ctx func() *http.Request) (n int) {
		for range 5 {
			if res, err := client.Do(ctx()); err == nil {
				res.Body.Close()
			}
		}
		return int(asked.Swap(0))
	}
	request := func() *http.Request {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return req
	}
	if n := repeat(request); n != 1 {
		t.Errorf("%d requests", n)
	}
	if got := exchange.Failure(errors.New("from the library")); got.Kind != notify.Transient {
		t.Errorf("%v", got)
	}
	// Negative control: without an exchange a library can retry.
	if n := repeat(func() *http.Request { return request().WithContext(t.Context()) }); n != 5 {
		t.Errorf("%d requests without", n)
	}
}

func TestFailure_ReadsRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Sat, 28 Mar 2026 12:00:00 GMT"
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "0": 0, "-5": 0, "17": 17 * time.Second, "1.5": 0, "99999999999": 0,
		"Sat, 28 Mar 2026 12:00:30 GMT": 30 * time.Second, "Sat, 28 Mar 2026 11:00:00 GMT": 0,
	} {
		exchange, _, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", date)
			w.Header().Set("Retry-After", text)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if got := exchange.Failure(err); got.RetryAfter != want {
			t.Errorf("%q: %s", text, got.RetryAfter)
		}
	}
}
