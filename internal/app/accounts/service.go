// Package accounts holds the use cases about tenants, members, roles, service accounts, subscriptions and the audit log.
package accounts

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what a Service needs.
type Config struct {
	Engine *engine.Engine
	// RolesChanged, if set, hears of every tenant in which somebody may now do something else, after the commit. Other nodes
	// hear of it through AccessChannel.
	RolesChanged func(tenant.TenantID)
}

// Service holds the use cases about accounts. It is safe for concurrent use.
type Service struct {
	engine       *engine.Engine
	rolesChanged func(tenant.TenantID)
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		engine:       c.Engine,
		rolesChanged: c.RolesChanged,
	}
}
