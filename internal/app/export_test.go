package app

import (
	"context"

	"github.com/berthhq/berth/internal/tenant"
)

// ExpireDue is what an alarm does.
func (a *App) ExpireDue(ctx context.Context, id tenant.TenantID) (holds, offers int, err error) {
	return a.expireDue(ctx, id)
}
