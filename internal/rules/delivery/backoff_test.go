package delivery_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/delivery"
)

func TestBackoff_WaitsWithFullJitterUntilExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	b := delivery.Backoff{Base: time.Second, Max: time.Minute}
	never := time.Time{}
	for name, tc := range map[string]struct {
		attempt    int
		random     float64
		retryAfter time.Duration
		expiresAt  time.Time
		want       time.Duration // negative: no retry
	}{
		"no wait":                  {1, 0, 0, never, 0},
		"half of the first":        {1, 0.5, 0, never, 500 * time.Millisecond},
		"half of the fourth":       {4, 0.5, 0, never, 4 * time.Second},
		"half of the highest":      {40, 0.5, 0, never, 30 * time.Second},
		"no overflow":              {100_000, 0.5, 0, never, 30 * time.Second},
		"retry after":              {1, 0.5, time.Minute, never, time.Minute + 500*time.Millisecond},
		"negative retry after":     {1, 0.5, -time.Minute, never, 500 * time.Millisecond},
		"before expiry":            {1, 0.5, 0, now.Add(501 * time.Millisecond), 500 * time.Millisecond},
		"at expiry":                {1, 0.5, 0, now.Add(500 * time.Millisecond), -1},
		"retry after until expiry": {1, 0, time.Minute, now.Add(time.Minute), -1},
	} {
		at, ok := b.Next(now, tc.attempt, tc.random, tc.retryAfter, tc.expiresAt)
		test.EqOp(t, (tc.want >= 0), ok, test.Sprintf("%s: %s, %t", name, at.Sub(now), ok))
		test.True(t, !ok || at.Sub(now) == tc.want, test.Sprintf("%s: %s, %t", name, at.Sub(now), ok))
	}
	rapid.Check(t, func(t *rapid.T) {
		attempt := rapid.IntRange(0, 1000).Draw(t, "attempt")
		random := rapid.Float64Range(0, 0.999999).Draw(t, "random")
		expires := now.Add(time.Duration(rapid.Int64Range(-1e9, 1e11).Draw(t, "left")))
		at, ok := b.Next(now, attempt, random, 0, expires)
		must.False(
			t, ok && (at.Before(now) || !at.Before(expires) || at.Sub(now) > b.Max),
			must.Sprintf("%s, expires %s", at, expires),
		)
	})
}
