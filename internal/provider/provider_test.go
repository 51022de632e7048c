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

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// ask sends one request to a test server and returns the recorded exchange.
func ask(t *testing.T, answer http.HandlerFunc) (*provider.Exchange, *http.Response, error) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	ctx, exchange, done := provider.NewExchange(t.Context(), 20*time.Second)
	t.Cleanup(done)
	req := expect.Value(http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("x")))(t)
	res, err := provider.Client(provider.Transport{Base: provider.SharedTransport(&http.Transport{})}).Do(req)
	return exchange, res, err
}

func TestFailure_ClassifiesStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]delivery.FailureKind{
		301: delivery.Misconfigured, 302: delivery.Misconfigured, 308: delivery.Misconfigured,
		400: delivery.Permanent, 401: delivery.Misconfigured, 402: delivery.Misconfigured, 403: delivery.Misconfigured,
		404: delivery.Misconfigured, 405: delivery.Misconfigured, 408: delivery.Transient, 413: delivery.Permanent,
		422: delivery.Permanent, 425: delivery.Transient, 429: delivery.Transient,
		500: delivery.Unknown, 501: delivery.Unknown, 502: delivery.Unknown, 503: delivery.Transient, 504: delivery.Unknown,
	} {
		exchange, res, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/other")
			w.WriteHeader(status)
		})
		must.NoError(t, err)
		must.EqOp(t, status, res.StatusCode)
		must.False(t, exchange.Accepted(), must.Sprintf("%d: %v, %v", status, res, err))
		got := exchange.Failure(nil)
		test.EqOp(t, want, got.Kind, test.Sprintf("%d: %v", status, got))
	}
}

func TestTransport_ReadsWholeResponse(t *testing.T) {
	t.Parallel()
	exchange, res, err := ask(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "yes") })
	must.NoError(t, err)
	body, err := io.ReadAll(res.Body) // after the exchange
	must.NoError(t, err)
	test.EqOp(t, "yes", string(body))
	test.True(t, exchange.Accepted(), test.Sprintf("%q, %v", body, err))
	test.False(t, exchange.NotSent(), test.Sprintf("%q, %v", body, err))
}

// The server accepts the request and then breaks the connection.
func TestFailure_OfTruncatedResponseIsUnknown(t *testing.T) {
	t.Parallel()
	exchange, _, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "ye")
	})
	got := exchange.Failure(err)
	test.Error(t, err)
	test.EqOp(t, delivery.Unknown, got.Kind)
	test.ErrorIs(t, got, io.ErrUnexpectedEOF)
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
		return expect.Value(http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody))(t)
	}
	test.EqOp(t, 1, repeat(request), test.Sprint("requests"))
	got := exchange.Failure(errors.New("from the library"))
	test.EqOp(t, delivery.Transient, got.Kind, test.Sprint(got))
	// Negative control: without an exchange a library can retry.
	test.EqOp(t, 5, repeat(func() *http.Request { return request().WithContext(t.Context()) }),
		test.Sprint("requests without"))
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
		test.EqOp(t, want, exchange.Failure(err).RetryAfter, test.Sprintf("%q", text))
	}
}
