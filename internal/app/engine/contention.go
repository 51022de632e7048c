package engine

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// contentionLasts is how long after a conflict a tenant's transactions take advisory locks first.
const contentionLasts = 5 * time.Second

// contention remembers which tenants had serialization conflicts recently. Their transactions take advisory locks
// first, for five seconds; those of other tenants do without.
type contention struct {
	mu    sync.RWMutex
	until map[tenant.TenantID]time.Time
}

func (c *contention) begin(id tenant.TenantID, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = make(map[tenant.TenantID]time.Time)
	}
	c.until[id] = until
}

func (c *contention) at(id tenant.TenantID, now time.Time) bool {
	c.mu.RLock()
	until, contended := c.until[id]
	c.mu.RUnlock()
	if !contended || now.Before(until) {
		return contended
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(c.until[id]) {
		delete(c.until, id)
	}
	return false
}

// queueOn has a batch wait for those of other nodes with the same keys, if the tenant is contended. On one node two
// batches never share a key, and need no lock.
func (e *Engine) queueOn(batch []*task) []pg.Option {
	id := batch[0].caller.Tenant
	if !e.contended.at(id, e.now()) {
		return nil
	}
	var locks []int64
	for _, t := range batch {
		for _, key := range t.locks.Together {
			locks = append(locks, advisoryLock(id, key))
		}
	}
	return []pg.Option{pg.WithLocks(locks...)}
}

// advisoryLock is the lock on which transactions of several nodes wait that have a key of a tenant.
func advisoryLock(in tenant.TenantID, key Key) int64 {
	hash := fnv.New64a()
	hash.Write(in.UUID[:])
	hash.Write(key[:])
	return int64(hash.Sum64())
}
