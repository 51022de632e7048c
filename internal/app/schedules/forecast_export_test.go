package schedules

import (
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// SlotOf makes the slot of a session, as a page does.
func SlotOf(snapshot *booking.Snapshot, of tenant.TenantID, s session.Session) booking.Slot {
	b := slotBuilder{tenant: of, snapshot: snapshot}
	return b.build(&s)
}
