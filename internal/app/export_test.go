package app

import (
	"context"
	"runtime"

	"github.com/berthhq/berth/internal/tenant"
)

// WakeForRules is what follows an edit of rules.
func (a *App) WakeForRules(ctx context.Context, id tenant.TenantID) error {
	return a.wakeForRules(ctx, id)
}

// ExpireDue is what an alarm does.
func (a *App) ExpireDue(ctx context.Context, id tenant.TenantID) (holds, overdue int, err error) {
	return a.expireDue(ctx, id)
}

// AwaitWaiting returns when a lane is busy and so many requests of a tenant wait.
func (a *App) AwaitWaiting(id tenant.TenantID, n int) {
	for {
		waiting, running := a.inLanes(id)
		if running && waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// Waiting is how many requests of a tenant wait for a lane.
func (a *App) Waiting(id tenant.TenantID) int {
	waiting, _ := a.inLanes(id)
	return waiting
}

func (a *App) inLanes(id tenant.TenantID) (waiting int, running bool) {
	a.lanes.mu.Lock()
	defer a.lanes.mu.Unlock()
	if q := a.lanes.queues[id]; q != nil {
		waiting = len(q.waiting)
	}
	return waiting, a.lanes.running > 0
}

// Offers is the waitlist, as far as messages are concerned.
func (a *App) Offers() Offers { return a.offers }
