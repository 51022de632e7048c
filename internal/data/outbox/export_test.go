package outbox

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// SetMaxTail limits the tail of a relay that is not in use yet.
func (r *Relay) SetMaxTail(tail int) { r.maxTail = tail }

// SetMaxLag shortens the time that a watcher may be behind. No watcher may be waiting.
func (r *Relay) SetMaxLag(lag time.Duration) { r.maxLag = lag }

// WatchedTenants is the number of tenants that are watched.
func (r *Relay) WatchedTenants() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.feeds)
}

// Consumption is a consumer of a relay that handles events when it is told to.
func (r *Relay) Consumption(c Consumer) func(context.Context, tenant.TenantID) (wait time.Duration) {
	failed := &backoffs{tenants: make(map[tenant.TenantID]backoff)}
	return func(ctx context.Context, in tenant.TenantID) time.Duration { return r.consume(ctx, in, c, failed) }
}
