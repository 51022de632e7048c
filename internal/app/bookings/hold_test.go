package bookings_test

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestHold_TakesSeatsWithoutACredit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	slot8 := studio.AddSession(testkit.Session{Capacity: 2})
	b := studio.MustHold(mia, slot8, func(r *bookings.BookRequest) { r.Party = 2 })
	test.EqOp(t, booking.Pending, b.Status)
	test.EqOp(t, 0, b.Credits)
	test.True(t, b.HoldUntil.Equal(testkit.Noon.Add(10*time.Minute)), test.Sprintf("%+v", b))
	test.EqOp(t, payment.Unpaid, b.Payment.Status)
	test.EqOp(t, 5, studio.Balance(pack), test.Sprint("a credit moved"))
	expect.Reason(t, fault.SessionFull)(studio.Book(noa, slot8))
	studio.WantSound()

	// On confirmation the plan pays, once.
	for i := range 2 {
		result := expect.Value(studio.Confirm(mia, b.ID))(t)
		must.EqOp(t, booking.Confirmed, result.Booking.Status)
		must.EqOp(t, (i == 1), result.Repeated)
	}
	test.EqOp(t, 3, studio.Balance(pack))
	expect.Reason(t, fault.DailyLimit)(studio.Book(mia, studio.AddSession(testkit.Session{})))
}

func TestHold_EndsAtTheStart(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	b := studio.MustHold(
		studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(4 * time.Minute)}),
	)
	test.True(t, b.HoldUntil.Equal(testkit.Noon.Add(4*time.Minute)), test.Sprintf("until %s", b.HoldUntil))
}

// An expired hold blocks no booking, even before a sweep or an alarm has ended it.
func TestHold_ExpiredDoesNotBlock(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	one := studio.AddSession(testkit.Session{Capacity: 1})
	held := studio.MustHold(mia, one)
	studio.Clock.Set(held.HoldUntil.Add(-time.Microsecond))
	expect.Reason(t, fault.SessionFull)(studio.Book(noa, one))
	studio.Clock.Set(*held.HoldUntil)
	studio.MustBook(noa, one)
	test.EqOp(t, "EXPIRED", studio.BookingStatus(held.ID))
	expect.Reason(t, fault.HoldExpired)(studio.Confirm(mia, held.ID))

	// It does not block the member who held it either.
	other := studio.AddSession(testkit.Session{Capacity: 1, Starts: testkit.Noon.Add(72 * time.Hour)})
	studio.Clock.Set(*studio.MustHold(mia, other).HoldUntil)
	studio.MustHold(mia, other)
}

func TestHold_ExpiredFillsFromTheWaitlist(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	one := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	held := studio.MustHold(mia, one)
	studio.MustWaitlist(noa, one)
	studio.Clock.Set(*held.HoldUntil)
	counts := make([]int, 4)
	testkit.Parallel(len(counts), func(i int) { // as many nodes may look at once
		counts[i] = expect.Value(studio.App.Waitlists.ExpireHolds(context.Background(), studio.Tenant))(t)
	})
	test.EqOp(t, 1, counts[0]+counts[1]+counts[2]+counts[3], test.Sprintf("the hold ended times: %v", counts))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED' and promoted`, noa.Member,
	), test.Sprint("Noa was not promoted"))
}

// The seat of an expired hold, and one that was open, go to a party of two that waits. The next request finds the
// session full. A member who already has a booking in it is told so, and does not join the waitlist.
func TestHold_BookedMemberDoesNotJoinForExpiredHold(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]func(studio *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error{
		"book": func(studio *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error {
			return expect.Error(studio.Book(mia, session))
		},
		"hold": func(studio *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error {
			return expect.Error(studio.Hold(mia, session))
		},
		"join": func(studio *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error {
			return expect.Error(studio.Join(mia, testkit.ForSessions(session)))
		},
	}, func(studio *testkit.Studio, ask func(studio *testkit.Studio, mia tenant.Caller, session tenant.SessionID) error) {
		mia, noa, zoe := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Zoe")
		three := studio.AddSession(testkit.Session{Capacity: 3, Waitlist: 5})
		studio.MustBook(mia, three)
		held := studio.MustHold(noa, three)
		result := expect.Value(studio.App.Bookings.Book(
			context.Background(), zoe, bookings.BookRequest{Session: three, Party: 2, Channel: catalog.Online},
		))(studio.T)
		must.NotNil(studio.T, result.Entry, must.Sprintf("%+v", result))
		studio.Clock.Set(*held.HoldUntil)
		expect.Reason(studio.T, fault.AlreadyBooked)(ask(studio, mia, three))
	})
}

// Nor where those who wait have named no session: a window that it lies in.
func TestHold_BookedMemberDoesNotJoinForTimeWindow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa, zoe := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Zoe")
	three := studio.AddSession(testkit.Session{Capacity: 3, Waitlist: 5})
	studio.MustBook(mia, three)
	held := studio.MustHold(noa, three)
	day := civil.DateOf(testkit.Noon.Add(48*time.Hour), time.UTC).String()
	target := studio.ForWindow(day, day, "06:00", "22:00")
	target.Party = 2
	studio.MustJoin(zoe, target)
	studio.Clock.Set(*held.HoldUntil)
	expect.Reason(t, fault.AlreadyBooked)(studio.Book(mia, three))
}

// The first entry gets the seat of an expired hold. The next request can take its place in the queue.
func TestHold_ExpiredLeavesRoomInTheQueue(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]func(
		studio *testkit.Studio, who tenant.Caller, session tenant.SessionID,
	) (seats.Result, error){
		"book": func(studio *testkit.Studio, who tenant.Caller, session tenant.SessionID) (seats.Result, error) {
			return studio.Book(who, session)
		},
		"join": func(studio *testkit.Studio, who tenant.Caller, session tenant.SessionID) (seats.Result, error) {
			return studio.Join(who, testkit.ForSessions(session))
		},
	}, func(studio *testkit.Studio, wait func(
		studio *testkit.Studio, who tenant.Caller, session tenant.SessionID,
	) (seats.Result, error)) {
		studio.SetPromoting()
		mia, noa, zoe := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Zoe")
		one := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
		held := studio.MustHold(mia, one)
		studio.MustWaitlist(noa, one)
		must.Error(studio.T, expect.Error(wait(studio, zoe, one)), must.Sprint("a line of one is longer"))
		studio.Clock.Set(*held.HoldUntil)
		result := expect.Value(wait(studio, zoe, one))(studio.T)
		test.NotNil(studio.T, result.Entry, test.Sprintf("%+v", result))
		test.EqOp(studio.T, 1, studio.Count(
			`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, noa.Member,
		), test.Sprint("Noa was not promoted"))
	})
}

func TestReleaseHold_FillsFromTheWaitlist(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	one := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	held := studio.MustHold(mia, one)
	studio.MustWaitlist(noa, one)
	for i := range 2 {
		result := expect.Value(studio.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), held.ID))(t)
		must.EqOp(t, booking.Cancelled, result.Booking.Status)
		must.EqOp(t, (i == 1), result.Repeated)
	}
	test.EqOp(t, 1, studio.Count(
		`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, noa.Member,
	), test.Sprint("Noa was not promoted"))
	booked := studio.MustBook(studio.AddMember("Zoe"), studio.AddSession(testkit.Session{}))
	expect.Reason(t, fault.BookingState)(studio.App.Bookings.ReleaseHold(context.Background(), studio.Owner, booked))
}

// A booking goes with its session: when that is deleted nothing can be done with it any more.
func TestBookings_GoWithADeletedSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app, ctx, owner := studio.App.Bookings, t.Context(), studio.Owner
	class := studio.AddSession(testkit.Session{})
	held := studio.MustHold(studio.AddMember("Mia"), class).ID
	studio.DeleteSession(class)
	for name, tt := range map[string]struct {
		want fault.Reason
		err  error
	}{
		"confirmed": {fault.BookingNotFound, expect.Error(app.ConfirmBooking(ctx, owner, bookings.ConfirmRequest{ID: held}))},
		"released":  {fault.BookingNotFound, expect.Error(app.ReleaseHold(ctx, owner, held))},
		"moved": {
			fault.BookingNotFound, expect.Error(studio.Reschedule(owner, held, studio.AddSession(testkit.Session{}))),
		},
		"on the roster": {
			fault.SessionNotFound, expect.Error(app.GetSessionRoster(ctx, owner, class, booking.Statuses()...)),
		},
		"linked": {fault.SessionNotFound, expect.Error(app.ListDisplayLinks(ctx, owner, class))},
	} {
		test.EqOp(t, tt.want, fault.ReasonOf(tt.err), test.Sprintf("%s: %v", name, tt.err))
	}
}

func TestHold_GuestsNeedAContact(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	two := studio.AddSession(testkit.Session{Capacity: 2})
	expect.Reason(t, fault.InvalidField)(studio.Hold(studio.Owner, two, testkit.ForGuest(" ", "")))
	first, second := studio.MustHold(
		studio.Owner, two, testkit.ForGuest("Pat", ""),
	), studio.MustHold(studio.Owner, two, testkit.ForGuest("Kim", ""))
	for _, b := range []booking.Booking{first, second} {
		must.EqOp(t, b.Contact.Name, expect.Value(studio.App.Bookings.ConfirmBooking(
			context.Background(), studio.Owner, bookings.ConfirmRequest{ID: b.ID},
		))(t).Booking.MemberName)
	}
	roster := expect.Value(studio.App.Bookings.GetSessionRoster(context.Background(), studio.Coach, two))(t)
	must.SliceLen(t, 2, roster.Bookings)
	names := []string{roster.Bookings[0].MemberName, roster.Bookings[1].MemberName}
	test.SliceContainsAll(t, []string{"Kim", "Pat"}, names)
	expect.OK(t)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: first.ID, OverrideWindow: true},
	))
	// A member sees no guest's booking.
	expect.Reason(t, fault.BookingNotFound)(
		studio.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(studio.AddMember("Mia")), second.ID),
	)
}

// An alarm ends a hold on the moment, without a sweep: within a second, where the machine has time.
func TestHold_ExpiresByAlarm(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, one := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 1})
	// The clock starts when the hold has a second left, and then runs.
	var started atomic.Pointer[time.Time]
	ticking := app.New(app.Config{DB: studio.DB.DB, Now: func() time.Time {
		if start := started.Load(); start != nil {
			return testkit.Noon.Add(10*time.Minute - time.Second).Add(time.Since(*start))
		}
		return testkit.Noon
	}})
	ctx, cancel := context.WithCancel(t.Context())
	result := expect.Value(ticking.Bookings.Book(ctx, mia, bookings.BookRequest{
		Session: one, Party: 1, Channel: catalog.Online, Hold: true,
	}))(t)
	started.Store(new(time.Now()))
	stopped := make(chan struct{})
	go func() { defer close(stopped); ticking.Housekeeping.RunAlarms(ctx, discard) }()
	defer func() { cancel(); <-stopped }()
	testkit.Eventually(t, "the hold ends", func() bool { return studio.BookingStatus(result.Booking.ID) != "PENDING" })
	t.Logf("it ended %s late", time.Since(*started.Load())-time.Second)
}

var discard = slog.New(slog.DiscardHandler)

// What a request says about its booking can be read with the booking.
func TestHold_StoresWhatItIsAsked(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	var asked bookings.BookRequest
	made := studio.MustHold(studio.Owner, studio.AddSession(testkit.Session{}), testkit.ForGuest("Pat", "gold"),
		func(r *bookings.BookRequest) {
			for field, value := range reflect.ValueOf(r).Elem().Fields() {
				if value.Kind() == reflect.String && value.IsZero() && field.Name != "Channel" {
					value.SetString(field.Name)
				}
			}
			r.Party, r.Channel = 2, catalog.Phone
			asked = *r
		})
	read := reflect.ValueOf(expect.Value(studio.App.Bookings.GetBooking(t.Context(), studio.Owner, made.ID))(t))
	decides := []string{"Subscription", "RefuseFull", "Raise", "Hold", "Guest", "Items"}
	for field, value := range reflect.ValueOf(asked).Fields() {
		if slices.Contains(decides, field.Name) {
			continue
		}
		stored := read.FieldByName(field.Name)
		must.True(t, stored.IsValid(), must.Sprintf("bookings have no %s", field.Name))
		test.Eq(t, value.Interface(), stored.Interface(), test.Sprint(field.Name))
	}
}
