package app_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// hold asks for one seat for a while.
func (h *house) hold(who tenant.Caller, session tenant.SessionID, more ...func(*app.BookRequest)) (seats.Place, error) {
	r := app.BookRequest{Session: session, Party: 1, Channel: catalog.Online, Hold: true}
	for _, m := range more {
		m(&r)
	}
	return h.app.Book(context.Background(), who, r)
}

func (h *house) mustHold(who tenant.Caller, session tenant.SessionID, more ...func(*app.BookRequest)) booking.Booking {
	h.t.Helper()
	place, err := h.hold(who, session, more...)
	if err != nil {
		h.t.Fatalf("hold: %v", err)
	}
	return *place.Booking
}

func TestHoldTakesSeatsWithoutACredit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	slot8 := h.session(slot{Capacity: 2})
	b := h.mustHold(mia, slot8, func(r *app.BookRequest) { r.Party = 2 })
	if b.Status != booking.Pending || b.Credits != 0 || !b.HoldUntil.Equal(noon.Add(10*time.Minute)) || b.Payment.Status != booking.Unpaid {
		t.Errorf("%+v", b)
	}
	if h.balance(pack) != 5 {
		t.Error("a credit moved")
	}
	_, err := h.book(noa, slot8)
	wantReason(t, err, fault.SessionFull)
	h.wantSound()

	// On confirmation the plan pays, once.
	for i := range 2 {
		place, err := h.confirm(mia, b.ID)
		if err != nil || place.Booking.Status != booking.Confirmed || place.Repeated != (i == 1) {
			t.Fatalf("%+v, %v", place, err)
		}
	}
	if h.balance(pack) != 3 {
		t.Errorf("balance %d, want 3", h.balance(pack))
	}
	h.wantSound()
}

func TestAHoldNeverOutlivesTheStart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.mustHold(h.member("Mia"), h.session(slot{Starts: noon.Add(4 * time.Minute)}))
	if !b.HoldUntil.Equal(noon.Add(4 * time.Minute)) {
		t.Errorf("until %s", b.HoldUntil)
	}
}

// Before anybody has noticed that a hold has run out it blocks nobody any more.
func TestAnExpiredHoldBlocksNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	one := h.session(slot{Capacity: 1})
	held := h.mustHold(mia, one)
	h.clock.Set(held.HoldUntil.Add(-time.Microsecond))
	_, err := h.book(noa, one)
	wantReason(t, err, fault.SessionFull)
	h.clock.Set(*held.HoldUntil)
	h.mustBook(noa, one)
	if h.status(held.ID) != "EXPIRED" {
		t.Error(h.status(held.ID))
	}
	_, err = h.confirm(mia, held.ID)
	wantReason(t, err, fault.HoldExpired)

	// Nor does it block whoever held it.
	other := h.session(slot{Capacity: 1, Starts: noon.Add(72 * time.Hour)})
	again := h.mustHold(mia, other)
	h.clock.Set(*again.HoldUntil)
	h.mustHold(mia, other)
	h.wantSound()
}

func TestExpiredHoldsWakeTheWaitlist(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	one := h.session(slot{Capacity: 1, Waitlist: 2})
	held := h.mustHold(mia, one)
	h.mustWait(noa, one)
	h.clock.Set(*held.HoldUntil)
	counts := make([]int, 4)
	together(len(counts), func(i int) { // as many nodes may look at once
		n, err := h.app.ExpireHolds(context.Background(), h.Tenant)
		if err != nil {
			t.Error(err)
		}
		counts[i] = n
	})
	if n := counts[0] + counts[1] + counts[2] + counts[3]; n != 1 {
		t.Errorf("the hold ended %d times: %v", n, counts)
	}
	if n := h.count(`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED' and promoted`, noa.Member); n != 1 {
		t.Error("Noa was not promoted")
	}
	h.wantSound()
}

// The seat of a hold that has run out, and one that was open, go to a party of two that waits. Whoever asks next finds the session full,
// and who has a seat in it already is told so, rather than put in line.
func TestNobodyWithASeatWaitsForTheSeatsOfAnExpiredHold(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(h *house, mia tenant.Caller, session tenant.SessionID) error{
		"book": func(h *house, mia tenant.Caller, session tenant.SessionID) error {
			_, err := h.book(mia, session)
			return err
		},
		"hold": func(h *house, mia tenant.Caller, session tenant.SessionID) error {
			_, err := h.hold(mia, session)
			return err
		},
		"join": func(h *house, mia tenant.Caller, session tenant.SessionID) error {
			_, err := h.join(mia, names(session))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			mia, noa, zoe := h.member("Mia"), h.member("Noa"), h.member("Zoe")
			three := h.session(slot{Capacity: 3, Waitlist: 5})
			h.mustBook(mia, three)
			held := h.mustHold(noa, three)
			place, err := h.app.Book(context.Background(), zoe, app.BookRequest{Session: three, Party: 2, Channel: catalog.Online})
			if err != nil || place.Entry == nil {
				t.Fatalf("%+v, %v", place, err)
			}
			h.clock.Set(*held.HoldUntil)
			wantReason(t, ask(h, mia, three), fault.AlreadyBooked)
			h.wantSound()
		})
	}
}

// Nor where those who wait have named no session: a window that it lies in.
func TestNobodyWithASeatWaitsForWhatAWindowGets(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa, zoe := h.member("Mia"), h.member("Noa"), h.member("Zoe")
	three := h.session(slot{Capacity: 3, Waitlist: 5})
	h.mustBook(mia, three)
	held := h.mustHold(noa, three)
	day := civil.DateOf(noon.Add(48*time.Hour), time.UTC).String()
	wish := h.window(day, day, "06:00", "22:00")
	wish.Party = 2
	h.mustJoin(zoe, wish)
	h.clock.Set(*held.HoldUntil)
	_, err := h.book(mia, three)
	wantReason(t, err, fault.AlreadyBooked)
	h.wantSound()
}

// Who waited first gets the seat of an expired hold, and leaves the room in line to whoever asks next.
func TestTheSeatOfAnExpiredHoldLeavesRoomInLine(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(h *house, who tenant.Caller, session tenant.SessionID) (seats.Place, error){
		"book": (*house).book,
		"join": func(h *house, who tenant.Caller, session tenant.SessionID) (seats.Place, error) {
			return h.join(who, names(session))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			mia, noa, zoe := h.member("Mia"), h.member("Noa"), h.member("Zoe")
			one := h.session(slot{Capacity: 1, Waitlist: 1})
			held := h.mustHold(mia, one)
			h.mustWait(noa, one)
			_, err := wait(h, zoe, one)
			if err == nil {
				t.Fatal("a line of one is longer")
			}
			h.clock.Set(*held.HoldUntil)
			place, err := wait(h, zoe, one)
			if err != nil || place.Entry == nil {
				t.Errorf("%+v, %v", place, err)
			}
			if n := h.count(`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, noa.Member); n != 1 {
				t.Error("Noa was not promoted")
			}
			h.wantSound()
		})
	}
}

func TestReleaseGivesSeatsBackAndWakesTheWaitlist(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	one := h.session(slot{Capacity: 1, Waitlist: 2})
	held := h.mustHold(mia, one)
	h.mustWait(noa, one)
	for i := range 2 {
		place, err := h.app.ReleaseHold(context.Background(), own(mia), held.ID)
		if err != nil || place.Booking.Status != booking.Cancelled || place.Repeated != (i == 1) {
			t.Fatalf("%+v, %v", place, err)
		}
	}
	if n := h.count(`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, noa.Member); n != 1 {
		t.Error("Noa was not promoted")
	}
	booked := h.mustBook(h.member("Zoe"), h.session(slot{}))
	_, err := h.app.ReleaseHold(context.Background(), h.Owner, booked)
	wantReason(t, err, fault.BookingState)
	h.wantSound()
}

func TestGuestsHoldWithAContact(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	two := h.session(slot{Capacity: 2})
	_, err := h.hold(h.Owner, two, guest(" ", ""))
	wantReason(t, err, fault.InvalidField)
	first, second := h.mustHold(h.Owner, two, guest("Pat", "")), h.mustHold(h.Owner, two, guest("Kim", ""))
	for _, b := range []booking.Booking{first, second} {
		if place, err := h.app.ConfirmBooking(context.Background(), h.Owner, app.ConfirmRequest{ID: b.ID}); err != nil || place.Booking.MemberName != b.Contact.Name {
			t.Fatalf("%+v, %v", place.Booking, err)
		}
	}
	roster, err := h.app.ListRoster(context.Background(), h.Coach, two, false)
	if err != nil || len(roster.Bookings) != 2 || roster.Bookings[0].MemberName+roster.Bookings[1].MemberName != "PatKim" &&
		roster.Bookings[0].MemberName+roster.Bookings[1].MemberName != "KimPat" {
		t.Errorf("%+v, %v", roster.Bookings, err)
	}
	if _, err := h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: first.ID}); err != nil {
		t.Error(err)
	}
	// A member sees no guest's booking.
	_, err = h.app.GetBooking(context.Background(), own(h.member("Mia")), second.ID)
	wantReason(t, err, fault.BookingNotFound)
	h.wantSound()
}

// An alarm ends a hold on the moment, without a sweep: within a second, where the machine has time.
func TestAlarmsEndHolds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.clock.Set(time.Now())
	one := h.session(slot{Starts: time.Now().Add(48 * time.Hour), Capacity: 1})
	h.exec(`insert into policies (tenant_id, level, scope_id, hold_ttl_seconds, updated_at) values ($1, 'TENANT', $1, 1, $2)`, h.Tenant, noon)
	ticking := app.New(app.Config{DB: h.db.DB, Now: time.Now})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() { defer close(stopped); ticking.RunAlarms(ctx, discard) }()
	defer func() { cancel(); <-stopped }()
	place, err := ticking.Book(ctx, h.member("Mia"), app.BookRequest{Session: one, Party: 1, Channel: catalog.Online, Hold: true})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hold ends", func() bool { return h.status(place.Booking.ID) != "PENDING" })
	t.Logf("it ended %s late", time.Since(*place.Booking.HoldUntil))
	h.wantSound()
}

var discard = slog.New(slog.DiscardHandler)
