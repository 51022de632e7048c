package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestCancelBooking_ReturnsSeatCreditAndQuota(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	class := h.AddSession(testkit.Session{})
	id := h.MustBook(mia, class)

	up, err := h.Cancel(mia, id)
	if err != nil {
		t.Fatal(err)
	}
	if !up.Refunded || up.Late || up.Booking.Status != booking.Cancelled || up.Booking.Credits != 0 {
		t.Errorf("%+v of %+v", up, up.Booking)
	}
	if got := h.Balance(pack); got != 5 {
		t.Errorf("balance %d, want 5", got)
	}
	// Again, twice at once: nothing moves twice.
	testkit.Parallel(2, func(int) {
		again, err := h.Cancel(mia, id)
		if err != nil || !again.Repeated || again.Refunded {
			t.Errorf("%+v, %v", again, err)
		}
	})
	if got := h.Balance(pack); got != 5 {
		t.Errorf("balance %d after cancelling again", got)
	}
	h.MustBook(mia, class)
	h.WantSound()
}

func TestCancelBooking_ConcurrentCallsRefundOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	id := h.MustBook(mia, h.AddSession(testkit.Session{}))
	testkit.Parallel(10, func(int) {
		if _, err := h.Cancel(mia, id); err != nil {
			t.Error(err)
		}
	})
	if got := h.Balance(pack); got != 5 {
		t.Errorf("balance %d, want 5", got)
	}
	h.WantSound()
}

func TestCancelBooking_FollowsTheCancellationWindow(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	start := testkit.Noon.Add(72 * time.Hour)
	pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, AllowOverlap: true})
	strict, lax := h.Service, h.AddService(catalog.Service{Name: "Open gym"})
	h.SetPolicyOf(settings.PolicyTarget{Service: lax}, func(p *catalog.Policy) { p.AllowLateCancellation = new(true) })
	h.SetPolicy(func(p *catalog.Policy) {
		p.Tiers = &map[string]catalog.TierPolicy{
			"gold": {Cancellation: new(4 * time.Hour)}, "visitor": {Cancellation: new(48 * time.Hour)},
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
			h.Clock.Set(testkit.Noon)
			mia := h.AddMember("Mia")
			h.SetTier(mia, tt.tier)
			s := h.Subscribe(mia, pack)
			id := h.MustBook(mia, h.AddSession(testkit.Session{Starts: start, Service: tt.service}))
			h.Clock.Set(start.Add(-tt.before))
			by := testkit.SelfOnly(mia)
			if tt.admin {
				by = h.Owner
			}
			up, err := h.App.Bookings.CancelBooking(context.Background(), by, bookings.CancelRequest{ID: id})
			got := outcome{fault.ReasonOf(err), up.Refunded, up.Late}
			if got != tt.want {
				t.Errorf("%+v, want %+v (%v)", got, tt.want, err)
			}
			want := 4
			if tt.want.refunded {
				want = 5
			}
			if balance := h.Balance(s); balance != want {
				t.Errorf("balance %d, want %d", balance, want)
			}
		})
	}
	_, err := h.Cancel(h.AddMember("Zoe"), testkit.NewID[tenant.BookingID]())
	testkit.WantReason(t, err, fault.BookingNotFound)
	h.WantSound()
}

func TestCancelBooking_TooLateReportsTheHours(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	id := h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Hour)}))
	_, err := h.Cancel(mia, id)
	testkit.WantReason(t, err, fault.CancellationWindow)
	if testkit.Meta(t, err, "hours_before") != "24" ||
		testkit.Meta(t, err, "deadline") != testkit.Noon.Add(-23*time.Hour).Format(time.RFC3339) {
		t.Errorf("metadata of %v", err)
	}
}

func TestCancelBooking_RejectsOtherMembers(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	id := h.MustBook(mia, class)
	_, err := h.Cancel(noa, id)
	testkit.WantReason(t, err, fault.BookingNotFound)
	entry := h.MustWaitlist(noa, class)
	_, err = h.Cancel(mia, tenant.BookingID(entry))
	testkit.WantReason(t, err, fault.BookingNotFound)
	_, err = h.App.Bookings.CancelBooking(context.Background(), h.OtherTenant().Owner, bookings.CancelRequest{ID: id})
	testkit.WantReason(t, err, fault.BookingNotFound)
	if h.BookingStatus(id) != "CONFIRMED" {
		t.Error("it is cancelled all the same")
	}
}

func TestCancelBooking_RejectsAttended(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	id := h.AddBooking(h.AddSession(testkit.Session{}), testkit.Booking{Who: mia, Status: booking.Attended})
	_, err := h.Cancel(mia, id)
	testkit.WantReason(t, err, fault.BookingState)
	_, err = h.App.Bookings.CancelBooking(context.Background(), h.Owner, bookings.CancelRequest{ID: id})
	testkit.WantReason(t, err, fault.BookingState)
}

// A cancelled seat goes to the first in line at once, in the same transaction.
func TestCancelBooking_PromotesTheFirstInQueue(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	people := []tenant.Caller{h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Leo"), h.AddMember("Zoe")}
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	place := h.MustBook(people[0], class)
	for i, p := range people[1:] {
		waits, err := h.Book(p, class)
		if err != nil || waits.Entry == nil || waits.Entry.Position != i+1 {
			t.Fatalf("%+v, %v", waits.Entry, err)
		}
	}
	up, err := h.Cancel(people[0], place)
	if err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	roster, err := h.App.Bookings.ListRoster(context.Background(), h.Coach, class, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(roster.Bookings) != 1 || roster.Bookings[0].MemberName != "Noa" || !roster.Bookings[0].Promoted {
		t.Errorf("booked: %+v", roster.Bookings)
	}
	if len(roster.Entries) != 2 || roster.Entries[0].MemberName != "Leo" || roster.Entries[0].Position != 1 {
		t.Errorf("waiting: %+v", roster.Entries)
	}
	// An admin's cancellation promotes as well.
	if _, err := h.App.Bookings.CancelBooking(
		context.Background(), h.Owner, bookings.CancelRequest{ID: roster.Bookings[0].ID},
	); err != nil {
		t.Fatal(err)
	}
	if n := h.Count(
		`select count(*) from bookings b join members m on m.id = b.member_id where m.name = 'Leo'
			and b.status = 'CONFIRMED'`,
	); n != 1 {
		t.Error("Leo has no place")
	}
	if n := h.Count(`select count(*) from waitlist_decisions where session_id = $1 and move = 'OFFER'`, class); n != 2 {
		t.Errorf("%d decisions are on record, want 2", n)
	}
	h.WantSound()
}

func TestPromotion_SkipsEntriesWithoutCredit(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1, AllowOverlap: true})
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	other := h.AddSession(testkit.Session{})
	mia, noa, leo := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Leo")
	h.Subscribe(noa, pack)
	leos := h.Subscribe(leo, pack)
	place := h.MustBook(mia, class)
	noas := h.MustWaitlist(noa, class)
	h.MustWaitlist(leo, class)
	h.MustBook(noa, other) // her last credit is gone

	if up, err := h.Cancel(mia, place); err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	if h.Balance(leos) != 0 {
		t.Error("Leo's promotion took no credit")
	}
	_, entries, err := h.App.Bookings.ListMyBookings(
		context.Background(), testkit.SelfOnly(noa), bookings.MyBookingsQuery{Limit: 10},
	)
	if err != nil || len(entries) != 1 || entries[0].ID != noas || entries[0].PassedOver != string(fault.NoCredits) ||
		entries[0].Position != 1 {
		t.Errorf("Noa's entries: %+v, %v", entries, err)
	}
	h.WantSound()
}

func TestPromotion_PartyThatDoesNotFitKeepsItsPosition(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class := h.AddSession(testkit.Session{Capacity: 2, Waitlist: 3})
	mia, eve, noa, leo := h.AddMember("Mia"), h.AddMember("Eve"), h.AddMember("Noa"), h.AddMember("Leo")
	place := h.MustBook(mia, class)
	h.MustBook(eve, class)
	if p, err := h.App.Bookings.Book(
		context.Background(), noa, bookings.BookRequest{Session: class, Party: 2, Channel: catalog.Online},
	); err != nil || p.Entry == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	h.MustWaitlist(leo, class)
	if up, err := h.Cancel(mia, place); err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	roster, err := h.App.Bookings.ListRoster(context.Background(), h.Coach, class, false)
	if err != nil || len(roster.Entries) != 1 || roster.Entries[0].MemberName != "Noa" || roster.Entries[0].Position != 1 {
		t.Errorf("waiting: %+v, %v", roster.Entries, err)
	}
	h.WantSound()
}

// What a promoted member booked elsewhere meanwhile must not fail the cancellation that promotes.
func TestPromotion_SkipsOverlappingBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	plan := h.AddPlan(credit.Plan{Kind: credit.Unlimited})
	class, clash := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 3}), h.AddSession(testkit.Session{})
	mia, noa, leo := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Leo")
	h.Subscribe(noa, plan)
	place := h.MustBook(mia, class)
	h.MustWaitlist(noa, class)
	h.MustWaitlist(leo, class)
	h.MustBook(noa, clash)
	if up, err := h.Cancel(mia, place); err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	if n := h.Count(
		`select count(*) from waitlist_entries where member_id = $1 and passed_over_reason = 'OVERLAP'
			and status = 'WAITING'`,
		noa.Member,
	); n != 1 {
		t.Error("Noa was not passed over for her overlap")
	}
	h.WantSound()
}

func TestPromotion_EndsWhenBookingCloses(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	place := h.MustBook(mia, class)
	h.MustWaitlist(noa, class)
	h.Clock.Set(testkit.Noon.Add(48 * time.Hour))
	if up, err := h.App.Bookings.CancelBooking(
		context.Background(), h.Owner, bookings.CancelRequest{ID: place},
	); err != nil || up.Promoted != 0 {
		t.Fatalf("%+v, %v", up, err)
	}
	h.WantSound()
}

func TestPromotion_GivesAnHourOfGrace(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(26 * time.Hour), Capacity: 1, Waitlist: 3})
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	s := h.Subscribe(noa, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	place := h.MustBook(mia, class)
	h.MustWaitlist(noa, class)
	h.Clock.Set(testkit.Noon.Add(20 * time.Hour)) // six hours before the start: past the window
	if _, err := h.App.Bookings.CancelBooking(
		context.Background(), h.Owner, bookings.CancelRequest{ID: place},
	); err != nil {
		t.Fatal(err)
	}
	bookings, _, err := h.App.Bookings.ListMyBookings(
		context.Background(), testkit.SelfOnly(noa), bookings.MyBookingsQuery{Limit: 10},
	)
	if err != nil || len(bookings) != 1 {
		t.Fatalf("%+v, %v", bookings, err)
	}
	h.Clock.Set(testkit.Noon.Add(21*time.Hour + time.Second))
	_, err = h.Cancel(noa, bookings[0].ID)
	testkit.WantReason(t, err, fault.CancellationWindow)
	h.Clock.Set(testkit.Noon.Add(21 * time.Hour))
	if up, err := h.Cancel(noa, bookings[0].ID); err != nil || !up.Refunded || up.Late {
		t.Errorf("%+v, %v", up, err)
	}
	if h.Balance(s) != 3 {
		t.Errorf("balance %d", h.Balance(s))
	}
}

func TestBook_WaitlistHasACapacity(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	h.MustBook(h.AddMember("Mia"), class)
	noa := h.AddMember("Noa")
	entry := h.MustWaitlist(noa, class)
	h.MustWaitlist(h.AddMember("Leo"), class)
	zoe := h.AddMember("Zoe")
	_, err := h.Book(zoe, class)
	testkit.WantReason(t, err, fault.SessionFull)
	if up, err := h.Cancel(noa, tenant.BookingID(entry)); err != nil || up.Entry == nil || up.Entry.Status != "CANCELLED" {
		t.Fatalf("%+v, %v", up, err)
	}
	place, err := h.Book(zoe, class)
	if err != nil || place.Entry == nil || place.Entry.Position != 2 {
		t.Fatalf("%+v, %v", place, err)
	}
	h.WantSound()
}

func TestBook_ConcurrentCallsGetDifferentPositions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	const people = 12
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: people})
	h.MustBook(h.AddMember("Mia"), class)
	callers := make([]tenant.Caller, people)
	for i := range callers {
		callers[i] = h.AddMember("Noa")
	}
	positions := make([]int, people)
	testkit.Parallel(people, func(i int) {
		place, err := h.Book(callers[i], class)
		if err != nil || place.Entry == nil {
			t.Errorf("%d: %+v, %v", i, place, err)
			return
		}
		positions[i] = place.Entry.Position
	})
	seen := make(map[int]bool)
	for _, p := range positions {
		if p < 1 || p > people || seen[p] {
			t.Errorf("positions %v", positions)
		}
		seen[p] = true
	}
	h.WantSound()
}

func TestMarkNoShow_FreesTheSeatAndCanBeUndone(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	class := h.AddSession(testkit.Session{Capacity: 1})
	id := h.MustBook(mia, class)

	_, err := h.App.Bookings.MarkNoShow(ctx, h.Coach, id)
	testkit.WantReason(t, err, fault.SessionNotOpen)

	h.Clock.Set(testkit.Noon.Add(48*time.Hour + time.Minute))
	for range 2 { // marking twice changes nothing
		if b, err := h.App.Bookings.MarkNoShow(ctx, h.Coach, id); err != nil || b.Status != booking.NoShow {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	h.WantSound()
	for range 2 {
		if b, err := h.App.Bookings.UndoNoShow(ctx, h.Coach, id); err != nil || b.Status != booking.Confirmed {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	h.WantSound()
	if _, err := h.App.Bookings.MarkNoShow(ctx, h.Coach, id); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.Noon)
	h.MustBook(noa, class)
	_, err = h.App.Bookings.UndoNoShow(ctx, h.Coach, id)
	testkit.WantReason(t, err, fault.SessionFull)
	_, err = h.App.Bookings.MarkNoShow(ctx, h.OtherTenant().Coach, id)
	testkit.WantReason(t, err, fault.BookingNotFound)
	h.WantSound()
}

func TestRefundCredit_ReturnsACreditOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	mia := h.AddMember("Mia")
	s := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	id := h.MustBook(mia, h.AddSession(testkit.Session{}))
	refunded := make([]bool, 8)
	testkit.Parallel(len(refunded), func(i int) {
		_, _, err := h.App.Accounts.RefundCredit(ctx, h.Owner, id, "goodwill")
		refunded[i] = err == nil
		if err != nil {
			testkit.WantReason(t, err, fault.NothingToRefund)
		}
	})
	n := 0
	for _, r := range refunded {
		if r {
			n++
		}
	}
	if n != 1 || h.Balance(s) != 3 {
		t.Errorf("refunded %d times, balance %d", n, h.Balance(s))
	}
	// Cancelling later gives nothing back twice.
	if up, err := h.Cancel(mia, id); err != nil || up.Refunded {
		t.Errorf("%+v, %v", up, err)
	}
	if h.Balance(s) != 3 {
		t.Errorf("balance %d after cancelling", h.Balance(s))
	}
	_, _, err := h.App.Accounts.RefundCredit(ctx, h.OtherTenant().Owner, id, "")
	testkit.WantReason(t, err, fault.BookingNotFound)
	h.WantSound()
}
