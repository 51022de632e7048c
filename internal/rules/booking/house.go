package booking

import (
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// House is what the sessions and subscriptions of a tenant share. It changes seldom, and then gets another version: whoever has
// read it once need only ask for that. It is not changed once it is made.
type House struct {
	Version       int64
	TakesPayments bool
	Locations     map[tenant.LocationID]Place
	Services      map[tenant.ServiceID]Offer
	Policies      map[tenant.UUID]*catalog.Layer // by whose they are: the tenant's, a location's or a service's
	Plans         map[tenant.PlanID]credit.Plan
}

// Place is what a booking needs to know of a location.
type Place struct {
	TimeZone string
	Point    *catalog.Point
	Channels []catalog.Channel
}

// Offer is what a booking needs to know of a service.
type Offer struct {
	MinParty, MaxParty int
	Delivery           catalog.Delivery
}

// Knows reports whether a plan is one of the house's.
func (h *House) Knows(plan tenant.PlanID) bool {
	if h == nil {
		return false
	}
	_, ok := h.Plans[plan]
	return ok
}

// Complete gives a session's slot what the house knows of it. False: the house does not know its location or service.
func (h *House) Complete(s Slot, of tenant.TenantID) (Slot, bool) {
	if h == nil {
		return s, false
	}
	place, placed := h.Locations[s.Location]
	offer, offered := h.Services[s.Service]
	s.TimeZone, s.Point, s.Channels = place.TimeZone, place.Point, place.Channels
	s.MinParty, s.MaxParty, s.Delivery = offer.MinParty, offer.MaxParty, offer.Delivery
	s.TakesPayments = h.TakesPayments
	s.Rules = catalog.Resolve(h.Policies[of.UUID], h.Policies[s.Location.UUID], h.Policies[s.Service.UUID])
	return s, placed && offered
}
