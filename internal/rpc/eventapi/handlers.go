// Package eventapi serves the RPCs that list and watch the event log.
package eventapi

import (
	"time"

	"github.com/berthhq/berth/internal/app/events"
)

// Events handles the RPCs of this area.
type Events struct {
	Events *events.Service
	Now    func() time.Time
	// Beat makes the ticker of a stream's heartbeats. Tests set it; by default it ticks by the wall clock.
	Beat func(every time.Duration) Heartbeat
	// SendTimeout is how long a client may take to read a message. Default 30 s.
	SendTimeout time.Duration
}
