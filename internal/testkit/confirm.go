package testkit

import (
	"context"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Confirm confirms a hold.
func (h *House) Confirm(who tenant.Caller, id tenant.BookingID) (seats.Place, error) {
	return h.App.Bookings.ConfirmBooking(context.Background(), Own(who), bookings.ConfirmRequest{ID: id})
}

// Fifty is a payment of fifty.
var Fifty = &booking.Payment{Status: booking.Captured, Amount: credit.Money{Currency: "EUR", Units: 50}, Method: "card"}
