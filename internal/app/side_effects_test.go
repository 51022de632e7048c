package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Whoever is to be told is told because of an event. Each act has its own, with what a message needs to say and
// nobody can look up later.
func TestEveryActThatSomebodyIsToldOfHasItsEvent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 9, AllowOverlap: true})
	mia, noa, leo := h.member("Mia"), h.member("Noa"), h.member("Leo")
	for _, who := range []tenant.Caller{mia, noa, leo} {
		h.subscribe(who, pack)
	}
	class := h.session(slot{Capacity: 1, Waitlist: 2})
	first := h.mustBook(mia, class)
	entry := h.mustWait(noa, class)
	h.mustWait(leo, class)
	want := func(what string, n int, where string, args ...any) {
		t.Helper()
		args = append([]any{h.Tenant, class}, args...)
		if got := h.count(`select count(*) from events where tenant_id = $1 and session_id = $2 and `+where, args...); got != n {
			t.Errorf("%s: %d events, want %d", what, got, n)
		}
	}
	want("booked", 1, `type = 'booking.confirmed' and booking_id = $3 and member_id = $4 and actor = $5`, first, mia.Member, mia.Member.String())
	want("waitlisted", 1, `type = 'waitlist.joined' and member_id = $3 and data->>'entry_id' = $4 and (data->>'position')::int = 1`, noa.Member, entry.String())
	want("waitlisted is not booked", 0, `type = 'booking.confirmed' and member_id = $3`, noa.Member)

	if _, err := h.cancel(mia, first); err != nil {
		t.Fatal(err)
	}
	want("cancelled by herself", 1, `type = 'booking.cancelled' and booking_id = $3 and data->>'credit_refunded' = 'true' and data->>'late' = 'false' and data->>'notify' = 'true'`, first)
	want("the promoted one is in", 1, `type = 'waitlist.promoted' and member_id = $3 and booking_id is not null`, noa.Member)

	bookings, _, err := h.app.ListMyBookings(ctx, own(noa), app.MyBookings{Limit: 1})
	if err != nil || len(bookings) != 1 {
		t.Fatalf("%+v, %v", bookings, err)
	}
	h.clock.Set(noon.Add(40 * time.Hour)) // past the window, and past the grace
	if _, err := h.app.CancelBooking(ctx, h.Owner, app.CancelRequest{ID: bookings[0].ID, Reason: "Coach is ill.", Notify: false}); err != nil {
		t.Fatal(err)
	}
	want("cancelled by an admin, late, without telling", 1,
		`type = 'booking.cancelled' and member_id = $3 and data->>'credit_refunded' = 'false' and data->>'late' = 'true' and data->>'notify' = 'false' and actor = $4`,
		noa.Member, h.Owner.Member.String())
	want("and the next is in", 1, `type = 'waitlist.promoted' and member_id = $3`, leo.Member)

	if _, err := h.app.CancelSession(ctx, h.Owner, class, "Closed for repairs.", true); err != nil {
		t.Fatal(err)
	}
	want("the session is called off", 1, `type = 'session.cancelled'`)
	want("and each of its bookings, with its credit", 1, `type = 'booking.cancelled' and member_id = $3 and data->>'credit_refunded' = 'true' and data->>'reason' = 'Closed for repairs.'`, leo.Member)
	h.wantSound()
}
