package outbox

import "time"

// Narrow makes a relay that nobody uses yet keep less.
func (r *Relay) Narrow(tail int) { r.tailMost = tail }

// Hurry makes a relay lose patience sooner. Nobody may be waiting.
func (r *Relay) Hurry(patience time.Duration) { r.patience = patience }

// Feeds is how many tenants are being watched.
func (r *Relay) Feeds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.watched)
}
