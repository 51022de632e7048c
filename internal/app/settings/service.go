// Package settings holds the use cases about policies and waitlist rules.
package settings

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
)

// Config is what a Service needs.
type Config struct {
	Engine    *engine.Engine
	Waitlists *waitlists.Service
}

// Service holds the use cases about settings. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	waitlists *waitlists.Service
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		engine:    c.Engine,
		waitlists: c.Waitlists,
	}
}
