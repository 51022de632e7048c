package testkit

import (
	"context"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/tenant"
)

// Move reschedules a booking.
func (h *House) Move(by tenant.Caller, id tenant.BookingID, to tenant.SessionID) (bookings.RescheduleResult, error) {
	return h.App.Bookings.RescheduleBooking(context.Background(), by, bookings.RescheduleRequest{ID: id, To: to, MoveItems: true, Notify: true})
}
