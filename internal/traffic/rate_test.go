package traffic

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"
)

var start = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// In any time, a key gets its burst and what the rate adds, and no other key changes that.
func TestLimiter_AllowsBurstAndRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate{
			PerSecond: float64(rapid.IntRange(1, 50).Draw(t, "rate")), Burst: rapid.IntRange(1, 20).Draw(t, "burst"),
		}
		l := NewLimiter[string](rate, start)
		now, tokens := start, float64(rate.Burst)
		for range rapid.IntRange(1, 100).Draw(t, "calls") {
			passed := time.Duration(rapid.IntRange(0, 300).Draw(t, "pause")) * time.Millisecond
			now = now.Add(passed)
			tokens = min(float64(rate.Burst), tokens+passed.Seconds()*rate.PerSecond)
			for rapid.Bool().Draw(t, "another calls") {
				l.Take("another", now)
			}
			const rounding = 1e-6
			switch wait := l.Take("key", now); {
			case wait > 0 && tokens > 1+rounding, wait <= 0 && tokens < 1-rounding:
				t.Fatalf("wait %s with %f calls left", wait, tokens)
			case wait > 0:
				missing := (1 - tokens) / rate.PerSecond
				d := wait.Seconds() - missing
				must.LessEq(t, rounding, d, must.Sprintf("wait %s, want %f s", wait, missing))
				must.GreaterEq(t, -rounding, d, must.Sprintf("wait %s, want %f s", wait, missing))
			case rapid.Bool().Draw(t, "proven"):
				l.Return("key")
			default:
				tokens--
			}
		}
	})
}

func TestLimiter_BoundsItsMemory(t *testing.T) {
	t.Parallel()
	l := NewLimiter[int](Rate{PerSecond: 1, Burst: 10}, start)
	l.max = 4
	for key := range 1000 {
		must.EqOp(t, 0, l.Take(key, start))
	}
	size := 0
	for i := range l.shards {
		size += len(l.shards[i].full)
	}
	test.LessEq(t, shards*l.max, size)
	for range 10 { // of a few keys, the one that has used least is forgotten
		must.EqOp(t, 0, l.Take(-1, start))
	}
	for key := range 1000 {
		l.Take(key, start)
	}
	test.Positive(t, l.Take(-1, start))
}

func TestLimiter_WithoutRateAllowsAll(t *testing.T) {
	t.Parallel()
	l := NewLimiter[int](PerSecond(0), start)
	test.EqOp(t, 0, l.Take(1, start))
	l.Return(1)
}

// BenchmarkLimiter measures what the limits of a caller and of a tenant add to a call.
func BenchmarkLimiter(b *testing.B) {
	type caller struct {
		tenant  [16]byte
		subject string
	}
	callers, tenants := NewLimiter[caller](PerSecond(1e9), start), NewLimiter[[16]byte](PerSecond(1e9), start)
	keys := make([]caller, 2*maxKeys) // more than the limiter remembers
	for i := range keys {
		keys[i] = caller{[16]byte{byte(i), byte(i >> 8)}, fmt.Sprintf("auth0|%024d", i)}
	}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			key, now := keys[i%len(keys)], time.Now()
			callers.Take(key, now)
			tenants.Take(key.tenant, now)
		}
	})
}
