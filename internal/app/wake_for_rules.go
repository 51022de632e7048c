package app

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// lookAgain has the seats that are open in a tenant given away under rules or policy that were edited. Which is on record, with the
// edit: if this node ends before it is done, a sweep of any other sees to it.
func (a *App) lookAgain(id tenant.TenantID) { a.edited.set(id, a.now()) }

// wakeForRules gives seats that are open to whoever may have them under edited rules or policy, each session in a transaction of its own. The edit
// does not wait for that: there may be many.
func (a *App) wakeForRules(ctx context.Context, id tenant.TenantID) error {
	caller := tenant.System(id)
	var due []waitlistdb.EditedLevel
	var batch pg.Batch
	waitlistdb.ListEditedLevels(&batch, id, &due)
	if err := a.read(ctx, caller, &batch); err != nil {
		return err
	}
	var failed error
	for _, level := range due {
		now := a.now()
		find := func(after waitlistdb.OpenSession, into *[]waitlistdb.OpenSession) error {
			var batch pg.Batch
			waitlistdb.ListOpenAwaited(&batch, id, level, now, after, sweepChunk, into)
			return a.read(ctx, caller, &batch)
		}
		err := inChunks(ctx, find, func(open []waitlistdb.OpenSession) error {
			var failed error
			for _, s := range open {
				failed = cmp.Or(failed, a.wakeOpen(ctx, caller, s.ID))
			}
			return failed
		})
		if err == nil {
			err = a.write(ctx, caller, "rules.settle", func(_ context.Context, t *tx) error {
				waitlistdb.SettleLevel(t.Tx, t.in, level)
				return nil
			})
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// wakeOpen gives the seats of one session. Whoever was asked for them before is not asked again because of an edit.
func (a *App) wakeOpen(ctx context.Context, caller tenant.Caller, id tenant.SessionID) error {
	return a.write(ctx, caller, "rules.wake", func(ctx context.Context, t *tx) error {
		var slot *booking.Slot
		var last *waitlist.Round
		var batch pg.Batch
		bookingdb.FindSlot(&batch, t.in, id, &slot)
		waitlistdb.FindLastRound(&batch, t.in, id, &last)
		if err := t.Load(ctx, &batch); err != nil || slot == nil {
			return err
		}
		_, err := t.roll(ctx, slot, waitlist.ByRules, last)
		return err
	}, losing(byPromotion))
}
