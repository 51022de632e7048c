package app

import (
	"runtime"

	"github.com/berthhq/berth/internal/tenant"
)

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
