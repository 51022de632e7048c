package booking_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// hold returns a hold for two that a member made, and that expires in ten minutes.
func hold() booking.Booking {
	s := openSlot()
	return booking.Booking{
		ID: id[tenant.BookingID](), Session: s.ID, Member: id[tenant.MemberID](), Party: 2, Status: booking.Pending,
		StartsAt: s.StartsAt, EndsAt: s.EndsAt, Policy: s.Policy, HoldUntil: new(now.Add(10 * time.Minute)),
	}
}

func TestConfirm_ChargesThePlanOfAMember(t *testing.T) {
	t.Parallel()
	b, paying := hold(), pack(set{"Plan.DailyLimit": 3})
	benefit := booking.Benefit{Code: "GYM", Number: "7", Percent: 10}
	c := booking.ConfirmRequest{Request: booking.Request{ID: b.ID, Actor: "mia"}, Benefit: benefit}
	want := booking.ConfirmResult{Booking: vary.From(b, set{
		"Status": booking.Confirmed, "HoldUntil": nil, "ConfirmedAt": now, "Benefit": benefit, "Credits": 2, "Counted": true,
		"Exclusive": true, "Subscription": paying.ID,
	})}
	want.BookResult = charged(attempt{Request: booking.Request{ID: b.ID, Party: 2, Actor: "mia"}}, paying, true, true)
	f := booking.Facts{Slot: openSlot(), Subscriptions: []credit.Subscription{paying}}
	test.Eq(t, want, expect.Value(booking.Confirm(b, f, c, now))(t))
	f.Subscriptions[0].Balance = 1
	expect.Reason(t, fault.NoCredits)(booking.Confirm(b, f, c, now))
}

// A payment outside of Berth, and a guest who pays later, need no plan. To confirm again changes nothing.
func TestConfirm_TakesNoCreditsForPaymentsAndGuests(t *testing.T) {
	t.Parallel()
	again := vary.From(hold(), set{"Status": booking.Confirmed, "HoldUntil": nil})
	for name, tt := range map[string]struct {
		hold booking.Booking
		paid bool
		want string
	}{
		"a member without a plan": {hold(), false, "NO_ACTIVE_PLAN"},
		"a member who paid":       {hold(), true, ""},
		"a guest":                 {vary.From(hold(), set{"Member": nil}), false, ""},
		"a guest who paid":        {vary.From(hold(), set{"Member": nil}), true, ""},
		"confirmed":               {again, false, ""},
		"confirmed and paid":      {again, true, ""},
	} {
		want := booking.ConfirmResult{Booking: tt.hold, Repeated: true}
		if tt.hold.Status == booking.Pending {
			want.Booking = vary.From(tt.hold, set{"Status": booking.Confirmed, "HoldUntil": nil, "ConfirmedAt": now})
			want.Repeated = false
		}
		got, err := booking.Confirm(
			tt.hold, try(set{"Slot.TakesPayments": true}).Facts, booking.ConfirmRequest{Paid: tt.paid}, now,
		)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			test.Eq(t, want, got, test.Sprint(name))
		}
	}
}

func TestHold_EndsAtItsTimeAndIsReleasedBefore(t *testing.T) {
	t.Parallel()
	const state = "BOOKING_STATE status="
	until := *hold().HoldUntil
	for name, tt := range map[string]struct {
		differ             set
		at                 time.Time
		confirm, release   string
		status             booking.Status // after the release
		unchanged, expired bool
	}{
		"a hold":          {nil, until.Add(-1), "", "", booking.Cancelled, false, false},
		"one that is due": {nil, until, "HOLD_EXPIRED", "", booking.Expired, false, true},
		"one without an end": {
			set{"HoldUntil": nil}, until, "", "", booking.Cancelled, false, false,
		},
		"one that has ended": {
			set{"Status": booking.Expired}, now, "HOLD_EXPIRED", "", booking.Expired, true, false,
		},
		"one that was released": {
			set{"Status": booking.Cancelled}, now, state + "CANCELLED", "",
			booking.Cancelled, true, false,
		},
		"a booking": {
			set{"Status": booking.Confirmed}, until, "", state + "CONFIRMED",
			booking.Confirmed, true, false,
		},
		"an attended one": {
			set{"Status": booking.Attended}, until, state + "ATTENDED", state + "ATTENDED",
			booking.Attended, true, false,
		},
	} {
		b := vary.From(hold(), tt.differ)
		test.EqOp(t, tt.expired, b.HoldExpired(tt.at), test.Sprintf("%s: expired", name))
		expect.Fault(t, tt.confirm, name)(
			booking.Confirm(b, booking.Facts{Slot: openSlot()}, booking.ConfirmRequest{}, tt.at),
		)
		want := b
		if want.Status = tt.status; !tt.unchanged {
			want.CancelledAt = &tt.at
		}
		got, changed, err := booking.Release(b, tt.at)
		test.EqOp(t, tt.release, faulttest.Text(err), test.Sprint(name))
		test.Eq(t, want, got, test.Sprint(name))
		test.EqOp(t, tt.unchanged, !changed, test.Sprint(name))
	}
}

func TestHoldUntil_IsNeverAfterTheStart(t *testing.T) {
	t.Parallel()
	s := vary.From(openSlot(), set{"Policy.HoldTTL": 10 * time.Minute})
	for at, want := range map[time.Time]time.Time{
		now:                               now.Add(10 * time.Minute),
		s.StartsAt.Add(-10 * time.Minute): s.StartsAt,
		s.StartsAt.Add(-9 * time.Minute):  s.StartsAt,
	} {
		test.EqOp(t, want, s.HoldUntil(at), test.Sprint(at))
	}
}
