// Package settings has the use cases for policies and waitlist rules.
package settings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what a Service needs.
type Config struct {
	Engine    *engine.Engine
	Waitlists *waitlists.Service
}

// Service has the use cases of this package. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	waitlists *waitlists.Service
}

// New makes a Service.
func New(c Config) *Service { return &Service{engine: c.Engine, waitlists: c.Waitlists} }

func (s *Service) reader(caller tenant.Caller) engine.Reader {
	return func(ctx context.Context, batch *pg.Batch) error { return s.engine.Read(ctx, caller, batch) }
}
