package testkit

import (
	"sync"
	"time"
)

// Noon is when tests begin: a Monday, two weeks before Europe's clocks go forward.
var Noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// Founded is when the tenant of New was created.
var Founded = Noon.Add(-time.Hour)

// Evening is 18:00 in Berlin on the day after Noon.
var Evening = time.Date(2026, 3, 17, 17, 0, 0, 0, time.UTC)

// InTwoDays is when sessions start unless a test says otherwise.
var InTwoDays = Noon.Add(48 * time.Hour)

// Clock is a clock that stands still until it is set.
type Clock struct {
	mu   sync.Mutex
	time time.Time
}

// NewClock returns a clock that shows a time.
func NewClock(t time.Time) *Clock { return &Clock{time: t} }

// Now returns the time that was set.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

// Set sets the time.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = t
}

// Advance moves the time forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
}

// Tick moves the clock by a millisecond, the resolution of ids, so that what follows sorts after what was.
func (s *Studio) Tick() { s.Clock.Advance(time.Millisecond) }

// UTC parses an RFC 3339 time.
func UTC(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}
