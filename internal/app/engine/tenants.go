package engine

import (
	"context"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// Tenants lists the tenants of this database.
func (e *Engine) Tenants(ctx context.Context) ([]tenant.TenantID, error) {
	var ids []tenant.TenantID
	err := e.ReadAsOperator(ctx, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		store.ListTenants(&batch, &ids)
		return tx.Load(ctx, &batch)
	})
	return ids, err
}
