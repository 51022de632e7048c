// Package waitlists holds the use cases about waitlists: who waits, who is offered a freed seat, and why.
package waitlists

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Config is what a Service needs.
type Config struct {
	Engine *engine.Engine
	// Claims make the tokens in the links of waitlist offers.
	Claims waitlist.ClaimKey
	// Stats, if set, hears what a use case did to waitlist entries and offers, after the commit.
	Stats func(Stats)
	// PublicURL is where browsers reach the service, without a trailing slash; display links start with it.
	PublicURL string
}

// Service holds the use cases about waitlists. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	claims    waitlist.ClaimKey
	tally     func(Stats)
	publicURL string
	Edited    engine.Alarms
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		engine:    c.Engine,
		claims:    c.Claims,
		tally:     c.Stats,
		publicURL: c.PublicURL,
	}
}
