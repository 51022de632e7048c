// Package events lets clients read and watch the event log.
package events

import (
	"cmp"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
)

// Config is what a Service needs.
type Config struct {
	DB *pg.DB
	// Relay has the new events for WatchEvents. Optional if nothing calls that.
	Relay *outbox.Relay
	// SeatsInterval is the shortest time between two changes of one session's seats in a stream. Default 1 s.
	SeatsInterval time.Duration
}

// Service has the use cases of this package. It is safe for concurrent use.
type Service struct {
	db            *pg.DB
	relay         *outbox.Relay
	seatsInterval time.Duration
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{db: c.DB, relay: c.Relay, seatsInterval: cmp.Or(c.SeatsInterval, time.Second)}
}
