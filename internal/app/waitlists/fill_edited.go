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

// RequestFill fills a tenant's open seats after an edit of its rules or policy, in the background. The edited levels
// are marked in the database: if this node stops before it is done, a sweep of another node does it.
func (s *Service) RequestFill(id tenant.TenantID) { s.engine.Fills.Set(id, s.engine.Now()) }

// FillAfterEdits fills the open seats of all sessions whose rules or policy were edited, each session in a transaction
// of its own. The edit does not wait for it, because there may be many sessions.
func (s *Service) FillAfterEdits(ctx context.Context, id tenant.TenantID) error {
	caller := tenant.System(id)
	levels, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]waitlistdb.EditedLevel) {
		waitlistdb.ListEditedLevels(b, id, into)
	})
	failed := err
	for _, level := range levels {
		failed = cmp.Or(failed, s.fillLevel(ctx, caller, level))
	}
	return failed
}

// fillLevel fills the open seats of the sessions under an edited level. It clears the level's mark if all were filled.
func (s *Service) fillLevel(ctx context.Context, caller tenant.Caller, level waitlistdb.EditedLevel) error {
	now := s.engine.Now()
	find := func(b *pg.Batch, after waitlistdb.OpenSession, into *[]waitlistdb.OpenSession) {
		waitlistdb.ListOpenAwaited(b, caller.Tenant, level, now, after, engine.SweepChunk, into)
	}
	err := engine.InChunks(ctx, s.engine, caller, find, func(open []waitlistdb.OpenSession) (failed error) {
		for _, session := range open {
			failed = cmp.Or(failed, s.fillOpen(ctx, caller, "waitlist_rules.wake", session.ID, waitlist.ByRules))
		}
		return failed
	})
	if err != nil {
		return err
	}
	t := engine.Transaction{Name: "waitlist_rules.settle"}
	return engine.Exec(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) error {
		waitlistdb.SettleLevel(tx.Tx, tx.Tenant, level)
		return nil
	})
}

// fillOpen fills the seats of one session that were open before, in the round of its last decision: the trigger alone
// is no reason to offer the same seats to the same entries again.
func (s *Service) fillOpen(
	ctx context.Context, caller tenant.Caller, name string, id tenant.SessionID, trigger waitlist.Trigger,
) error {
	t := engine.Transaction{Name: name}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		lastRound := func(b *pg.Batch, into **waitlist.Round) { waitlistdb.FindLastRound(b, tx.Tenant, id, into) }
		_, err := s.fillSession(ctx, tx, id, trigger, lastRound)
		return err
	})
}
