// Package events lets clients read and watch the event log.
package events

import (
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
)

// Config is what a Service needs.
type Config struct {
	DB *pg.DB
	// Relay has the new events for WatchEvents. Optional if nothing calls that.
	Relay *outbox.Relay
}

// Service has the use cases of this package. It is safe for concurrent use.
type Service struct {
	db    *pg.DB
	relay *outbox.Relay
}

// New makes a Service.
func New(c Config) *Service { return &Service{db: c.DB, relay: c.Relay} }
