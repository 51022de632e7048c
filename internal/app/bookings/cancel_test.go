package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCancelBooking_ReturnsSeatCreditAndQuota(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	class := studio.AddSession(testkit.Session{})
	id := studio.MustBook(mia, class)

	result := expect.Value(studio.Cancel(mia, id))(t)
	test.True(t, result.Refunded, test.Sprintf("%+v of %+v", result, result.Booking))
	test.False(t, result.Late, test.Sprintf("%+v of %+v", result, result.Booking))
	test.EqOp(t, booking.Cancelled, result.Booking.Status, test.Sprintf("%+v of %+v", result, result.Booking))
	test.EqOp(t, 0, result.Booking.Credits, test.Sprintf("%+v of %+v", result, result.Booking))
	test.EqOp(t, 5, studio.Balance(pack), test.Sprint("balance"))
	// Again, twice at once: nothing moves twice.
	testkit.Parallel(2, func(int) {
		again, err := studio.Cancel(mia, id)
		test.NoError(t, err)
		test.True(t, again.Repeated, test.Sprintf("%+v, %v", again, err))
		test.False(t, again.Refunded, test.Sprintf("%+v, %v", again, err))
	})
	test.EqOp(t, 5, studio.Balance(pack), test.Sprint("balance after cancelling again"))
	studio.MustBook(mia, class)
}

func TestCancelBooking_ConcurrentCallsRefundOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	id := studio.MustBook(mia, studio.AddSession(testkit.Session{}))
	testkit.Parallel(10, func(int) {
		expect.OK(t)(studio.Cancel(mia, id))
	})
	test.EqOp(t, 5, studio.Balance(pack), test.Sprint("balance"))
}

func TestCancelBooking_FollowsTheCancellationWindow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	start := testkit.Noon.Add(72 * time.Hour)
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, AllowOverlap: true})
	strict, lax := studio.Service, studio.AddService(catalog.Service{Name: "Open gym"})
	studio.SetPolicyOf(
		settings.PolicyTarget{Service: lax}, func(p *catalog.PolicyLayer) { p.AllowLateCancellation = new(true) },
	)
	studio.SetPolicy(func(p *catalog.PolicyLayer) {
		p.TierCancellations = &map[string]catalog.TierPolicy{
			"gold": {CancellationWindow: new(4 * time.Hour)}, "visitor": {CancellationWindow: new(48 * time.Hour)},
		}
	})

	type outcome struct {
		reason         fault.Reason
		refunded, late bool
	}
	for name, tt := range map[string]struct {
		service tenant.ServiceID
		tier    string
		before  time.Duration // the start
		admin   bool
		want    outcome
	}{
		"in time": {strict, "", 24 * time.Hour, false, outcome{"", true, false}},
		"a second late": {
			strict, "", 24*time.Hour - time.Second, false, outcome{fault.CancellationWindow, false, false},
		},
		"late, where that is allowed":   {lax, "", time.Hour, false, outcome{"", false, true}},
		"late, by an admin: no refund":  {strict, "", time.Hour, true, outcome{"", false, true}},
		"in time, by an admin":          {strict, "", 48 * time.Hour, true, outcome{"", true, false}},
		"gold may until 4 hours before": {strict, "gold", 4 * time.Hour, false, outcome{"", true, false}},
		"gold no later than 4 hours": {
			strict, "gold", 4*time.Hour - time.Second, false, outcome{fault.CancellationWindow, false, false},
		},
		"a visitor needs 48 hours": {
			strict, "visitor", 47 * time.Hour, false, outcome{fault.CancellationWindow, false, false},
		},
		"after the end, late allowed":      {lax, "", -2 * time.Hour, false, outcome{fault.BookingState, false, false}},
		"after the end, by an admin: late": {strict, "", -2 * time.Hour, true, outcome{"", false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			// The clock is shared, so these take turns.
			studio.Clock.Set(testkit.Noon)
			mia := studio.AddMember("Mia")
			studio.SetTier(mia, tt.tier)
			s := studio.Subscribe(mia, pack)
			id := studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: start, Service: tt.service}))
			studio.Clock.Set(start.Add(-tt.before))
			by := testkit.SelfOnly(mia)
			if tt.admin {
				by = studio.Owner
			}
			result, err := studio.App.Bookings.CancelBooking(context.Background(), by, bookings.CancelRequest{
				ID: id, OverrideWindow: tt.admin,
			})
			got := outcome{fault.ReasonOf(err), result.Refunded, result.Late}
			test.EqOp(t, tt.want, got, test.Sprintf("%+v, want %+v (%v)", got, tt.want, err))
			test.EqOp(t, map[bool]int{false: 4, true: 5}[tt.want.refunded], studio.Balance(s))
		})
	}
	expect.Reason(t, fault.BookingNotFound)(studio.Cancel(studio.AddMember("Zoe"), testkit.NewID[tenant.BookingID]()))
}

func TestCancelBooking_RejectsOtherMembers(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	id := studio.MustBook(mia, class)
	expect.Reason(t, fault.BookingNotFound)(studio.Cancel(noa, id))
	expect.Reason(t, fault.BookingNotFound)(studio.Cancel(mia, tenant.BookingID(studio.MustWaitlist(noa, class))))
	expect.Reason(t, fault.BookingNotFound)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.OtherTenant().Owner, bookings.CancelRequest{ID: id, OverrideWindow: true},
	))
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(id), test.Sprint("it is cancelled all the same"))
}

// A cancelled seat goes to the first in line at once, in the same transaction.
func TestCancelBooking_PromotesTheFirstInQueue(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	people := []tenant.Caller{
		studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Leo"), studio.AddMember("Zoe"),
	}
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	booked := studio.MustBook(people[0], class)
	for i, p := range people[1:] {
		waits := expect.Value(studio.Book(p, class))(t)
		must.NotNil(t, waits.Entry)
		must.EqOp(t, i+1, waits.Entry.Position)
	}
	must.EqOp(t, 1, expect.Value(studio.Cancel(people[0], booked))(t).Promoted)
	roster := expect.Value(studio.App.Bookings.GetSessionRoster(context.Background(), studio.Coach, class))(t)
	must.SliceLen(t, 1, roster.Bookings, must.Sprintf("booked: %+v", roster.Bookings))
	test.EqOp(t, "Noa", roster.Bookings[0].MemberName, test.Sprintf("booked: %+v", roster.Bookings))
	test.True(t, roster.Bookings[0].Promoted, test.Sprintf("booked: %+v", roster.Bookings))
	must.SliceLen(t, 2, roster.Entries, must.Sprintf("waiting: %+v", roster.Entries))
	test.EqOp(t, "Leo", roster.Entries[0].MemberName, test.Sprintf("waiting: %+v", roster.Entries))
	test.EqOp(t, 1, roster.Entries[0].Position, test.Sprintf("waiting: %+v", roster.Entries))
	// An admin's cancellation promotes as well.
	expect.OK(t)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: roster.Bookings[0].ID, OverrideWindow: true},
	))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from bookings b join members m on m.id = b.member_id where m.name = 'Leo'
			and b.status = 'CONFIRMED'`,
	), test.Sprint("Leo has no place"))
	test.EqOp(t, 2, studio.Count(
		`select count(*) from waitlist_decisions where session_id = $1 and move = 'OFFER'`, class,
	), test.Sprint("decisions are on record, want 2"))
}

func TestPromotion_SkipsEntriesWithoutCredit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1, AllowOverlap: true})
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	other := studio.AddSession(testkit.Session{})
	mia, noa, leo := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Leo")
	studio.Subscribe(noa, pack)
	leos, booked := studio.Subscribe(leo, pack), studio.MustBook(mia, class)
	noas := studio.MustWaitlist(noa, class)
	studio.MustWaitlist(leo, class)
	studio.MustBook(noa, other) // her last credit is gone

	must.EqOp(t, 1, expect.Value(studio.Cancel(mia, booked))(t).Promoted)
	test.EqOp(t, 0, studio.Balance(leos), test.Sprint("Leo's promotion took no credit"))
	entries, err := studio.App.Waitlists.ListWaitlistEntries(
		context.Background(), testkit.SelfOnly(noa), waitlists.EntryQuery{Member: noa.Member, Limit: 10},
	)
	must.NoError(t, err, must.Sprintf("Noa's entries: %+v, %v", entries, err))
	must.SliceLen(t, 1, entries, must.Sprintf("Noa's entries: %+v, %v", entries, err))
	test.EqOp(t, noas, entries[0].ID, test.Sprintf("Noa's entries: %+v, %v", entries, err))
	test.EqOp(t, waitlist.VerdictReason(fault.NoCredits), entries[0].PassedOver,
		test.Sprintf("Noa's entries: %+v, %v", entries, err))
	test.EqOp(t, 1, entries[0].Position, test.Sprintf("Noa's entries: %+v, %v", entries, err))
}

func TestPromotion_PartyThatDoesNotFitKeepsItsPosition(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	class := studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 3})
	mia, eve := studio.AddMember("Mia"), studio.AddMember("Eve")
	noa, leo, booked := studio.AddMember("Noa"), studio.AddMember("Leo"), studio.MustBook(mia, class)
	studio.MustBook(eve, class)
	r := expect.Value(studio.App.Bookings.Book(
		context.Background(), noa, bookings.BookRequest{Session: class, Party: 2, Channel: catalog.Online},
	))(t)
	must.NotNil(t, r.Entry, must.Sprintf("%+v", r))
	studio.MustWaitlist(leo, class)
	must.EqOp(t, 1, expect.Value(studio.Cancel(mia, booked))(t).Promoted)
	roster := expect.Value(studio.App.Bookings.GetSessionRoster(context.Background(), studio.Coach, class))(t)
	must.SliceLen(t, 1, roster.Entries, must.Sprintf("waiting: %+v", roster.Entries))
	test.EqOp(t, "Noa", roster.Entries[0].MemberName, test.Sprintf("waiting: %+v", roster.Entries))
	test.EqOp(t, 1, roster.Entries[0].Position, test.Sprintf("waiting: %+v", roster.Entries))
}

// A promoted member may have booked an overlapping session since joining. That must not fail the cancellation that
// promotes.
func TestPromotion_SkipsOverlappingBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	plan := studio.AddPlan(credit.Plan{Kind: credit.Unlimited})
	class, clash := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 3}), studio.AddSession(testkit.Session{})
	mia, noa, leo := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Leo")
	studio.Subscribe(noa, plan)
	booked := studio.MustBook(mia, class)
	studio.MustWaitlist(noa, class)
	studio.MustWaitlist(leo, class)
	studio.MustBook(noa, clash)
	must.EqOp(t, 1, expect.Value(studio.Cancel(mia, booked))(t).Promoted)
	test.EqOp(t, 1, studio.Count(
		`select count(*) from waitlist_entries where member_id = $1 and passed_over_reason = 'OVERLAP'
			and status = 'WAITING'`,
		noa.Member,
	), test.Sprint("Noa was not passed over for her overlap"))
}

func TestPromotion_EndsWhenBookingCloses(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	booked := studio.MustBook(mia, class)
	studio.MustWaitlist(noa, class)
	studio.Clock.Set(testkit.Noon.Add(48 * time.Hour))
	must.EqOp(t, 0, expect.Value(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: booked, OverrideWindow: true},
	))(t).Promoted)
}

// Until the member is told, they can cancel for free, and then as long as the grace lasts: see
// TestPromotion_StatesUntilWhenItCanBeCancelled.
func TestPromotion_CanBeCancelledForFreeUntilTold(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	class := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(26 * time.Hour), Capacity: 1, Waitlist: 3})
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	s := studio.Subscribe(noa, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	booked := studio.MustBook(mia, class)
	studio.MustWaitlist(noa, class)
	studio.Clock.Set(testkit.Noon.Add(20 * time.Hour)) // six hours before the start: past the window
	expect.OK(t)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: booked, OverrideWindow: true},
	))
	list := expect.Value(studio.App.Bookings.ListBookings(
		context.Background(), testkit.SelfOnly(noa), bookings.BookingQuery{Limit: 10},
	))(t).Bookings
	must.SliceLen(t, 1, list)
	studio.Clock.Set(testkit.Noon.Add(26*time.Hour - time.Second))
	result := expect.Value(studio.Cancel(noa, list[0].ID))(t)
	test.True(t, result.Refunded, test.Sprintf("%+v", result))
	test.False(t, result.Late, test.Sprintf("%+v", result))
	test.EqOp(t, 3, studio.Balance(s))
}

func TestBook_WaitlistHasACapacity(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	studio.MustBook(studio.AddMember("Mia"), class)
	noa := studio.AddMember("Noa")
	entry := studio.MustWaitlist(noa, class)
	studio.MustWaitlist(studio.AddMember("Leo"), class)
	zoe := studio.AddMember("Zoe")
	expect.Reason(t, fault.SessionFull)(studio.Book(zoe, class))
	expect.Reason(t, fault.BookingNotFound)(studio.Cancel(noa, tenant.BookingID(entry)))
	up := expect.Value(studio.App.Waitlists.LeaveWaitlist(t.Context(), testkit.SelfOnly(noa), entry, "", false))(t)
	must.EqOp(t, "CANCELLED", up.Status)
	result := expect.Value(studio.Book(zoe, class))(t)
	must.NotNil(t, result.Entry)
	must.EqOp(t, 2, result.Entry.Position)
}

func TestBook_ConcurrentCallsGetDifferentPositions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const people = 12
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: people})
	studio.MustBook(studio.AddMember("Mia"), class)
	callers := make([]tenant.Caller, people)
	for i := range callers {
		callers[i] = studio.AddMember("Noa")
	}
	positions := make([]int, people)
	testkit.Parallel(people, func(i int) {
		result, err := studio.Book(callers[i], class)
		if err != nil || result.Entry == nil {
			t.Errorf("%d: %+v, %v", i, result, err)
			return
		}
		positions[i] = result.Entry.Position
	})
	seen := make(map[int]bool)
	for _, p := range positions {
		test.GreaterEq(t, 1, p, test.Sprintf("positions %v", positions))
		test.LessEq(t, people, p, test.Sprintf("positions %v", positions))
		test.False(t, seen[p], test.Sprintf("positions %v", positions))
		seen[p] = true
	}
}

func TestMarkNoShow_FreesTheSeatAndCanBeUndone(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	class := studio.AddSession(testkit.Session{Capacity: 1})
	id := studio.MustBook(mia, class)

	expect.Reason(t, fault.SessionNotOpen)(studio.App.Bookings.MarkNoShow(t.Context(), studio.Coach, id))

	studio.Clock.Set(testkit.Noon.Add(48*time.Hour + time.Minute))
	for range 2 { // marking twice changes nothing
		b := expect.Value(studio.App.Bookings.MarkNoShow(t.Context(), studio.Coach, id))(t)
		must.EqOp(t, booking.NoShow, b.Status, must.Sprintf("%+v", b))
	}
	studio.WantSound()
	for range 2 {
		b := expect.Value(studio.App.Bookings.UndoNoShow(t.Context(), studio.Coach, id))(t)
		must.EqOp(t, booking.Confirmed, b.Status, must.Sprintf("%+v", b))
	}
	studio.WantSound()
	expect.OK(t)(studio.App.Bookings.MarkNoShow(t.Context(), studio.Coach, id))
	studio.Clock.Set(testkit.Noon)
	studio.MustBook(noa, class)
	expect.Reason(t, fault.SessionFull)(studio.App.Bookings.UndoNoShow(t.Context(), studio.Coach, id))
	expect.Reason(t, fault.BookingNotFound)(studio.App.Bookings.MarkNoShow(t.Context(), studio.OtherTenant().Coach, id))
}

func TestRefundCredit_ReturnsACreditOnce(t *testing.T) {
	t.Parallel()
	for name, guarded := range map[string]bool{"guarded": true, "without the unique index": false} {
		t.Run(name, func(t *testing.T) { t.Parallel(); checkRefundedOnce(t, guarded) })
	}
}

func checkRefundedOnce(t *testing.T, guarded bool) {
	t.Helper()
	studio := testkit.New(t)
	if !guarded {
		studio.Exec(`drop index credit_entries_once`)
	}
	mia := studio.AddMember("Mia")
	s := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	id := studio.MustBook(mia, studio.AddSession(testkit.Session{}))
	errs := testkit.ParallelErrors(8, func(int) error {
		return expect.Error(studio.App.Accounts.RefundCredit(t.Context(), studio.Owner, id, "goodwill"))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.NothingToRefund: 7}, testkit.CountReasons(errs))
	test.EqOp(t, 3, studio.Balance(s))
	// Cancelling later gives nothing back twice.
	result := expect.Value(studio.Cancel(mia, id))(t)
	test.False(t, result.Refunded, test.Sprintf("%+v", result))
	test.EqOp(t, 3, studio.Balance(s), test.Sprintf("balance %d after cancelling", studio.Balance(s)))
	expect.Reason(t, fault.BookingNotFound)(studio.App.Accounts.RefundCredit(
		t.Context(), studio.OtherTenant().Owner, id, "",
	))
	studio.WantSound()
}
