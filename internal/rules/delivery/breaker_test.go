package delivery_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/delivery"
)

var start = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

func breaker() *delivery.Breaker {
	return &delivery.Breaker{FailureLimit: 3, Pause: 10 * time.Second, MaxPause: 25 * time.Second}
}

// trip opens a breaker.
func trip(t *testing.T, b *delivery.Breaker, now time.Time, err error) {
	t.Helper()
	for range b.FailureLimit {
		permit, _, ok := b.Allow(now)
		must.True(t, ok, must.Sprint("already open"))
		b.Done(permit, now, err)
	}
	must.True(t, b.Open(now), must.Sprint("not open"))
}

func failed(kind delivery.FailureKind, after time.Duration) error {
	return &delivery.Error{Kind: kind, RetryAfter: after}
}

func TestBreaker_OpensLongerAfterEachFailedProbe(t *testing.T) {
	t.Parallel()
	b, now, pause := breaker(), start, 10*time.Second
	trip(t, b, now, failed(delivery.Transient, 0))
	for _, probe := range []struct {
		result error
		pause  time.Duration // after it
	}{{failed(delivery.Unknown, 0), 20 * time.Second}, {errors.New("anything else"), 25 * time.Second}, {nil, 0}} {
		_, at, ok := b.Allow(now.Add(pause - 1))
		must.False(t, ok, must.Sprint("allowed too early"))
		must.EqOp(t, now.Add(pause), at)
		now = now.Add(pause)
		permit, _, ok := b.Allow(now)
		must.True(t, ok, must.Sprint("no probe"))
		_, _, ok = b.Allow(now)
		must.False(t, ok, must.Sprint("two probes at once"))
		b.Done(permit, now, probe.result)
		pause = probe.pause
	}
	must.False(t, b.Open(now), must.Sprint("open after a successful probe"))
	trip(t, b, now, failed(delivery.Transient, 0))
	_, at, _ := b.Allow(now)
	must.EqOp(t, 10*time.Second, at.Sub(now), must.Sprint("the pause did not start over"))
}

func TestBreaker_RejectedMessagesDoNotOpenIt(t *testing.T) {
	t.Parallel()
	for _, results := range [][]error{
		{failed(delivery.Permanent, 0)}, {failed(delivery.Unregistered, 0)}, {failed(delivery.OptedOut, 0)},
		{failed(delivery.Misconfigured, 0)},
		{failed(delivery.Transient, 0), failed(delivery.Unknown, 0), nil}, // never three in a row
	} {
		b := breaker()
		for _, err := range slices.Repeat(results, 10) {
			permit, _, ok := b.Allow(start)
			must.True(t, ok, must.Sprint(results))
			b.Done(permit, start, err)
		}
	}
}

func TestBreaker_WaitsForRetryAfter(t *testing.T) {
	t.Parallel()
	b := breaker()
	trip(t, b, start, failed(delivery.Transient, time.Hour))
	_, at, _ := b.Allow(start)
	test.EqOp(t, time.Hour, at.Sub(start))
}

func TestBreaker_IgnoresResultsOfEarlierGenerations(t *testing.T) {
	t.Parallel()
	b := breaker()
	early, _, _ := b.Allow(start)
	trip(t, b, start, failed(delivery.Transient, 0))
	b.Done(early, start, nil)
	test.True(t, b.Open(start), test.Sprint("closed by the result of an earlier message"))
	now := start.Add(10 * time.Second)
	lost, _, _ := b.Allow(now)
	now = now.Add(10 * time.Second)
	probe, _, ok := b.Allow(now)
	must.True(t, ok, must.Sprint("a lost probe blocks it forever"))
	b.Done(lost, now, failed(delivery.Transient, 0))
	b.Done(probe, now, nil)
	test.False(t, b.Open(now), test.Sprint("open after a successful probe"))
}

// In any sequence of results, an open breaker allows at most one message per pause, and it closes when the provider
// answers again.
func TestBreaker_AllowsOneProbePerPauseAndRecovers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, now := breaker(), start
		var pending []delivery.Permit
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(15*time.Second)).Draw(t, "wait")))
			open := b.Open(now)
			if permit, at, ok := b.Allow(now); ok {
				pending = append(pending, permit)
				must.False(t, open, must.Sprint("allowed while open"))
			} else if !at.After(now) || at.Sub(now) > 25*time.Second {
				t.Fatalf("wait until %s at %s", at, now)
			}
			if n := len(pending); n > 0 && rapid.Bool().Draw(t, "finish one") {
				i := rapid.IntRange(0, n-1).Draw(t, "which")
				results := []error{nil, failed(delivery.Transient, 0), failed(delivery.Permanent, 0)}
				b.Done(pending[i], now, rapid.SampledFrom(results).Draw(t, "result"))
				pending = append(pending[:i], pending[i+1:]...)
			}
		}
		now = now.Add(25 * time.Second)
		permit, _, ok := b.Allow(now)
		must.True(t, ok, must.Sprint("no probe allowed"))
		b.Done(permit, now, nil)
		must.False(t, b.Open(now), must.Sprint("open after an answer"))
	})
}
