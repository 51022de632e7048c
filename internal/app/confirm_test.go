package app_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func (h *house) confirm(who tenant.Caller, id tenant.BookingID) (seats.Place, error) {
	return h.app.ConfirmBooking(context.Background(), own(who), app.ConfirmRequest{ID: id})
}

var fifty = &booking.Payment{Status: booking.Captured, Amount: credit.Money{Currency: "EUR", Units: 50}, Method: "card"}

func TestConfirmingTooLate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	held := h.mustHold(mia, h.session(slot{}))
	h.clock.Set(*held.HoldUntil)
	_, err := h.confirm(mia, held.ID)
	wantReason(t, err, fault.HoldExpired)
	_, err = h.confirm(h.member("Noa"), held.ID)
	wantReason(t, err, fault.BookingNotFound)
	_, err = h.app.ConfirmBooking(context.Background(), h.another().Owner, app.ConfirmRequest{ID: held.ID})
	wantReason(t, err, fault.BookingNotFound)
}

func TestConfirmWithMoney(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	h.exec(`update tenants set takes_payments = true where tenant_id = $1`, h.Tenant)
	mia := h.member("Mia")
	held := h.mustHold(mia, h.session(slot{}))
	_, err := h.confirm(mia, held.ID)
	wantReason(t, err, fault.NoActivePlan)

	place, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: fifty})
	if err != nil || place.Booking.Payment.Status != booking.Captured || place.Booking.Payment.PaidAt == nil {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	// Confirming again updates the payment, and nothing else.
	more := *fifty
	more.Amount.Units, more.Method = 60, "voucher"
	place, err = h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: &more})
	if err != nil || !place.Repeated || place.Booking.Payment.Amount.Units != 60 {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if b, err := h.app.GetBooking(ctx, own(mia), held.ID); err != nil || b.Payment.Amount.Units != 60 || b.Payment.Method != "voucher" || !b.Payment.PaidAt.Equal(noon) {
		t.Errorf("%+v, %v", b.Payment, err)
	}
	// In time, what was paid is given back.
	up, err := h.cancel(mia, held.ID)
	if err != nil || up.Booking.Payment.Status != booking.Refunded {
		t.Errorf("%+v, %v", up.Booking, err)
	}
	_, err = h.confirm(mia, held.ID)
	wantReason(t, err, fault.BookingState)
	h.wantSound()
}

func TestBenefitMembership(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	if _, err := h.app.PutBenefitProvider(ctx, h.Owner, booking.Provider{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}, nil); err != nil {
		t.Fatal(err)
	}
	mia := h.member("Mia")
	held := h.mustHold(mia, h.session(slot{}))
	for _, wrong := range [][2]string{{"LINKS", "M-1"}, {"LINKS", "xM-001"}, {"OTHER", "M-001"}} {
		_, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: fifty, ProviderCode: wrong[0], Number: wrong[1]})
		wantReason(t, err, fault.BenefitInvalid)
	}
	place, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: fifty, ProviderCode: "LINKS", Number: "M-001"})
	if err != nil || place.Booking.Benefit != (booking.Benefit{Code: "LINKS", Number: "M-001", Percent: 20}) {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if n := h.count(`select count(*) from audit_entries where action = 'booking.benefit_applied' and target_id = $1`, held.ID.String()); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	_, err = h.app.PutBenefitProvider(ctx, h.Owner, booking.Provider{Code: "X", Name: "X", Pattern: `(`, Active: true}, nil)
	wantReason(t, err, fault.InvalidField)
}
