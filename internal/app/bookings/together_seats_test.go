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
func TestSeatsChangeHandsInABatch(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	full, tees, moved := h.Session(testkit.Slot{Capacity: 1}), h.Session(testkit.Slot{Capacity: 3}), h.Session(testkit.Slot{Starts: testkit.Noon.Add(60 * time.Hour), Capacity: 1})
	mia, noa, zoe, eve := h.Member("Mia"), h.Member("Noa"), h.Member("Zoe"), h.Member("Eve")
	mias := h.MustBook(mia, full)
	paid, dropped := h.MustHold(noa, tees), h.MustHold(zoe, tees)
	eves := h.MustBook(eve, tees)

	tooEarly := g.Book(h.Member("Too early"), full)
	ctx := context.Background()
	var cancelled, moving, released, confirmed error
	g.Ask(func() {
		_, cancelled = g.App.Bookings.CancelBooking(ctx, testkit.Own(mia), bookings.CancelRequest{ID: mias})
	})
	next := g.Book(h.Member("Next"), full)
	g.Ask(func() {
		_, moving = g.App.Bookings.RescheduleBooking(ctx, testkit.Own(eve), bookings.RescheduleRequest{ID: eves, To: moved})
	})
	g.Ask(func() { _, released = g.App.Bookings.ReleaseHold(ctx, testkit.Own(zoe), dropped.ID) })
	g.Ask(func() {
		_, confirmed = g.App.Bookings.ConfirmBooking(ctx, testkit.Own(noa), bookings.ConfirmRequest{ID: paid.ID})
	})
	one, two := g.Book(h.Member("One"), tees), g.Book(h.Member("Two"), tees)
	noRoom, there := g.Book(h.Member("No room"), tees), g.Book(h.Member("There"), moved)
	if n := g.Settle(); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
	if err := errors.Join(cancelled, moving, released, confirmed); err != nil {
		t.Error(err)
	}
	tooEarly.Refused(t, "before it was free", fault.SessionFull)
	next.Confirmed(t, "after it was free")
	one.Confirmed(t, "the first seat that was left")
	two.Confirmed(t, "the second seat that was left")
	noRoom.Refused(t, "a third seat", fault.SessionFull)
	there.Refused(t, "where somebody moved to", fault.SessionFull)
	if got := h.Status(paid.ID); got != string(booking.Confirmed) {
		t.Errorf("confirmed hold is %s", got)
	}
	h.WantSound()
}

// Where somebody waits for the seat, the waitlist has it before whoever asks later.
func TestASeatThatIsWaitedForInABatch(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in := h.Session(testkit.Slot{Capacity: 1, Waitlist: 3})
	mia, noa := h.Member("Mia"), h.Member("Noa")
	mias := h.MustBook(mia, in)
	h.MustWait(noa, in)
	beside := g.Book(h.Member("Beside"), h.Session(testkit.Slot{}))
	var up seats.Cancelled
	var err error
	g.Ask(func() {
		up, err = g.App.Bookings.CancelBooking(context.Background(), testkit.Own(mia), bookings.CancelRequest{ID: mias})
	})
	later := g.Book(h.Member("Later"), in)
	g.Settle()
	beside.Confirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.Err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.Err)
	}
	h.WantSound()
}

// So it has where somebody would take any session of the day, of whom the session itself knows nothing.
func TestASeatThatAWindowWaitsForInABatch(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	starts := testkit.Noon.Add(75 * time.Hour)
	in := h.Session(testkit.Slot{Starts: starts, Capacity: 1, Waitlist: 3})
	mia, noa := h.Member("Mia"), h.Member("Noa")
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
	beside := g.Book(h.Member("Beside"), h.Session(testkit.Slot{}))
	var up seats.Cancelled
	g.Ask(func() {
		up, err = g.App.Bookings.CancelBooking(context.Background(), testkit.Own(mia), bookings.CancelRequest{ID: mias})
	})
	later := g.Book(h.Member("Later"), in)
	if n := g.Settle(); n != 3 {
		t.Errorf("%d transactions, want 3: beside, the seat, and later", n)
	}
	beside.Confirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.Err != nil || later.Entry == nil {
		t.Errorf("later: %+v, %v", later.Place, later.Err)
	}
	h.WantSound()
}

// Leaving a queue in a batch, by oneself: whoever asks next finds the place in it free.
func TestAPlaceInTheQueueChangesHandsInABatch(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in := h.Session(testkit.Slot{Capacity: 1, Waitlist: 1})
	h.MustBook(h.Member("Mia"), in)
	noa := h.Member("Noa")
	entry := h.MustWait(noa, in)
	beside, tooEarly := g.Book(h.Member("Beside"), h.Session(testkit.Slot{})), g.Book(h.Member("Too early"), in)
	var err error
	g.Ask(func() {
		_, err = g.App.Bookings.CancelBooking(context.Background(), testkit.Own(noa), bookings.CancelRequest{ID: tenant.BookingID(entry)})
	})
	later := g.Book(h.Member("Later"), in)
	g.Settle()
	beside.Confirmed(t, "beside")
	tooEarly.Refused(t, "too early", fault.SessionFull)
	if err != nil {
		t.Error(err)
	}
	if later.Err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.Err)
	}
	h.WantSound()
}

// Holds that have run out give their seats to the batch that finds them.
func TestAHoldThatHasRunOutInABatch(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	g := h.Gather()
	in := h.Session(testkit.Slot{Capacity: 1})
	lapsed := h.MustHold(h.Member("Mia"), in)
	h.Clock.Set(*lapsed.HoldUntil)
	first, second, beside := g.Book(h.Member("Noa"), in), g.Book(h.Member("Zoe"), in), g.Book(h.Member("Eve"), h.Session(testkit.Slot{}))
	g.Settle()
	first.Confirmed(t, "first")
	beside.Confirmed(t, "beside")
	second.Refused(t, "second", fault.SessionFull)
	h.WantSound()
}
