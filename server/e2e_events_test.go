package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
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
				if err := o.run(ctx, raw, bookers*each); err != nil {
					t.Error(err)
				}
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
				if _, err := client.Book(ctx, as(
					raw, &v1.BookRequest{SessionId: text(in), MemberId: text(caller.Member)},
				)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	first.Wait()
	c.stop()
	booking.Wait()
	watching.Wait()
	if status := c.wait(t); status != 0 {
		t.Errorf("status %d", status)
	}
	list := call[*v1.ListEventsResponse](t, stays, raw, "EventService/ListEvents", &v1.ListEventsRequest{
		NewestFirst: true, PageSize: bookers * each, Filter: confirmed,
	})
	var want []string
	for _, e := range slices.Backward(list.GetEvents()) {
		want = append(want, e.GetBookingId()+" "+e.GetType().String())
	}
	for _, o := range observers {
		if diff := cmp.Diff(want, o.seen); diff != "" {
			t.Errorf("%s (-log +seen):\n%s", o.name, diff)
		}
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
	for name, options := range clientKinds {
		watch := func(raw string) *connect.ServerStreamForClient[v1.WatchEventsResponse] {
			stream, err := berthv1connect.NewEventServiceClient(
				h2c, other, options,
			).WatchEvents(t.Context(), as(raw, &v1.WatchEventsRequest{}))
			if err != nil || !stream.Receive() {
				t.Fatalf("%s: %v, %v", name, err, stream.Err())
			}
			return stream
		}
		end := func(stream *connect.ServerStreamForClient[v1.WatchEventsResponse]) string {
			for stream.Receive() {
				continue
			}
			return reasonOf(stream.Err())
		}
		for _, status := range []member.Status{member.Inactive, member.Active} {
			var stream *connect.ServerStreamForClient[v1.WatchEventsResponse]
			if status == member.Inactive {
				stream = watch(w.token(caller.Subject))
			}
			_, err := w.app.Accounts.UpdateMember(t.Context(), w.owner, caller.Member, nil, func(
				m *member.Member,
			) error {
				m.Status = status
				return nil
			})
			w.ok(err)
			if stream == nil {
				continue
			}
			if reason := end(stream); reason != "PERMISSION_DENIED" {
				t.Errorf("%s: suspended at another node: %s", name, reason)
			}
		}
		eventually(t, "the member may watch again", func() bool {
			stream, err := berthv1connect.NewEventServiceClient(
				h2c, other, options,
			).WatchEvents(t.Context(), as(w.token(caller.Subject), &v1.WatchEventsRequest{}))
			return err == nil && stream.Receive() && stream.Close() == nil
		})
	}
	stream, err := berthv1connect.NewEventServiceClient(
		http.DefaultClient, other,
	).WatchEvents(t.Context(), as(w.token(caller.Subject), &v1.WatchEventsRequest{}))
	if err != nil || !stream.Receive() {
		t.Fatal(err, stream.Err())
	}
	c.stop()
	for stream.Receive() {
		continue
	}
	if reason := reasonOf(stream.Err()); reason != "SHUTTING_DOWN" {
		t.Error(reason)
	}
	if status := c.wait(t); status != 0 {
		t.Errorf("status %d", status)
	}
}
