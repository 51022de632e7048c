package booking

import (
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Snapshot is what the sessions and subscriptions of a tenant share. It changes rarely. Each change gives it a new
// version, so a node that has loaded it only compares versions. A Snapshot is never modified.
type Snapshot struct {
	Version       int64
	TakesPayments bool
	Locations     map[tenant.LocationID]SnapshotLocation
	Services      map[tenant.ServiceID]SnapshotService
	Policies      map[tenant.UUID]*catalog.CompiledPolicy // by the id of the tenant, location or service
	Plans         map[tenant.PlanID]credit.Plan
}

// SnapshotLocation is what the rules need to know about a location.
type SnapshotLocation struct {
	Name     string
	TimeZone string
	Point    *catalog.Point
	Channels []catalog.Channel
}

// SnapshotService is what the rules need to know about a service.
type SnapshotService struct {
	MinParty, MaxParty int
	Delivery           catalog.Delivery
}

// HasPlan reports whether the tenant has a plan.
func (s *Snapshot) HasPlan(plan tenant.PlanID) bool {
	if s == nil {
		return false
	}
	_, ok := s.Plans[plan]
	return ok
}

// Complete fills in a session's slot. It returns false if the location or service is unknown.
func (s *Snapshot) Complete(slot Slot, of tenant.TenantID) (Slot, bool) {
	if s == nil {
		return slot, false
	}
	location, hasLocation := s.Locations[slot.Location]
	service, hasService := s.Services[slot.Service]
	slot.LocationName, slot.TimeZone = location.Name, location.TimeZone
	slot.Point, slot.Channels = location.Point, location.Channels
	slot.MinParty, slot.MaxParty, slot.Delivery = service.MinParty, service.MaxParty, service.Delivery
	slot.TakesPayments = s.TakesPayments
	slot.Policy = catalog.Resolve(s.Policies[of.UUID], s.Policies[slot.Location.UUID], s.Policies[slot.Service.UUID])
	return slot, hasLocation && hasService
}
