package admission

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rpc/rpctest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// ratedServer is a stub server with rates and a clock that stands still.
type ratedServer struct {
	*stubServer
	clock *testkit.Clock
}

func newRatedServer(t *testing.T, rates Rates, perAddress float64, adapt ...func(*Config)) ratedServer {
	t.Helper()
	clock := testkit.NewClock(time.Now())
	rates.Addresses = traffic.NewAddresses(traffic.PerSecond(perAddress), nil, clock.Now)
	w := newStubServer(t, append([]func(*Config){func(c *Config) { c.Now, c.Rates = clock.Now, rates }}, adapt...)...)
	w.booking.book = bookStub
	w.booking.get = func(context.Context, *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
		return new(v1.GetBookingResponse), nil
	}
	return ratedServer{w, clock}
}

// reads returns how many of n reads with a token are answered, and the last error.
func (s ratedServer) reads(t *testing.T, raw string, n int) (answered int, last error) {
	t.Helper()
	for range n {
		if err := s.read(t, raw, ""); err != nil {
			last = err
		} else {
			answered++
		}
	}
	return answered, last
}

// read reads a booking of a tenant, or else of the only one of the token.
func (s ratedServer) read(t *testing.T, raw, in string) error {
	t.Helper()
	return errorOf(berthv1connect.NewBookingServiceClient(http1, s.url).
		GetBooking(t.Context(), as(raw, &v1.GetBookingRequest{BookingId: someSession, TenantId: in})))
}

func TestRates_LimitEachCallerAndTenant(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{
		Caller: traffic.Rate{PerSecond: 0.5, Burst: 3}, Tenant: traffic.Rate{PerSecond: 0.5, Burst: 5},
	}, 0)
	for i, step := range []struct {
		subject string
		passes  time.Duration
		want    int
	}{
		{"member", 0, 3},
		{"coach", 0, 2}, // what the member's own limit rejected does not count for the tenant
		{"member", 2 * time.Second, 1},
		{"coach", 4 * time.Second, 2},
		{"owner", 0, 0},
		{"owner", time.Hour, 3},
	} {
		w.clock.Advance(step.passes)
		answered, err := w.reads(t, w.token(t, step.subject, tenantA), 6)
		test.EqOp(t, step.want, answered, test.Sprintf("step %d", i))
		test.Eq(t, apiError{
			Code: connect.CodeResourceExhausted, Reason: "RATE_LIMITED", Metadata: map[string]string{"retry_after": "2"},
		}, apiErrorOf(t, err), test.Sprintf("step %d", i))
	}
	mine := w.token(t, "member", tenantA, tenantB)
	for _, in := range []tenant.TenantID{tenantB, tenantA, tenantB} {
		test.NoError(t, w.read(t, mine, in.String()), test.Sprint("the same person in two tenants"))
	}
	for _, raw := range []string{mine, w.token(t, "member", tenantB)} {
		refused(t, "RATE_LIMITED", test.Sprint("more tenants give no more calls"))(w.read(t, raw, tenantB.String()))
	}
	// Calls to a tenant of others, and those that cannot be read, take nothing from it.
	for i, want := range []string{"TENANT_FORBIDDEN", "TENANT_FORBIDDEN", "TENANT_FORBIDDEN", "RATE_LIMITED"} {
		refused(t, want, test.Sprintf("call %d", i))(w.read(t, w.token(t, "admin", tenantB), tenantA.String()))
	}
	w.clock.Advance(time.Hour)
	answered, _ := w.reads(t, w.token(t, "owner", tenantA), 3)
	test.EqOp(t, 3, answered)
}

// A tenant has one file read and checked at a time, and few that wait.
func TestRates_LimitFiles(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{Streams: maxWaitingFiles + 2}, 0)
	proceed := make(chan struct{})
	w.members.importMembers = func(
		ctx context.Context, _ *v1.ImportMembersRequest,
	) (*v1.ImportMembersResponse, error) {
		if request.Caller(ctx).Tenant == tenantA {
			<-proceed
		}
		return new(v1.ImportMembersResponse), nil
	}
	upload := func(raw string) error {
		return errorOf(berthv1connect.NewMemberServiceClient(http1, w.url).
			ImportMembers(t.Context(), as(raw, &v1.ImportMembersRequest{Csv: []byte("x")})))
	}
	raw, errs := w.token(t, "owner", tenantA), make(chan error)
	for range maxWaitingFiles + 2 {
		go func() { errs <- upload(raw) }()
	}
	refused(t, "RATE_LIMITED retry_after=1", test.Sprint("one more than may wait"))(<-errs)
	refused(t, "RATE_LIMITED")(berthv1connect.NewSessionServiceClient(http1, w.url).
		ImportSessions(t.Context(), as(raw, &v1.ImportSessionsRequest{Csv: []byte("x")})))
	test.NoError(t, upload(w.token(t, "owner", tenantB)))
	close(proceed)
	for range maxWaitingFiles + 1 {
		test.NoError(t, <-errs)
	}
	for range maxWaitingFiles + 3 {
		test.NoError(t, upload(raw), test.Sprint("when others have ended"))
	}
}

// What Connect itself refuses, before the message is read, counts as a call of its caller.
func TestRates_CountWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	inflating := new(bytes.Buffer)
	writer := gzip.NewWriter(inflating)
	expect.OK(t)(writer.Write(make([]byte, 1<<20)))
	must.NoError(t, writer.Close())
	for name, c := range map[string]struct {
		method, body string
		header       http.Header
	}{
		"an unknown encoding":  {body: "{}", header: http.Header{"Content-Encoding": {"zstd"}}},
		"a wrong timeout":      {body: "{}", header: http.Header{"Connect-Timeout-Ms": {"soon"}}},
		"a wrong grpc-timeout": {header: http.Header{"Content-Type": {"application/grpc"}, "Grpc-Timeout": {"soon"}}},
		"a corrupt gzip":       {body: "{}", header: http.Header{"Content-Encoding": {"gzip"}}},
		"a gzip that inflates": {body: inflating.String(), header: http.Header{"Content-Encoding": {"gzip"}}},
		"an unknown type":      {body: "{}", header: http.Header{"Content-Type": {"text/plain"}}},
		"another version":      {body: "{}", header: http.Header{"Connect-Protocol-Version": {"7"}}},
		"another method":       {method: http.MethodPut, body: "{}"},
		"a GET of a write":     {method: http.MethodGet},
		"no message over gRPC": {header: http.Header{"Content-Type": {"application/grpc"}}},
		"half a message": {
			body: "\x00\x00\x00\x00\x09{", header: http.Header{"Content-Type": {"application/grpc-web"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRatedServer(t, Rates{Caller: traffic.Rate{PerSecond: 0.1, Burst: 3}}, 0)
			raw := w.token(t, "member", tenantA)
			for call := range 5 {
				r := expect.Value(http.NewRequestWithContext(t.Context(), cmp.Or(c.method, http.MethodPost),
					w.url+berthv1connect.BookingServiceBookProcedure, strings.NewReader(c.body)))(t)
				r.Header = c.header.Clone()
				if r.Header == nil {
					r.Header = make(http.Header)
				}
				if r.Header.Get("Content-Type") == "" {
					r.Header.Set("Content-Type", "application/json")
				}
				r.Header.Set("Authorization", "Bearer "+raw)
				response := expect.Value(http1.Do(r))(t)
				expect.OK(t)(io.Copy(io.Discard, response.Body))
				must.NoError(t, response.Body.Close())
				wait := response.Header.Get("Retry-After") + response.Trailer.Get("Retry-After") // gRPC has it at the end
				test.EqOp(t, call >= 3, wait == "10", test.Sprintf("call %d: %+v", call, response))
			}
			answered, _ := w.reads(t, raw, 1)
			test.EqOp(t, 0, answered)
		})
	}
}

func TestRates_SayWhenToRetry(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{Caller: traffic.Rate{PerSecond: 0.1, Burst: 1}}, 0)
	raw := w.token(t, "member", tenantA)
	must.NoError(t, w.read(t, raw, ""))
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		_, err := berthv1connect.NewBookingServiceClient(client, w.url, options).
			GetBooking(t.Context(), as(raw, &v1.GetBookingRequest{BookingId: someSession}))
		wire, _ := errors.AsType[*connect.Error](err)
		must.NotNil(t, wire)
		test.EqOp(t, "10", wire.Meta().Get("Retry-After"))
		test.EqOp(t, "RATE_LIMITED", apiErrorOf(t, err).Reason)
	})
}

// To refuse a call takes little, and a caller who asks again at once would be refused ten thousand times a second.
func TestRates_HoldBackWhoAsksAgainAtOnce(t *testing.T) {
	t.Parallel()
	const wait = 50 * time.Millisecond
	w := newRatedServer(t, Rates{Caller: traffic.Rate{PerSecond: 0.1, Burst: 1}}, 0, func(c *Config) {
		c.HoldBack = &traffic.HoldBack{For: wait}
	})
	raw := w.token(t, "member", tenantA)
	must.NoError(t, w.read(t, raw, ""))
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		asked := time.Now()
		_, err := berthv1connect.NewBookingServiceClient(client, w.url, options).
			GetBooking(t.Context(), as(raw, &v1.GetBookingRequest{BookingId: someSession}))
		test.EqOp(t, "RATE_LIMITED", apiErrorOf(t, err).Reason)
		test.GreaterEq(t, wait, time.Since(asked))
	})
	synctest.Test(t, func(t *testing.T) {
		begun, gone := time.Now(), make(chan struct{})
		call := &request.Call{Ready: func() {}, HeldBack: true}
		writer := readyWriter{httptest.NewRecorder(), newMemory(Memory{}).hold(
			call, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), 1, 0,
		), &traffic.HoldBack{For: wait}, gone}
		for range 2 {
			writer.WriteHeader(http.StatusTooManyRequests)
			test.EqOp(t, wait, time.Since(begun), test.Sprint("once"))
		}
		close(gone)
		call.HeldBack = true
		expect.OK(t)(writer.Write([]byte("x")))
		test.EqOp(t, wait, time.Since(begun), test.Sprint("a client that has left"))
	})
}

func TestRates_LimitStreamsOfACaller(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{Streams: 1}, 0)
	w.events.watch = func(
		ctx context.Context, _ *v1.WatchEventsRequest, s *connect.ServerStream[v1.WatchEventsResponse],
	) error {
		if err := s.Send(new(v1.WatchEventsResponse)); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	open := func(subject string, in tenant.TenantID) *connect.ServerStreamForClient[v1.WatchEventsResponse] {
		stream := expect.Value(berthv1connect.NewEventServiceClient(http1, w.url).WatchEvents(
			t.Context(), as(w.token(t, subject, in), &v1.WatchEventsRequest{}),
		))(t)
		t.Cleanup(func() { _ = stream.Close() })
		return stream
	}
	must.True(t, open("owner", tenantA).Receive())
	must.True(t, open("admin", tenantB).Receive())
	second := open("owner", tenantA)
	must.False(t, second.Receive())
	refused(t, "RATE_LIMITED retry_after=1")(second.Err())
}

// While one tenant has more reads than it may have at a time, another's are answered. A client that does not read its
// response holds up no one.
func TestReads_TakeTurnsByTenant(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{Reads: traffic.NewTurns[tenant.TenantID](1, 2, 2)}, 0)
	entered, proceed := make(chan struct{}, 3), make(chan struct{})
	response := &v1.GetBookingResponse{Booking: &v1.Booking{Note: strings.Repeat("x", 16<<20)}} // fills all buffers
	w.booking.get = func(ctx context.Context, _ *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
		if request.Caller(ctx).Tenant == tenantB {
			return new(v1.GetBookingResponse), nil
		}
		entered <- struct{}{}
		<-proceed
		return response, nil
	}
	busy := w.token(t, "member", tenantA)
	body := expect.Value(proto.Marshal(&v1.GetBookingRequest{BookingId: someSession}))(t)
	responses := make(chan *http.Response, 4)
	read := func() {
		r, err := http.NewRequestWithContext(
			t.Context(), http.MethodPost, w.url+berthv1connect.BookingServiceGetBookingProcedure,
			bytes.NewReader(body),
		)
		if test.NoError(t, err); err == nil {
			r.Header.Set("Content-Type", "application/proto")
			r.Header.Set("Accept-Encoding", "identity")
			r.Header.Set("Authorization", "Bearer "+busy)
			responses <- expect.Value(http1.Do(r))(t)
		}
	}
	for range 4 {
		go read()
	}
	rejected := <-responses
	test.EqOp(t, "1", rejected.Header.Get("Retry-After"), test.Sprint("one more than may wait"))
	_ = rejected.Body.Close()
	<-entered
	answered, err := w.reads(t, w.token(t, "member", tenantB), 5)
	test.EqOp(t, 5, answered, test.Sprint(err))
	test.EqOp(t, 0, len(entered))
	for range 2 {
		proceed <- struct{}{}
		<-entered // although the response before is not read
	}
	proceed <- struct{}{}
	for range 3 {
		response := <-responses
		_ = response.Body.Close()
	}
}

// wrongKeys returns how many of n wrong keys are answered as such.
func (s ratedServer) wrongKeys(t *testing.T, n int, forwarded string) (answered int) {
	t.Helper()
	client := berthv1connect.NewAccessServiceClient(http1, s.url)
	for range n {
		wrong := connect.NewRequest(&v1.ExchangeKeyRequest{Key: "berth_x"})
		if forwarded != "" {
			wrong.Header().Set("X-Forwarded-For", forwarded)
		}
		_, err := client.ExchangeKey(t.Context(), wrong)
		if got := apiErrorOf(t, err); got.Reason == "KEY_INVALID" {
			answered++
		} else {
			must.EqOp(t, "RATE_LIMITED", got.Reason)
		}
	}
	return answered
}

func TestRates_LimitGuessesByAddress(t *testing.T) {
	t.Parallel()
	direct := newRatedServer(t, Rates{}, traffic.DefaultAddressRate)
	test.EqOp(t, 100, direct.wrongKeys(t, 640, ""))
	test.EqOp(t, 0, direct.wrongKeys(t, 1, "192.0.2.1"), test.Sprint("X-Forwarded-For of a client"))
	refused(t, "RATE_LIMITED")(direct.reads(t, "x.y.z", 1))
	for _, raw := range []string{"", expired(t, direct.issuer)} {
		refused(t, "UNAUTHENTICATED")(direct.reads(t, raw, 1))
	}
	answered, err := direct.reads(t, direct.token(t, "member", tenantA), 200)
	test.EqOp(t, 200, answered, test.Sprintf("calls of a proven caller: %v", err))
	direct.clock.Advance(2 * time.Second)
	test.EqOp(t, 20, direct.wrongKeys(t, 30, ""))

	proxied := newRatedServer(t, Rates{}, 1, func(c *Config) {
		c.Rates.Addresses.Proxies = traffic.Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for i := range 3 {
		test.EqOp(t, 10, proxied.wrongKeys(t, 20, "192.0.2."+strconv.Itoa(i)))
	}
}

// Who tries invented keys shuts out no one behind the same address: a key that the service made is looked up. If it is
// no longer good, it has few tries of its own. The answers to others are held back.
func TestRates_KeysThatWereMadeAreLookedUp(t *testing.T) {
	t.Parallel()
	const wait = 20 * time.Millisecond
	w := newRatedServer(t, Rates{}, 0.5, func(c *Config) {
		c.HoldBack = &traffic.HoldBack{For: wait}
		c.Made = func(message any) string {
			if key := message.(*v1.ExchangeKeyRequest).GetKey(); strings.HasPrefix(key, "made") {
				return key
			}
			return ""
		}
	})
	exchange := func(key string) error {
		return errorOf(berthv1connect.NewAccessServiceClient(http1, w.url).
			ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: key})))
	}
	for i, step := range []struct {
		key   string
		times int
		want  string
	}{
		{"berth_x", 5, "KEY_INVALID"}, {"berth_x", 1, "RATE_LIMITED retry_after=2"},
		{"made 1", 5, "KEY_INVALID"}, {"made 1", 1, "RATE_LIMITED"}, {"made 2", 5, "KEY_INVALID"},
	} {
		for range step.times {
			asked := time.Now()
			refused(t, step.want, test.Sprintf("step %d", i))(nil, exchange(step.key))
			if strings.HasPrefix(step.want, "RATE_LIMITED") {
				test.GreaterEq(t, wait, time.Since(asked))
			}
		}
	}
	asked := time.Now()
	broken := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost,
		w.url+berthv1connect.AccessServiceExchangeKeyProcedure, strings.NewReader("no gzip")))(t)
	broken.Header.Set("Content-Type", "application/json")
	broken.Header.Set("Content-Encoding", "gzip")
	_ = expect.Value(http1.Do(broken))(t).Body.Close()
	test.GreaterEq(t, wait, time.Since(asked), test.Sprint("what cannot be read"))
}

// A good key or link is a caller of its own: it may be used as often as a caller may call, and no more.
func TestRates_LimitEachKeyThatWasMade(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{Caller: traffic.PerSecond(0.3)}, 0, func(c *Config) {
		c.Made = func(message any) string { return message.(*v1.ExchangeKeyRequest).GetKey() }
	})
	for i, step := range []struct {
		key   string
		times int
		want  string
	}{{"made 1", 3, "KEY_INVALID"}, {"made 1", 1, "RATE_LIMITED retry_after=4"}, {"made 2", 3, "KEY_INVALID"}} {
		for range step.times {
			refused(t, step.want, test.Sprintf("step %d", i))(nil, errorOf(
				berthv1connect.NewAccessServiceClient(http1, w.url).
					ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: step.key}))))
		}
	}
}

func TestIsProven_NeedsAnAnswerThatOnlyGoodKeysAndLinksGet(t *testing.T) {
	t.Parallel()
	failed := func(kind fault.Kind, reason fault.Reason) error { return fault.New(kind, reason, "failed") }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"answered":     {nil, true},
		"not modified": {connect.NewNotModifiedError(http.Header{}), true},
		"a rule":       {failed(fault.FailedPrecondition, fault.WaitlistOfferNotLive), true},
		"wrong key":    {failed(fault.Unauthenticated, fault.KeyInvalid), false},
		"wrong link":   {failed(fault.FailedPrecondition, fault.LinkInvalid), false},
		"not valid":    {failed(fault.InvalidArgument, fault.InvalidField), false},
		"too many":     {failed(fault.ResourceExhausted, fault.RateLimited), false},
		"left":         {failed(fault.Canceled, fault.CallerLeft), false},
		"left early":   {context.Canceled, false},
		"too slow":     {failed(fault.DeadlineExceeded, fault.Timeout), false},
		"no database":  {errors.New("no database"), false},
	} {
		test.EqOp(t, c.want, isProven(c.err), test.Sprint(name))
	}
}

// expired returns a token that was valid until an hour ago.
func expired(t *testing.T, by *token.Issuer) string {
	t.Helper()
	return rpctest.Issue(t, by, token.Claims{Subject: "member"}, -time.Hour)
}

// The default rates do not get in the way of people.
func TestRates_LetPeopleWork(t *testing.T) {
	t.Parallel()
	defaults := Rates{
		Caller: traffic.PerSecond(traffic.DefaultCallerRate), Tenant: traffic.PerSecond(traffic.DefaultTenantRate),
		Streams: traffic.DefaultStreamsPerCaller,
	}
	t.Run("300 members book within a minute behind one address", func(t *testing.T) {
		t.Parallel()
		w := newRatedServer(t, defaults, traffic.DefaultAddressRate)
		booking := berthv1connect.NewBookingServiceClient(http1, w.url)
		for i := range 300 {
			refused(t, "UNAUTHENTICATED")(w.reads(t, expired(t, w.issuer), 2)) // the app still has the token of yesterday
			raw := w.token(t, fmt.Sprintf("member-%d", i), tenantA)
			answered, err := w.reads(t, raw, 12)
			must.EqOp(t, 12, answered, must.Sprintf("member %d: %v", i, err))
			expect.OK(t)(booking.Book(t.Context(), as(raw, &v1.BookRequest{SessionId: someSession})))
			w.clock.Advance(time.Minute / 300)
		}
	})
	// Four screens share an account. A guest is checked in each second, which is four calls, and each screen is opened
	// anew now and then, which is thirty.
	t.Run("a front desk at noon", func(t *testing.T) {
		t.Parallel()
		w := newRatedServer(t, defaults, traffic.DefaultAddressRate)
		raw := w.token(t, "coach", tenantA)
		for second := range 120 {
			calls := 4
			if slices.Contains([]int{0, 30, 60, 90}, second) {
				calls += 4 * 30
			}
			answered, err := w.reads(t, raw, calls)
			must.EqOp(t, calls, answered, must.Sprint(err))
			w.clock.Advance(time.Second)
		}
	})
}

// Making keys and asking name servers is limited for a tenant; other changes of its senders are not.
func TestRates_LimitSendingDomains(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := newRates(Rates{Domains: traffic.PerHour(2)}, func() time.Time { return now })
	try := func(id byte, message any) fault.Reason {
		return fault.ReasonOf(r.takeDomain(request.WithCall(t.Context(), &request.Call{
			Caller: tenant.Caller{Tenant: tenant.TenantID{UUID: tenant.UUID{id}}}, Admitted: true,
		}), message))
	}
	set := &v1.UpdateNotificationSendersRequest{
		Senders: &v1.NotificationSendersInput{Domain: new(v1.SendingDomainInput)},
	}
	for _, c := range []struct {
		tenant  byte
		message any
		want    fault.Reason
	}{
		{1, set, ""}, {1, new(v1.VerifySendingDomainRequest), ""}, {1, set, fault.RateLimited},
		{1, new(v1.VerifySendingDomainRequest), fault.RateLimited}, {1, new(v1.UpdateNotificationSendersRequest), ""},
		{1, new(v1.GetNotificationSendersRequest), ""}, {2, set, ""},
	} {
		test.EqOp(t, c.want, try(c.tenant, c.message), test.Sprintf("%+v", c))
	}
	now = now.Add(30 * time.Minute)
	test.EqOp(t, "", try(1, set))
}

// Who tries wrong membership numbers has to wait, also with a right one. Right numbers are not counted.
func TestRates_LimitWrongMembershipNumbers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := newRates(
		Rates{Guesses: traffic.PerHour(10), ProgramGuesses: traffic.PerHour(30)}, func() time.Time { return now },
	)
	try := func(by tenant.Caller, number string, outcome error) fault.Reason {
		done, err := r.takeGuess(
			request.WithCall(t.Context(), &request.Call{Caller: by, Admitted: true, Guard: access.New(stubRoles{})}),
			&v1.ConfirmBookingRequest{BenefitMembershipNumber: number},
		)
		if err != nil {
			return fault.ReasonOf(err)
		}
		done(outcome)
		return ""
	}
	wrong := fault.New(fault.FailedPrecondition, fault.BenefitInvalid, "wrong")
	mia := tenant.Caller{
		Tenant: tenant.TenantID{UUID: tenant.UUID{1}}, Subject: "mia", Member: tenant.MemberID{UUID: tenant.UUID{2}},
	}
	inUse := fault.New(fault.FailedPrecondition, fault.BenefitInUse, "another's")
	desk := mia
	desk.Subject, desk.Member = "coach", tenant.MemberID{UUID: tenant.UUID{3}}
	ben, program := mia, mia
	ben.Subject, program.Subject, program.Member = "ben", "sa:1", tenant.MemberID{}
	other := program
	other.Subject = "sa:2"
	for i, step := range []struct {
		passes  time.Duration
		times   int
		by      tenant.Caller
		number  string
		outcome error
		want    fault.Reason
	}{
		{0, 20, mia, "M-1", nil, ""},
		{0, 20, mia, "", wrong, ""},
		{0, 40, program, "M-1", nil, ""}, // right ones, for many members
		{0, 20, program, "M-2", wrong, ""},
		{0, 10, program, "M-2", inUse, ""},
		{0, 1, program, "M-1", nil, fault.RateLimited},
		{0, 1, program, "", nil, ""},
		{0, 1, other, "M-2", wrong, ""},
		{0, 10, mia, "M-2", wrong, ""},
		{0, 1, mia, "M-1", nil, fault.RateLimited},
		{0, 1, mia, "", nil, ""},
		{0, 1, ben, "M-2", wrong, ""},
		{0, 20, desk, "M-2", wrong.OwnedBy(mia.Actor()), ""}, // typed for members
		{0, 10, desk, "M-2", wrong.OwnedBy(desk.Actor()), ""},
		{0, 1, desk, "M-1", nil, fault.RateLimited},
		{6 * time.Minute, 1, mia, "M-2", wrong, ""},
		{0, 1, mia, "M-1", nil, fault.RateLimited},
		{0, 3, program, "M-2", wrong, ""},
		{0, 1, program, "M-2", wrong, fault.RateLimited},
	} {
		now = now.Add(step.passes)
		for range step.times {
			test.EqOp(t, step.want, try(step.by, step.number, step.outcome), test.Sprintf("step %d", i))
		}
	}
}
