package engine

import (
	"context"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/app/quota"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Grow counts n rows that the operation is about to insert, once in all its attempts. It returns QUOTA_EXCEEDED if
// there are too many then. An operation calls it once.
func (tx *Tx) Grow(ctx context.Context, q quota.Quota, n int) error {
	e := tx.engine
	if err := e.counts.Grow(ctx, e.reader(tx.Caller), tx.Tenant, q, max(0, n-*tx.grown), e.now()); err != nil {
		return err
	}
	*tx.grown = max(n, *tx.grown)
	return nil
}

// growKeys counts a new key of the caller.
func (e *Engine) growKeys(ctx context.Context, by tenant.Caller) error {
	now := e.now()
	keys := quota.Quota{
		Name: "idempotency_keys", Of: by.Actor(), Limit: e.maxKeys,
		Count: func(b *pg.Batch, in tenant.TenantID, limit int, rows *int) {
			coredb.CountKeys(b, in, by.Actor(), now.Add(-idempotency.Lifetime), limit, rows)
		},
	}
	return e.counts.Grow(ctx, e.reader(by), by.Tenant, keys, 1, now)
}
