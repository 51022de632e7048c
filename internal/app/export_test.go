package app

import (
	"context"

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
