package schedules_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/schedules"
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
	c := expect.Value(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, id, schedules.Removal{
		Reason: "again", Notify: true,
	}))(t)
	test.EqOp(t, 2, c.Session.Version, test.Sprintf("cancelling again: %+v, events %q", c, studio.SessionEvents(id)))
	test.EqOp(t, 0, c.Bookings, test.Sprintf("cancelling again: %+v, events %q", c, studio.SessionEvents(id)))
	test.EqOp(t, "session.created session.cancelled", studio.SessionEvents(id),
		test.Sprintf("cancelling again: %+v, events %q", c, studio.SessionEvents(id)))
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
			studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, schedules.Removal{
				Reason: "coach is ill",
			}),
		)(studio.T)
		test.EqOp(studio.T, 2, c.Bookings)
		test.EqOp(studio.T, 1, c.Entries)
		test.EqOp(studio.T, 1, c.Credits)
		got := studio.GetSession(class)
		test.EqOp(studio.T, catalog.Cancelled, got.State)
		test.EqOp(studio.T, "coach is ill", got.StateReason)
		test.EqOp(studio.T, 0, got.SeatsTaken)
		test.EqOp(studio.T, 0, got.Waiting)
		test.EqOp(studio.T, string(booking.Cancelled), studio.BookingStatus(first),
			test.Sprintf("%s, %s, balance %d", studio.BookingStatus(first), studio.BookingStatus(second),
				studio.Balance(sub)))
		test.EqOp(studio.T, string(booking.Cancelled), studio.BookingStatus(second),
			test.Sprintf("%s, %s, balance %d", studio.BookingStatus(first), studio.BookingStatus(second),
				studio.Balance(sub)))
		test.EqOp(studio.T, 5, studio.Balance(sub),
			test.Sprintf("%s, %s, balance %d", studio.BookingStatus(first), studio.BookingStatus(second),
				studio.Balance(sub)))
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
			studio.App.Schedules.CancelSession(studio.T.Context(), studio.Owner, class, schedules.Removal{
				Reason: "again", Notify: true,
			}),
		)(studio.T)
		test.EqOp(studio.T, 0, again.Bookings, test.Sprintf("again: %+v", again))
		test.EqOp(studio.T, "coach is ill", again.Session.StateReason, test.Sprintf("again: %+v", again))
		studio.WantSound()
	})
}
