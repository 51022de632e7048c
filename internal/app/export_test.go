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

// AwaitWaiting returns when a transaction of a tenant is in progress and n operations wait.
func (a *App) AwaitWaiting(id tenant.TenantID, n int) {
	for {
		if running, waiting := a.engine.Queued(id); running > 0 && waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// Waiting is how many operations of a tenant wait.
func (a *App) Waiting(id tenant.TenantID) int {
	_, waiting := a.engine.Queued(id)
	return waiting
}

// Offers is the waitlist, as far as messages are concerned.
func (a *App) Offers() Offers { return a.offers }
