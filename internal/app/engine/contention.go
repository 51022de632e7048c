package engine

import (
	"sync"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// contentionLasts is how long after a conflict a tenant's transactions take advisory locks first.
const contentionLasts = 5 * time.Second

// contention remembers which tenants had serialization conflicts recently. Their transactions take advisory locks
// first, for five seconds. Those of other tenants take none.
type contention struct {
	mu    sync.RWMutex
	until map[tenant.TenantID]time.Time // entries stay: a few bytes for each tenant
}

func (c *contention) mark(id tenant.TenantID, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = make(map[tenant.TenantID]time.Time)
	}
	c.until[id] = now.Add(contentionLasts)
}

func (c *contention) active(id tenant.TenantID, now time.Time) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return now.Before(c.until[id])
}

// lockOptions makes a batch wait for those of other nodes with the same keys, if the tenant is contended. On one node
// two batches never share a key, so they need no lock.
func (e *Engine) lockOptions(batch []*task) []pg.Option {
	id := batch[0].Tenant
	if !e.contended.active(id, e.now()) {
		return nil
	}
	var locks []int64
	for _, t := range batch {
		for _, key := range t.Locks.Together {
			locks = append(locks, advisoryLock(id, key))
		}
	}
	return []pg.Option{pg.WithLocks(locks...)}
}
