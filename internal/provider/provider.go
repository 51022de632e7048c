// Package provider records what happened to one HTTP request to a message provider: whether it was sent, what the
// answer was, and so whether the message may have been sent. The providers' client libraries hide this,
// and some retry requests by themselves.
package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// pool keeps connections for many messages at once, but not for long: if the server closes an idle connection
// just when it is used, it is unknown whether the server got the message.
var pool = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = 128
	t.IdleConnTimeout = 20 * time.Second
	return t
}()

// SharedTransport returns the given transport, or one that all senders share if it is nil.
func SharedTransport(given http.RoundTripper) http.RoundTripper {
	if given == nil {
		return pool
	}
	return given
}

// answerLimit in bytes is more than any provider's answer to one message.
const answerLimit = 1 << 20

var errRepeated = errors.New("a message is sent with one request only")

// Exchange is one request and its response.
type Exchange struct {
	cancel context.CancelFunc

	mu         sync.Mutex
	started    bool
	sent       bool // the request may have reached the provider
	status     int  // 0: no response
	errorBody  []byte
	retryAfter time.Duration
	err        error
}

type exchangeKey struct{}

// NewExchange returns a context for one request through Transport. The context ends with the response, so that
// no library retries the request: only the caller knows whether that is safe. Call the function at the end.
func NewExchange(ctx context.Context, timeout time.Duration) (context.Context, *Exchange, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	x := &Exchange{cancel: cancel}
	return context.WithValue(ctx, exchangeKey{}, x), x, cancel
}

// Transport records in a request's Exchange what happens to it.
type Transport struct {
	Base http.RoundTripper
}

// RoundTrip makes one request and reads the whole response.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*Exchange)
	if !ok {
		return t.Base.RoundTrip(req)
	}
	if !x.start() {
		return nil, errRepeated
	}
	defer x.cancel()
	// Treat a connection as a sent request: the write follows immediately,
	// and continues in another goroutine after a timeout has ended this one.
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.markSent() }}
	res, err := t.Base.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		x.fail(err)
		return nil, err
	}
	defer res.Body.Close()
	x.setStatus(res)
	body, err := io.ReadAll(io.LimitReader(res.Body, answerLimit))
	if err != nil {
		x.fail(err)
		return nil, err
	}
	x.setBody(body)
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

func (e *Exchange) start() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := !e.started
	e.started = true
	return first
}

func (e *Exchange) markSent() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = true
}

func (e *Exchange) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

func (e *Exchange) setStatus(res *http.Response) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = res.StatusCode
	e.retryAfter = retryAfter(res.Header)
}

func (e *Exchange) setBody(body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.status/100 != 2 {
		e.errorBody = body
	}
}

// ErrorBody returns the body of an error response, or nil. Libraries that retry by themselves hide it.
func (e *Exchange) ErrorBody() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.errorBody
}

// Accepted reports whether the provider accepted the request.
func (e *Exchange) Accepted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status/100 == 2
}

// NotSent reports whether no request was made at all, because the library rejected it.
func (e *Exchange) NotSent() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.started
}

// Failure says what a failed exchange means, as far as HTTP shows. err is the library's error and becomes the cause.
// If the provider's response has an error code, that says more.
func (e *Exchange) Failure(err error) *delivery.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		err = e.err // the library's error may only say that the context ended
	}
	failure := &delivery.Error{RetryAfter: e.retryAfter, Err: err}
	switch {
	case e.status == 0 && e.sent:
		failure.Kind, failure.Reason = delivery.Unknown, "no answer"
	case e.status == 0:
		failure.Kind, failure.Reason = delivery.Transient, "not reached"
	case e.status/100 == 2:
		failure.Kind, failure.Reason = delivery.Unknown, "accepted, but the answer cannot be read"
	default:
		failure.Kind = kind(e.status)
		failure.Code = "HTTP " + strconv.Itoa(e.status)
		failure.Reason = fmt.Sprintf("the provider answered %d %s", e.status, http.StatusText(e.status))
	}
	return failure
}

// kind classifies an error status by RFC 9110. A server error other than 503 may come after the message
// was accepted, for example from a proxy that timed out.
func kind(status int) delivery.FailureKind {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return delivery.Transient
	case status >= 500:
		return delivery.Unknown
	case status < 400, status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusPaymentRequired:
		return delivery.Misconfigured // the account or the URL
	default:
		return delivery.Permanent
	}
}

// retryAfter parses seconds or a date. It compares a date with that of the response, so clocks need not agree.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, at.Sub(sent))
}

// Client returns a client that follows no redirects: the APIs of providers use none,
// and credentials must not be sent to another server.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
