package housekeeping

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// sweepKeys deletes idempotency keys whose lifetime is over, a chunk in each transaction.
func (s *Service) sweepKeys(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	until := s.engine.Now().Add(-idempotency.Lifetime)
	for {
		var old bool
		var batch pg.Batch
		coredb.HasOldKeys(&batch, caller.Tenant, until, &old)
		if err := s.engine.Read(ctx, caller, &batch); err != nil || !old {
			return err
		}
		t := engine.Transaction{Name: "sweep.keys"}
		err := engine.Exec(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) error {
			coredb.DeleteOldKeys(tx.Tx, tx.Tenant, until, 10*engine.SweepChunk)
			return nil
		})
		if err != nil {
			return err
		}
	}
}
