package waitlist

import (
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// RulesAt resolves the rules of a service at a location from all layers of a tenant.
func RulesAt(all []Layer, location tenant.LocationID, service tenant.ServiceID) EffectiveRules {
	var layers []Layer
	for _, l := range all {
		switch {
		case l.Level == catalog.TenantLevel,
			l.Level == catalog.LocationLevel && l.Scope == location.UUID,
			l.Level == catalog.ServiceLevel && l.Scope == service.UUID:
			layers = append(layers, l)
		}
	}
	return Resolve(layers...)
}

// RulesOf returns a function that resolves the rules of a queue.
func RulesOf(all []Layer) func(Queue) Rules {
	return func(q Queue) Rules { return RulesAt(all, q.Location, q.Service).Rules }
}
