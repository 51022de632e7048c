// Package bookings has the use cases of bookings: booking, holds, cancelling, rescheduling, check-in and attendance.
package bookings

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/checkin"
)

// Config is what a Service needs.
type Config struct {
	Engine    *engine.Engine
	Waitlists *waitlists.Service
	Keys      checkin.Keys
	// PublicURL is where browsers reach the service, without a trailing slash. Display links start with it.
	PublicURL string
}

// Service has the use cases of bookings. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	waitlists *waitlists.Service
	keys      checkin.Keys
	publicURL string
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		engine:    c.Engine,
		waitlists: c.Waitlists,
		keys:      c.Keys,
		publicURL: c.PublicURL,
	}
}
