package testkit

import (
	"runtime"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/tenant"
)

// AwaitWaiting returns when a transaction of a tenant is in progress and n operations wait.
func AwaitWaiting(a *app.Services, id tenant.TenantID, n int) {
	for {
		if running, waiting := a.Engine.Queued(id); running > 0 && waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// Waiting is how many operations of a tenant wait.
func Waiting(a *app.Services, id tenant.TenantID) int {
	_, waiting := a.Engine.Queued(id)
	return waiting
}
