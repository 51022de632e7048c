package booking

import (
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Snapshot is what the sessions and subscriptions of a tenant share. It changes rarely. Each change gives it a new
// version, so a node that has loaded it only compares versions. A House is never modified.
type Snapshot struct {
	Version       int64
	TakesPayments bool
	Locations     map[tenant.LocationID]SnapshotLocation
	Services      map[tenant.ServiceID]SnapshotService
	Policies      map[tenant.UUID]*catalog.Layer // by the id of the tenant, location or service
	Plans         map[tenant.PlanID]credit.Plan
}

// SnapshotLocation is what the rules need to know about a location.
type SnapshotLocation struct {
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
func (h *Snapshot) HasPlan(plan tenant.PlanID) bool {
	if h == nil {
		return false
	}
	_, ok := h.Plans[plan]
	return ok
}

// Complete fills in a session's slot. It returns false if the location or service is unknown.
func (h *Snapshot) Complete(s Slot, of tenant.TenantID) (Slot, bool) {
	if h == nil {
		return s, false
	}
	location, hasLocation := h.Locations[s.Location]
	service, hasService := h.Services[s.Service]
	s.TimeZone, s.Point, s.Channels = location.TimeZone, location.Point, location.Channels
	s.MinParty, s.MaxParty, s.Delivery = service.MinParty, service.MaxParty, service.Delivery
	s.TakesPayments = h.TakesPayments
	s.Rules = catalog.Resolve(h.Policies[of.UUID], h.Policies[s.Location.UUID], h.Policies[s.Service.UUID])
	return s, hasLocation && hasService
}
