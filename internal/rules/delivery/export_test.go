package delivery

import (
	"time"
)

// Open reports whether the breaker blocks messages.
func (b *Breaker) Open(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.until)
}
