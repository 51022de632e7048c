// Package catalog has the use cases for locations, services, resources, items, plans and benefit providers.
package catalog

import "github.com/berthhq/berth/internal/app/engine"

// Config is what a Service needs.
type Config struct {
	Engine *engine.Engine
}

// Service has the use cases of this package. It is safe for concurrent use.
type Service struct {
	engine *engine.Engine
}

// New makes a Service.
func New(c Config) *Service { return &Service{engine: c.Engine} }
