package testkit

import (
	"context"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Hold asks for one seat for a while.
func (h *House) Hold(who tenant.Caller, session tenant.SessionID, more ...func(*bookings.BookRequest)) (seats.Place, error) {
	r := bookings.BookRequest{Session: session, Party: 1, Channel: catalog.Online, Hold: true}
	for _, m := range more {
		m(&r)
	}
	return h.App.Bookings.Book(context.Background(), who, r)
}

// MustHold holds a seat.
func (h *House) MustHold(who tenant.Caller, session tenant.SessionID, more ...func(*bookings.BookRequest)) booking.Booking {
	h.T.Helper()
	place, err := h.Hold(who, session, more...)
	if err != nil {
		h.T.Fatalf("hold: %v", err)
	}
	return *place.Booking
}
