// Package provider tells what became of one HTTP request to a provider of
// messages: whether it left, what was answered, and therefore whether the
// message may have been sent. Libraries that speak for the providers hide that, and some
// repeat requests by themselves.
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

	"github.com/berthhq/berth/internal/rules/notify"
)

// pool keeps connections for many messages at once. Not for long: where the other end hangs up on an
// idle one at the moment it is used, nobody knows whether the message was taken.
var pool = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = 128
	t.IdleConnTimeout = 20 * time.Second
	return t
}()

// Pool is a transport that is given, or else one that all senders share.
func Pool(given http.RoundTripper) http.RoundTripper {
	if given == nil {
		return pool
	}
	return given
}

// answerLimit is more than any provider's answer to one message.
const answerLimit = 1 << 20

var errRepeated = errors.New("one message is one request")

// Exchange is one request and its answer.
type Exchange struct {
	end context.CancelFunc

	mu         sync.Mutex
	begun      bool
	left       bool // it may have reached the provider
	status     int  // 0: no answer
	refusal    []byte
	retryAfter time.Duration
	err        error
}

type exchangeKey struct{}

// Begin gives a context for one request through Transport. The context ends with the
// answer, so that no library repeats the request: whether that is safe, only the
// caller knows. Call the function when all is done.
func Begin(ctx context.Context, timeout time.Duration) (context.Context, *Exchange, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	x := &Exchange{end: cancel}
	return context.WithValue(ctx, exchangeKey{}, x), x, cancel
}

// Transport notes in a request's Exchange what becomes of it.
type Transport struct {
	Base http.RoundTripper
}

// RoundTrip makes one request and takes in its answer whole.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*Exchange)
	if !ok {
		return t.Base.RoundTrip(req)
	}
	if !x.begin() {
		return nil, errRepeated
	}
	defer x.end()
	// Having a connection is taken for having written: the write follows at once, and
	// goes on in another goroutine after a timeout has brought this one back.
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.leave() }}
	res, err := t.Base.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		x.fail(err)
		return nil, err
	}
	defer res.Body.Close()
	x.answer(res)
	body, err := io.ReadAll(io.LimitReader(res.Body, answerLimit))
	if err != nil {
		x.fail(err)
		return nil, err
	}
	x.read(body)
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

func (x *Exchange) begin() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	first := !x.begun
	x.begun = true
	return first
}

func (x *Exchange) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.left = true
}

func (x *Exchange) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = err
}

func (x *Exchange) answer(res *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status = res.StatusCode
	x.retryAfter = retryAfter(res.Header)
}

func (x *Exchange) read(body []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status/100 != 2 {
		x.refusal = body
	}
}

// Refusal is what the provider said when it said no: libraries that mean to repeat a request keep that to themselves. Empty where it
// did not.
func (x *Exchange) Refusal() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refusal
}

// Accepted reports whether the provider said yes.
func (x *Exchange) Accepted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status/100 == 2
}

// Unasked reports whether no request was made at all: the library refused to.
func (x *Exchange) Unasked() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.begun
}

// Failure says what follows from an exchange that did not end well, as far as HTTP
// tells; the library's error comes along as the cause. Where the provider gave a code of its
// own, that tells more.
func (x *Exchange) Failure(err error) *notify.SendError {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err != nil {
		err = x.err // the library's may be about the context that ended with it
	}
	failure := &notify.SendError{RetryAfter: x.retryAfter, Err: err}
	switch {
	case x.status == 0 && x.left:
		failure.Kind, failure.Reason = notify.Unknown, "no answer"
	case x.status == 0:
		failure.Kind, failure.Reason = notify.Transient, "not reached"
	case x.status/100 == 2:
		failure.Kind, failure.Reason = notify.Unknown, "accepted, with an answer that cannot be read"
	default:
		failure.Kind = kind(x.status)
		failure.Code = "HTTP " + strconv.Itoa(x.status)
		failure.Reason = fmt.Sprintf("the provider answered %d %s", x.status, http.StatusText(x.status))
	}
	return failure
}

// kind judges a refusal by RFC 9110. A server error other than 503 may come
// after the message was taken on, from a proxy that lost patience for example.
func kind(status int) notify.FailureKind {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return notify.Transient
	case status >= 500:
		return notify.Unknown
	case status < 400, status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusPaymentRequired:
		return notify.Misconfigured // the account, or the address
	default:
		return notify.Permanent
	}
}

// retryAfter reads seconds or a date, which is taken against the answer's own
// date, so that clocks need not agree.
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

// Client is a client over a transport that follows no redirects: a provider's
// API gives none, and credentials must not go where they lead.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
