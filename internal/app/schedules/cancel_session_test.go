package schedules_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCancelSession_IsFinal(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	id := studio.AddSession(testkit.Session{State: catalog.Cancelled})
	expect.Reason(t, fault.SessionState)(studio.App.Schedules.PublishSession(t.Context(), studio.Owner, id, nil))
	expect.Reason(t, fault.SessionState)(studio.App.Schedules.UnpublishSession(t.Context(), studio.Owner, id, nil))
	expect.Reason(t, fault.SessionState)(studio.App.Schedules.BlockSession(t.Context(), studio.Owner, id, ""))
	expect.Reason(t, fault.SessionState)(studio.App.Schedules.UnblockSession(t.Context(), studio.Owner, id))
	c := expect.Value(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, id, "again", true))(t)
	test.True(
		t, c.Session.Version == 2 && c.Bookings == 0 && studio.SessionEvents(id) == "session.created session.cancelled",
		test.Sprintf("cancelling again: %+v, events %q", c, studio.SessionEvents(id)),
	)
}

func TestCancelSession_CancelsAllBookings(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]catalog.SessionState{"published": catalog.Published, "draft": catalog.Draft}, func(
		studio *testkit.Studio, state catalog.SessionState,
	) {
		class := studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 3, Starts: testkit.Noon.Add(time.Hour)})
		pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5})
		mia, noa, ole := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Ole")
		sub := studio.Subscribe(mia, pack)
		first, second := studio.MustBook(mia, class), studio.MustBook(noa, class)
		studio.MustWaitlist(ole, class)
		studio.Exec(`update sessions set state = $2 where id = $1`, class, state) // damage: a draft has no bookings

		c := expect.Value(
			studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, "coach is ill", false),
		)(studio.T)
		test.True(studio.T, c.Bookings == 2 && c.Entries == 1 && c.Credits == 1, test.Sprintf("%+v", c))
		got := studio.GetSession(class)
		test.True(
			studio.T, got.State == catalog.Cancelled && got.StateReason == "coach is ill" && got.SeatsTaken == 0 &&
				got.Waiting == 0,
			test.Sprintf("%+v", got),
		)
		test.True(
			studio.T, studio.BookingStatus(first) == string(booking.Cancelled) &&
				studio.BookingStatus(second) == string(booking.Cancelled) && studio.Balance(sub) == 5,
			test.Sprintf("%s, %s, balance %d", studio.BookingStatus(first), studio.BookingStatus(second), studio.Balance(sub)),
		)
		test.EqOp(studio.T, 1, studio.Count(
			`select count(*) from waitlist_entries where session_id = $1 and status = 'CANCELLED'`, class,
		), test.Sprint("entries were cancelled"))
		// The events say that members are not to be notified.
		test.EqOp(studio.T, 4, studio.Count(
			`select count(*) from events where session_id = $1 and type in ('session.cancelled', 'booking.cancelled',
					'waitlist.left') and data->>'notify' = 'false'`,
			class,
		), test.Sprint("events say that no one is notified"))
		again := expect.Value(
			studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, "again", true),
		)(studio.T)
		test.True(
			studio.T, again.Bookings == 0 && again.Session.StateReason == "coach is ill", test.Sprintf("again: %+v", again),
		)
		studio.WantSound()
	})
}
