package events_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A caller who may not see bookings gets the open seats of a session at most once per interval, and then the last.
func TestWatchEvents_SendsOpenSeatsOncePerInterval(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	relay := expect.Value(outbox.NewRelay(outbox.RelayConfig{DB: studio.DB.DB}))(t)
	t.Cleanup(relay.Close)
	service := events.New(events.Config{DB: studio.DB.DB, Relay: relay, SeatsInterval: time.Hour})
	class := studio.AddSession(testkit.Session{Capacity: 5})
	other := studio.AddSession(testkit.Session{Capacity: 5, Starts: testkit.Noon.Add(48 * time.Hour)})
	ann := studio.AddMember("Ann")
	member := events.EventReader{ // who may read bookings, which are their own
		Caller: testkit.SelfOnly(ann), May: map[string]bool{"session.read": true, outbox.BookingRead: true},
	}
	filter := events.EventFilter{Types: []events.EventType{event.SessionSeatsChanged{}.Type()}}
	watch := expect.Value(service.WatchEvents(t.Context(), ann, filter, ""))(t)
	t.Cleanup(watch.Close)
	staff := testkit.ReaderOfAll(studio.Owner)
	var guests []tenant.Caller // from before, so that no other event than theirs moves the cursor
	for range 5 {
		guests = append(guests, studio.AddMember("Ben"))
	}
	relay.NotifyCommit(studio.Tenant)

	// see waits for the event of a booking that is made now, and returns what the member and staff see of it.
	see := func(session tenant.SessionID, at time.Duration) (seats []any) {
		t.Helper()
		id := studio.MustBook(guests[0], session)
		guests = guests[1:]
		relay.NotifyCommit(studio.Tenant)
		for {
			found := expect.Value(watch.Next(t.Context(), nil, nil))(t)
			for _, e := range watch.See(found, member, testkit.Noon.Add(at)) {
				test.EqOp(t, "", e.Actor)
				test.EqOp(t, 8, e.ID.UUID[6]>>4, test.Sprint("the version of the id"))
				seats = append(seats, e.Data.(event.SessionSeatsChanged).SeatsOpen)
			}
			for _, e := range staff.See(events.EventFilter{}, found) {
				if e.Booking == id {
					return seats
				}
			}
		}
	}
	test.Eq(t, []any{4}, see(class, 0))
	sent := watch.Cursor()
	test.Eq(t, nil, see(class, time.Minute))
	test.Eq(t, nil, see(other, 2*time.Minute))
	test.EqOp(t, sent, watch.Cursor(), test.Sprint("a client that resumes gets what was kept back"))
	test.Eq(t, []any{2, 4}, see(class, time.Hour), test.Sprint("the last of each session"))
	test.NotEqOp(t, sent, watch.Cursor())

	// What was kept back is due without another event.
	test.EqOp(t, 0, watch.Wait(testkit.Noon))
	test.Eq(t, nil, see(class, 2*time.Hour-time.Second))
	test.EqOp(t, time.Second, watch.Wait(testkit.Noon.Add(2*time.Hour-time.Second)))
	due := watch.See(nil, member, testkit.Noon.Add(2*time.Hour))
	must.EqOp(t, 1, len(due))
	test.Eq[event.Data](t, event.SessionSeatsChanged{SeatsOpen: 1}, due[0].Data)
}
