package waitlist

import (
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// RulesAt picks, of what all levels of a tenant say, the rules for a service at a location.
func RulesAt(all []Layer, location tenant.LocationID, service tenant.ServiceID) Effective {
	var way []Layer
	for _, l := range all {
		switch {
		case l.Level == catalog.TenantLevel,
			l.Level == catalog.LocationLevel && l.Scope == location.UUID,
			l.Level == catalog.ServiceLevel && l.Scope == service.UUID:
			way = append(way, l)
		}
	}
	return Resolve(way...)
}

// RulesOf returns a function that resolves the rules of a queue.
func RulesOf(all []Layer) func(Queue) Rules {
	return func(q Queue) Rules { return RulesAt(all, q.Location, q.Service).Rules }
}
