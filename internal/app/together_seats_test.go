package app_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// A seat that is given up goes to who asks for it next, in the same transaction; and a hold's life goes on in it, too.
func TestSeatsChangeHandsInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	full, tees, moved := h.session(slot{Capacity: 1}), h.session(slot{Capacity: 3}), h.session(slot{Starts: noon.Add(60 * time.Hour), Capacity: 1})
	mia, noa, zoe, eve := h.member("Mia"), h.member("Noa"), h.member("Zoe"), h.member("Eve")
	mias := h.mustBook(mia, full)
	paid, dropped := h.mustHold(noa, tees), h.mustHold(zoe, tees)
	eves := h.mustBook(eve, tees)

	tooEarly := g.book(h.member("Too early"), full)
	ctx := context.Background()
	var cancelled, moving, released, confirmed error
	g.ask(func() { _, cancelled = g.app.CancelBooking(ctx, own(mia), app.CancelRequest{ID: mias}) })
	next := g.book(h.member("Next"), full)
	g.ask(func() {
		_, moving = g.app.RescheduleBooking(ctx, own(eve), app.RescheduleRequest{ID: eves, To: moved})
	})
	g.ask(func() { _, released = g.app.ReleaseHold(ctx, own(zoe), dropped.ID) })
	g.ask(func() { _, confirmed = g.app.ConfirmBooking(ctx, own(noa), app.ConfirmRequest{ID: paid.ID}) })
	one, two := g.book(h.member("One"), tees), g.book(h.member("Two"), tees)
	noRoom, there := g.book(h.member("No room"), tees), g.book(h.member("There"), moved)
	if n := g.settle(); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
	if err := errors.Join(cancelled, moving, released, confirmed); err != nil {
		t.Error(err)
	}
	tooEarly.refused(t, "before it was free", fault.SessionFull)
	next.confirmed(t, "after it was free")
	one.confirmed(t, "the first seat that was left")
	two.confirmed(t, "the second seat that was left")
	noRoom.refused(t, "a third seat", fault.SessionFull)
	there.refused(t, "where somebody moved to", fault.SessionFull)
	if got := h.status(paid.ID); got != string(booking.Confirmed) {
		t.Errorf("confirmed hold is %s", got)
	}
	h.wantSound()
}

// Where somebody waits for the seat, the waitlist has it before whoever asks later.
func TestASeatThatIsWaitedForInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 1, Waitlist: 3})
	mia, noa := h.member("Mia"), h.member("Noa")
	mias := h.mustBook(mia, in)
	h.mustWait(noa, in)
	beside := g.book(h.member("Beside"), h.session(slot{}))
	var up seats.GivenUp
	var err error
	g.ask(func() { up, err = g.app.CancelBooking(context.Background(), own(mia), app.CancelRequest{ID: mias}) })
	later := g.book(h.member("Later"), in)
	g.settle()
	beside.confirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.err)
	}
	h.wantSound()
}

// So it has where somebody would take any session of the day, of whom the session itself knows nothing.
func TestASeatThatAWindowWaitsForInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	starts := noon.Add(75 * time.Hour)
	in := h.session(slot{Starts: starts, Capacity: 1, Waitlist: 3})
	mia, noa := h.member("Mia"), h.member("Noa")
	mias := h.mustBook(mia, in)
	latest, err := civil.ParseTimeOfDay("23:00")
	if err != nil {
		t.Fatal(err)
	}
	day := civil.DateOf(starts, time.UTC)
	wish := app.JoinRequest{Party: 1, Channel: catalog.Online, Window: &waitlist.Window{
		Service: h.Service, Location: h.Location, From: day, Until: day, Latest: latest,
	}}
	if _, err := h.app.JoinWaitlist(context.Background(), noa, wish); err != nil {
		t.Fatal(err)
	}
	if n := h.count(`select waiting from sessions where id = $1`, in); n != 0 {
		t.Fatalf("%d wait for the session by name", n)
	}
	beside := g.book(h.member("Beside"), h.session(slot{}))
	var up seats.GivenUp
	g.ask(func() { up, err = g.app.CancelBooking(context.Background(), own(mia), app.CancelRequest{ID: mias}) })
	later := g.book(h.member("Later"), in)
	if n := g.settle(); n != 3 {
		t.Errorf("%d transactions, want 3: beside, the seat, and later", n)
	}
	beside.confirmed(t, "beside")
	if err != nil || up.Promoted != 1 {
		t.Errorf("%+v, %v", up, err)
	}
	if later.err != nil || later.Entry == nil {
		t.Errorf("later: %+v, %v", later.Place, later.err)
	}
	h.wantSound()
}

// Leaving a queue in a batch, by oneself: whoever asks next finds the place in it free.
func TestAPlaceInTheQueueChangesHandsInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 1, Waitlist: 1})
	h.mustBook(h.member("Mia"), in)
	noa := h.member("Noa")
	entry := h.mustWait(noa, in)
	beside, tooEarly := g.book(h.member("Beside"), h.session(slot{})), g.book(h.member("Too early"), in)
	var err error
	g.ask(func() {
		_, err = g.app.CancelBooking(context.Background(), own(noa), app.CancelRequest{ID: tenant.BookingID(entry)})
	})
	later := g.book(h.member("Later"), in)
	g.settle()
	beside.confirmed(t, "beside")
	tooEarly.refused(t, "too early", fault.SessionFull)
	if err != nil {
		t.Error(err)
	}
	if later.err != nil || later.Entry == nil || later.Entry.Position != 1 {
		t.Errorf("later: %+v, %v", later.Place, later.err)
	}
	h.wantSound()
}

// Holds that have run out give their seats to the batch that finds them.
func TestAHoldThatHasRunOutInABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	g := h.gather()
	in := h.session(slot{Capacity: 1})
	lapsed := h.mustHold(h.member("Mia"), in)
	h.clock.Set(*lapsed.HoldUntil)
	first, second, beside := g.book(h.member("Noa"), in), g.book(h.member("Zoe"), in), g.book(h.member("Eve"), h.session(slot{}))
	g.settle()
	first.confirmed(t, "first")
	beside.confirmed(t, "beside")
	second.refused(t, "second", fault.SessionFull)
	h.wantSound()
}
