package engine

import (
	"context"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Tenants lists the tenants in this database.
func (e *Engine) Tenants(ctx context.Context) ([]tenant.TenantID, error) {
	var ids []tenant.TenantID
	err := e.ReadAsOperator(ctx, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		coredb.ListTenants(&batch, &ids)
		return tx.Load(ctx, &batch)
	})
	return ids, err
}
