// Package schedules holds the use cases about sessions, series and workouts.
package schedules

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/booking"
)

// Config configures a Service.
type Config struct {
	Engine    *engine.Engine
	Waitlists *waitlists.Service
	Snapshots *engine.Snapshots[booking.Snapshot]
}

// Service holds the use cases about schedules. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	waitlists *waitlists.Service
	snapshots *engine.Snapshots[booking.Snapshot]
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		engine:    c.Engine,
		waitlists: c.Waitlists,
		snapshots: c.Snapshots,
	}
}
