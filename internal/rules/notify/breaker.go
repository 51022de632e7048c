package notify

import (
	"errors"
	"sync"
	"time"
)

// Breaker stops asking a provider that does not answer, so that messages go
// another way instead of waiting for it. Keep one for each provider account:
// one tenant's rate limit is nobody else's.
//
// It is closed at first and lets everything through. Trip failures in a row open
// it for Pause. Then one message is let through as a probe: when it gets an answer the
// breaker closes, when not it opens for twice as long as before, at most Most.
type Breaker struct {
	Trip  int
	Pause time.Duration
	Most  time.Duration

	mu       sync.Mutex
	era      uint64 // rises with each change of state: what began in another era proves nothing
	failures int    // in a row, while closed
	pause    time.Duration
	until    time.Time // open, or waiting for the probe, until then; zero: closed
}

// Permit is the right to send one message; its outcome is due to Done.
type Permit uint64

// Allow asks for a permit. Where there is none it says when to ask again. A probe of which
// nothing is heard, because whoever sent it died, counts as failed after the pause.
func (b *Breaker) Allow(now time.Time) (permit Permit, retryAt time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return Permit(b.era), time.Time{}, true
	}
	if now.Before(b.until) {
		return 0, b.until, false
	}
	b.era++
	b.until = now.Add(b.pause)
	return Permit(b.era), time.Time{}, true
}

// Done reports what came of the message: the error that the sender gave, or nil.
func (b *Breaker) Done(permit Permit, now time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if Permit(b.era) != permit {
		return
	}
	probe := !b.until.IsZero()
	silent, retryAfter := unanswered(err)
	switch {
	case !silent:
		b.failures, b.pause = 0, 0
		if probe {
			b.era++
			b.until = time.Time{}
		}
	case probe:
		b.open(now, min(2*b.pause, b.Most), retryAfter)
	default:
		if b.failures++; b.failures >= b.Trip {
			b.open(now, b.Pause, retryAfter)
		}
	}
}

func (b *Breaker) open(now time.Time, pause, atLeast time.Duration) {
	b.era++
	b.failures = 0
	b.pause = pause
	b.until = now.Add(max(pause, atLeast))
}

// Open reports whether messages are held back.
func (b *Breaker) Open(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.until)
}

// unanswered reports whether an outcome speaks against the provider. A refusal
// is an answer.
func unanswered(err error) (silent bool, retryAfter time.Duration) {
	if err == nil {
		return false, 0
	}
	var failure *SendError
	if !errors.As(err, &failure) {
		return true, 0
	}
	return failure.Kind == Transient || failure.Kind == Unknown, failure.RetryAfter
}
