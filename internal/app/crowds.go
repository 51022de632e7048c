package app

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// crowdedFor is how long after a conflict a tenant's transactions stand in line for their sessions.
const crowdedFor = 5 * time.Second

// crowds are the tenants whose transactions got into each other's way lately, and until when they stand in line for it. Others
// go on as they are.
type crowds struct {
	mu    sync.RWMutex
	until map[tenant.TenantID]time.Time
}

func (c *crowds) begin(id tenant.TenantID, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = make(map[tenant.TenantID]time.Time)
	}
	c.until[id] = until
}

func (c *crowds) at(id tenant.TenantID, now time.Time) bool {
	c.mu.RLock()
	until, crowded := c.until[id]
	c.mu.RUnlock()
	if !crowded || now.Before(until) {
		return crowded
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(c.until[id]) {
		delete(c.until, id)
	}
	return false
}

// line lets a batch wait for those of other nodes about the same sessions, once they have got into each
// other's way. On a node of its own a lane never does, and need not ask.
func (a *App) line(batch []*waiting) []pg.Option {
	id := batch[0].caller.Tenant
	if !a.crowds.at(id, a.now()) {
		return nil
	}
	var keys []int64
	for _, w := range batch {
		for _, about := range w.about.shared {
			keys = append(keys, lockOf(id, about))
		}
	}
	return []pg.Option{pg.QueueOn(keys...)}
}

// lockOf is the advisory lock on which transactions of several nodes wait that are about something of a tenant.
func lockOf(in tenant.TenantID, about tenant.UUID) int64 {
	key := fnv.New64a()
	key.Write(in.UUID[:])
	key.Write(about[:])
	return int64(key.Sum64())
}
