package waitlists

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// RecheckDue checks the passed-over entries of a tenant's members again whose reasons may have gone: see
// record.Recheck. Several nodes may run it at once.
func (s *Service) RecheckDue(ctx context.Context, id tenant.TenantID) error {
	caller := tenant.System(id)
	find := func(b *pg.Batch, after waitlistdb.Recheck, into *[]waitlistdb.Recheck) {
		waitlistdb.ListRechecks(b, id, after, engine.SweepChunk, into)
	}
	return engine.InChunks(ctx, s.engine, caller, find, func(due []waitlistdb.Recheck) error {
		return s.recheck(ctx, caller, due)
	})
}

// recheck fills the sessions whose open seats entries of some members did not get, each in a transaction of its own. It
// clears the members' marks if all were filled.
func (s *Service) recheck(ctx context.Context, caller tenant.Caller, due []waitlistdb.Recheck) error {
	sessions, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]tenant.SessionID) {
		waitlistdb.ListRecheckable(b, caller.Tenant, due, waitlist.RecheckReasons(), s.engine.Now(), into)
	})
	for _, session := range sessions {
		err = cmp.Or(err, s.fillOpen(ctx, caller, "waitlist.recheck", session, waitlist.ByRecheck))
	}
	if err != nil {
		return err
	}
	t := engine.Transaction{Name: "waitlist.settle_rechecks"}
	return engine.Exec(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) error {
		waitlistdb.SettleRechecks(tx.Tx, tx.Tenant, due)
		return nil
	})
}
