package bookings_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestHold_TakesSeatsWithoutACredit(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	slot8 := h.AddSession(testkit.Session{Capacity: 2})
	b := h.MustHold(mia, slot8, func(r *bookings.BookRequest) { r.Party = 2 })
	if b.Status != booking.Pending || b.Credits != 0 || !b.HoldUntil.Equal(testkit.Noon.Add(10*time.Minute)) ||
		b.Payment.Status != booking.Unpaid {
		t.Errorf("%+v", b)
	}
	if h.Balance(pack) != 5 {
		t.Error("a credit moved")
	}
	_, err := h.Book(noa, slot8)
	testkit.WantReason(t, err, fault.SessionFull)
	h.WantSound()

	// On confirmation the plan pays, once.
	for i := range 2 {
		place, err := h.Confirm(mia, b.ID)
		if err != nil || place.Booking.Status != booking.Confirmed || place.Repeated != (i == 1) {
			t.Fatalf("%+v, %v", place, err)
		}
	}
	if h.Balance(pack) != 3 {
		t.Errorf("balance %d, want 3", h.Balance(pack))
	}
	h.WantSound()
}

func TestHold_EndsAtTheStart(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	b := h.MustHold(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(4 * time.Minute)}))
	if !b.HoldUntil.Equal(testkit.Noon.Add(4 * time.Minute)) {
		t.Errorf("until %s", b.HoldUntil)
	}
}

// Before anybody has noticed that a hold has run out it blocks nobody any more.
func TestHold_ExpiredDoesNotBlock(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	one := h.AddSession(testkit.Session{Capacity: 1})
	held := h.MustHold(mia, one)
	h.Clock.Set(held.HoldUntil.Add(-time.Microsecond))
	_, err := h.Book(noa, one)
	testkit.WantReason(t, err, fault.SessionFull)
	h.Clock.Set(*held.HoldUntil)
	h.MustBook(noa, one)
	if h.BookingStatus(held.ID) != "EXPIRED" {
		t.Error(h.BookingStatus(held.ID))
	}
	_, err = h.Confirm(mia, held.ID)
	testkit.WantReason(t, err, fault.HoldExpired)

	// Nor does it block whoever held it.
	other := h.AddSession(testkit.Session{Capacity: 1, Starts: testkit.Noon.Add(72 * time.Hour)})
	again := h.MustHold(mia, other)
	h.Clock.Set(*again.HoldUntil)
	h.MustHold(mia, other)
	h.WantSound()
}

func TestHold_ExpiredFillsFromTheWaitlist(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	one := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	held := h.MustHold(mia, one)
	h.MustWaitlist(noa, one)
	h.Clock.Set(*held.HoldUntil)
	counts := make([]int, 4)
	testkit.Parallel(len(counts), func(i int) { // as many nodes may look at once
		n, err := h.App.Waitlists.ExpireHolds(context.Background(), h.Tenant)
		if err != nil {
			t.Error(err)
		}
		counts[i] = n
	})
	if n := counts[0] + counts[1] + counts[2] + counts[3]; n != 1 {
		t.Errorf("the hold ended %d times: %v", n, counts)
	}
	if n := h.Count(
		`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED' and promoted`, noa.Member,
	); n != 1 {
		t.Error("Noa was not promoted")
	}
	h.WantSound()
}

// The seat of a hold that has run out, and one that was open, go to a party of two that waits. Whoever asks next finds
// the session full, and who has a seat in it already is told so, rather than put in line.
func TestHold_BookedMemberDoesNotJoinForExpiredHold(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(h *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error{
		"book": func(h *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error {
			_, err := h.Book(mia, session)
			return err
		},
		"hold": func(h *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error {
			_, err := h.Hold(mia, session)
			return err
		},
		"join": func(h *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error {
			_, err := h.Join(mia, testkit.ForSessions(session))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			mia, noa, zoe := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Zoe")
			three := h.AddSession(testkit.Session{Capacity: 3, Waitlist: 5})
			h.MustBook(mia, three)
			held := h.MustHold(noa, three)
			place, err := h.App.Bookings.Book(
				context.Background(), zoe, bookings.BookRequest{Session: three, Party: 2, Channel: catalog.Online},
			)
			if err != nil || place.Entry == nil {
				t.Fatalf("%+v, %v", place, err)
			}
			h.Clock.Set(*held.HoldUntil)
			testkit.WantReason(t, ask(h, mia, three), fault.AlreadyBooked)
			h.WantSound()
		})
	}
}

// Nor where those who wait have named no session: a window that it lies in.
func TestHold_BookedMemberDoesNotJoinForTimeWindow(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa, zoe := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Zoe")
	three := h.AddSession(testkit.Session{Capacity: 3, Waitlist: 5})
	h.MustBook(mia, three)
	held := h.MustHold(noa, three)
	day := civil.DateOf(testkit.Noon.Add(48*time.Hour), time.UTC).String()
	wish := h.ForWindow(day, day, "06:00", "22:00")
	wish.Party = 2
	h.MustJoin(zoe, wish)
	h.Clock.Set(*held.HoldUntil)
	_, err := h.Book(mia, three)
	testkit.WantReason(t, err, fault.AlreadyBooked)
	h.WantSound()
}

// Who waited first gets the seat of an expired hold, and leaves the room in line to whoever asks next.
func TestHold_ExpiredLeavesRoomInTheQueue(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(
		h *testkit.Studio, who tenant.Caller, session tenant.SessionID,
	) (seats.Place, error){
		"book": func(h *testkit.Studio, who tenant.Caller, session tenant.SessionID) (seats.Place, error) {
			return h.Book(who, session)
		},
		"join": func(h *testkit.Studio, who tenant.Caller, session tenant.SessionID) (seats.Place, error) {
			return h.Join(who, testkit.ForSessions(session))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			mia, noa, zoe := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Zoe")
			one := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
			held := h.MustHold(mia, one)
			h.MustWaitlist(noa, one)
			_, err := wait(h, zoe, one)
			if err == nil {
				t.Fatal("a line of one is longer")
			}
			h.Clock.Set(*held.HoldUntil)
			place, err := wait(h, zoe, one)
			if err != nil || place.Entry == nil {
				t.Errorf("%+v, %v", place, err)
			}
			if n := h.Count(`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, noa.Member); n != 1 {
				t.Error("Noa was not promoted")
			}
			h.WantSound()
		})
	}
}

func TestReleaseHold_FillsFromTheWaitlist(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	one := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	held := h.MustHold(mia, one)
	h.MustWaitlist(noa, one)
	for i := range 2 {
		place, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), held.ID)
		if err != nil || place.Booking.Status != booking.Cancelled || place.Repeated != (i == 1) {
			t.Fatalf("%+v, %v", place, err)
		}
	}
	if n := h.Count(`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, noa.Member); n != 1 {
		t.Error("Noa was not promoted")
	}
	booked := h.MustBook(h.AddMember("Zoe"), h.AddSession(testkit.Session{}))
	_, err := h.App.Bookings.ReleaseHold(context.Background(), h.Owner, booked)
	testkit.WantReason(t, err, fault.BookingState)
	h.WantSound()
}

func TestHold_GuestsNeedAContact(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	two := h.AddSession(testkit.Session{Capacity: 2})
	_, err := h.Hold(h.Owner, two, testkit.ForGuest(" ", ""))
	testkit.WantReason(t, err, fault.InvalidField)
	first, second := h.MustHold(
		h.Owner, two, testkit.ForGuest("Pat", ""),
	), h.MustHold(h.Owner, two, testkit.ForGuest("Kim", ""))
	for _, b := range []booking.Booking{first, second} {
		if place, err := h.App.Bookings.ConfirmBooking(
			context.Background(), h.Owner, bookings.ConfirmRequest{ID: b.ID},
		); err != nil || place.Booking.MemberName != b.Contact.Name {
			t.Fatalf("%+v, %v", place.Booking, err)
		}
	}
	roster, err := h.App.Bookings.ListRoster(context.Background(), h.Coach, two, false)
	if err != nil || len(roster.Bookings) != 2 ||
		roster.Bookings[0].MemberName+roster.Bookings[1].MemberName != "PatKim" &&
			roster.Bookings[0].MemberName+roster.Bookings[1].MemberName != "KimPat" {
		t.Errorf("%+v, %v", roster.Bookings, err)
	}
	if _, err := h.App.Bookings.CancelBooking(
		context.Background(), h.Owner, bookings.CancelRequest{ID: first.ID},
	); err != nil {
		t.Error(err)
	}
	// A member sees no guest's booking.
	_, err = h.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(h.AddMember("Mia")), second.ID)
	testkit.WantReason(t, err, fault.BookingNotFound)
	h.WantSound()
}

// An alarm ends a hold on the moment, without a sweep: within a second, where the machine has time.
func TestHold_ExpiresByAlarm(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, one := h.AddMember("Mia"), h.AddSession(testkit.Session{Capacity: 1})
	// The clock starts when the hold has a second left, and then runs.
	var started atomic.Pointer[time.Time]
	ticking := app.New(app.Config{DB: h.DB.DB, Now: func() time.Time {
		if start := started.Load(); start != nil {
			return testkit.Noon.Add(10*time.Minute - time.Second).Add(time.Since(*start))
		}
		return testkit.Noon
	}})
	ctx, cancel := context.WithCancel(t.Context())
	place, err := ticking.Bookings.Book(ctx, mia, bookings.BookRequest{
		Session: one, Party: 1, Channel: catalog.Online, Hold: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	started.Store(new(time.Now()))
	stopped := make(chan struct{})
	go func() { defer close(stopped); ticking.Housekeeping.RunAlarms(ctx, discard) }()
	defer func() { cancel(); <-stopped }()
	testkit.Eventually(t, "the hold ends", func() bool { return h.BookingStatus(place.Booking.ID) != "PENDING" })
	t.Logf("it ended %s late", time.Since(*started.Load())-time.Second)
	h.WantSound()
}

var discard = slog.New(slog.DiscardHandler)
