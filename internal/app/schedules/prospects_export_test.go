package schedules

import (
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// SlotOf is how a page sees a session.
func SlotOf(house *booking.Snapshot, of tenant.TenantID, s session.Session) booking.Slot {
	f := furnisher{of: of, house: house}
	return f.slot(&s)
}
