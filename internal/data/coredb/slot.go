package coredb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
)

// SlotRow is scanned from a session with the policy in force.
type SlotRow struct {
	Slot  booking.Slot
	rules PolicyRow
}

// SlotJoins joins what a slot needs to a session `s`, by primary keys.
const SlotJoins = `
  join services v on v.tenant_id = s.tenant_id and v.id = s.service_id
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
  join tenants t on t.tenant_id = s.tenant_id` + PolicyJoins

// Joined returns the columns from SlotJoins.
func (r *SlotRow) Joined() []pg.Column {
	s := &r.Slot
	return append([]pg.Column{
		pg.Read("l.name", &s.LocationName),
		pg.Read("l.time_zone", &s.TimeZone),
		pg.Read("v.min_party", &s.MinParty),
		pg.Read("v.max_party", &s.MaxParty),
		pg.Read("v.delivery", &s.Delivery),
		pg.Read("l.latitude", Latitude(&s.Point)),
		pg.Read("l.longitude", Longitude(&s.Point)),
		pg.Read("l.channels", &s.Channels),
		pg.Read("t.takes_payments", &s.TakesPayments),
	}, r.rules.Columns()...)
}

// Value returns the slot.
func (r *SlotRow) Value() booking.Slot {
	r.Slot.Policy = r.rules.Policy()
	return r.Slot
}

// CoachName is the name of the coach of a session `s` of the tenant $1, if they are active: found by the primary key,
// and only if there is one.
const CoachName = `coalesce((
    select m.name from members m where m.tenant_id = $1 and m.id = s.coach_id and m.status = 'ACTIVE'), '')`
