package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// clientKinds are the three protocols.
var clientKinds = map[string]connect.ClientOption{
	"Connect": connect.WithClientOptions(), "gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb(),
}

// h2c uses HTTP/2 without TLS. gRPC needs it, and the others can use it.
var h2c = func() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}()

// confirmed selects the events of bookings. Other events, such as those of background work, are left out.
var confirmed = &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED}}

// observer watches over one protocol and stores the events. If the stream ends, it continues at the next address.
type observer struct {
	name      string
	options   connect.ClientOption
	addresses []string
	seen      []string // booking and type
	cursor    string
	reasons   []string // why streams ended
	ready     chan struct{}
}

// run watches until it has seen n events.
func (o *observer) run(ctx context.Context, raw string, n int) error {
	for i := 0; len(o.seen) < n; i++ {
		if i >= len(o.addresses) {
			return fmt.Errorf("%s saw %d of %d events, and then %v", o.name, len(o.seen), n, o.reasons)
		}
		client := berthv1connect.NewEventServiceClient(h2c, o.addresses[i], o.options)
		stream, err := client.WatchEvents(ctx, as(raw, &v1.WatchEventsRequest{Cursor: o.cursor, Filter: confirmed}))
		if err != nil {
			return err
		}
		for len(o.seen) < n && stream.Receive() {
			if o.cursor = stream.Msg().GetCursor(); o.ready != nil {
				close(o.ready)
				o.ready = nil
			}
			for _, e := range stream.Msg().GetEvents() {
				o.seen = append(o.seen, e.GetBookingId()+" "+e.GetType().String())
			}
		}
		o.reasons = append(o.reasons, reasonOf(stream.Err()))
		_ = stream.Close()
	}
	return nil
}

// Two nodes take bookings at the same time, and one of them stops in the middle. All watchers get all events in the
// same order, over any protocol and on any node.
func TestWatchEvents_DeliversAllEventsInOneOrder(t *testing.T) {
	t.Parallel()
	stays := newLive(t)
	w := newWorld(t, stays)
	c, stopping := startServe(t, stays.DB, stays.data, "--drain", "30s")
	staying := "http://" + stays.Address
	raw := w.token(tenant.RoleOwner)

	const bookers, each = 4, 10
	sessions := make([]tenant.SessionID, each)
	for i := range sessions {
		sessions[i] = w.newSession()
	}
	people := make([]tenant.Caller, bookers)
	for i := range people {
		people[i] = w.newMember()
	}
	w.waitUntilVisible()

	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	var watching sync.WaitGroup
	var observers []*observer
	for name, options := range clientKinds {
		for place, addresses := range map[string][]string{
			"the node that stays": {staying}, "the node that stops": {stopping, staying},
		} {
			o := &observer{name: name + " at " + place, options: options, addresses: addresses, ready: make(chan struct{})}
			observers = append(observers, o)
			ready := o.ready
			watching.Go(func() {
				test.NoError(t, o.run(ctx, raw, bookers*each))
			})
			select {
			case <-ready:
			case <-ctx.Done():
				t.Fatal("no first message")
			}
		}
	}
	// Each node gets half of the bookings. Then one stops.
	var booking, first sync.WaitGroup
	first.Add(bookers)
	for i, caller := range people {
		client := berthv1connect.NewBookingServiceClient(h2c, []string{staying, stopping}[i%2])
		booking.Go(func() {
			for n, in := range sessions {
				if n == each/2 {
					first.Done()
					client = berthv1connect.NewBookingServiceClient(h2c, staying)
				}
				test.NoError(
					t, expect.Error(client.Book(ctx, as(raw, &v1.BookRequest{SessionId: text(in), MemberId: text(caller.Member)}))),
				)
			}
		})
	}
	first.Wait()
	c.stop()
	booking.Wait()
	watching.Wait()
	test.EqOp(t, 0, c.wait(t))
	list := call[*v1.ListEventsResponse](t, stays, raw, "EventService/ListEvents", &v1.ListEventsRequest{
		NewestFirst: true, PageSize: bookers * each, Filter: confirmed,
	})
	var want []string
	for _, e := range slices.Backward(list.GetEvents()) {
		want = append(want, e.GetBookingId()+" "+e.GetType().String())
	}
	for _, o := range observers {
		test.Eq(t, want, o.seen, test.Sprintf("%s (-log +seen)", o.name))
	}
}

// waitUntilVisible waits until all events so far are visible, so that watchers from now on get none of them.
func (w *world) waitUntilVisible() {
	w.t.Helper()
	w.newEvent()
}

// A node that stops ends its streams at once, long before the end of the drain time. So does a node if a change of
// roles on another node ends the permission to watch.
func TestWatchEvents_EndsOnShutdownAndRevocation(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	c, other := startServe(t, live.DB, live.data, "--drain", "10m")
	caller := w.newMember()
	watch := func(
		web *http.Client, options ...connect.ClientOption,
	) *connect.ServerStreamForClient[v1.WatchEventsResponse] {
		t.Helper()
		stream := expect.Value(berthv1connect.NewEventServiceClient(web, other, options...).
			WatchEvents(t.Context(), as(w.token(caller.Subject), &v1.WatchEventsRequest{})))(t)
		must.True(t, stream.Receive(), must.Sprint(stream.Err()))
		return stream
	}
	end := func(stream *connect.ServerStreamForClient[v1.WatchEventsResponse]) string {
		for stream.Receive() {
			continue
		}
		return reasonOf(stream.Err())
	}
	becomes := func(status member.Status) {
		expect.OK(t)(w.app.Accounts.UpdateMember(t.Context(), w.owner, caller.Member, nil, func(m *member.Member) error {
			m.Status = status
			return nil
		}))
	}
	for name, options := range clientKinds {
		stream := watch(h2c, options)
		becomes(member.Inactive)
		test.EqOp(t, "MEMBER_INACTIVE", end(stream), test.Sprintf("%s: suspended at another node", name))
		becomes(member.Active)
		eventually(t, "the member may watch again", func() bool {
			stream, err := berthv1connect.NewEventServiceClient(
				h2c, other, options,
			).WatchEvents(t.Context(), as(w.token(caller.Subject), &v1.WatchEventsRequest{}))
			return err == nil && stream.Receive() && stream.Close() == nil
		})
	}
	stream := watch(http.DefaultClient)
	c.stop()
	test.EqOp(t, "SHUTTING_DOWN", end(stream))
	test.EqOp(t, 0, c.wait(t))
}

// Events of all mutations reach exactly those who can read what they are about, listed and streamed.
func TestEvents_ReachThoseWhoCanReadTheirSubject(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	for _, p := range procedures() {
		for _, b := range requests[p.Short()] {
			if !p.IsPublic() && !p.IsReadOnly() {
				live.try(t.Context(), w.token(tenant.RoleOwner), p, b(w))
			}
		}
	}
	for _, caller := range []tenant.Caller{w.member, w.other} {
		call[*v1.HoldBookingResponse](t, live, w.token(w.partner), "BookingService/HoldBooking", &v1.HoldBookingRequest{
			SessionId: text(w.newOpenSession()), MemberId: text(caller.Member),
		})
		w.newBooking(caller)
		w.newEntry(caller)
	}
	people := map[string]tenant.Caller{
		tenant.RoleAdmin: w.admin, tenant.RoleCoach: w.coach, tenant.RoleMember: w.member, w.partner: {},
	}
	for subject, permissions := range map[string][]string{
		"watcher": {"event.read"}, "mirror": {"event.read", "booking.read"},
		"accountant": {"event.read", "credit.read"}, "reader": {"booking.read"},
	} {
		role := expect.Value(w.app.Accounts.CreateRole(
			w.ctx(), w.owner, grant.Role{Name: unique(), Title: unique(), Permissions: permissions},
		))(t)
		people[subject] = w.person(subject, role.Name)
	}
	w.waitUntilVisible()
	all := w.eventsOf(tenant.RoleOwner)
	types := make(map[v1.EventType]bool)
	for _, e := range all {
		types[e.GetType()] = true
	}
	test.Greater(t, 30, len(types), test.Sprintf("of all types, there are only %v", types))

	for subject, me := range people {
		reads := make(map[string]bool)
		canRead := func(who string, e *v1.Event) bool {
			short, request := subjectOf(e, text(me.Member))
			key := fmt.Sprint(who, short, request)
			if _, known := reads[key]; !known {
				reads[key] = live.try(t.Context(), w.token(who), procedureNamed(t, short), request).Code == codes.OK
			}
			return reads[key]
		}
		canReadBooking := func(who string, e *v1.Event) bool {
			return canRead(who, &v1.Event{Type: v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED, BookingId: e.GetBookingId()})
		}
		var want, gone []string
		for _, e := range all {
			isOwn := subject == w.partner || e.GetMemberId() == text(me.Member)
			isSession := strings.HasPrefix(e.GetType().String(), "EVENT_TYPE_SESSION_")
			watchesOthers := subject != tenant.RoleMember && subject != "reader"
			switch {
			case e.GetMemberId() != text(me.Member) && !canRead(tenant.RoleOwner, e):
				gone = append(gone, e.GetId())
			case e.GetType() == v1.EventType_EVENT_TYPE_SESSION_UNPUBLISHED,
				// A promotion is about an entry and a booking.
				e.GetType() == v1.EventType_EVENT_TYPE_WAITLIST_PROMOTED && watchesOthers && canReadBooking(subject, e),
				(isOwn || isSession || watchesOthers) && canRead(subject, e):
				want = append(want, e.GetType().String()+" "+e.GetId())
			}
		}
		names := func(events []*v1.Event) (all []string) {
			for _, e := range events {
				if !slices.Contains(gone, e.GetId()) {
					all = append(all, e.GetType().String()+" "+e.GetId())
				}
			}
			return all
		}
		test.Eq(t, want, names(w.eventsOf(subject)), test.Sprintf("%s lists (-readable +listed)", subject))

		after := slices.DeleteFunc(slices.Clone(want), func(name string) bool {
			return strings.HasSuffix(name, all[0].GetId())
		})
		ctx, stop := context.WithTimeout(t.Context(), waitTimeout)
		defer stop()
		stream := expect.Value(berthv1connect.NewEventServiceClient(h2c, "http://"+live.Address).WatchEvents(
			ctx, as(w.token(subject), &v1.WatchEventsRequest{Cursor: all[0].GetCursor()}),
		))(t)
		var streamed []*v1.Event
		for len(names(streamed)) < len(after) {
			must.True(t, stream.Receive(), must.Sprintf("%s: %v", subject, stream.Err()))
			for _, e := range stream.Msg().GetEvents() {
				if e.GetType() != v1.EventType_EVENT_TYPE_SESSION_SEATS_CHANGED {
					streamed = append(streamed, e)
				} else {
					test.True(t, canRead(subject, e), test.Sprintf("%s gets %v", subject, e))
				}
			}
		}
		stop()
		test.Eq(t, after, names(streamed), test.Sprintf("%s watches (-readable +seen)", subject))
	}
}

// eventsOf lists all events that a caller sees.
func (w *world) eventsOf(subject string) (all []*v1.Event) {
	w.t.Helper()
	request := &v1.ListEventsRequest{PageSize: 500}
	for {
		page := call[*v1.ListEventsResponse](w.t, w.live, w.token(subject), "EventService/ListEvents", request)
		all = append(all, page.GetEvents()...)
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			return all
		}
	}
}

// subjectOf returns the call that reads what an event is about.
func subjectOf(e *v1.Event, me string) (short string, request proto.Message) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(e.GetType().String(), "EVENT_TYPE_"), "_")
	switch {
	case kind == "SESSION":
		return "SessionService/GetSession", &v1.GetSessionRequest{SessionId: e.GetSessionId()}
	case kind == "BOOKING":
		return "BookingService/GetBooking", &v1.GetBookingRequest{BookingId: e.GetBookingId()}
	case kind == "WAITLIST" || kind == "OFFER":
		return "WaitlistService/ExplainWaitlistEntry", &v1.ExplainWaitlistEntryRequest{EntryId: e.GetEntryId()}
	case kind == "DISPLAY":
		return "CheckInService/ListDisplayLinks", &v1.ListDisplayLinksRequest{SessionId: e.GetSessionId()}
	case kind == "CREDITS" || kind == "SUBSCRIPTION":
		return "CreditService/GetBalance", &v1.GetBalanceRequest{MemberId: e.GetMemberId()}
	case e.GetMemberId() != "" && e.GetMemberId() == me:
		return "MemberService/GetMe", &v1.GetMeRequest{}
	case e.GetMemberId() != "": // MEMBER_CHANGED, or ACCESS_CHANGED of a member
		return "MemberService/GetMember", &v1.GetMemberRequest{MemberId: e.GetMemberId()}
	case kind == "RULES":
		return "WaitlistService/GetWaitlistRules", &v1.GetWaitlistRulesRequest{}
	case e.GetAccess().GetServiceAccountId() != "":
		return "AccessService/ListServiceAccounts", &v1.ListServiceAccountsRequest{}
	case kind == "ACCESS":
		return "AccessService/ListRoles", &v1.ListRolesRequest{}
	}
	return map[v1.CatalogKind]string{
		v1.CatalogKind_CATALOG_KIND_TENANT:           "TenantService/GetTenant",
		v1.CatalogKind_CATALOG_KIND_LOCATION:         "CatalogService/ListLocations",
		v1.CatalogKind_CATALOG_KIND_RESOURCE:         "CatalogService/ListResources",
		v1.CatalogKind_CATALOG_KIND_SERVICE:          "CatalogService/ListServices",
		v1.CatalogKind_CATALOG_KIND_ITEM:             "CatalogService/ListItems",
		v1.CatalogKind_CATALOG_KIND_BENEFIT_PROVIDER: "CatalogService/ListBenefitProviders",
		v1.CatalogKind_CATALOG_KIND_WORKOUT:          "WorkoutService/ListWorkouts",
		v1.CatalogKind_CATALOG_KIND_POLICY:           "CatalogService/GetPolicy",
	}[e.GetCatalog().GetKind()], nil
}
