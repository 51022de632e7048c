package app

import (
	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/session"
	"github.com/berthhq/berth/internal/tenant"
)

// SlotOf is how a page sees a session.
func SlotOf(house *booking.House, of tenant.TenantID, s session.Session) booking.Slot {
	f := furnisher{of: of, house: house}
	return f.slot(&s)
}
