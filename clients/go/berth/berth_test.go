package berth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// service answers each call with the next error of its script, and then with success.
type service struct {
	berthv1connect.UnimplementedBookingServiceHandler
	berthv1connect.UnimplementedCatalogServiceHandler
	berthv1connect.UnimplementedAccessServiceHandler
	berthv1connect.UnimplementedEventServiceHandler

	mu      sync.Mutex
	script  []error
	headers []http.Header
	streams [][]any // messages and errors; the last stream stays open at its end
	watched []*v1.WatchEventsRequest
	keys    int
	pages   []string // the requested page tokens
}

func (s *service) answer(header http.Header) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headers = append(s.headers, header.Clone())
	if n := len(s.headers); n <= len(s.script) {
		return s.script[n-1]
	}
	return nil
}

func (s *service) Book(
	_ context.Context, r *connect.Request[v1.BookRequest],
) (*connect.Response[v1.BookResponse], error) {
	return connect.NewResponse(&v1.BookResponse{}), s.answer(r.Header())
}

func (s *service) GetBooking(
	_ context.Context, r *connect.Request[v1.GetBookingRequest],
) (*connect.Response[v1.GetBookingResponse], error) {
	return connect.NewResponse(&v1.GetBookingResponse{}), s.answer(r.Header())
}

func (s *service) ListItems(
	_ context.Context, r *connect.Request[v1.ListItemsRequest],
) (*connect.Response[v1.ListItemsResponse], error) {
	s.pages = append(s.pages, r.Msg.GetFilter().GetLocationId()+r.Msg.GetPageToken())
	page := len(s.pages)
	answer := &v1.ListItemsResponse{Items: []*v1.Item{{Id: fmt.Sprintf("%da", page)}, {Id: fmt.Sprintf("%db", page)}}}
	if page < 3 {
		answer.NextPageToken = fmt.Sprint(page)
	}
	return connect.NewResponse(answer), s.answer(r.Header())
}

func (s *service) ExchangeKey(
	_ context.Context, r *connect.Request[v1.ExchangeKeyRequest],
) (*connect.Response[v1.ExchangeKeyResponse], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys++
	return connect.NewResponse(&v1.ExchangeKeyResponse{
		AccessToken: fmt.Sprintf("%s-%d", r.Msg.GetKey(), s.keys), ExpiresIn: durationpb.New(time.Minute),
	}), nil
}

func (s *service) WatchEvents(
	ctx context.Context, r *connect.Request[v1.WatchEventsRequest], stream *connect.ServerStream[v1.WatchEventsResponse],
) error {
	s.mu.Lock()
	n := len(s.watched)
	s.watched = append(s.watched, r.Msg)
	s.headers = append(s.headers, r.Header().Clone())
	s.mu.Unlock()
	for _, step := range s.streams[min(n, len(s.streams)-1)] {
		switch step := step.(type) {
		case error:
			return step
		case *v1.WatchEventsResponse:
			if err := stream.Send(step); err != nil {
				return err
			}
		case chan struct{}:
			<-ctx.Done()
		}
	}
	if n >= len(s.streams)-1 {
		<-ctx.Done()
	}
	return nil
}

func refused(code connect.Code, reason string, facts ...string) error {
	err := connect.NewError(code, errors.New(reason))
	info := &errdetails.ErrorInfo{Domain: "berth", Reason: reason, Metadata: map[string]string{}}
	for pair := range slices.Chunk(facts, 2) {
		info.Metadata[pair[0]] = pair[1]
	}
	detail, e := connect.NewErrorDetail(info)
	if e != nil {
		panic(e)
	}
	err.AddDetail(detail)
	return err
}

var (
	contention      = refused(connect.CodeUnavailable, "CONTENTION")
	shuttingDown    = refused(connect.CodeUnavailable, "SHUTTING_DOWN")
	unauthenticated = refused(connect.CodeUnauthenticated, "UNAUTHENTICATED")
	lost            = connect.NewError(connect.CodeUnavailable, errors.New("connection reset"))
)

// serve returns a client of the service that does not wait, and the waits that it would have made.
func serve(t *testing.T, s *service, options ...Option) (*Client, *[]time.Duration) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(berthv1connect.NewBookingServiceHandler(s))
	mux.Handle(berthv1connect.NewCatalogServiceHandler(s))
	mux.Handle(berthv1connect.NewAccessServiceHandler(s))
	mux.Handle(berthv1connect.NewEventServiceHandler(s))
	url := start(t, mux)
	var waits []time.Duration
	noWaiting := func(s *settings) {
		s.random = func() float64 { return 1 }
		s.sleep = func(ctx context.Context, wait time.Duration) error {
			waits = append(waits, wait)
			return ctx.Err()
		}
	}
	return New(url, append([]Option{noWaiting, WithTokens(StaticToken("token"))}, options...)...), &waits
}

// start starts a server for gRPC and returns its URL.
func start(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func book(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.Bookings.Book(t.Context(), connect.NewRequest(&v1.BookRequest{}))
	return err
}

func (s *service) all(header string) []string {
	var values []string
	for _, h := range s.headers {
		values = append(values, strings.Join(h.Values(header), " and "))
	}
	return values
}

func TestClient_HasEveryService(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for field := range reflect.TypeFor[Client]().Fields() {
		there[field.Type.Name()] = true
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("berth.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			name := string(file.Services().Get(i).Name())
			test.True(t, there[name+"Client"], test.Sprintf("%s is missing", name))
		}
		return true
	})
}

func TestCall_RetriesMutationWithSameKey(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"contention":            contention,
		"a lost connection":     lost,
		"the server's deadline": refused(connect.CodeDeadlineExceeded, "DEADLINE_EXCEEDED"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{script: []error{err, err}}
			client, waits := serve(t, s)
			must.NoError(t, book(t, client))
			keys := s.all(idempotencyKey)
			must.SliceLen(t, 3, keys, must.Sprintf("keys %q", keys))
			must.GreaterEq(t, 20, len(keys[0]), must.Sprintf("keys %q", keys))
			test.EqOp(t, keys[1], keys[0], test.Sprintf("keys %q", keys))
			test.EqOp(t, keys[2], keys[1], test.Sprintf("keys %q", keys))
			test.Eq(t, []time.Duration{minBackoff, 2 * minBackoff}, *waits, test.Sprint("waits"))
			must.NoError(t, book(t, client))
			test.NotEqOp(t, keys[0], s.all(idempotencyKey)[3], test.Sprint("another call has the same key"))
		})
	}
}

func TestCall_DoesNotRetry(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a refusal":            refused(connect.CodeFailedPrecondition, "SESSION_FULL"),
		"an internal error":    refused(connect.CodeInternal, "INTERNAL"),
		"a concurrent edit":    refused(connect.CodeAborted, "ETAG_MISMATCH"),
		"a refusal of a proxy": connect.NewError(connect.CodePermissionDenied, errors.New("no")),
		"a limit of minutes":   refused(connect.CodeResourceExhausted, "RATE_LIMITED", "retry_after", "60"),
		"a token rejected":     unauthenticated,
		"an unknown reason":    refused(connect.CodeFailedPrecondition, "FROM_THE_FUTURE"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{script: []error{err}}
			client, _ := serve(t, s)
			test.EqOp(t, connect.CodeOf(err), connect.CodeOf(book(t, client)))
			test.SliceLen(t, 1, s.headers)
		})
	}
}

func TestCall_BacksOffBetweenRetries(t *testing.T) {
	t.Parallel()
	s := &service{script: slices.Repeat([]error{contention}, 9)}
	client, waits := serve(t, s)
	_, err := client.Bookings.GetBooking(t.Context(), connect.NewRequest(&v1.GetBookingRequest{}))
	test.True(t, IsReason(err, v1.ErrorReason_ERROR_REASON_CONTENTION),
		test.Sprintf("%v after %d calls", err, len(s.headers)))
	must.SliceLen(t, 5, s.headers, must.Sprintf("%v after %d calls", err, len(s.headers)))
	test.EqOp(t, "", s.headers[0].Get(idempotencyKey), test.Sprintf("%v after %d calls", err, len(s.headers)))
	test.Eq(t, []time.Duration{minBackoff, 2 * minBackoff, 4 * minBackoff, 8 * minBackoff}, *waits, test.Sprint("waits"))
	m := &interceptor{settings: settings{random: func() float64 { return 1 }}}
	test.EqOp(t, maxBackoff, m.backoff(7), test.Sprint("the maximum backoff is exceeded"))
	test.EqOp(t, maxBackoff, m.backoff(1000), test.Sprint("the maximum backoff is exceeded"))

	limited := &service{script: []error{refused(connect.CodeResourceExhausted, "RATE_LIMITED", "retry_after", "3")}}
	client, waits = serve(t, limited)
	test.NoError(t, book(t, client))
	test.Eq(t, []time.Duration{3*time.Second + minBackoff}, *waits)
}

func TestCall_RenewsRejectedTokenOnce(t *testing.T) {
	t.Parallel()
	n := 0
	source := func(context.Context) (Token, error) {
		n++
		return Token{Value: fmt.Sprintf("t%d", n)}, nil
	}
	s := &service{script: []error{unauthenticated, nil, unauthenticated, unauthenticated}}
	client, waits := serve(t, s, WithTokens(source))
	test.NoError(t, book(t, client))
	test.EqOp(t, connect.CodeUnauthenticated, connect.CodeOf(book(t, client)))
	test.Eq(t, []string{"Bearer t1", "Bearer t2", "Bearer t2", "Bearer t3"}, s.all(authorization))
	test.SliceEmpty(t, *waits)
}

func TestWithKey_ExchangesKeyOnce(t *testing.T) {
	t.Parallel()
	s := &service{script: []error{nil, unauthenticated}}
	client, _ := serve(t, s, WithKey("berth_key"))
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { _ = book(t, client) })
	}
	calls.Wait()
	test.EqOp(t, 2, s.keys, test.Sprintf("%d exchanges for %d calls", s.keys, len(s.headers)))
	test.GreaterEq(t, 9, len(s.headers), test.Sprintf("%d exchanges for %d calls", s.keys, len(s.headers)))
}

func TestTokens_AreRenewedBeforeExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	n, down := 0, errors.New("down")
	var fails error
	life := 10 * time.Minute
	tokens := newTokens(func(context.Context) (Token, error) {
		n++
		return Token{Value: fmt.Sprintf("t%d", n), ExpiresAt: now.Add(life)}, fails
	}, func() time.Time { return now })
	want := func(text string, e error) {
		t.Helper()
		got, err := tokens.current(t.Context())
		test.EqOp(t, text, got, test.Sprintf("%q, %v; want %q", got, err, text))
		test.ErrorIs(t, err, e, test.Sprintf("%q, %v; want %q", got, err, text))
	}
	want("t1", nil)
	now = now.Add(9*time.Minute - 1)
	want("t1", nil)
	fails = down
	now = now.Add(1)
	want("t1", nil) // it is valid for one more minute
	now = now.Add(time.Minute)
	want("", down)
	fails, life = nil, time.Minute
	want("t4", nil)
	now = now.Add(47 * time.Second)
	want("t4", nil) // it is not renewed with every call
	now = now.Add(time.Second)
	want("t5", nil)
}

func TestAll_ReadsAllPages(t *testing.T) {
	t.Parallel()
	s := &service{}
	client, _ := serve(t, s)
	request := &v1.ListItemsRequest{Filter: &v1.ItemFilter{LocationId: "l"}}
	var ids []string
	for item, err := range All(t.Context(), client.Catalog.ListItems, request, (*v1.ListItemsResponse).GetItems) {
		must.NoError(t, err)
		ids = append(ids, item.GetId())
	}
	test.True(t, slices.Equal(ids, []string{"1a", "1b", "2a", "2b", "3a", "3b"}),
		test.Sprintf("%v in pages %q", ids, s.pages))
	test.True(t, slices.Equal(s.pages, []string{"l", "l1", "l2"}), test.Sprintf("%v in pages %q", ids, s.pages))
	test.EqOp(t, "", request.GetPageToken(), test.Sprintf("%v in pages %q", ids, s.pages))

	s = &service{script: []error{nil, refused(connect.CodeNotFound, "LOCATION_NOT_FOUND")}}
	client, _ = serve(t, s)
	n := 0
	var last error
	for _, last = range All(t.Context(), client.Catalog.ListItems, request, (*v1.ListItemsResponse).GetItems) {
		n++
	}
	test.EqOp(t, 3, n)
	test.EqOp(t, v1.ErrorReason_ERROR_REASON_LOCATION_NOT_FOUND, RefusalOf(last).Reason)
	s = &service{}
	client, _ = serve(t, s)
	for _, err := range All(t.Context(), client.Catalog.ListItems, request, (*v1.ListItemsResponse).GetItems) {
		must.NoError(t, err)
		break
	}
	test.EqOp(t, 1, len(s.pages), test.Sprintf("%d pages for one item", len(s.pages)))
}

func TestRefusalOf_ReadsErrorDetails(t *testing.T) {
	t.Parallel()
	want := Refusal{
		Reason: v1.ErrorReason_ERROR_REASON_DAILY_LIMIT, ReasonName: "DAILY_LIMIT", Code: connect.CodeFailedPrecondition,
		Message: "DAILY_LIMIT", Metadata: map[string]string{"limit": "2"},
	}
	test.Eq(
		t, want, RefusalOf(fmt.Errorf("book: %w", refused(connect.CodeFailedPrecondition, "DAILY_LIMIT", "limit", "2"))),
	)
	r := RefusalOf(refused(connect.CodeNotFound, "FROM_THE_FUTURE"))
	test.EqOp(t, v1.ErrorReason_ERROR_REASON_UNSPECIFIED, r.Reason)
	test.EqOp(t, connect.CodeNotFound, r.Code)
	r = RefusalOf(errors.New("x"))
	test.EqOp(t, connect.CodeUnknown, r.Code)
	test.EqOp(t, "x", r.Message)
	test.False(t, IsReason(nil, r.Reason), test.Sprintf("%+v", r))
}

// message returns a message with these events. Its cursor is that of the last one.
func message(ids ...string) *v1.WatchEventsResponse {
	m := &v1.WatchEventsResponse{}
	for _, id := range ids {
		m.Events = append(m.Events, &v1.Event{Id: id, Cursor: id})
		m.Cursor = id
	}
	return m
}

func greeting(cursor string) *v1.WatchEventsResponse { return &v1.WatchEventsResponse{Cursor: cursor} }

// take watches until it has n events.
func take(t *testing.T, c *Client, n int) (ids []string, last error) {
	t.Helper()
	for message, err := range c.Watch(t.Context(), &v1.WatchEventsRequest{Cursor: "z"}) {
		if err != nil {
			return ids, err
		}
		for _, e := range message.GetEvents() {
			ids = append(ids, e.GetId())
		}
		if len(ids) >= n {
			break
		}
	}
	return ids, nil
}

func TestWatch_Resumes(t *testing.T) {
	t.Parallel()
	s := &service{streams: [][]any{
		{shuttingDown},
		{greeting("y"), shuttingDown},
		{refused(connect.CodeResourceExhausted, "RATE_LIMITED", "retry_after", "2")},
		{greeting("y"), message("a", "b"), refused(connect.CodeAborted, "WATCHER_TOO_SLOW")},
		{message("c"), greeting("d")}, // it just ends, with a cursor past events that the filter dropped
		{greeting("d"), unauthenticated},
		{message("e")},
	}}
	n := 0
	client, waits := serve(t, s, WithTokens(func(context.Context) (Token, error) {
		n++
		return Token{Value: fmt.Sprintf("t%d", n)}, nil
	}))
	ids, err := take(t, client, 4)
	test.NoError(t, err)
	test.True(t, slices.Equal(ids, []string{"a", "b", "c", "e"}), test.Sprintf("%v, %v", ids, err))
	var cursors []string
	for _, request := range s.watched {
		cursors = append(cursors, request.GetCursor())
	}
	test.SliceEqOp(t, []string{"z", "z", "y", "y", "b", "d", "d"}, cursors)
	want := []time.Duration{minBackoff, 2 * minBackoff, 2*time.Second + 4*minBackoff, minBackoff, minBackoff}
	test.SliceEqOp(t, want, *waits)
	test.Eq(t, []string{"Bearer t1", "Bearer t2"}, s.all(authorization)[5:])
}

func TestStream_HasToken(t *testing.T) {
	t.Parallel()
	s := &service{streams: [][]any{{greeting("a")}}}
	client, _ := serve(t, s)
	stream, err := client.Events.WatchEvents(t.Context(), connect.NewRequest(&v1.WatchEventsRequest{}))
	must.NoError(t, err)
	test.True(t, stream.Receive(), test.Sprintf("%v, %q", err, s.all(authorization)))
	test.EqOp(t, "Bearer token", s.all(authorization)[0])
}

func TestWatch_EndsOnPermanentError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script []any
		calls  int
	}{
		"an invalid cursor": {[]any{refused(connect.CodeInvalidArgument, "INVALID_FIELD")}, 1},
		"a revoked role":    {[]any{greeting("a"), refused(connect.CodePermissionDenied, "PERMISSION_DENIED")}, 1},
		"tokens refused":    {[]any{unauthenticated}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{streams: [][]any{c.script, {}}}
			client, _ := serve(t, s)
			ids, err := take(t, client, 1)
			test.Error(t, err, test.Sprintf("%v, %v after %d calls", ids, err, len(s.watched)))
			test.SliceEmpty(t, ids, test.Sprintf("%v, %v after %d calls", ids, err, len(s.watched)))
			test.SliceLen(t, c.calls, s.watched, test.Sprintf("%v, %v after %d calls", ids, err, len(s.watched)))
		})
	}
}

func TestWatch_EndsWithContext(t *testing.T) {
	t.Parallel()
	s := &service{streams: [][]any{{greeting("a")}}}
	client, _ := serve(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, last = range client.Watch(ctx, &v1.WatchEventsRequest{}) {
		cancel()
	}
	test.ErrorIs(t, last, context.Canceled, test.Sprintf("%v after %d calls", last, len(s.watched)))
	test.SliceLen(t, 1, s.watched, test.Sprintf("%v after %d calls", last, len(s.watched)))
}

// A connection can be dead without any error.
func TestWatch_ReconnectsAfterSilence(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	s := &service{streams: [][]any{{message("a"), silent}, {message("b")}}}
	impatient := func(s *settings) { s.grace = 50 * time.Millisecond }
	client, waits := serve(t, s, impatient)
	request := &v1.WatchEventsRequest{HeartbeatInterval: durationpb.New(time.Millisecond)}
	for message, err := range client.Watch(t.Context(), request) {
		must.NoError(t, err)
		if message.GetCursor() == "b" {
			break
		}
	}
	test.NotEqOp(t, 0, len(*waits), test.Sprint("the dead connection was not noticed"))
}
