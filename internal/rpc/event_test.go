package rpc

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// patience is how long a test waits for what takes a moment; only a failing one waits it out.
const patience = 10 * time.Minute

// happen commits events, all in one transaction. Their names are in their data, as the reason.
func (s *testServer) happen(t *testing.T, events ...outbox.Event) {
	t.Helper()
	mint := tenant.NewIDs(time.Now())
	for i := range events {
		events[i].ID, events[i].At = tenant.NextID[tenant.EventID](mint), time.Now()
	}
	if err := s.DB.InTx(t.Context(), pg.Scope{Tenant: s.Tenant}, "test", func(_ context.Context, tx *pg.Tx) error {
		outbox.Append(tx, s.Tenant, events...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.relay.NotifyCommit(s.Tenant)
}

// about makes an event of a booking; who zero is a guest's.
func about(name string, who tenant.MemberID) outbox.Event {
	return outbox.Event{Type: outbox.BookingConfirmed, Member: who, Actor: "system", Data: map[string]any{"reason": name}}
}

type watching struct {
	t      *testing.T
	stream *connect.ServerStreamForClient[v1.WatchEventsResponse]
	cursor string
}

// watch opens a stream and waits for its first message.
func (s *testServer) watch(
	t *testing.T, client berthv1connect.EventServiceClient, raw string, request *v1.WatchEventsRequest,
) *watching {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	stream, err := client.WatchEvents(ctx, as(raw, request))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	w := &watching{t: t, stream: stream}
	if first := w.next(); len(first.GetEvents()) > 0 {
		t.Errorf("the first message has events: %v", first)
	}
	return w
}

func (w *watching) next() *v1.WatchEventsResponse {
	w.t.Helper()
	if !w.stream.Receive() {
		w.t.Fatalf("the stream ended: %v", w.stream.Err())
	}
	if w.cursor = w.stream.Msg().GetCursor(); w.cursor == "" {
		w.t.Error("a message without a cursor")
	}
	return w.stream.Msg()
}

// events waits for n of them.
func (w *watching) events(n int) []*v1.Event {
	w.t.Helper()
	var got []*v1.Event
	for len(got) < n {
		got = append(got, w.next().GetEvents()...)
	}
	return got
}

// end waits until the server ends the stream, and gives what it says.
func (w *watching) end() told {
	w.t.Helper()
	for w.stream.Receive() {
		w.cursor = w.stream.Msg().GetCursor()
	}
	return tell(w.t, w.stream.Err())
}

// reasons are the names of events.
func reasons(events []*v1.Event) string {
	var all []string
	for _, e := range events {
		name := e.GetDetails().AsMap()["reason"]
		if name == nil {
			name = strings.TrimPrefix(e.GetType().String(), "EVENT_TYPE_")
		}
		all = append(all, name.(string))
	}
	return strings.Join(all, " ")
}

func wantText(t *testing.T, what, want, got string) {
	t.Helper()
	if want != got {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestWatchingOverEveryProtocol(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	eachProtocol(t, func(t *testing.T, http *http.Client, options connect.ClientOption) {
		t.Helper()
		client := berthv1connect.NewEventServiceClient(http, s.URL, options)
		owner := s.Token(t, "owner")
		booking := tenant.New[tenant.BookingID](time.Now()) // its own, among those of the other protocols
		filter := &v1.EventFilter{BookingId: booking.String()}
		one := func(name string) outbox.Event {
			e := about(name, s.Members["member"])
			e.Booking = booking
			return e
		}
		w := s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter})
		s.happen(t, one("a"), about("not chosen", tenant.MemberID{}), one("b"))
		wantText(t, "watched", "a b", reasons(w.events(2)))
		_ = w.stream.Close()
		s.happen(t, one("c"))
		w = s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter, Cursor: w.cursor})
		s.happen(t, one("d"))
		wantText(t, "resumed", "c d", reasons(w.events(2)))

		list, err := client.ListEvents(t.Context(), as(owner, &v1.ListEventsRequest{Filter: filter}))
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, "listed", "a b c d", reasons(list.Msg.GetEvents()))
		first := list.Msg.GetEvents()[0]
		if first.GetType() != v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED || first.GetBookingId() != booking.String() ||
			first.GetMemberId() != s.Members["member"].String() || first.GetActor() != "system" || first.GetOccurTime() == nil {
			t.Errorf("%v", first)
		}
		w = s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter, Cursor: first.GetCursor()})
		wantText(t, "from an event's cursor", "b c d", reasons(w.events(3)))
		w = s.watch(t, client, owner, &v1.WatchEventsRequest{Filter: filter, Cursor: list.Msg.GetEndCursor()})
		s.happen(t, one("e"))
		wantText(t, "from the list's end", "e", reasons(w.events(1)))
	})
}

func TestFiltersOfEvents(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	session, left := tenant.New[tenant.SessionID](time.Now()), tenant.New[tenant.SessionID](time.Now())
	joined := outbox.Event{
		Type: outbox.WaitlistJoined, Session: session, Member: s.Members["member"], Data: map[string]any{"reason": "joined"},
	}
	moved := outbox.Event{
		Type: outbox.BookingRescheduled, Session: session,
		Data: map[string]any{"reason": "moved", "from_session_id": left.String()},
	}
	start := s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{}).cursor
	s.happen(t, joined, about("other", s.Members["coach"]), moved)
	for want, filter := range map[string]*v1.EventFilter{
		"joined other moved": {},
		"joined moved":       {SessionId: session.String()},
		"moved":              {SessionId: left.String()},
		"joined":             {MemberId: s.Members["member"].String()},
		"joined other": {
			Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED, v1.EventType_EVENT_TYPE_WAITLIST_JOINED},
		},
		"other": {
			Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED}, MemberId: s.Members["coach"].String(),
		},
	} {
		w := s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{Filter: filter, Cursor: start})
		wantText(t, "watched", want, reasons(w.events(len(strings.Fields(want)))))
		list, err := client.ListEvents(
			t.Context(), as(s.Token(t, "owner"), &v1.ListEventsRequest{Filter: filter, Cursor: start}),
		)
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, "listed", want, reasons(list.Msg.GetEvents()))
	}
}

// A member sees what concerns themselves, and that sessions changed; neither who did it, nor what staff wrote.
func TestMembersSeeTheirOwnEvents(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	w := s.watch(t, client, s.Token(t, "member"), &v1.WatchEventsRequest{})
	start := w.cursor
	me, coach := s.Members["member"], s.Members["coach"]
	session := tenant.New[tenant.SessionID](time.Now())
	byCoach := about("mine", me)
	byCoach.Actor, byCoach.Data["secret"] = coach.String(), "not for members"
	byMe := about("by me", me)
	byMe.Actor = me.String()
	s.happen(t,
		about("another's", coach), byCoach, about("a guest's", tenant.MemberID{}),
		outbox.Event{
			Type: outbox.SessionCancelled, Session: session, Actor: coach.String(), Data: map[string]any{"reason": "private"},
		},
		outbox.Event{Type: outbox.RolesChanged, Data: map[string]any{"role": "desk"}},
		outbox.Event{Type: outbox.RolesChanged, Member: me, Data: map[string]any{"roles": []string{"member"}}},
		outbox.Event{Type: outbox.CatalogChanged},
		byMe,
	)
	got := w.events(4)
	wantText(t, "watched", "mine SESSION_CANCELLED ROLES_CHANGED by me", reasons(got))
	list, err := client.ListEvents(t.Context(), as(s.Token(t, "member"), &v1.ListEventsRequest{Cursor: start}))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, "listed", reasons(got), reasons(list.Msg.GetEvents()))
	if e := got[0]; e.GetActor() != "" || len(e.GetDetails().AsMap()) != 1 {
		t.Errorf("the coach's doing: %v", e)
	}
	if e := got[1]; e.GetActor() != "" || e.GetDetails() != nil || e.GetSessionId() != session.String() {
		t.Errorf("the session: %v", e)
	}
	if e := got[3]; e.GetActor() != me.String() {
		t.Errorf("my own doing: %v", e)
	}
	// Asking for somebody else's gives nothing, in whichever way.
	list, err = client.ListEvents(
		t.Context(),
		as(s.Token(t, "member"), &v1.ListEventsRequest{Cursor: start, Filter: &v1.EventFilter{MemberId: coach.String()}}),
	)
	if err != nil || len(list.Msg.GetEvents()) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// Drafts are the staff's. That one has become a draft is for all.
func TestMembersDoNotSeeDrafts(t *testing.T) {
	t.Parallel()
	draft := func(what outbox.Type) *outbox.Record {
		return &outbox.Record{Event: outbox.Event{Type: what}, Draft: true}
	}
	who := tenant.Caller{Tenant: tenantA, Member: memberOf("x"), SelfOnly: true}
	records := []*outbox.Record{
		draft(outbox.SessionCreated), draft(outbox.SessionUpdated), draft(outbox.SessionUnpublished),
		draft(outbox.SessionDeleted),
	}
	seen := outbox.Filter{}.VisibleTo(records, who)
	if len(seen) != 1 || seen[0].Type != outbox.SessionUnpublished {
		t.Errorf("%v", seen)
	}
	who.SelfOnly = false
	if seen := (outbox.Filter{}).VisibleTo(records, who); len(seen) != len(records) {
		t.Errorf("%v", seen)
	}
}

// Roles that change while a stream runs hold for what comes after the change.
func TestRolesThatChangeWhileWatching(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	owner := tenant.Caller{
		Tenant: s.Tenant, Subject: "owner", Member: s.Members["owner"], Roles: []string{tenant.RoleOwner},
	}
	w := s.watch(t, client, s.Token(t, "member"), &v1.WatchEventsRequest{})
	me, coach := s.Members["member"], s.Members["coach"]

	s.happen(t, about("hidden", coach), about("1", me))
	wantText(t, "as a member", "1", reasons(w.events(1)))
	if _, err := s.App.Accounts.AssignRole(t.Context(), owner, me, tenant.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	s.happen(t, about("2", coach))
	wantText(t, "as an admin", "ROLES_CHANGED 2", reasons(w.events(2)))
	if _, err := s.App.Accounts.RevokeRole(t.Context(), owner, me, tenant.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	s.happen(t, about("hidden", coach), about("3", me))
	wantText(t, "as a member again", "ROLES_CHANGED 3", reasons(w.events(2)))
	if _, err := s.App.Accounts.UpdateMember(
		t.Context(), owner, me, nil, func(m *member.Member) error { m.Status = member.Inactive; return nil },
	); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(
		told{connect.CodePermissionDenied, "PERMISSION_DENIED", map[string]string{"permission": "event.read"}}, w.end(),
	); diff != "" {
		t.Errorf("suspended (-want +got):\n%s", diff)
	}
}

func TestServiceAccountsWatchUntilTheyAreRevoked(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	owner := tenant.Caller{
		Tenant: s.Tenant, Subject: "owner", Member: s.Members["owner"], Roles: []string{tenant.RoleOwner},
	}
	account, _, err := s.App.Accounts.CreateServiceAccount(
		t.Context(), owner, grant.ServiceAccount{Name: "Robot", Roles: []string{tenant.RolePartner}},
	)
	if err != nil {
		t.Fatal(err)
	}
	w := s.watch(t, client, s.Token(t, "sa:"+account.ID.String()), &v1.WatchEventsRequest{})
	s.happen(t, about("anybody's", s.Members["member"]))
	wantText(t, "watched", "anybody's", reasons(w.events(1)))
	if _, err := s.App.Accounts.RevokeServiceAccount(t.Context(), owner, account.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.end(); got.Reason != "PERMISSION_DENIED" {
		t.Errorf("%+v", got)
	}
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http2, s.URL, connect.WithGRPC())
	var w *watching
	for life := time.Second; w == nil; life *= 2 { // until it is long enough for the first message
		raw, _, err := s.issuer.Issue(token.Claims{Subject: "owner", Tenants: []tenant.TenantID{s.Tenant}}, life)
		if err != nil || life > patience {
			t.Fatal(life, err)
		}
		if stream, err := client.WatchEvents(t.Context(), as(raw, &v1.WatchEventsRequest{})); err == nil && stream.Receive() {
			w = &watching{t: t, stream: stream, cursor: stream.Msg().GetCursor()}
		}
	}
	if got := w.end(); got.Code != connect.CodeUnauthenticated || got.Reason != "UNAUTHENTICATED" {
		t.Errorf("%+v", got)
	}
	s.happen(t, about("meanwhile", tenant.MemberID{}))
	w = s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{Cursor: w.cursor})
	wantText(t, "with a new token", "meanwhile", reasons(w.events(1)))
}

// A silent stream says that it lives, as often as it was asked to, and how far it has come.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	ticks, asked := make(chan time.Time), make(chan time.Duration, 3)
	s := startTestServer(t, Config{beat: func(every time.Duration) eventapi.Heartbeat {
		asked <- every
		return eventapi.Heartbeat{Ticks: ticks, Reset: func() {}, Stop: func() {}}
	}})
	client := berthv1connect.NewEventServiceClient(http1, s.URL, connect.WithGRPCWeb())
	w := s.watch(t, client, s.Token(t, "member"), &v1.WatchEventsRequest{})
	if every := <-asked; every != 15*time.Second {
		t.Errorf("every %v", every)
	}
	behind := func(cursor string) int {
		list, err := client.ListEvents(t.Context(), as(s.Token(t, "owner"), &v1.ListEventsRequest{Cursor: cursor}))
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Msg.GetEvents())
	}
	s.happen(t, about("another's", s.Members["coach"]))
	for behind(w.cursor) == 0 { // another test's transaction may keep it back, from everybody
		if err := s.DB.Owner.Ping(t.Context()); err != nil { // not to spin
			t.Fatal(err)
		}
	}
	for behind(w.cursor) > 0 { // until it has passed what is not for this member
		ticks <- time.Time{}
		if got := w.next(); len(got.GetEvents()) > 0 {
			t.Errorf("%v", got)
		}
	}
	again := s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{Cursor: w.cursor})
	s.happen(t, about("later", s.Members["coach"]))
	wantText(t, "from a heartbeat's cursor", "later", reasons(again.events(1)))
}

func TestAServerThatStopsEndsStreams(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewEventServiceClient(http1, s.URL)
	w := s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{})
	s.relay.Drain()
	if got := w.end(); got.Code != connect.CodeUnavailable || got.Reason != "SHUTTING_DOWN" {
		t.Errorf("%+v", got)
	}
}

// A client that stops reading is let go of.
func TestAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	s := startTestServer(t, Config{sendTimeout: 2 * time.Second})
	const most = 64 << 10 // bytes that the client's transport takes unread
	transport := &http.Transport{
		Protocols: unencryptedHTTP2(),
		HTTP2:     &http.HTTP2Config{MaxReceiveBufferPerStream: most, MaxReceiveBufferPerConnection: most},
	}
	client := berthv1connect.NewEventServiceClient(
		&http.Client{Transport: transport}, s.URL, connect.WithGRPC(), connect.WithAcceptCompression("gzip", nil, nil),
	)
	w := s.watch(t, client, s.Token(t, "owner"), &v1.WatchEventsRequest{})
	long := strings.Repeat("x", most)
	for range 8 {
		s.happen(t, about(long, tenant.MemberID{}))
	}
	deadline := time.Now().Add(patience)
	for watchers(t, s) > 0 && time.Now().Before(deadline) {
		if err := s.DB.Owner.Ping(t.Context()); err != nil { // not to spin
			t.Fatal(err)
		}
	}
	if n := watchers(t, s); n != 0 {
		t.Errorf("%v still watch", n)
	}
	for w.stream.Receive() {
		w.cursor = w.stream.Msg().GetCursor()
	}
	if w.stream.Err() == nil {
		t.Error("the stream ended as if that were all")
	}
	s.happen(t, about("later", tenant.MemberID{}))
	// It goes on as often as it is let go of: so many bytes may take too long again.
	for attempt, last := 0, ""; last != "later"; attempt++ {
		if attempt == 100 {
			t.Fatal("it never comes to the end")
		}
		stream, err := client.WatchEvents(t.Context(), as(s.Token(t, "owner"), &v1.WatchEventsRequest{Cursor: w.cursor}))
		if err != nil {
			t.Fatal(err)
		}
		for last != "later" && stream.Receive() {
			w.cursor = stream.Msg().GetCursor()
			for _, e := range stream.Msg().GetEvents() {
				last = reasons([]*v1.Event{e})
			}
		}
		_ = stream.Close()
	}
}

func watchers(t *testing.T, s *testServer) float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "berth_event_watchers" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("nobody counts the watchers")
	return 0
}

func TestEventRequestsThatAreWrong(t *testing.T) {
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
		stream, err := client.WatchEvents(t.Context(), as(raw, request))
		if err != nil {
			t.Fatal(err)
		}
		w := &watching{t: t, stream: stream}
		if got := w.end(); got.Reason != "INVALID_FIELD" || got.Metadata["field"] != field {
			t.Errorf("%s: %+v", field, got)
		}
	}
	for _, request := range []*v1.ListEventsRequest{
		{TenantId: s.Tenant.String(), Cursor: theirs},
		{TenantId: s.Tenant.String(), Cursor: "garbage"},
		{TenantId: s.Tenant.String(), Cursor: outbox.Cursor{XID: 1 << 40}.Token(s.Tenant)},
	} {
		_, err := client.ListEvents(t.Context(), as(raw, request))
		if got := tell(t, err); got.Reason != "INVALID_FIELD" || got.Metadata["field"] != "cursor" {
			t.Errorf("%+v", got)
		}
	}
}

// Every type that is ever written has a name in the contract, and every name is written.
func TestEveryTypeOfEventIsInTheContract(t *testing.T) {
	t.Parallel()
	known := constants(t, "../data/outbox/outbox.go", "Type")
	if len(known) < 30 {
		t.Fatalf("only %d types were found", len(known))
	}
	for _, word := range known {
		if eventapi.EventTypes[outbox.Type(word)] == 0 {
			t.Errorf("the contract lacks %s", word)
		}
	}
	if len(eventapi.EventTypes) != len(known) {
		t.Errorf("the contract has %d types, the log %d", len(eventapi.EventTypes), len(known))
	}
	if len(eventapi.EventTypeWords) != len(v1.EventType_name)-1 {
		t.Errorf("two of the contract's types are one word: %v", eventapi.EventTypeWords)
	}
}
