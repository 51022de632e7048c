package app

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// lookAgain fills a tenant's open seats after an edit of its rules or policy, in the background. The edited levels
// are marked in the database: if this node stops before that is done, the sweep of another node does it.
func (a *App) lookAgain(id tenant.TenantID) { a.edited.set(id, a.now()) }

// wakeForRules fills the open seats of all sessions whose rules or policy were edited, each in a transaction of its
// own. The edit does not wait for it: there may be many sessions.
func (a *App) wakeForRules(ctx context.Context, id tenant.TenantID) error {
	caller := tenant.System(id)
	var due []store.EditedLevel
	var batch pg.Batch
	store.ListEditedLevels(&batch, id, &due)
	if err := a.read(ctx, caller, &batch); err != nil {
		return err
	}
	var failed error
	for _, level := range due {
		now := a.now()
		find := func(after store.OpenSession, into *[]store.OpenSession) error {
			var batch pg.Batch
			store.ListOpenAwaited(&batch, id, level, now, after, sweepChunk, into)
			return a.read(ctx, caller, &batch)
		}
		err := inChunks(ctx, find, func(open []store.OpenSession) error {
			var failed error
			for _, s := range open {
				failed = cmp.Or(failed, a.wakeOpen(ctx, caller, s.ID))
			}
			return failed
		})
		if err == nil {
			err = a.write(ctx, caller, "rules.settle", func(_ context.Context, t *tx) error {
				store.SettleLevel(t.Tx, t.in, level)
				return nil
			})
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// wakeOpen fills the seats of one session, in the round of its last decision: an edit alone is no reason to offer the
// same seats to the same entries again.
func (a *App) wakeOpen(ctx context.Context, caller tenant.Caller, id tenant.SessionID) error {
	return a.write(ctx, caller, "rules.wake", func(ctx context.Context, t *tx) error {
		var (
			slot  *booking.Slot
			last  *waitlist.Round
			batch pg.Batch
		)
		store.FindSlot(&batch, t.in, id, &slot)
		store.FindLastRound(&batch, t.in, id, &last)
		if err := t.Load(ctx, &batch); err != nil || slot == nil {
			return err
		}
		_, err := t.fillRound(ctx, slot, waitlist.ByRules, last)
		return err
	}, losing(byPromotion))
}
