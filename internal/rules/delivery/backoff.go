package delivery

import (
	"math"
	"time"
)

// Backoff is exponential backoff with full jitter.
type Backoff struct {
	Base time.Duration // limit of the first wait; doubles with each attempt
	Max  time.Duration // highest limit, without the provider's RetryAfter
}

// Next returns when to retry after an attempt, counted from 1, that ended now. The wait is random between 0 and its
// limit (full jitter), so that messages that failed together are not retried together. Random is in [0, 1). The
// provider's RetryAfter is added. It returns false if the message expires before.
func (b Backoff) Next(
	now time.Time, attempt int, random float64, retryAfter time.Duration, expiresAt time.Time,
) (time.Time, bool) {
	limit := float64(b.Base) * math.Pow(2, float64(max(attempt, 1)-1))
	wait := time.Duration(random * min(limit, float64(b.Max)))
	at := now.Add(max(retryAfter, 0) + wait)
	if !expiresAt.IsZero() && !at.Before(expiresAt) {
		return time.Time{}, false
	}
	return at, true
}
