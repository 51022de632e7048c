package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func TestCancelGivesSeatCreditAndQuotaBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	class := h.session(slot{})
	id := h.mustBook(mia, class)

	up, err := h.cancel(mia, id)
	if err != nil {
		t.Fatal(err)
	}
	if !up.Refunded || up.Late || up.Booking.Status != booking.Cancelled || up.Booking.Credits != 0 {
		t.Errorf("%+v of %+v", up, up.Booking)
	}
	if got := h.balance(pack); got != 5 {
		t.Errorf("balance %d, want 5", got)
	}
	// Again, twice at once: nothing moves twice.
	together(2, func(int) {
		again, err := h.cancel(mia, id)
		if err != nil || !again.Repeated || again.Refunded {
			t.Errorf("%+v, %v", again, err)
		}
	})
	if got := h.balance(pack); got != 5 {
		t.Errorf("balance %d after cancelling again", got)
	}
	h.mustBook(mia, class)
	h.wantSound()
}

func TestCancelTwiceAtTheSameMomentRefundsOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	id := h.mustBook(mia, h.session(slot{}))
	together(10, func(int) {
		if _, err := h.cancel(mia, id); err != nil {
			t.Error(err)
		}
	})
	if got := h.balance(pack); got != 5 {
		t.Errorf("balance %d, want 5", got)
	}
	h.wantSound()
}

func TestCancellationWindow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	start := noon.Add(72 * time.Hour)
	pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 5, AllowOverlap: true})
	strict, lax := h.Service, newID[tenant.ServiceID]()
	h.exec(`insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at) values ($1, $2, 'Open gym', 3600, $3, $3)`, h.Tenant, lax, noon)
	h.exec(`insert into policies (tenant_id, level, scope_id, allow_late_cancellation, updated_at) values ($1, 'SERVICE', $2, true, $3)`, h.Tenant, lax, noon)
	h.exec(`insert into policies (tenant_id, level, scope_id, tiers, updated_at) values ($1, 'TENANT', $1,
	  '{"gold": {"cancellation_seconds": 14400}, "visitor": {"cancellation_seconds": 172800}}', $2)`, h.Tenant, noon)

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
		"in time":                          {strict, "", 24 * time.Hour, false, outcome{"", true, false}},
		"a second late":                    {strict, "", 24*time.Hour - time.Second, false, outcome{fault.CancellationWindow, false, false}},
		"late, where that is allowed":      {lax, "", time.Hour, false, outcome{"", false, true}},
		"late, by an admin: no refund":     {strict, "", time.Hour, true, outcome{"", false, true}},
		"in time, by an admin":             {strict, "", 48 * time.Hour, true, outcome{"", true, false}},
		"gold may until 4 hours before":    {strict, "gold", 4 * time.Hour, false, outcome{"", true, false}},
		"gold no later than 4 hours":       {strict, "gold", 4*time.Hour - time.Second, false, outcome{fault.CancellationWindow, false, false}},
		"a visitor needs 48 hours":         {strict, "visitor", 47 * time.Hour, false, outcome{fault.CancellationWindow, false, false}},
		"after the end, late allowed":      {lax, "", -2 * time.Hour, false, outcome{fault.BookingState, false, false}},
		"after the end, by an admin: late": {strict, "", -2 * time.Hour, true, outcome{"", false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			// The clock is shared, so these take turns.
			h.clock.Set(noon)
			mia := h.member("Mia")
			h.exec(`update members set tier = $2 where id = $1`, mia.Member, tt.tier)
			s := h.subscribe(mia, pack)
			id := h.mustBook(mia, h.session(slot{Starts: start, Service: tt.service}))
			h.clock.Set(start.Add(-tt.before))
			by := own(mia)
			if tt.admin {
				by = h.Owner
			}
			up, err := h.app.CancelBooking(context.Background(), by, app.CancelRequest{ID: id})
			got := outcome{fault.ReasonOf(err), up.Refunded, up.Late}
			if got != tt.want {
				t.Errorf("%+v, want %+v (%v)", got, tt.want, err)
			}
			want := 4
			if tt.want.refunded {
				want = 5
			}
			if balance := h.balance(s); balance != want {
				t.Errorf("balance %d, want %d", balance, want)
			}
		})
	}
	_, err := h.cancel(h.member("Zoe"), newID[tenant.BookingID]())
	wantReason(t, err, fault.BookingNotFound)
	h.wantSound()
}

func TestTooLateToCancelTellsTheHours(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	id := h.mustBook(mia, h.session(slot{Starts: noon.Add(time.Hour)}))
	_, err := h.cancel(mia, id)
	wantReason(t, err, fault.CancellationWindow)
	if meta(t, err, "hours_before") != "24" || meta(t, err, "deadline") != noon.Add(-23*time.Hour).Format(time.RFC3339) {
		t.Errorf("metadata of %v", err)
	}
}

func TestNobodyCancelsForSomeoneElse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	class := h.session(slot{Capacity: 1, Waitlist: 1})
	id := h.mustBook(mia, class)
	_, err := h.cancel(noa, id)
	wantReason(t, err, fault.BookingNotFound)
	entry := h.mustWait(noa, class)
	_, err = h.cancel(mia, tenant.BookingID(entry))
	wantReason(t, err, fault.BookingNotFound)
	_, err = h.app.CancelBooking(context.Background(), h.another().Owner, app.CancelRequest{ID: id})
	wantReason(t, err, fault.BookingNotFound)
	if h.status(id) != "CONFIRMED" {
		t.Error("it is cancelled all the same")
	}
}

func TestAnAttendedBookingCannotBeCancelled(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	id := h.mustBook(mia, h.session(slot{}))
	h.exec(`update bookings set status = 'ATTENDED', checked_in_at = $2, check_in_method = 'QR' where id = $1`, id, noon)
	_, err := h.cancel(mia, id)
	wantReason(t, err, fault.BookingState)
	_, err = h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: id})
	wantReason(t, err, fault.BookingState)
}

// A cancelled seat goes to the first in line at once, in the same transaction.
func TestAFreedSeatPromotesTheFirstInLine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	people := []tenant.Caller{h.member("Mia"), h.member("Noa"), h.member("Leo"), h.member("Zoe")}
	class := h.session(slot{Capacity: 1, Waitlist: 3})
	place := h.mustBook(people[0], class)
	for i, p := range people[1:] {
		waits, err := h.book(p, class)
		if err != nil || waits.Entry == nil || waits.Entry.Position != i+1 {
			t.Fatalf("%+v, %v", waits.Entry, err)
		}
	}
	up, err := h.cancel(people[0], place)
	if err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	roster, err := h.app.ListRoster(context.Background(), h.Coach, class, false)
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
	if _, err := h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: roster.Bookings[0].ID}); err != nil {
		t.Fatal(err)
	}
	if n := h.count(`select count(*) from bookings b join members m on m.id = b.member_id where m.name = 'Leo' and b.status = 'CONFIRMED'`); n != 1 {
		t.Error("Leo has no place")
	}
	if n := h.count(`select count(*) from waitlist_decisions where session_id = $1 and move = 'OFFER'`, class); n != 2 {
		t.Errorf("%d decisions are on record, want 2", n)
	}
	h.wantSound()
}

func TestPromotionTakesTheCreditAndPassesOverWhoHasNone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 1, AllowOverlap: true})
	class := h.session(slot{Capacity: 1, Waitlist: 3})
	other := h.session(slot{})
	mia, noa, leo := h.member("Mia"), h.member("Noa"), h.member("Leo")
	h.subscribe(noa, pack)
	leos := h.subscribe(leo, pack)
	place := h.mustBook(mia, class)
	noas := h.mustWait(noa, class)
	h.mustWait(leo, class)
	h.mustBook(noa, other) // her last credit is gone

	if up, err := h.cancel(mia, place); err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	if h.balance(leos) != 0 {
		t.Error("Leo's promotion took no credit")
	}
	_, entries, err := h.app.ListMyBookings(context.Background(), own(noa), app.MyBookings{Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].ID != noas || entries[0].PassedOver != string(fault.NoCredits) || entries[0].Position != 1 {
		t.Errorf("Noa's entries: %+v, %v", entries, err)
	}
	h.wantSound()
}

func TestAPartyThatDoesNotFitKeepsItsPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class := h.session(slot{Capacity: 2, Waitlist: 3})
	mia, eve, noa, leo := h.member("Mia"), h.member("Eve"), h.member("Noa"), h.member("Leo")
	place := h.mustBook(mia, class)
	h.mustBook(eve, class)
	if p, err := h.app.Book(context.Background(), noa, app.BookRequest{Session: class, Party: 2, Channel: catalog.Online}); err != nil || p.Entry == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	h.mustWait(leo, class)
	if up, err := h.cancel(mia, place); err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	roster, err := h.app.ListRoster(context.Background(), h.Coach, class, false)
	if err != nil || len(roster.Entries) != 1 || roster.Entries[0].MemberName != "Noa" || roster.Entries[0].Position != 1 {
		t.Errorf("waiting: %+v, %v", roster.Entries, err)
	}
	h.wantSound()
}

// What a promoted member booked elsewhere meanwhile must not fail the cancellation that promotes.
func TestPromotionPassesOverWhoIsBusyElsewhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	plan := h.plan(credit.Plan{Kind: credit.Unlimited})
	class, clash := h.session(slot{Capacity: 1, Waitlist: 3}), h.session(slot{})
	mia, noa, leo := h.member("Mia"), h.member("Noa"), h.member("Leo")
	h.subscribe(noa, plan)
	place := h.mustBook(mia, class)
	h.mustWait(noa, class)
	h.mustWait(leo, class)
	h.mustBook(noa, clash)
	if up, err := h.cancel(mia, place); err != nil || up.Promoted != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	if n := h.count(`select count(*) from waitlist_entries where member_id = $1 and passed_over_reason = 'OVERLAP' and status = 'WAITING'`, noa.Member); n != 1 {
		t.Error("Noa was not passed over for her overlap")
	}
	h.wantSound()
}

func TestNobodyIsPromotedOnceBookingIsClosed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class := h.session(slot{Capacity: 1, Waitlist: 3})
	mia, noa := h.member("Mia"), h.member("Noa")
	place := h.mustBook(mia, class)
	h.mustWait(noa, class)
	h.clock.Set(noon.Add(48 * time.Hour))
	if up, err := h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: place}); err != nil || up.Promoted != 0 {
		t.Fatalf("%+v, %v", up, err)
	}
	h.wantSound()
}

func TestAPromotedMemberHasAnHourOfGrace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class := h.session(slot{Starts: noon.Add(26 * time.Hour), Capacity: 1, Waitlist: 3})
	mia, noa := h.member("Mia"), h.member("Noa")
	s := h.subscribe(noa, h.plan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	place := h.mustBook(mia, class)
	h.mustWait(noa, class)
	h.clock.Set(noon.Add(20 * time.Hour)) // six hours before the start: past the window
	if _, err := h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: place}); err != nil {
		t.Fatal(err)
	}
	bookings, _, err := h.app.ListMyBookings(context.Background(), own(noa), app.MyBookings{Limit: 10})
	if err != nil || len(bookings) != 1 {
		t.Fatalf("%+v, %v", bookings, err)
	}
	h.clock.Set(noon.Add(21*time.Hour + time.Second))
	_, err = h.cancel(noa, bookings[0].ID)
	wantReason(t, err, fault.CancellationWindow)
	h.clock.Set(noon.Add(21 * time.Hour))
	if up, err := h.cancel(noa, bookings[0].ID); err != nil || !up.Refunded || up.Late {
		t.Errorf("%+v, %v", up, err)
	}
	if h.balance(s) != 3 {
		t.Errorf("balance %d", h.balance(s))
	}
}

func TestWaitlistRoom(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class := h.session(slot{Capacity: 1, Waitlist: 2})
	h.mustBook(h.member("Mia"), class)
	noa := h.member("Noa")
	entry := h.mustWait(noa, class)
	h.mustWait(h.member("Leo"), class)
	zoe := h.member("Zoe")
	_, err := h.book(zoe, class)
	wantReason(t, err, fault.SessionFull)
	if up, err := h.cancel(noa, tenant.BookingID(entry)); err != nil || up.Entry == nil || up.Entry.Status != "CANCELLED" {
		t.Fatalf("%+v, %v", up, err)
	}
	place, err := h.book(zoe, class)
	if err != nil || place.Entry == nil || place.Entry.Position != 2 {
		t.Fatalf("%+v, %v", place, err)
	}
	h.wantSound()
}

func TestTwoWhoJoinAtTheSameMomentGetDifferentPositions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const people = 12
	class := h.session(slot{Capacity: 1, Waitlist: people})
	h.mustBook(h.member("Mia"), class)
	callers := make([]tenant.Caller, people)
	for i := range callers {
		callers[i] = h.member("Noa")
	}
	positions := make([]int, people)
	together(people, func(i int) {
		place, err := h.book(callers[i], class)
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
	h.wantSound()
}

func TestNoShowFreesTheSeatAndCanBeUndone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia, noa := h.member("Mia"), h.member("Noa")
	class := h.session(slot{Capacity: 1})
	id := h.mustBook(mia, class)

	_, err := h.app.MarkNoShow(ctx, h.Coach, id)
	wantReason(t, err, fault.SessionNotOpen)

	h.clock.Set(noon.Add(48*time.Hour + time.Minute))
	for range 2 { // marking twice changes nothing
		if b, err := h.app.MarkNoShow(ctx, h.Coach, id); err != nil || b.Status != booking.NoShow {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	h.wantSound()
	for range 2 {
		if b, err := h.app.UndoNoShow(ctx, h.Coach, id); err != nil || b.Status != booking.Confirmed {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	h.wantSound()
	if _, err := h.app.MarkNoShow(ctx, h.Coach, id); err != nil {
		t.Fatal(err)
	}
	h.clock.Set(noon)
	h.mustBook(noa, class)
	_, err = h.app.UndoNoShow(ctx, h.Coach, id)
	wantReason(t, err, fault.SessionFull)
	_, err = h.app.MarkNoShow(ctx, h.another().Coach, id)
	wantReason(t, err, fault.BookingNotFound)
	h.wantSound()
}

func TestRefundCredit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia := h.member("Mia")
	s := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	id := h.mustBook(mia, h.session(slot{}))
	refunded := make([]bool, 8)
	together(len(refunded), func(i int) {
		_, _, err := h.app.RefundCredit(ctx, h.Owner, id, "goodwill")
		refunded[i] = err == nil
		if err != nil {
			wantReason(t, err, fault.NothingToRefund)
		}
	})
	n := 0
	for _, r := range refunded {
		if r {
			n++
		}
	}
	if n != 1 || h.balance(s) != 3 {
		t.Errorf("refunded %d times, balance %d", n, h.balance(s))
	}
	// Cancelling later gives nothing back twice.
	if up, err := h.cancel(mia, id); err != nil || up.Refunded {
		t.Errorf("%+v, %v", up, err)
	}
	if h.balance(s) != 3 {
		t.Errorf("balance %d after cancelling", h.balance(s))
	}
	_, _, err := h.app.RefundCredit(ctx, h.another().Owner, id, "")
	wantReason(t, err, fault.BookingNotFound)
	h.wantSound()
}
