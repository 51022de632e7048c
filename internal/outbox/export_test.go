package outbox

import "time"

// Narrow makes a relay keep less, and lose patience sooner.
func (r *Relay) Narrow(tail int, patience time.Duration) { r.tailMost, r.patience = tail, patience }

// Feeds is how many tenants are being watched.
func (r *Relay) Feeds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.watched)
}
