package bookings_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Every notification has an event. Each change has its own, with what a message needs and cannot be looked up later.
func TestEvents_OfEveryNotifiedChange(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9, AllowOverlap: true})
	mia, noa, leo := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Leo")
	for _, who := range []tenant.Caller{mia, noa, leo} {
		studio.Subscribe(who, pack)
	}
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	first, entry := studio.MustBook(mia, class), studio.MustWaitlist(noa, class)
	studio.MustWaitlist(leo, class)
	want := func(what string, n int, where string, args ...any) {
		t.Helper()
		args = append([]any{studio.Tenant, class}, args...)
		test.EqOp(t, n, studio.Count(
			`select count(*) from events where tenant_id = $1 and session_id = $2 and `+where, args...,
		), test.Sprintf("%s: events, want %d", what, n))
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

	expect.OK(t)(studio.Cancel(mia, first))
	want(
		"cancelled by herself", 1,
		`type = 'booking.cancelled' and booking_id = $3 and data->>'credit_refunded' = 'true' and data->>'late' = 'false'
			and data->>'notify' = 'true'`,
		first,
	)
	want(
		"the promoted one is in", 1, `type = 'waitlist.promoted' and member_id = $3 and booking_id is not null`, noa.Member,
	)

	bookings := expect.Value(studio.App.Bookings.ListBookings(
		t.Context(), testkit.SelfOnly(noa), appbookings.BookingQuery{Limit: 1},
	))(t).Bookings
	must.SliceLen(t, 1, bookings)
	// She was told, and the grace and the window are over.
	studio.Exec(`update bookings set grace_until = $2 where id = $1`, bookings[0].ID, testkit.Noon.Add(time.Hour))
	studio.Clock.Set(testkit.Noon.Add(45 * time.Hour))
	expect.OK(t)(studio.App.Bookings.CancelBooking(
		t.Context(), studio.Owner,
		appbookings.CancelRequest{ID: bookings[0].ID, Reason: "Coach is ill.", OverrideWindow: true, Notify: false},
	))
	want("cancelled by an admin, late, without telling", 1,
		`type = 'booking.cancelled' and member_id = $3 and data->>'credit_refunded' = 'false' and data->>'late' = 'true'
			and data->>'notify' = 'false' and actor = $4`,
		noa.Member, studio.Owner.Member.String())
	test.Eq(t, map[string]any{"member_id": noa.Member.String(), "refunded": false}, studio.LastAudit("booking.cancelled"))
	want("and the next is in", 1, `type = 'waitlist.promoted' and member_id = $3`, leo.Member)

	expect.OK(t)(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, class, schedules.Removal{
		Reason: "Closed for repairs.", Notify: true,
	}))
	want("the session is called off", 1, `type = 'session.cancelled'`)
	want(
		"and each of its bookings, with its credit", 1,
		`type = 'booking.cancelled' and member_id = $3 and data->>'credit_refunded' = 'true'
			and data->>'reason' = 'Closed for repairs.'`,
		leo.Member,
	)
}
