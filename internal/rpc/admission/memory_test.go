package admission

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

func TestMemory_CountsWhatCallersHaveInProgress(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	m := newMemory(Memory{Calls: 2, Caller: 100 * kib, Requests: 150 * kib})
	start := func(subject, address string, header http.Header, path string) (*heldMemory, error) {
		r := &http.Request{Header: header}
		r.URL = expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, path, nil))(t).URL
		h := m.hold(&request.Call{
			Principal: token.Principal{Subject: subject}, Client: netip.MustParseAddr(address),
		}, r, 200*kib, 0)
		return h, h.enter()
	}
	enter := func(subject, address string, headers ...string) *heldMemory {
		t.Helper()
		header := make(http.Header)
		for _, name := range headers {
			header.Set(name, "gzip")
		}
		return expect.Value(start(subject, address, header, "/"))(t)
	}
	plain := http.Header{"Content-Encoding": {"identity"}}
	ana, again := enter("ana", "192.0.2.1"), expect.Value(start("ana", "192.0.2.2", plain, "/"))(t)
	expect.Reason(t, fault.RateLimited)(start("ana", "192.0.2.3", nil, "/")) // three calls at once

	must.True(t, ana.addRead(5*kib), must.Sprint("what is free, since a message has a copy"))
	must.True(t, ana.addRead(3*kib), must.Sprint("what is free"))
	must.True(t, ana.addRead(30*kib))
	must.True(t, again.addRead(28*kib))
	must.False(t, again.addRead(1), must.Sprint("more than a caller may have"))
	written := false
	again.write(16*kib, func() { written = true })
	must.True(t, written, must.Sprint("a small response"))
	func() {
		defer func() { must.EqOp(t, http.ErrAbortHandler, recover().(error)) }()
		again.write(17*kib, func() { t.Error("written") })
	}()
	ben := enter("ben", "192.0.2.1")
	must.True(t, ben.addRead(33*kib))
	must.False(t, ben.addRead(1), must.Sprint("more than all may have"))
	ana.leave()
	must.True(t, ben.addRead(1))
	again.write(60*kib, func() {
		late := enter("ana", "192.0.2.1")
		must.False(t, late.addRead(30*kib), must.Sprint("a response is in progress, too"))
		late.leave()
	})
	again.leave()
	ben.leave()

	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		packed := enter("ana", "192.0.2.1", name)
		must.True(t, packed.addRead(kib), must.Sprint(name))
		must.False(t, packed.addRead(kib), must.Sprint("2 KiB that may become 100, twice"))
		packed.leave()
	}
	file, err := start("ana", "192.0.2.1", http.Header{"Content-Encoding": {"gzip"}},
		berthv1connect.SessionServiceImportSessionsProcedure)
	must.NoError(t, err, must.Sprint("a byte of a file may become anything"))
	must.False(t, file.addRead(1), must.Sprint("a byte of a file may become anything"))
	file.leave()
	stranger, other := enter("", "2001:db8::1"), enter("", "2001:db8::2")
	expect.Reason(t, fault.RateLimited)(start("", "2001:db8::3", nil, "/")) // one network
	stranger.leave()
	other.leave()
	must.True(t, m.calls.Add(memoryKey{}, 2), must.Sprint("nothing is left"))
	must.True(t, m.callers.Add(ana.key, 100*kib), must.Sprint("nothing is left"))
	must.True(t, m.callers.Add(ben.key, 100*kib), must.Sprint("nothing is left"))
	must.True(t, m.requests.Add(struct{}{}, 150*kib), must.Sprint("nothing is left"))
	defaults := newMemory(Memory{})
	test.Greater(t, 0, defaults.calls.Max)
	for procedure, limit := range largerRequests {
		test.Greater(t, 7*2*int(limit), defaults.callers.Max, test.Sprint("seven of the largest requests", procedure))
	}
	test.EqOp(t, 4*defaults.callers.Max, defaults.requests.Max, test.Sprint("a quarter of all"))
}

// A client learns that its request was refused, and never takes a response that was cut off for a complete one.
func TestMemory_IsLimitedInEveryProtocol(t *testing.T) {
	t.Parallel()
	random := make([]byte, 1<<20) // compression gains little
	_, _ = rand.Read(random)
	text := base64.StdEncoding.EncodeToString(random)
	page := &v1.GetBookingResponse{Booking: &v1.Booking{Note: text + text}}
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		// A server for each, since the calls of a caller share what it may use.
		w := newStubServer(t, func(c *Config) { c.Memory.Caller, c.Memory.Calls, c.MaxBytes = 1<<20, 20, 6<<20 })
		w.booking.get = func(context.Context, *v1.GetBookingRequest) (*v1.GetBookingResponse, error) { return page, nil }
		w.booking.book = bookStub
		raw := w.token(t, "member", tenantA)
		for name, tt := range map[string]struct {
			more connect.ClientOption
			size int // little more than is allowed: the server does not read the rest
		}{"plain": {connect.WithClientOptions(), 1100 << 10}, "gzipped": {connect.WithSendGzip(), 100 << 10}} {
			c := berthv1connect.NewBookingServiceClient(client, w.url, options, tt.more)
			refused(t, "RATE_LIMITED", test.Sprint(name))(
				c.Book(t.Context(), as(raw, &v1.BookRequest{Note: text[:tt.size]})),
			)
			test.Error(t, errorOf(
				c.GetBooking(t.Context(), as(raw, &v1.GetBookingRequest{BookingId: someSession})),
			), test.Sprint(name))
			expect.OK(t)(c.Book(t.Context(), as(raw, &v1.BookRequest{SessionId: someSession})))
		}
	})
}

// Who proves nothing sends a key or a link, and is refused before more than that is read.
func TestMemory_IsSmallForPublicCalls(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{}, 0)
	failsAs(t, errTooBig)(berthv1connect.NewAccessServiceClient(http1, w.url).ExchangeKey(
		t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: strings.Repeat("x", maxPublicBytes)}),
	))
	failsAs(t, errTooBig)(connect.NewClient[v1.GetMeRequest, v1.GetMeResponse](
		http1, w.url+"/not.in.the.Contract/Call",
	).CallUnary(
		t.Context(), connect.NewRequest(&v1.GetMeRequest{TenantId: strings.Repeat("x", maxPublicBytes)}),
	))
}
