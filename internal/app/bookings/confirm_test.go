package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestConfirmBooking_RejectsExpiredHold(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	held := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
	studio.Clock.Set(*held.HoldUntil)
	expect.Reason(t, fault.HoldExpired)(studio.Confirm(mia, held.ID))
	expect.Reason(t, fault.BookingNotFound)(studio.Confirm(studio.AddMember("Noa"), held.ID))
	expect.Reason(t, fault.BookingNotFound)(studio.App.Bookings.ConfirmBooking(
		context.Background(), studio.OtherTenant().Owner, bookings.ConfirmRequest{ID: held.ID},
	))
}

func TestRecordPayment_ConfirmsHoldAndWorksAfterCheckIn(t *testing.T) {
	t.Parallel()
	studio, ctx := testkit.New(t), context.Background()
	studio.TakePayments()
	held := studio.MustHold(
		studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(10 * time.Minute)}),
	)
	for _, tt := range []struct {
		units  int64
		status booking.Status
	}{{50, booking.Confirmed}, {110, booking.Attended}} {
		paid := *testkit.FiftyEuros
		paid.Amount.Units = min(tt.units, 60)
		result := expect.Value(studio.App.Bookings.RecordPayment(ctx, studio.Owner, held.ID, paid, false))(t)
		test.False(t, result.Repeated, test.Sprintf("%+v", result.Booking))
		test.EqOp(t, tt.status, result.Booking.Status)
		test.EqOp(t, payment.Captured, result.Booking.Payment.Status)
		test.EqOp(t, tt.units, result.Booking.Payment.Amount.Units)
		expect.OK(t)(studio.CheckIn(studio.Owner, held.ID))
	}
}

// What was paid for one's own booking is recorded by others, or by owners, and so is what was paid back.
func TestRecordPayment_OfOnesOwnBookingIsForOthers(t *testing.T) {
	t.Parallel()
	studio, ctx := testkit.New(t), t.Context()
	class, app := studio.AddSession(testkit.Session{Capacity: 9}), studio.App.Bookings
	admin := studio.AddPerson("Ada", tenant.RoleAdmin)
	partner := studio.AddPartner("Gateway")
	for _, c := range []struct {
		by, of tenant.Caller
		want   fault.Reason
	}{
		{studio.Coach, studio.Coach, fault.PermissionDeniedReason}, {admin, admin, fault.PermissionDeniedReason},
		{admin, studio.AddMember("Mia"), ""}, {studio.Owner, studio.Owner, ""},
	} {
		held := studio.MustHold(c.of, class)
		try := func(errs ...error) {
			for _, err := range errs {
				test.EqOp(t, c.want, fault.ReasonOf(err), test.Sprintf("%v", err))
			}
		}
		writeOff := payment.Facts{Kind: payment.WriteOff, Amount: testkit.FiftyEuros.Amount}
		back := payment.Facts{Amount: testkit.FiftyEuros.Amount}
		try(
			expect.Error(app.ConfirmBooking(ctx, c.by, bookings.ConfirmRequest{ID: held.ID, Paid: testkit.FiftyEuros})),
			expect.Error(app.RecordPayment(ctx, c.by, held.ID, *testkit.FiftyEuros, false)),
		)
		expect.OK(t)(app.RecordPayment(ctx, studio.Owner, held.ID, *testkit.FiftyEuros, false))
		// Also if the facts are known, and nothing would be written.
		try(expect.Error(app.RecordPayment(ctx, c.by, held.ID, *testkit.FiftyEuros, false)))
		try(expect.Error(app.RefundPayment(ctx, c.by, held.ID, back)))
		if c.want != "" {
			try(expect.Error(app.RecordPayment(ctx, c.by, held.ID, writeOff, false)))
			test.SliceLen(t, 1, expect.Value(app.ListPaymentLines(ctx, c.by, held.ID))(t))
		}
	}
	// A guest's booking is nobody's own, and a program has none.
	guest := studio.MustHold(partner, class, testkit.ForGuest("Pat", ""))
	expect.OK(t)(app.RecordPayment(ctx, partner, guest.ID, *testkit.FiftyEuros, false))
	guest = studio.MustHold(studio.Coach, class, testkit.ForGuest("Kim", ""))
	expect.OK(t)(app.RecordPayment(ctx, studio.Coach, guest.ID, *testkit.FiftyEuros, false))
}

// Four friends who pay the same in cash are four lines. What a receipt names is recorded once.
func TestRecordPayment_OfFriendsWhoPayTheSame(t *testing.T) {
	t.Parallel()
	studio, ctx := testkit.New(t), t.Context()
	held := studio.MustHold(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 9}))
	cash := payment.Facts{Kind: payment.Capture, Amount: credit.Money{Currency: "EUR", Units: 20}, Method: "cash"}
	for n := range int64(4) {
		paid := expect.Value(studio.App.Bookings.RecordPayment(ctx, studio.Coach, held.ID, cash, false))(t)
		test.False(t, paid.Repeated)
		test.EqOp(t, 20*(n+1), paid.Booking.Payment.Amount.Units)
	}
	cash.Reference = "receipt 5"
	for _, repeated := range []bool{false, true} {
		paid := expect.Value(studio.App.Bookings.RecordPayment(ctx, studio.Coach, held.ID, cash, false))(t)
		test.EqOp(t, repeated, paid.Repeated)
		test.EqOp(t, 100, paid.Booking.Payment.Amount.Units)
	}
}

func TestRecordPayment_WhereNothingIsDue(t *testing.T) {
	t.Parallel()
	studio, ctx := testkit.New(t), t.Context()
	mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 9})
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9}))
	byPlan := studio.MustBook(mia, class)
	waived := studio.MustHold(studio.AddMember("Noa"), class).ID
	writeOff := payment.Facts{Kind: payment.WriteOff, Amount: testkit.FiftyEuros.Amount}
	expect.OK(t)(studio.App.Bookings.RecordPayment(ctx, studio.Owner, waived, writeOff, false))
	for id, by := range map[tenant.BookingID]string{byPlan: "plan", waived: "write_off"} {
		expect.Fault(t, "NOTHING_DUE paid_by="+by)(
			studio.App.Bookings.RecordPayment(ctx, studio.Owner, id, *testkit.FiftyEuros, false))
		tip := expect.Value(studio.App.Bookings.RecordPayment(ctx, studio.Owner, id, *testkit.FiftyEuros, true))(t)
		test.EqOp(t, payment.Captured, tip.Booking.Payment.Status, test.Sprint(by))
	}
}

// Money can come too late: the booking stays as it is, and nobody keeps the money.
func TestRecordPayment_OfWhatHasEndedIsToBeRefunded(t *testing.T) {
	t.Parallel()
	studio, ctx := testkit.New(t), t.Context()
	class := studio.AddSession(testkit.Session{Capacity: 9, Starts: testkit.InTwoDays})
	due, swept := studio.MustHold(studio.AddMember("Mia"), class).ID, studio.MustHold(studio.AddMember("Noa"), class).ID
	cancelled := studio.MustHold(studio.AddMember("Leo"), class).ID
	expect.OK(t)(studio.App.Bookings.ReleaseHold(ctx, studio.Owner, cancelled))
	studio.Clock.Advance(2 * time.Hour)
	for _, id := range []tenant.BookingID{due, swept, cancelled} {
		if id == swept {
			must.NoError(t, expect.Error(studio.App.Housekeeping.SweepTenant(ctx, studio.Tenant)))
		}
		paid := expect.Value(studio.App.Bookings.RecordPayment(ctx, studio.Owner, id, *testkit.FiftyEuros, false))(t)
		test.NotEq(t, booking.Confirmed, paid.Booking.Status)
		test.EqOp(t, 50, paid.Booking.Payment.ToRefund.Units)
		back := payment.Facts{Amount: testkit.FiftyEuros.Amount}
		refunded := expect.Value(studio.App.Bookings.RefundPayment(ctx, studio.Owner, id, back))(t)
		test.EqOp(t, 0, refunded.Booking.Payment.ToRefund.Units)
		test.EqOp(t, payment.Refunded, refunded.Booking.Payment.Status)
	}
	test.SliceEmpty(t, expect.Value(studio.App.Housekeeping.Verify(ctx, studio.Tenant))(t))
}

func TestConfirmBooking_WithPayment(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.TakePayments()
	mia := studio.AddMember("Mia")
	held := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
	expect.Reason(t, fault.NoActivePlan)(studio.Confirm(mia, held.ID))
	expect.Fault(t, "INVALID_FIELD @payment.amount.currency_code")(studio.App.Bookings.ConfirmBooking(
		t.Context(), studio.Owner, bookings.ConfirmRequest{ID: held.ID, Paid: new(payment.Facts)},
	))

	result := expect.Value(studio.App.Bookings.ConfirmBooking(
		t.Context(), studio.Owner, bookings.ConfirmRequest{ID: held.ID, Paid: testkit.FiftyEuros},
	))(t)
	must.EqOp(t, payment.Captured, result.Booking.Payment.Status)
	must.NotNil(t, result.Booking.Payment.PaidAt)
	// The same facts add no line when the confirmation is repeated. Others do.
	again := expect.Value(studio.App.Bookings.ConfirmBooking(
		t.Context(), studio.Owner, bookings.ConfirmRequest{ID: held.ID, Paid: testkit.FiftyEuros},
	))(t)
	test.True(t, again.Repeated, test.Sprintf("%+v", again))
	more := *testkit.FiftyEuros
	more.Amount.Units, more.Method, more.Reference = 10, "voucher", "V1"
	result = expect.Value(studio.App.Bookings.RecordPayment(t.Context(), studio.Owner, held.ID, more, false))(t)
	must.False(t, result.Repeated, must.Sprintf("%+v", result.Booking))
	must.EqOp(t, 60, result.Booking.Payment.Amount.Units)
	must.EqOp(t, "voucher", result.Booking.Payment.Method)
	// Cancelling refunds nothing. Refunding is possible after it.
	test.EqOp(t, payment.Captured, expect.Value(studio.Cancel(mia, held.ID))(t).Booking.Payment.Status)
	back := payment.Facts{Amount: credit.Money{Currency: "EUR", Units: 61}}
	expect.Reason(t, fault.RefundExceedsCaptured)(studio.App.Bookings.RefundPayment(
		t.Context(), studio.Owner, held.ID, back,
	))
	back.Amount.Units = 60
	expect.Reason(t, fault.BookingNotFound)(
		studio.App.Bookings.RefundPayment(t.Context(), studio.OtherTenant().Owner, held.ID, back),
	)
	result = expect.Value(studio.App.Bookings.RefundPayment(t.Context(), studio.Owner, held.ID, back))(t)
	test.EqOp(t, payment.Refunded, result.Booking.Payment.Status)
	test.EqOp(t, booking.Cancelled, result.Booking.Status)
	lines := expect.Value(studio.App.Bookings.ListPaymentLines(t.Context(), testkit.SelfOnly(mia), held.ID))(t)
	test.SliceLen(t, 3, lines)
	test.EqOp(t, payment.Refunded, payment.Of(lines, nil).Status)
	expect.Reason(t, fault.BookingNotFound)(
		studio.App.Bookings.ListPaymentLines(t.Context(), testkit.SelfOnly(studio.AddMember("Noa")), held.ID),
	)
	expect.Reason(t, fault.BookingState)(studio.Confirm(mia, held.ID))
}
