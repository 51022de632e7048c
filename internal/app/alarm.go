package app

import (
	"context"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// alarms wake somebody when something of a tenant falls due. Only the earliest moment of each tenant is kept: whoever is
// woken finds out what comes next.
type alarms struct {
	mu    sync.Mutex
	due   map[tenant.TenantID]time.Time
	moved chan struct{} // something may be due earlier than was thought
}

// set wakes for a tenant at a moment, unless it will be woken before.
func (a *alarms) set(id tenant.TenantID, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.init()
	if before, ok := a.due[id]; ok && !at.Before(before) {
		return
	}
	a.due[id] = at
	select {
	case a.moved <- struct{}{}:
	default:
	}
}

func (a *alarms) init() {
	if a.due == nil {
		a.due = make(map[tenant.TenantID]time.Time)
		a.moved = make(chan struct{}, 1)
	}
}

// next takes out the tenants for which something is due, and tells how long to wait for the next; none is a day.
func (a *alarms) next(now time.Time) (due []tenant.TenantID, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.init()
	wait = 24 * time.Hour
	for id, at := range a.due {
		if left := at.Sub(now); left <= 0 {
			due = append(due, id)
			delete(a.due, id)
		} else {
			wait = min(wait, left)
		}
	}
	return due, wait
}

// run wakes until ctx ends.
func (a *alarms) run(ctx context.Context, now func() time.Time, wake func(tenant.TenantID)) {
	for {
		due, wait := a.next(now())
		for _, id := range due {
			wake(id)
		}
		if len(due) > 0 {
			continue // that took time, and may have set the next
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-a.moved:
		case <-timer.C:
		}
		timer.Stop()
	}
}
