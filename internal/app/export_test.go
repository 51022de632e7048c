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
		a.lanes.mu.Lock()
		waiting := 0
		if q := a.lanes.queues[id]; q != nil {
			waiting = len(q.waiting)
		}
		there := a.lanes.running > 0 && waiting == n
		a.lanes.mu.Unlock()
		if there {
			return
		}
		runtime.Gosched()
	}
}
