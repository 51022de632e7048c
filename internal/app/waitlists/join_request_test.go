package waitlists

import (
	"encoding/hex"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// The hash is stored with the entry: an external reference that is sent again, to the next release too, has to match.
func TestJoinRequest_HashNeverChanges(t *testing.T) {
	t.Parallel()
	id := tenant.UUID{0: 1, 15: 2}
	r := JoinRequest{
		Member: tenant.MemberID{UUID: id}, Sessions: []tenant.SessionID{{UUID: id}},
		Window: &waitlist.Window{
			Service: tenant.ServiceID{UUID: id}, Location: tenant.LocationID{UUID: id}, Resource: tenant.ResourceID{UUID: id},
			From: civiltest.Date("2026-03-16"), Until: civiltest.Date("2026-03-17"),
			Earliest: civiltest.TimeOfDay("08:00"), Latest: civiltest.TimeOfDay("12:00"),
		},
		Party: 3, Coach: tenant.MemberID{UUID: id}, Subscription: tenant.SubscriptionID{UUID: id}, Channel: catalog.Online,
		ExternalRef: "ref", Note: "note",
	}
	for name, tt := range map[string]struct {
		request JoinRequest
		want    string
	}{
		"all fields": {r, "8659abe14804922a133874c750a3ad2198af3c743e1c8c5c47b77d42850a9fab"},
		"no fields":  {JoinRequest{}, "3af3ab9974210bc9c943e4a68246caa8e93dcefc2f1e7d242df5aa70bd579115"},
	} {
		test.EqOp(t, tt.want, hex.EncodeToString(tt.request.hash()), test.Sprint(name))
	}
}

// A request to join runs alone. It locks what a booking with the same reference locks.
func TestJoinRequest_LocksItsQueuesMemberAndReference(t *testing.T) {
	t.Parallel()
	one, two, mia := tenant.UUID{1}, tenant.UUID{2}, tenant.MemberID{UUID: tenant.UUID{3}}
	queue := waitlist.Queue{
		Service: tenant.ServiceID{UUID: tenant.UUID{4}}, Location: tenant.LocationID{UUID: tenant.UUID{5}},
	}
	for name, tt := range map[string]struct {
		request JoinRequest
		want    engine.Locks
	}{
		"sessions": {
			JoinRequest{Member: mia, Sessions: []tenant.SessionID{{UUID: one}, {UUID: two}}},
			engine.Locks{Together: []engine.Key{one, two}, Single: []engine.Key{mia.UUID}, Solo: true},
		},
		"a window, with a reference": {
			JoinRequest{Member: mia, ExternalRef: "order-1", Window: &waitlist.Window{
				Service: queue.Service, Location: queue.Location,
			}},
			engine.Locks{
				Together: []engine.Key{seats.QueueKey(queue)},
				Single:   []engine.Key{mia.UUID, engine.NameKey("ref", "order-1")}, Solo: true,
			},
		},
	} {
		test.Eq(t, tt.want, tt.request.locks(), test.Sprint(name))
	}
}
