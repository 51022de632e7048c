package traffic

import (
	"sync/atomic"
	"time"
)

// A HoldBack lets refused requests wait before they are answered. To refuse is quick, and those who ask again at once
// would otherwise keep a processor busy. It is safe for concurrent use.
type HoldBack struct {
	// For is how long a request waits: less than the second after which clients may try again.
	For time.Duration
	// Max is how many requests may wait at a time. Others are answered at once: to wait takes memory, and a request on
	// its way out shall take no more than one that is served. Zero is DefaultHeldBack.
	Max int64

	held atomic.Int64
}

const (
	// DefaultHoldBack is a value for HoldBack.For.
	DefaultHoldBack = 500 * time.Millisecond
	// DefaultHeldBack bounds the memory of requests that wait.
	DefaultHeldBack = 4096
)

// Wait returns after the time, or when gone is closed.
func (h *HoldBack) Wait(gone <-chan struct{}) {
	if h == nil || h.For <= 0 {
		return
	}
	limit := h.Max
	if limit == 0 {
		limit = DefaultHeldBack
	}
	defer h.held.Add(-1)
	if h.held.Add(1) > limit {
		return
	}
	select {
	case <-time.After(h.For):
	case <-gone:
	}
}
