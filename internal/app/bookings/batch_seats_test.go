package bookings_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// A seat that is given up goes to who asks for it next, in the same transaction; and a hold's life goes on in it, too.
func TestBatch_SeatsChangeHands(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	full, tees, moved := h.AddSession(testkit.Session{
		Capacity: 1,
	}), h.AddSession(testkit.Session{Capacity: 3}), h.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(60 * time.Hour), Capacity: 1,
	})
	mia, noa, zoe, eve := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Zoe"), h.AddMember("Eve")
	mias := h.MustBook(mia, full)
	paid, dropped := h.MustHold(noa, tees), h.MustHold(zoe, tees)
	eves := h.MustBook(eve, tees)

	tooEarly := g.Book(h.AddMember("Too early"), full)
	ctx := context.Background()
	var cancelled, moving, released, confirmed error
	g.Add(func() {
		_, cancelled = g.App.Bookings.CancelBooking(ctx, testkit.SelfOnly(mia), bookings.CancelRequest{ID: mias})
	})
	next := g.Book(h.AddMember("Next"), full)
	g.Add(func() {
		_, moving = g.App.Bookings.RescheduleBooking(
			ctx, testkit.SelfOnly(eve), bookings.RescheduleRequest{ID: eves, To: moved},
		)
	})
	g.Add(func() { _, released = g.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(zoe), dropped.ID) })
	g.Add(func() {
		_, confirmed = g.App.Bookings.ConfirmBooking(ctx, testkit.SelfOnly(noa), bookings.ConfirmRequest{ID: paid.ID})
	})
	one, two := g.Book(h.AddMember("One"), tees), g.Book(h.AddMember("Two"), tees)
	noRoom, there := g.Book(h.AddMember("No room"), tees), g.Book(h.AddMember("There"), moved)
	if n := g.Run(); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
	if err := errors.Join(cancelled, moving, released, confirmed); err != nil {
		t.Error(err)
	}
	tooEarly.WantRefused(t, "before it was free", fault.SessionFull)
	next.WantConfirmed(t, "after it was free")
	one.WantConfirmed(t, "the first seat that was left")
	two.WantConfirmed(t, "the second seat that was left")
	noRoom.WantRefused(t, "a third seat", fault.SessionFull)
	there.WantRefused(t, "where somebody moved to", fault.SessionFull)
	if got := h.BookingStatus(paid.ID); got != string(booking.Confirmed) {
		t.Errorf("confirmed hold is %s", got)
	}
	h.WantSound()
}

// Where somebody waits for the seat, the waitlist has it before whoever asks later.
func TestBatch_FreedSeatGoesToTheWaitlist(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	mias := h.MustBook(mia, in)
	h.MustWaitlist(noa, in)
	beside := g.Book(h.AddMember("Beside"), h.AddSession(testkit.Session{}))
	var up seats.Cancelled
	var err error
	g.Add(func() {
		up, err = g.App.Bookings.CancelBooking(context.Background(), testkit.SelfOnly(mia), bookings.CancelRequest{ID: mias})
	})
	later := g.Book(h.AddMember("Later"), in)
	g.Run()
	beside.WantConfirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.Err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.Err)
	}
	h.WantSound()
}

// So it has where somebody would take any session of the day, of whom the session itself knows nothing.
func TestBatch_FreedSeatGoesToATimeWindow(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	starts := testkit.Noon.Add(75 * time.Hour)
	in := h.AddSession(testkit.Session{Starts: starts, Capacity: 1, Waitlist: 3})
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	mias := h.MustBook(mia, in)
	latest, err := civil.ParseTimeOfDay("23:00")
	if err != nil {
		t.Fatal(err)
	}
	day := civil.DateOf(starts, time.UTC)
	wish := waitlists.JoinRequest{Party: 1, Channel: catalog.Online, Window: &waitlist.Window{
		Service: h.Service, Location: h.Location, From: day, Until: day, Latest: latest,
	}}
	if _, err := h.App.Waitlists.JoinWaitlist(context.Background(), noa, wish); err != nil {
		t.Fatal(err)
	}
	if n := h.Count(`select waiting from sessions where id = $1`, in); n != 0 {
		t.Fatalf("%d wait for the session by name", n)
	}
	beside := g.Book(h.AddMember("Beside"), h.AddSession(testkit.Session{}))
	var up seats.Cancelled
	g.Add(func() {
		up, err = g.App.Bookings.CancelBooking(context.Background(), testkit.SelfOnly(mia), bookings.CancelRequest{ID: mias})
	})
	later := g.Book(h.AddMember("Later"), in)
	if n := g.Run(); n != 3 {
		t.Errorf("%d transactions, want 3: beside, the seat, and later", n)
	}
	beside.WantConfirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.Err != nil || later.Entry == nil {
		t.Errorf("later: %+v, %v", later.Place, later.Err)
	}
	h.WantSound()
}

// Leaving a queue in a batch, by oneself: whoever asks next finds the place in it free.
func TestBatch_QueuePlacesChangeHands(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	h.MustBook(h.AddMember("Mia"), in)
	noa := h.AddMember("Noa")
	entry := h.MustWaitlist(noa, in)
	beside, tooEarly := g.Book(
		h.AddMember("Beside"), h.AddSession(testkit.Session{}),
	), g.Book(h.AddMember("Too early"), in)
	var err error
	g.Add(func() {
		_, err = g.App.Bookings.CancelBooking(
			context.Background(), testkit.SelfOnly(noa), bookings.CancelRequest{ID: tenant.BookingID(entry)},
		)
	})
	later := g.Book(h.AddMember("Later"), in)
	g.Run()
	beside.WantConfirmed(t, "beside")
	tooEarly.WantRefused(t, "too early", fault.SessionFull)
	if err != nil {
		t.Error(err)
	}
	if later.Err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.Err)
	}
	h.WantSound()
}

// Holds that have run out give their seats to the batch that finds them.
func TestBatch_ExpiresHolds(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	g := h.NewBatch()
	in := h.AddSession(testkit.Session{Capacity: 1})
	lapsed := h.MustHold(h.AddMember("Mia"), in)
	h.Clock.Set(*lapsed.HoldUntil)
	first, second, beside := g.Book(h.AddMember("Noa"), in), g.Book(h.AddMember("Zoe"), in), g.Book(
		h.AddMember("Eve"), h.AddSession(testkit.Session{}),
	)
	g.Run()
	first.WantConfirmed(t, "first")
	beside.WantConfirmed(t, "beside")
	second.WantRefused(t, "second", fault.SessionFull)
	h.WantSound()
}
