package housekeeping

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// sweepKeys forgets the keys that no longer stand for anything.
func (s *Service) sweepKeys(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	until := s.engine.Now().Add(-engine.KeyLifetime)
	for {
		var old bool
		var batch pg.Batch
		coredb.HasOldKeys(&batch, caller.Tenant, until, &old)
		if err := s.engine.Read(ctx, caller, &batch); err != nil || !old {
			return err
		}
		err := s.engine.Write(ctx, caller, "sweep.keys", func(_ context.Context, tx *engine.Tx) error {
			coredb.DeleteOldKeys(tx.Tx, tx.Tenant, until, 10*engine.SweepChunk)
			return nil
		})
		if err != nil {
			return err
		}
	}
}
