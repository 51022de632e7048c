package outbox

import "time"

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
