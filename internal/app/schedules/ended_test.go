package schedules_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// pastWeek is a week with a class that has ended: one attended, one did not come, one is still confirmed. Another class
// follows.
type pastWeek struct {
	*testkit.Studio
	class, missed, next        tenant.SessionID
	attended, absent, forgiven tenant.BookingID
	sub                        credit.Subscription
}

func newPastWeek(t *testing.T) pastWeek {
	t.Helper()
	w := pastWeek{Studio: testkit.New(t)}
	at := testkit.InTwoDays
	w.class = w.AddSession(testkit.Session{Capacity: 9, Starts: at})
	w.missed = w.AddSession(testkit.Session{Capacity: 9, Starts: at.Add(3 * time.Hour)})
	w.next = w.AddSession(testkit.Session{Capacity: 9, Starts: at.Add(72 * time.Hour)})
	mia, noa, leo := w.AddMember("Mia"), w.AddMember("Noa"), w.AddMember("Leo")
	plan := w.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9})
	w.sub = w.Subscribe(mia, plan)
	w.Subscribe(noa, plan)
	w.Subscribe(leo, plan)
	w.attended, w.forgiven = w.MustBook(mia, w.class), w.MustBook(leo, w.class)
	w.absent = w.MustBook(noa, w.missed)
	w.Clock.Set(at.Add(10 * time.Minute))
	expect.OK(t)(w.CheckIn(w.Coach, w.attended))
	w.Clock.Set(at.Add(24 * time.Hour))
	expect.OK(t)(w.App.Bookings.MarkNoShow(t.Context(), w.Coach, w.absent))
	return w
}

func (w pastWeek) week() schedules.BulkRequest {
	return schedules.BulkRequest{
		Filter:        session.Filter{From: testkit.InTwoDays.Add(-time.Hour), Until: testkit.InTwoDays.Add(96 * time.Hour)},
		IncludeBooked: true, Reason: "tidying up",
	}
}

func TestBulkDelete_LeavesEndedSessionsUnlessTheyAreMeant(t *testing.T) {
	t.Parallel()
	w := newPastWeek(t)
	request := w.week()
	found, token, err := w.App.Schedules.PreviewBulkSessions(t.Context(), w.Owner, session.BulkDelete, request)
	expect.OK(t)(token, err)
	test.EqOp(t, 1, found.Matched)
	test.EqOp(t, 2, found.Ended)
	test.EqOp(t, 2, found.Booked, test.Sprint("a class with a no-show alone is booked"))
	request.Until = testkit.InTwoDays.Add(24 * time.Hour) // the ended days alone
	done := expect.Value(w.App.Schedules.BulkDeleteSessions(t.Context(), w.Owner, request))(t)
	test.EqOp(t, 0, done.Sessions)
	test.EqOp(t, 2, done.Ended)
	test.EqOp(t, "ATTENDED", w.BookingStatus(w.attended))

	unbooked := request
	unbooked.IncludeBooked, unbooked.IncludeEnded = false, true
	done = expect.Value(w.App.Schedules.BulkDeleteSessions(t.Context(), w.Owner, unbooked))(t)
	test.EqOp(t, 0, done.Sessions, test.Sprint("a no-show counts as booked"))

	request.IncludeEnded = true
	done = expect.Value(w.App.Schedules.BulkDeleteSessions(t.Context(), w.Owner, request))(t)
	test.EqOp(t, 2, done.Sessions)
	test.EqOp(t, 1, done.Bookings, test.Sprint("only the one whom nobody checked in is cancelled"))
	test.EqOp(t, 1, done.Credits)
	test.EqOp(t, "ATTENDED", w.BookingStatus(w.attended))
	test.EqOp(t, "NO_SHOW", w.BookingStatus(w.absent))
	test.EqOp(t, "CANCELLED", w.BookingStatus(w.forgiven))
	test.EqOp(t, 8, w.Balance(w.sub), test.Sprint("attendance keeps its credit"))
	w.WantSound()
}

func TestCancelAndDeleteSession_OfAnEndedOneMustBeMeant(t *testing.T) {
	t.Parallel()
	w := newPastWeek(t)
	ended := fault.SessionState
	ask, meant := schedules.Removal{}, schedules.Removal{IncludeEnded: true}
	cancelled := expect.Reason(t, ended)(w.App.Schedules.CancelSession(t.Context(), w.Owner, w.class, ask))
	test.EqOp(t, "ended", cancelled.Metadata["state"])
	test.EqOp(t, ended, fault.ReasonOf(w.App.Schedules.DeleteSession(t.Context(), w.Owner, w.missed, nil, ask)))
	kept := w.App.Schedules.DeleteSession(t.Context(), w.Owner, w.missed, nil, meant)
	test.EqOp(t, fault.ActiveBookings, fault.ReasonOf(kept), test.Sprint("it has a no-show"))
	unpublished := expect.Reason(t, fault.ActiveBookings)(
		w.App.Schedules.UnpublishSession(t.Context(), w.Owner, w.missed, nil))
	test.EqOp(t, "1", unpublished.Metadata["no_shows"])

	done := expect.Value(w.App.Schedules.CancelSession(t.Context(), w.Owner, w.class, meant))(t)
	test.EqOp(t, 1, done.Bookings)
	test.EqOp(t, 1, done.Session.SeatsTaken, test.Sprint("who attended keeps the seat"))
	test.EqOp(t, "ATTENDED", w.BookingStatus(w.attended))
	// What was kept does not become open again.
	expect.Reason(t, fault.SessionNotOpen)(w.App.Bookings.UndoCheckIn(t.Context(), w.Owner, w.attended))
	expect.OK(t)(w.App.Schedules.CancelSession(t.Context(), w.Owner, w.missed, meant))
	expect.Reason(t, fault.SessionNotOpen)(w.App.Bookings.UndoNoShow(t.Context(), w.Owner, w.absent))
	test.EqOp(t, string(booking.NoShow), w.BookingStatus(w.absent))
	w.WantSound()
}
