package bookings_test

import (
	"context"
	"testing"
	"time"

	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// Whoever is to be told is told because of an event. Each act has its own, with what a message needs to say and
// nobody can look up later.
func TestEvents_OfEveryNotifiedChange(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9, AllowOverlap: true})
	mia, noa, leo := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Leo")
	for _, who := range []tenant.Caller{mia, noa, leo} {
		h.Subscribe(who, pack)
	}
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	first := h.MustBook(mia, class)
	entry := h.MustWaitlist(noa, class)
	h.MustWaitlist(leo, class)
	want := func(what string, n int, where string, args ...any) {
		t.Helper()
		args = append([]any{h.Tenant, class}, args...)
		if got := h.Count(
			`select count(*) from events where tenant_id = $1 and session_id = $2 and `+where, args...,
		); got != n {
			t.Errorf("%s: %d events, want %d", what, got, n)
		}
	}
	want(
		"booked", 1, `type = 'booking.confirmed' and booking_id = $3 and member_id = $4 and actor = $5`, first, mia.Member,
		mia.Member.String(),
	)
	want(
		"waitlisted", 1,
		`type = 'waitlist.joined' and member_id = $3 and data->>'entry_id' = $4 and (data->>'position')::int = 1`, noa.Member,
		entry.String(),
	)
	want("waitlisted is not booked", 0, `type = 'booking.confirmed' and member_id = $3`, noa.Member)

	if _, err := h.Cancel(mia, first); err != nil {
		t.Fatal(err)
	}
	want(
		"cancelled by herself", 1,
		`type = 'booking.cancelled' and booking_id = $3 and data->>'credit_refunded' = 'true' and data->>'late' = 'false'
			and data->>'notify' = 'true'`,
		first,
	)
	want(
		"the promoted one is in", 1, `type = 'waitlist.promoted' and member_id = $3 and booking_id is not null`, noa.Member,
	)

	bookings, _, err := h.App.Bookings.ListMyBookings(ctx, testkit.SelfOnly(noa), appbookings.MyBookingsQuery{Limit: 1})
	if err != nil || len(bookings) != 1 {
		t.Fatalf("%+v, %v", bookings, err)
	}
	h.Clock.Set(testkit.Noon.Add(40 * time.Hour)) // past the window, and past the grace
	if _, err := h.App.Bookings.CancelBooking(
		ctx, h.Owner, appbookings.CancelRequest{ID: bookings[0].ID, Reason: "Coach is ill.", Notify: false},
	); err != nil {
		t.Fatal(err)
	}
	want("cancelled by an admin, late, without telling", 1,
		`type = 'booking.cancelled' and member_id = $3 and data->>'credit_refunded' = 'false' and data->>'late' = 'true'
			and data->>'notify' = 'false' and actor = $4`,
		noa.Member, h.Owner.Member.String())
	want("and the next is in", 1, `type = 'waitlist.promoted' and member_id = $3`, leo.Member)

	if _, err := h.App.Schedules.CancelSession(ctx, h.Owner, class, "Closed for repairs.", true); err != nil {
		t.Fatal(err)
	}
	want("the session is called off", 1, `type = 'session.cancelled'`)
	want(
		"and each of its bookings, with its credit", 1,
		`type = 'booking.cancelled' and member_id = $3 and data->>'credit_refunded' = 'true'
			and data->>'reason' = 'Closed for repairs.'`,
		leo.Member,
	)
	h.WantSound()
}
