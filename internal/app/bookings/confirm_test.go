package bookings_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/testkit"
)

func TestConfirmBooking_RejectsExpiredHold(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	held := h.MustHold(mia, h.AddSession(testkit.Session{}))
	h.Clock.Set(*held.HoldUntil)
	_, err := h.Confirm(mia, held.ID)
	testkit.WantReason(t, err, fault.HoldExpired)
	_, err = h.Confirm(h.AddMember("Noa"), held.ID)
	testkit.WantReason(t, err, fault.BookingNotFound)
	_, err = h.App.Bookings.ConfirmBooking(
		context.Background(), h.OtherTenant().Owner, bookings.ConfirmRequest{ID: held.ID},
	)
	testkit.WantReason(t, err, fault.BookingNotFound)
}

func TestConfirmBooking_WithPayment(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	h.TakePayments()
	mia := h.AddMember("Mia")
	held := h.MustHold(mia, h.AddSession(testkit.Session{}))
	_, err := h.Confirm(mia, held.ID)
	testkit.WantReason(t, err, fault.NoActivePlan)

	place, err := h.App.Bookings.ConfirmBooking(
		ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: held.ID, Paid: testkit.FiftyEuros},
	)
	if err != nil || place.Booking.Payment.Status != booking.Captured || place.Booking.Payment.PaidAt == nil {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	// Confirming again updates the payment, and nothing else.
	more := *testkit.FiftyEuros
	more.Amount.Units, more.Method = 60, "voucher"
	place, err = h.App.Bookings.ConfirmBooking(
		ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: held.ID, Paid: &more},
	)
	if err != nil || !place.Repeated || place.Booking.Payment.Amount.Units != 60 {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if b, err := h.App.Bookings.GetBooking(ctx, testkit.SelfOnly(mia), held.ID); err != nil ||
		b.Payment.Amount.Units != 60 || b.Payment.Method != "voucher" || !b.Payment.PaidAt.Equal(testkit.Noon) {
		t.Errorf("%+v, %v", b.Payment, err)
	}
	// In time, what was paid is given back.
	up, err := h.Cancel(mia, held.ID)
	if err != nil || up.Booking.Payment.Status != booking.Refunded {
		t.Errorf("%+v, %v", up.Booking, err)
	}
	_, err = h.Confirm(mia, held.ID)
	testkit.WantReason(t, err, fault.BookingState)
	h.WantSound()
}

func TestConfirmBooking_WithBenefitMembership(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	if _, err := h.App.Catalog.PutBenefitProvider(
		ctx, h.Owner,
		booking.BenefitProvider{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}, nil,
	); err != nil {
		t.Fatal(err)
	}
	mia := h.AddMember("Mia")
	held := h.MustHold(mia, h.AddSession(testkit.Session{}))
	for _, wrong := range [][2]string{{"LINKS", "M-1"}, {"LINKS", "xM-001"}, {"OTHER", "M-001"}} {
		_, err := h.App.Bookings.ConfirmBooking(
			ctx, testkit.SelfOnly(mia),
			bookings.ConfirmRequest{ID: held.ID, Paid: testkit.FiftyEuros, ProviderCode: wrong[0], Number: wrong[1]},
		)
		testkit.WantReason(t, err, fault.BenefitInvalid)
	}
	place, err := h.App.Bookings.ConfirmBooking(
		ctx, testkit.SelfOnly(mia),
		bookings.ConfirmRequest{ID: held.ID, Paid: testkit.FiftyEuros, ProviderCode: "LINKS", Number: "M-001"},
	)
	if err != nil || place.Booking.Benefit != (booking.Benefit{Code: "LINKS", Number: "M-001", Percent: 20}) {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if n := h.Count(
		`select count(*) from audit_entries where action = 'booking.benefit_applied' and target_id = $1`, held.ID.String(),
	); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	_, err = h.App.Catalog.PutBenefitProvider(
		ctx, h.Owner, booking.BenefitProvider{Code: "X", Name: "X", Pattern: `(`, Active: true}, nil,
	)
	testkit.WantReason(t, err, fault.InvalidField)
}
