package bookings_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A seat that is given up goes to who asks for it next, in the same transaction; and a hold's life goes on in it, too.
func TestBatch_SeatsChangeHands(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g := studio.NewBatch()
	full, tees, moved := studio.AddSession(testkit.Session{
		Capacity: 1,
	}), studio.AddSession(testkit.Session{Capacity: 3}), studio.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(60 * time.Hour), Capacity: 1,
	})
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	zoe, eve, mias := studio.AddMember("Zoe"), studio.AddMember("Eve"), studio.MustBook(mia, full)
	paid, dropped := studio.MustHold(noa, tees), studio.MustHold(zoe, tees)
	eves := studio.MustBook(eve, tees)

	tooEarly := g.Book(studio.AddMember("Too early"), full)
	var cancelled, moving, released, confirmed error
	g.Add(func() {
		_, cancelled = g.App.Bookings.CancelBooking(t.Context(), testkit.SelfOnly(mia), bookings.CancelRequest{ID: mias})
	})
	next := g.Book(studio.AddMember("Next"), full)
	g.Add(func() {
		_, moving = g.App.Bookings.RescheduleBooking(
			t.Context(), testkit.SelfOnly(eve), bookings.RescheduleRequest{ID: eves, To: moved},
		)
	})
	g.Add(func() { _, released = g.App.Bookings.ReleaseHold(t.Context(), testkit.SelfOnly(zoe), dropped.ID) })
	g.Add(func() {
		_, confirmed = g.App.Bookings.ConfirmBooking(t.Context(), testkit.SelfOnly(noa), bookings.ConfirmRequest{ID: paid.ID})
	})
	one, two := g.Book(studio.AddMember("One"), tees), g.Book(studio.AddMember("Two"), tees)
	noRoom, there := g.Book(studio.AddMember("No room"), tees), g.Book(studio.AddMember("There"), moved)
	test.EqOp(t, 1, g.Run(), test.Sprint("transactions, want 1"))
	test.NoError(t, errors.Join(cancelled, moving, released, confirmed))
	tooEarly.WantRefused(t, "before it was free", fault.SessionFull)
	next.WantConfirmed(t, "after it was free")
	one.WantConfirmed(t, "the first seat that was left")
	two.WantConfirmed(t, "the second seat that was left")
	noRoom.WantRefused(t, "a third seat", fault.SessionFull)
	there.WantRefused(t, "where the other member moved to", fault.SessionFull)
	test.EqOp(t, string(booking.Confirmed), studio.BookingStatus(paid.ID), test.Sprint("confirmed hold"))
}

// If an entry waits for a freed seat, it gets the seat before later requests do. So does an entry with a time window
// that includes the session, although the session does not name it.
func TestBatch_FreedSeatGoesToTheWaitlist(t *testing.T) {
	t.Parallel()
	type row struct {
		by     string // what frees the seat
		window bool
		late   bool // the entry joins, on another node, once the operation that frees the seat is queued
	}
	testkit.Each(t, map[string]row{
		"cancelled": {by: "cancel"}, "cancelled, a window waits": {by: "cancel", window: true},
		"rescheduled": {by: "reschedule"}, "rescheduled, a window waits": {by: "reschedule", window: true},
		"cancelled as one joins": {by: "cancel", late: true}, "released as one joins": {by: "release", late: true},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetPromoting()
		g, when := studio.NewBatch(), testkit.Noon.Add(75*time.Hour)
		in := studio.AddSession(testkit.Session{Starts: when, Capacity: 1, Waitlist: 3})
		mia, entry := testkit.SelfOnly(studio.AddMember("Mia")), testkit.ForSessions(in)
		mias, other := studio.MustHold(mia, in).ID, studio.AddSession(testkit.Session{Starts: when.Add(24 * time.Hour)})
		if tt.by != "release" {
			expect.OK(studio.T)(studio.Confirm(mia, mias))
		}
		if tt.window {
			entry = studio.ForWindow("2026-03-19", "2026-03-19", "00:00", "23:00")
		}
		noa := studio.AddMember("Noa")
		if !tt.late {
			studio.MustJoin(noa, entry)
		}
		separate := g.Book(studio.AddMember("Separate"), studio.AddSession(testkit.Session{}))
		g.Add(func() {
			switch ctx := context.Background(); tt.by {
			case "reschedule":
				expect.OK(studio.T)(g.App.Bookings.RescheduleBooking(ctx, mia, bookings.RescheduleRequest{ID: mias, To: other}))
			case "release":
				expect.OK(studio.T)(g.App.Bookings.ReleaseHold(ctx, mia, mias))
			default:
				expect.OK(studio.T)(g.App.Bookings.CancelBooking(ctx, mia, bookings.CancelRequest{ID: mias}))
			}
		})
		if tt.late {
			g.Add(func() {
				studio.MustJoin(noa, entry)
				expect.OK(studio.T)(g.App.Bookings.Book(
					context.Background(), noa, bookings.BookRequest{Session: other, Party: 1, Channel: catalog.Online},
				))
			})
		}
		later := g.Book(studio.AddMember("Later"), in)
		test.EqOp(studio.T, 3, g.Run(), test.Sprint("transactions, want 3: separate, the seat, and later"))
		separate.WantConfirmed(studio.T, "separate")
		test.EqOp(studio.T, 1, studio.Count(`select count(*) from bookings where member_id = $1 and promoted`, noa.Member))
		must.NoError(studio.T, later.Err, must.Sprintf("later: %+v, %v", later.Result, later.Err))
		test.NotNil(studio.T, later.Entry, test.Sprintf("later: %+v, %v", later.Result, later.Err))
	})
}

// A seat is open, but a party of two waits for a time window. Who moves there in a batch gets the seat.
func TestBatch_MovesToWhereAPartyWaits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g, when := studio.NewBatch(), testkit.Noon.Add(75*time.Hour)
	to := studio.AddSession(testkit.Session{Starts: when, Capacity: 2, Waitlist: 3})
	mia, party := testkit.SelfOnly(studio.AddMember("Mia")), studio.ForWindow("2026-03-19", "2026-03-19", "00:00", "23:00")
	studio.MustBook(studio.AddMember("Noa"), to)
	party.Party = 2
	studio.MustJoin(studio.AddMember("Zoe"), party)
	mias := studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: when.Add(24 * time.Hour)}))
	separate, moved := g.Book(studio.AddMember("Separate"), studio.AddSession(testkit.Session{})), tenant.SessionID{}
	g.Add(func() {
		moved = expect.Value(g.App.Bookings.RescheduleBooking(
			context.Background(), mia, bookings.RescheduleRequest{ID: mias, To: to},
		))(t).Booking.Session
	})
	test.EqOp(t, 2, g.Run(), test.Sprint("transactions"))
	separate.WantConfirmed(t, "separate")
	test.EqOp(t, to, moved)
}

// A member leaves a full queue in a batch: the next request finds the place in the queue free.
func TestBatch_QueuePlacesChangeHands(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g, in := studio.NewBatch(), studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	studio.MustBook(studio.AddMember("Mia"), in)
	noa := studio.AddMember("Noa")
	entry := studio.MustWaitlist(noa, in)
	separate, tooEarly := g.Book(
		studio.AddMember("Separate"), studio.AddSession(testkit.Session{}),
	), g.Book(studio.AddMember("Too early"), in)
	g.Add(func() {
		expect.OK(t)(g.App.Waitlists.LeaveWaitlist(t.Context(), testkit.SelfOnly(noa), entry, "", false))
	})
	later := g.Book(studio.AddMember("Later"), in)
	g.Run()
	separate.WantConfirmed(t, "separate")
	tooEarly.WantRefused(t, "too early", fault.SessionFull)
	must.NoError(t, later.Err, must.Sprintf("later: %+v, %v", later.Result, later.Err))
	must.NotNil(t, later.Entry, must.Sprintf("later: %+v, %v", later.Result, later.Err))
	test.EqOp(t, 1, later.Entry.Position, test.Sprintf("later: %+v, %v", later.Result, later.Err))
}

// Holds that have run out give their seats to the batch that finds them.
func TestBatch_ExpiresHolds(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	g, in := studio.NewBatch(), studio.AddSession(testkit.Session{Capacity: 1})
	studio.Clock.Set(*studio.MustHold(studio.AddMember("Mia"), in).HoldUntil)
	first, second, separate := g.Book(studio.AddMember("Noa"), in), g.Book(studio.AddMember("Zoe"), in), g.Book(
		studio.AddMember("Eve"), studio.AddSession(testkit.Session{}),
	)
	g.Run()
	first.WantConfirmed(t, "first")
	separate.WantConfirmed(t, "separate")
	second.WantRefused(t, "second", fault.SessionFull)
}
