package bookings_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/testkit"
)

func TestConfirmingTooLate(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	mia := h.Member("Mia")
	held := h.MustHold(mia, h.Session(testkit.Slot{}))
	h.Clock.Set(*held.HoldUntil)
	_, err := h.Confirm(mia, held.ID)
	testkit.WantReason(t, err, fault.HoldExpired)
	_, err = h.Confirm(h.Member("Noa"), held.ID)
	testkit.WantReason(t, err, fault.BookingNotFound)
	_, err = h.App.Bookings.ConfirmBooking(context.Background(), h.Another().Owner, bookings.ConfirmRequest{ID: held.ID})
	testkit.WantReason(t, err, fault.BookingNotFound)
}

func TestConfirmWithMoney(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	ctx := context.Background()
	h.Exec(`update tenants set takes_payments = true where tenant_id = $1`, h.Tenant)
	mia := h.Member("Mia")
	held := h.MustHold(mia, h.Session(testkit.Slot{}))
	_, err := h.Confirm(mia, held.ID)
	testkit.WantReason(t, err, fault.NoActivePlan)

	place, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: held.ID, Paid: testkit.Fifty})
	if err != nil || place.Booking.Payment.Status != booking.Captured || place.Booking.Payment.PaidAt == nil {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	// Confirming again updates the payment, and nothing else.
	more := *testkit.Fifty
	more.Amount.Units, more.Method = 60, "voucher"
	place, err = h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: held.ID, Paid: &more})
	if err != nil || !place.Repeated || place.Booking.Payment.Amount.Units != 60 {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if b, err := h.App.Bookings.GetBooking(ctx, testkit.Own(mia), held.ID); err != nil || b.Payment.Amount.Units != 60 || b.Payment.Method != "voucher" || !b.Payment.PaidAt.Equal(testkit.Noon) {
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

func TestBenefitMembership(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	ctx := context.Background()
	if _, err := h.App.Catalog.PutBenefitProvider(ctx, h.Owner, booking.BenefitProvider{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}, nil); err != nil {
		t.Fatal(err)
	}
	mia := h.Member("Mia")
	held := h.MustHold(mia, h.Session(testkit.Slot{}))
	for _, wrong := range [][2]string{{"LINKS", "M-1"}, {"LINKS", "xM-001"}, {"OTHER", "M-001"}} {
		_, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: held.ID, Paid: testkit.Fifty, ProviderCode: wrong[0], Number: wrong[1]})
		testkit.WantReason(t, err, fault.BenefitInvalid)
	}
	place, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: held.ID, Paid: testkit.Fifty, ProviderCode: "LINKS", Number: "M-001"})
	if err != nil || place.Booking.Benefit != (booking.Benefit{Code: "LINKS", Number: "M-001", Percent: 20}) {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if n := h.Count(`select count(*) from audit_entries where action = 'booking.benefit_applied' and target_id = $1`, held.ID.String()); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	_, err = h.App.Catalog.PutBenefitProvider(ctx, h.Owner, booking.BenefitProvider{Code: "X", Name: "X", Pattern: `(`, Active: true}, nil)
	testkit.WantReason(t, err, fault.InvalidField)
}
