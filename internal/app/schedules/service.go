// Package schedules holds the use cases about sessions, series and workouts.
package schedules

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/quota"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/coredb"
)

// Config configures a Service.
type Config struct {
	Engine    *engine.Engine
	Waitlists *waitlists.Service
	Snapshots *seats.Snapshots
	// MaxSessions is how many sessions a tenant may have. Default: any number.
	MaxSessions int
}

// Service holds the use cases about schedules. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	waitlists *waitlists.Service
	snapshots *seats.Snapshots
	quota     quota.Quota // of sessions
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		engine:    c.Engine,
		waitlists: c.Waitlists,
		snapshots: c.Snapshots,
		quota:     quota.Quota{Name: "sessions", Limit: c.MaxSessions, Count: coredb.CountSessions},
	}
}
