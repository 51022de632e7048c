package engine

import (
	"context"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Alarms go off when something of a tenant is due. Only the earliest time of each tenant is kept: the handler of an
// alarm finds out what is next. The zero value has no alarm set.
type Alarms struct {
	mu    sync.Mutex
	due   map[tenant.TenantID]time.Time
	moved chan struct{} // signals that an alarm may be earlier than Run knows
}

// Set sets the alarm of a tenant, unless it is already set for an earlier time.
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

// next removes and returns the tenants whose alarm is due. It also returns the time until the next alarm, at most a
// day.
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
			continue // handling took time, and may have set the next alarm
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
