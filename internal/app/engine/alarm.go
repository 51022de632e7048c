package engine

import (
	"context"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Alarms go off when something of a tenant falls due. Only the earliest time of each tenant is kept: what handles an
// alarm finds out what comes next. The zero value has none set.
type Alarms struct {
	mu    sync.Mutex
	due   map[tenant.TenantID]time.Time
	moved chan struct{} // something may be due earlier than was known
}

// Set sets the alarm of a tenant, unless it goes off before.
func (a *Alarms) Set(id tenant.TenantID, at time.Time) {
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

func (a *Alarms) init() {
	if a.due == nil {
		a.due = make(map[tenant.TenantID]time.Time)
		a.moved = make(chan struct{}, 1)
	}
}

// next takes out the tenants for which something is due, and says how long to wait for the next: a day if there is
// none.
func (a *Alarms) next(now time.Time) (due []tenant.TenantID, wait time.Duration) {
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

// Run calls ring for each tenant whose alarm goes off, until ctx ends.
func (a *Alarms) Run(ctx context.Context, now func() time.Time, ring func(tenant.TenantID)) {
	for {
		due, wait := a.next(now())
		for _, id := range due {
			ring(id)
		}
		if len(due) > 0 {
			continue // that took time, and may have set the next
		}
		timer := time.NewTimer(wait) //nolint:forbidigo // it waits; the clock says what is due
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
