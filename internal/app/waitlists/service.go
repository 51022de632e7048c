// Package waitlists has the use cases of waitlists: joining and leaving, filling freed seats, offers, and explanations.
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
	// Stats is called after the commit with what a use case changed in entries and offers.
	Stats func(Stats)
	// PublicURL is where browsers reach the service, without a trailing slash. The links in offers start with it.
	PublicURL string
}

// Service has the use cases of waitlists. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	claims    waitlist.ClaimKey
	tally     func(Stats)
	publicURL string
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
