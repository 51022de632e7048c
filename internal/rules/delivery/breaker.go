package delivery

import (
	"errors"
	"sync"
	"time"
)

// Breaker is a circuit breaker: it stops sending to a provider that does not answer, so that messages use another
// channel instead of waiting. Use one for each provider account, because the rate limit of one tenant does not affect
// others.
//
// A new Breaker is closed and allows everything. After FailureLimit failures in a row it opens for Pause. Then it
// allows one message as a probe. If the probe gets an answer, the breaker closes. Otherwise it opens for twice as long
// as before, at most MaxPause.
type Breaker struct {
	FailureLimit int
	Pause        time.Duration
	MaxPause     time.Duration

	mu sync.Mutex
	// generation increases when the breaker opens, and with each probe. The result of a message from an earlier
	// generation is ignored.
	generation uint64
	failures   int // in a row, while closed
	pause      time.Duration
	until      time.Time // open, or waiting for the probe, until then; zero: closed
}

// Permit allows sending one message. Report its result with Done.
type Permit uint64

// Allow requests a permit. If it returns none, it returns when to ask again. A probe without a result, because its
// process died, counts as failed after the pause.
func (b *Breaker) Allow(now time.Time) (permit Permit, retryAt time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return Permit(b.generation), time.Time{}, true
	}
	if now.Before(b.until) {
		return 0, b.until, false
	}
	b.generation++
	b.until = now.Add(b.pause)
	return Permit(b.generation), time.Time{}, true
}

// Done reports the result of the message: the sender's error, or nil.
func (b *Breaker) Done(permit Permit, now time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if Permit(b.generation) != permit {
		return
	}
	probe := !b.until.IsZero()
	failed, retryAfter := providerFailed(err)
	switch {
	case !failed:
		b.failures, b.until = 0, time.Time{}
	case probe:
		b.open(now, min(2*b.pause, b.MaxPause), retryAfter)
	default:
		if b.failures++; b.failures >= b.FailureLimit {
			b.open(now, b.Pause, retryAfter)
		}
	}
}

func (b *Breaker) open(now time.Time, pause, atLeast time.Duration) {
	b.generation++
	b.pause = pause
	b.until = now.Add(max(pause, atLeast))
}

// providerFailed reports whether an error counts against the provider. A rejected message does not: the provider
// answered.
func providerFailed(err error) (failed bool, retryAfter time.Duration) {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Kind == Transient || failure.Kind == Unknown, failure.RetryAfter
	}
	return err != nil, 0
}
