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

// LookAgain has the seats that are open in a tenant given away under rules or policy that were edited. Which is on record, with the
// edit: if this node ends before it is done, a sweep of any other sees to it.
func (s *Service) LookAgain(id tenant.TenantID) { s.Edited.Set(id, s.engine.Now()) }

// WakeForRules gives seats that are open to whoever may have them under edited rules or policy, each session in a transaction of its own. The edit
// does not wait for that: there may be many.
func (s *Service) WakeForRules(ctx context.Context, id tenant.TenantID) error {
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

// wakeOpen gives the seats of one session. Whoever was asked for them before is not asked again because of an edit.
func (s *Service) wakeOpen(ctx context.Context, caller tenant.Caller, id tenant.SessionID) error {
	return s.engine.Write(ctx, caller, "rules.wake", func(ctx context.Context, tx *engine.Tx) error {
		var slot *booking.Slot
		var last *waitlist.Round
		var batch pg.Batch
		bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
		waitlistdb.FindLastRound(&batch, tx.Tenant, id, &last)
		if err := tx.Load(ctx, &batch); err != nil || slot == nil {
			return err
		}
		_, err := s.roll(ctx, tx, slot, waitlist.ByRules, last)
		return err
	}, engine.Losing(seats.LostByPromotion))
}
