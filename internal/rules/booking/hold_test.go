package booking_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// hold returns a hold for two that a member made, and that expires in ten minutes.
func hold() booking.Booking {
	s := openSlot()
	return booking.Booking{
		ID: id[tenant.BookingID](), Session: s.ID, Member: id[tenant.MemberID](), Party: 2, Status: booking.Pending,
		StartsAt: s.StartsAt, EndsAt: s.EndsAt, Rules: s.Rules, HoldUntil: new(now.Add(10 * time.Minute)),
	}
}

func TestConfirm_ChargesThePlanOfAMember(t *testing.T) {
	t.Parallel()
	b := hold()
	pack := credit.Subscription{
		ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 5,
		Plan: credit.Plan{Kind: credit.Credits, DailyLimit: new(3)},
	}
	f := booking.Facts{Slot: openSlot(), Subscriptions: []credit.Subscription{pack}}
	benefit := booking.Benefit{Code: "GYM", Number: "7", Percent: 10}
	c := booking.ConfirmRequest{Request: booking.Request{ID: b.ID, Actor: "mia"}, Benefit: benefit}
	got := expect.Value(booking.Confirm(b, f, c, now))(t)
	want := b
	want.Status, want.HoldUntil, want.ConfirmedAt, want.Benefit = booking.Confirmed, nil, &now, benefit
	want.Credits, want.Counted, want.Exclusive, want.Subscription = 2, true, true, pack.ID
	diff := cmp.Diff(want, got.Booking)
	test.True(
		t, diff == "" && !got.Repeated && got.Payer.Balance == 3 && len(got.Ledger) == 1,
		test.Sprintf("%+v (-want +got):\n%s", got, diff),
	)
	f.Subscriptions[0].Balance = 1
	_, err := booking.Confirm(b, f, c, now)
	test.EqOp(t, fault.NoCredits, fault.ReasonOf(err), test.Sprintf("with one credit: %v", err))
}

// A payment outside of Berth, and a guest who pays later, need no plan.
func TestConfirm_TakesNoCreditsForPaymentsAndGuests(t *testing.T) {
	t.Parallel()
	f := booking.Facts{Slot: openSlot()}
	f.Slot.TakesPayments = true // a member would need a plan
	guest := hold()
	guest.Member = tenant.MemberID{}
	for name, tt := range map[string]struct {
		hold   booking.Booking
		paid   bool
		reason fault.Reason
	}{
		"a member without a plan": {hold(), false, fault.NoActivePlan},
		"a member who paid":       {hold(), true, ""},
		"a guest":                 {guest, false, ""},
		"a guest who paid":        {guest, true, ""},
	} {
		got, err := booking.Confirm(tt.hold, f, booking.ConfirmRequest{Paid: tt.paid}, now)
		test.EqOp(t, tt.reason, fault.ReasonOf(err), test.Sprintf("%s: %v", name, err))
		b := got.Booking
		test.False(
			t, err == nil && (b.Status != booking.Confirmed || b.Credits != 0 || !b.Subscription.IsZero()),
			test.Sprintf("%s: %+v", name, b),
		)
	}
}

func TestConfirm_AgainChangesNothing(t *testing.T) {
	t.Parallel()
	b := hold()
	b.Status, b.HoldUntil = booking.Confirmed, nil
	for _, paid := range []bool{false, true} {
		got, err := booking.Confirm(b, booking.Facts{}, booking.ConfirmRequest{Paid: paid}, now)
		must.NoError(t, err)
		test.True(t, got.Repeated)
		test.Eq(t, b, got.Booking)
	}
}

func TestHold_EndsAtItsTimeAndIsReleasedBefore(t *testing.T) {
	t.Parallel()
	until := *hold().HoldUntil
	for name, tt := range map[string]struct {
		change             func(*booking.Booking)
		at                 time.Time
		confirm, release   fault.Reason
		status             booking.Status // after the release
		unchanged, expired bool
	}{
		"a hold":          {func(*booking.Booking) {}, until.Add(-1), "", "", booking.Cancelled, false, false},
		"one that is due": {func(*booking.Booking) {}, until, fault.HoldExpired, "", booking.Expired, false, true},
		"one without an end": {
			func(b *booking.Booking) { b.HoldUntil = nil }, until, "", "", booking.Cancelled, false, false,
		},
		"one that has ended": {
			func(b *booking.Booking) { b.Status = booking.Expired }, now, fault.HoldExpired, "", booking.Expired, true, false,
		},
		"one that was released": {
			func(b *booking.Booking) { b.Status = booking.Cancelled }, now, fault.BookingState, "",
			booking.Cancelled, true, false,
		},
		"a booking": {
			func(b *booking.Booking) { b.Status = booking.Confirmed }, until, "", fault.BookingState,
			booking.Confirmed, true, false,
		},
		"an attended one": {
			func(b *booking.Booking) { b.Status = booking.Attended }, until, fault.BookingState, fault.BookingState,
			booking.Attended, true, false,
		},
	} {
		b := hold()
		tt.change(&b)
		test.EqOp(t, tt.expired, b.HoldExpired(tt.at), test.Sprintf("%s: expired", name))
		_, err := booking.Confirm(b, booking.Facts{Slot: openSlot()}, booking.ConfirmRequest{}, tt.at)
		test.EqOp(t, tt.confirm, fault.ReasonOf(err), test.Sprintf("%s: to confirm it: %v", name, err))
		got, changed, err := booking.Release(b, tt.at)
		test.True(
			t, fault.ReasonOf(err) == tt.release && got.Status == tt.status && changed != tt.unchanged,
			test.Sprintf("%s: to release it: %s, changed %v, %v", name, got.Status, changed, err),
		)
		test.False(
			t, changed && (got.CancelledAt == nil || !got.CancelledAt.Equal(tt.at)),
			test.Sprintf("%s: cancelled at %v", name, got.CancelledAt),
		)
	}
}

func TestHoldUntil_IsNeverAfterTheStart(t *testing.T) {
	t.Parallel()
	s := openSlot()
	s.Rules.HoldTTL = 10 * time.Minute
	for at, want := range map[time.Time]time.Time{
		now:                               now.Add(10 * time.Minute),
		s.StartsAt.Add(-10 * time.Minute): s.StartsAt,
		s.StartsAt.Add(-9 * time.Minute):  s.StartsAt,
	} {
		got := s.HoldUntil(at)
		test.True(t, got.Equal(want), test.Sprintf("made at %s: until %s, want %s", at, got, want))
	}
}
