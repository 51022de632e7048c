// Package rpctest has what tests of the contract's calls share: clients over every protocol, and what they expect of
// errors.
package rpctest

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// Protocol is a client and how it calls.
type Protocol struct {
	Client  *http.Client
	Options connect.ClientOption
}

// Protocols are the protocols and encodings that clients may use.
var Protocols = map[string]Protocol{
	"connect":      {HTTP1, connect.WithClientOptions()},
	"connect+json": {HTTP1, connect.WithProtoJSON()},
	"connect+get":  {HTTP1, connect.WithHTTPGet()},
	"connect+h2c":  {HTTP2, connect.WithClientOptions()},
	"grpc":         {HTTP2, connect.WithGRPC()},
	"grpc-web":     {HTTP1, connect.WithGRPCWeb()},
}

// HTTP1 and HTTP2 are clients that speak this version only.
var (
	HTTP1 = &http.Client{Transport: &http.Transport{}}
	HTTP2 = &http.Client{Transport: &http.Transport{Protocols: UnencryptedHTTP2()}}
)

// UnencryptedHTTP2 are the protocols of a client that speaks HTTP/2 without TLS.
func UnencryptedHTTP2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// EachProtocol runs a test over each of the protocols.
func EachProtocol(t *testing.T, test func(t *testing.T, client *http.Client, options connect.ClientOption)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(Protocols)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Protocols[name].Client, Protocols[name].Options)
		})
	}
}

// As returns a request with a token.
func As[T any](token string, message *T) *connect.Request[T] {
	request := connect.NewRequest(message)
	if token != "" {
		request.Header().Set("Authorization", "Bearer "+token)
	}
	return request
}

// Error is the part of an error on which programs branch.
type Error struct {
	Code     connect.Code
	Reason   string
	Metadata map[string]string
}

// ErrorOf gives that part of the error of a call.
func ErrorOf(t *testing.T, err error) Error {
	t.Helper()
	var wire *connect.Error
	must.True(t, errors.As(err, &wire), must.Sprintf("got %v, want an error of the server", err))
	if info := InfoOf(t, wire); info != nil {
		test.EqOp(t, "berth", info.GetDomain())
		return Error{wire.Code(), info.GetReason(), info.GetMetadata()}
	}
	t.Fatalf("no ErrorInfo in %v", err)
	return Error{}
}

// Refused fails the test unless a call failed with an error that has all of these: its code, its reason, its field, or
// other metadata.
//
//	rpctest.Refused(t, "not_found SESSION_NOT_FOUND")(client.Book(ctx, request))
//	rpctest.Refused(t, "INVALID_FIELD page_size")(client.List(ctx, request))
//	rpctest.Refused(t, "PERMISSION_DENIED permission=role.write")(client.CreateRole(ctx, request))
func Refused(t *testing.T, want string, settings ...test.Setting) func(results ...any) {
	t.Helper()
	return func(results ...any) {
		t.Helper()
		got := ErrorOf(t, LastError(results...))
		has := []string{got.Code.String(), got.Reason, got.Metadata["field"]}
		for key, value := range got.Metadata {
			has = append(has, key+"="+value)
		}
		for word := range strings.FieldsSeq(want) {
			test.SliceContains(t, has, word, settings...)
		}
	}
}

// FailsAs is Refused for an error that has nothing else.
func FailsAs(t *testing.T, want Error, settings ...test.Setting) func(results ...any) {
	t.Helper()
	return func(results ...any) {
		t.Helper()
		test.Eq(t, want, ErrorOf(t, LastError(results...)), settings...)
	}
}

// StreamError reads a stream to its end, and returns its error.
func StreamError[R any](stream *connect.ServerStreamForClient[R], err error) error {
	if err != nil {
		return err
	}
	for stream.Receive() {
	}
	return errors.Join(stream.Err(), stream.Close())
}

// LastError returns the error of a call, which is its last result.
func LastError(results ...any) error {
	err, _ := results[len(results)-1].(error)
	return err
}

// InfoOf returns the detail of an error that has its reason, or nil.
func InfoOf(t *testing.T, err *connect.Error) *errdetails.ErrorInfo {
	t.Helper()
	for _, detail := range err.Details() {
		if info, ok := expect.Value(detail.Value())(t).(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// Listen serves on the loopback interface until the test ends, and returns the server's URL.
func Listen(t testing.TB, server interface {
	Serve(listener net.Listener) error
	Close() error
}) string {
	t.Helper()
	listener := expect.Value(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		test.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return "http://" + listener.Addr().String()
}

// Issue signs a token.
func Issue(t testing.TB, by *token.Issuer, claims token.Claims, lifetime time.Duration) string {
	t.Helper()
	raw, _, err := by.Issue(claims, lifetime)
	must.NoError(t, err)
	return raw
}

// Response is the response to a plain HTTP request.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Send sends a plain HTTP request.
func Send(t *testing.T, client *http.Client, method, url string, header http.Header, body string) Response {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	r.Header = header
	got, err := client.Do(r)
	must.NoError(t, err)
	defer got.Body.Close()
	return Response{got.StatusCode, got.Header, string(expect.Value(io.ReadAll(got.Body))(t))}
}

// ErrorIn decodes an error of a unary Connect call as a client does.
func ErrorIn(t *testing.T, got Response) *connect.Error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
		w.WriteHeader(got.Status)
		_, _ = io.WriteString(w, got.Body)
	}))
	defer server.Close()
	_, err := berthv1connect.NewBookingServiceClient(HTTP1, server.URL, connect.WithProtoJSON()).Book(
		t.Context(), connect.NewRequest(new(v1.BookRequest)),
	)
	wire, ok := errors.AsType[*connect.Error](err)
	must.True(t, ok, must.Sprintf("no error but %+v", got))
	return wire
}
