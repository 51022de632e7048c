package waitlists

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// RequestFill fills a tenant's open seats after an edit of its rules or policy, in the background. The edited levels
// are marked in the database: if this node stops before that is done, the sweep of another node does it.
func (s *Service) RequestFill(id tenant.TenantID) { s.Edited.Set(id, s.engine.Now()) }

// FillAfterEdits fills the open seats of all sessions whose rules or policy were edited, each in a transaction of its
// own. The edit does not wait for it: there may be many sessions.
func (s *Service) FillAfterEdits(ctx context.Context, id tenant.TenantID) error {
	caller := tenant.System(id)
	var due []waitlistdb.EditedLevel
	var batch pg.Batch
	waitlistdb.ListEditedLevels(&batch, id, &due)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	var failed error
	for _, level := range due {
		now := s.engine.Now()
		find := func(after waitlistdb.OpenSession, into *[]waitlistdb.OpenSession) error {
			var batch pg.Batch
			waitlistdb.ListOpenAwaited(&batch, id, level, now, after, engine.SweepChunk, into)
			return s.engine.Read(ctx, caller, &batch)
		}
		err := engine.InChunks(ctx, find, func(open []waitlistdb.OpenSession) error {
			var failed error
			for _, openSession := range open {
				failed = cmp.Or(failed, s.wakeOpen(ctx, caller, openSession.ID))
			}
			return failed
		})
		if err == nil {
			err = s.engine.Write(ctx, caller, "rules.settle", func(_ context.Context, tx *engine.Tx) error {
				waitlistdb.SettleLevel(tx.Tx, tx.Tenant, level)
				return nil
			})
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// wakeOpen fills the seats of one session, in the round of its last decision: an edit alone is no reason to offer the
// same seats to the same entries again.
func (s *Service) wakeOpen(ctx context.Context, caller tenant.Caller, id tenant.SessionID) error {
	return s.engine.Write(ctx, caller, "rules.wake", func(ctx context.Context, tx *engine.Tx) error {
		var (
			slot  *booking.Slot
			last  *waitlist.Round
			batch pg.Batch
		)
		bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
		waitlistdb.FindLastRound(&batch, tx.Tenant, id, &last)
		if err := tx.Load(ctx, &batch); err != nil || slot == nil {
			return err
		}
		_, err := s.fillRound(ctx, tx, slot, waitlist.ByRules, last)
		return err
	}, engine.Losing(seats.PromotionRace))
}
