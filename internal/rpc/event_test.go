package rpc

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rpc/rpctest"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// waitTimeout limits how long a test waits. Only a failing test waits that long.
const waitTimeout = 10 * time.Minute

// commitEvents commits events in one transaction. Their names are in their data, as the reason.
func (s *testServer) commitEvents(t *testing.T, events ...outbox.Event) {
	t.Helper()
	ids := tenant.NewIDs(time.Now())
	for i := range events {
		events[i].ID, events[i].At = tenant.NextID[tenant.EventID](ids), time.Now()
	}
	must.NoError(t, s.DB.InTx(t.Context(), pg.Scope{Tenant: s.Tenant}, "test", func(_ context.Context, tx *pg.Tx) error {
		outbox.Append(tx, s.Tenant, events...)
		return nil
	}))
	s.relay.NotifyCommit(s.Tenant)
}

// bookingEvent returns an event of a booking by a member, or by a guest if the member ID is zero.
func bookingEvent(name string, member tenant.MemberID) outbox.Event {
	return outbox.Event{
		Member: member, Actor: "system", Data: event.BookingCancelled{Reason: name, Notify: true},
	}
}

type eventStream struct {
	t      *testing.T
	stream *connect.ServerStreamForClient[v1.WatchEventsResponse]
	cursor string
}

// watch opens a stream and receives its first message.
func (s *testServer) watch(
	t *testing.T, client berthv1connect.EventServiceClient, raw string, request *v1.WatchEventsRequest,
) *eventStream {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), waitTimeout)
	t.Cleanup(stop)
	stream := expect.Value(client.WatchEvents(ctx, as(raw, request)))(t)
	t.Cleanup(func() { _ = stream.Close() })
	w := &eventStream{t: t, stream: stream}
	first := w.next()
	test.True(t, len(first.GetEvents()) == 0, test.Sprintf("the first message has events: %v", first))
	return w
}

func (s *eventStream) next() *v1.WatchEventsResponse {
	s.t.Helper()
	must.True(s.t, s.stream.Receive(), must.Sprintf("the stream ended: %v", s.stream.Err()))
	s.cursor = s.stream.Msg().GetCursor()
	test.NotEqOp(s.t, "", s.cursor, test.Sprint("a message without a cursor"))
	return s.stream.Msg()
}

// events receives n events.
func (s *eventStream) events(n int) []*v1.Event {
	s.t.Helper()
	var got []*v1.Event
	for len(got) < n {
		got = append(got, s.next().GetEvents()...)
	}
	return got
}

// end waits until the server ends the stream, and returns the error.
func (s *eventStream) end() apiError {
	s.t.Helper()
	for s.stream.Receive() {
		s.cursor = s.stream.Msg().GetCursor()
	}
	return apiErrorOf(s.t, s.stream.Err())
}

// eventNames returns the names that commitEvents gave to events.
func eventNames(events []*v1.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, cmp.Or(
			e.GetBooking().GetReason(), e.GetSession().GetReason(), e.GetWaitlistEntry().GetReason(),
			e.GetWaitlistOffer().GetReason(), strings.TrimPrefix(e.GetType().String(), "EVENT_TYPE_"),
		))
	}
	return strings.Join(all, " ")
}

func TestWatchEvents_WorksInEveryProtocol(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	eachProtocol(t, func(t *testing.T, http *http.Client, options connect.ClientOption) {
		t.Helper()
		client := berthv1connect.NewEventServiceClient(http, s.URL, options)
		owner := s.Token(t, "owner")
		booking := tenant.New[tenant.BookingID](time.Now()) // each protocol has its own
		filter := &v1.EventFilter{BookingId: booking.String()}
		one := func(name string) outbox.Event {
			e := bookingEvent(name, s.Members["member"])
			e.Booking = booking
			return e
		}
		w := s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter})
		s.commitEvents(t, one("a"), bookingEvent("filtered out", tenant.MemberID{}), one("b"))
		test.EqOp(t, "a b", eventNames(w.events(2)), test.Sprint("watched"))
		_ = w.stream.Close()
		s.commitEvents(t, one("c"))
		w = s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter, Cursor: w.cursor})
		s.commitEvents(t, one("d"))
		test.EqOp(t, "c d", eventNames(w.events(2)), test.Sprint("resumed"))

		list := expect.Value(client.ListEvents(t.Context(), as(owner, &v1.ListEventsRequest{Filter: filter})))(t)
		test.EqOp(t, "a b c d", eventNames(list.Msg.GetEvents()), test.Sprint("listed"))
		first := list.Msg.GetEvents()[0]
		test.EqOp(t, v1.EventType_EVENT_TYPE_BOOKING_CANCELLED, first.GetType())
		test.EqOp(t, booking.String(), first.GetBookingId())
		test.EqOp(t, s.Members["member"].String(), first.GetMemberId())
		test.EqOp(t, v1.ActorKind_ACTOR_KIND_SYSTEM, first.GetActor().GetKind())
		test.NotNil(t, first.GetOccurTime())
		w = s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter, Cursor: first.GetCursor()})
		test.EqOp(t, "b c d", eventNames(w.events(3)), test.Sprint("from an event's cursor"))
		w = s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter, Cursor: list.Msg.GetEndCursor()})
		s.commitEvents(t, one("e"))
		test.EqOp(t, "e", eventNames(w.events(1)), test.Sprint("from the list's end"))
	})
}

// Changes of roles apply to the later events of running streams.
func TestWatchEvents_AppliesRoleChanges(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	owner := tenant.Caller{
		Tenant: s.Tenant, Subject: "owner", Member: s.Members["owner"], Roles: []string{tenant.RoleOwner},
	}
	w := s.watch(t, client, s.Token(t, "member"), &v1.WatchEventsRequest{})
	me, coach := s.Members["member"], s.Members["coach"]

	s.commitEvents(t, bookingEvent("hidden", coach), bookingEvent("1", me))
	test.EqOp(t, "1", eventNames(w.events(1)), test.Sprint("as a member"))
	expect.OK(t)(s.App.Accounts.AssignRole(t.Context(), owner, me, tenant.RoleAdmin))
	s.commitEvents(t, bookingEvent("2", coach))
	test.EqOp(t, "ACCESS_CHANGED 2", eventNames(w.events(2)), test.Sprint("as an admin"))
	expect.OK(t)(s.App.Accounts.RevokeRole(t.Context(), owner, me, tenant.RoleAdmin))
	s.commitEvents(t, bookingEvent("hidden", coach), bookingEvent("3", me))
	test.EqOp(t, "ACCESS_CHANGED 3", eventNames(w.events(2)), test.Sprint("as a member again"))
	expect.OK(t)(s.App.Accounts.DeactivateMember(t.Context(), owner, me))
	denied := apiError{Code: connect.CodePermissionDenied, Reason: "MEMBER_INACTIVE"}
	test.Eq(t, denied, w.end(), test.Sprint("suspended"))
}

func TestWatchEvents_EndsWhenServiceAccountIsRevoked(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	owner := tenant.Caller{
		Tenant: s.Tenant, Subject: "owner", Member: s.Members["owner"], Roles: []string{tenant.RoleOwner},
	}
	account, _, err := s.App.Accounts.CreateServiceAccount(
		t.Context(), owner, grant.ServiceAccount{Name: "Robot", Roles: []string{tenant.RolePartner}},
	)
	must.NoError(t, err)
	// The stream may start before the relay has seen that the account was created.
	w := s.watch(t, client, s.Token(t, "sa:"+account.ID.String()), &v1.WatchEventsRequest{
		Filter: &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_SESSION_CANCELLED}},
	})
	s.commitEvents(t, outbox.Event{Actor: "system", Data: event.SessionCancelled{}})
	test.EqOp(t, "SESSION_CANCELLED", eventNames(w.events(1)), test.Sprint("watched"))
	expect.OK(t)(s.App.Accounts.RevokeServiceAccount(t.Context(), owner, account.ID))
	got := w.end()
	test.EqOp(t, "PERMISSION_DENIED", got.Reason, test.Sprintf("%+v", got))
}

func TestWatchEvents_EndsWhenTokenExpires(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	var w *eventStream
	for lifetime := time.Second; w == nil; lifetime *= 2 { // until the token lives long enough for the first message
		raw, _, err := s.issuer.Issue(token.Claims{Subject: "owner", Tenants: []tenant.TenantID{s.Tenant}}, lifetime)
		must.NoError(t, err)
		must.LessEq(t, waitTimeout, lifetime)
		if stream, err := client.WatchEvents(t.Context(), as(raw, &v1.WatchEventsRequest{})); err == nil && stream.Receive() {
			w = &eventStream{t: t, stream: stream, cursor: stream.Msg().GetCursor()}
		}
	}
	got := w.end()
	test.EqOp(t, connect.CodeUnauthenticated, got.Code)
	test.EqOp(t, "UNAUTHENTICATED", got.Reason)
	s.commitEvents(t, bookingEvent("after expiry", tenant.MemberID{}))
	w = s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{Cursor: w.cursor})
	test.EqOp(t, "after expiry", eventNames(w.events(1)), test.Sprint("with a new token"))
}

// A silent stream sends a heartbeat with the current cursor at the requested interval.
func TestWatchEvents_SendsHeartbeats(t *testing.T) {
	t.Parallel()
	ticks, intervals := make(chan time.Time), make(chan time.Duration, 3)
	s := startTestServer(t, Config{newHeartbeat: func(every time.Duration) eventapi.Heartbeat {
		intervals <- every
		return eventapi.Heartbeat{Ticks: ticks, Reset: func() {}, Stop: func() {}}
	}})
	client := berthv1connect.NewEventServiceClient(http1, s.URL, connect.WithGRPCWeb())
	w := s.watch(t, client, s.Token(t, "member"), &v1.WatchEventsRequest{})
	test.EqOp(t, 15*time.Second, <-intervals)
	behind := func(cursor string) int {
		list := expect.Value(
			client.ListEvents(t.Context(), as(s.Token(t, "owner"), &v1.ListEventsRequest{Cursor: cursor})),
		)(t)
		return len(list.Msg.GetEvents())
	}
	s.commitEvents(t, bookingEvent("another's", s.Members["coach"]))
	for behind(w.cursor) == 0 { // another test's open transaction may hold back events of all tenants
		must.NoError(t, s.DB.Owner.Ping(t.Context())) // to not spin
	}
	for behind(w.cursor) > 0 { // until the cursor is past the events that this member may not see
		ticks <- time.Time{}
		got := w.next()
		test.True(t, len(got.GetEvents()) == 0, test.Sprintf("%v", got))
	}
	resumed := s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{Cursor: w.cursor})
	s.commitEvents(t, bookingEvent("later", s.Members["coach"]))
	test.EqOp(t, "later", eventNames(resumed.events(1)), test.Sprint("from a heartbeat's cursor"))
}

func TestWatchEvents_EndsWhenServerStops(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	w := s.watch(t, berthv1connect.NewEventServiceClient(http1, s.URL), s.Token(t, "owner"), &v1.WatchEventsRequest{})
	s.relay.Drain()
	got := w.end()
	test.EqOp(t, connect.CodeUnavailable, got.Code)
	test.EqOp(t, "SHUTTING_DOWN", got.Reason)
}

// The server ends the stream of a client that stops reading.
func TestWatchEvents_DropsClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.URL = listen(t, s.Handler, traffic.ConnLimits{WriteTimeout: 2 * time.Second})
	const window = 64 << 10 // bytes that the client's transport buffers
	transport := &http.Transport{
		Protocols: rpctest.UnencryptedHTTP2(),
		HTTP2:     &http.HTTP2Config{MaxReceiveBufferPerStream: window, MaxReceiveBufferPerConnection: window},
	}
	client := berthv1connect.NewEventServiceClient(
		&http.Client{Transport: transport}, s.URL, connect.WithGRPC(), connect.WithAcceptCompression("gzip", nil, nil),
	)
	w := s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{})
	long := strings.Repeat("x", window)
	for range 8 {
		s.commitEvents(t, bookingEvent(long, tenant.MemberID{}))
	}
	deadline := time.Now().Add(waitTimeout)
	for openWatchers(t, s) > 0 && time.Now().Before(deadline) {
		must.NoError(t, s.DB.Owner.Ping(t.Context())) // to not spin
	}
	test.EqOp(t, 0, openWatchers(t, s), test.Sprint("still watch"))
	for w.stream.Receive() {
		w.cursor = w.stream.Msg().GetCursor()
	}
	test.Error(t, w.stream.Err(), test.Sprint("the stream ended without an error"))
	s.commitEvents(t, bookingEvent("later", tenant.MemberID{}))
	// The client reconnects as often as necessary, since the backlog may exceed the timeout again.
	for attempt, last := 0, ""; last != "later"; attempt++ {
		must.NotEqOp(t, 100, attempt, must.Sprint("the client never receives the last event"))
		stream := expect.Value(
			client.WatchEvents(t.Context(), as(s.Token(t, "owner"), &v1.WatchEventsRequest{Cursor: w.cursor})),
		)(t)
		for last != "later" && stream.Receive() {
			w.cursor = stream.Msg().GetCursor()
			for _, e := range stream.Msg().GetEvents() {
				last = eventNames([]*v1.Event{e})
			}
		}
		_ = stream.Close()
	}
}

func openWatchers(t *testing.T, s *testServer) float64 {
	t.Helper()
	families := expect.Value(s.metrics.Gather())(t)
	for _, f := range families {
		if f.GetName() == "berth_event_watchers" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("there is no metric of watchers")
	return 0
}

func TestEvents_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	other := s.NewTenant(t, "Other")
	client := berthv1connect.NewEventServiceClient(http1, s.URL)
	raw := s.Token(t, "owner", s.Tenant, other)
	theirs := outbox.Cursor{XID: 5}.Token(other)
	for field, request := range map[string]*v1.WatchEventsRequest{
		"cursor":          {TenantId: s.Tenant.String(), Cursor: theirs},
		"filter.types[0]": {TenantId: s.Tenant.String(), Filter: &v1.EventFilter{Types: []v1.EventType{0}}},
	} {
		stream := expect.Value(client.WatchEvents(t.Context(), as(raw, request)))(t)
		got := (&eventStream{t: t, stream: stream}).end()
		test.EqOp(t, "INVALID_FIELD", got.Reason)
		test.EqOp(t, field, got.Metadata["field"])
	}
	for _, request := range []*v1.ListEventsRequest{
		{TenantId: s.Tenant.String(), Cursor: theirs},
		{TenantId: s.Tenant.String(), Cursor: "garbage"},
		{TenantId: s.Tenant.String(), Cursor: outbox.Cursor{XID: 1 << 40}.Token(s.Tenant)},
	} {
		refused(t, "INVALID_FIELD cursor")(client.ListEvents(t.Context(), as(raw, request)))
	}
}

// Each event type of the domain has a value in the contract, and each value has an event type.
func TestEventTypes_MatchContract(t *testing.T) {
	t.Parallel()
	known := event.Types()
	for _, one := range known {
		test.NotEqOp(t, 0, eventapi.EventTypes[one], test.Sprintf("the contract has no value for %s", one))
	}
	test.EqOp(t, len(known), len(eventapi.EventTypes),
		test.Sprintf("the contract has %d types, the log %d", len(eventapi.EventTypes), len(known)))
	test.EqOp(t, len(v1.EventType_name)-1, len(eventapi.DomainEventTypes),
		test.Sprintf("two of the contract's types map to one type: %v", eventapi.DomainEventTypes))
}
