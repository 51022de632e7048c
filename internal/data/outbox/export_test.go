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

// Consumption is a consumer of a tenant's events that handles them when it is told to. It failed some time ago.
func (r *Relay) Consumption(in tenant.TenantID, c Consumer) func(context.Context) (wait time.Duration) {
	failed := &backoffs{tenants: map[tenant.TenantID]backoff{in: {pause: 4 * time.Second}}}
	return func(ctx context.Context) time.Duration { return r.consume(ctx, in, c, failed) }
}
