// Package eventapi serves the RPCs that list and watch the event log.
package eventapi

import (
	"time"

	"github.com/berthhq/berth/internal/app/events"
)

// Events handles the RPCs of the package.
type Events struct {
	Service *events.Service
	Now     func() time.Time
	// NewHeartbeat returns the ticker of a stream's heartbeats. Tests set it; the default uses a time.Ticker.
	NewHeartbeat func(every time.Duration) Heartbeat
}
