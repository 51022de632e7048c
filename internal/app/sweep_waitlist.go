package app

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// What a sweep may have to mend. Each repair is counted: another part should have prevented it.
const (
	mendedOffer   = "overdue_offer"  // no alarm ended it
	mendedEntry   = "orphaned_entry" // OFFERED, without a live offer
	mendedRound   = "orphaned_round" // keeps seats that no live offer may claim
	mendedTrigger = "missed_trigger" // seats are open that fit an entry, and nothing was decided
)

// sweepWaitlist ends entries whose time has passed, and those that have waited too long. It also repairs what other
// use cases should have done.
func (a *App) sweepWaitlist(ctx context.Context, caller tenant.Caller, done *Swept) error {
	failed := a.wakeForRules(ctx, caller.Tenant)
	steps := []func(context.Context, tenant.Caller, *Swept) error{a.sweepEntries, a.sweepOrphans, a.sweepTriggers}
	for _, step := range steps {
		if err := step(ctx, caller, done); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// sweepEntries ends entries that can no longer get a seat.
func (a *App) sweepEntries(ctx context.Context, caller tenant.Caller, done *Swept) error {
	now := a.now()
	find := func(after tenant.EntryID, into *[]tenant.EntryID) error {
		var batch pg.Batch
		findEnding(&batch, caller, now, after, into)
		return a.read(ctx, caller, &batch)
	}
	return inChunks(ctx, find, func(ids []tenant.EntryID) error {
		ended := 0
		err := a.write(ctx, caller, "sweep.entry", func(ctx context.Context, t *tx) (err error) {
			ended, err = t.endEntries(ctx, ids)
			return err
		})
		if err == nil {
			done.Entries += ended
		}
		return err
	})
}

// findEnding asks for entries that may have to end: the rules decide.
func findEnding(b *pg.Batch, caller tenant.Caller, now time.Time, after tenant.EntryID, into *[]tenant.EntryID) {
	store.ListEndingEntries(b, caller.Tenant, now, now.Add(-waitlist.MinStale), after, sweepChunk, into)
}

func (t *tx) endEntries(ctx context.Context, ids []tenant.EntryID) (int, error) {
	var (
		ending []store.Ending
		rules  []waitlist.Layer
		batch  pg.Batch
	)
	store.ListEnding(&batch, t.in, ids, &ending)
	store.ListAllRules(&batch, t.in, &rules)
	if err := t.Load(ctx, &batch); err != nil {
		return 0, err
	}
	ended := 0
	for _, e := range ending {
		changes := waitlist.EndStale(e.Entry, e.Places, waitlist.RulesOf(rules), t.now)
		if err := t.apply(ctx, changes); err != nil {
			return ended, err
		}
		ended += len(changes.Entries)
	}
	return ended, nil
}

// sweepOrphans repairs entries and rounds whose offers have ended. No use case leaves any.
func (a *App) sweepOrphans(ctx context.Context, caller tenant.Caller, done *Swept) error {
	var (
		entries []tenant.EntryID
		rounds  []tenant.RoundID
		batch   pg.Batch
	)
	store.ListOrphans(&batch, caller.Tenant, sweepChunk, &entries, &rounds)
	if err := a.read(ctx, caller, &batch); err != nil || len(entries)+len(rounds) == 0 {
		return err
	}
	for _, id := range entries {
		if err := a.mend(ctx, caller, "sweep.orphan", mendedEntry, done, func(ctx context.Context, t *tx) (bool, error) {
			e, err := t.entry(ctx, id)
			if err != nil {
				return false, err
			}
			var live []waitlist.Offer
			var batch pg.Batch
			store.ListRivalOffers(&batch, t.in, store.WhoseRivals{Entries: []tenant.EntryID{id}}, &live)
			if err := t.Load(ctx, &batch); err != nil || len(live) > 0 || e.Status != waitlist.Offered {
				return false, err
			}
			e.Status = waitlist.Waiting
			return true, t.apply(ctx, waitlist.Changes{Entries: []waitlist.EntryChange{{Entry: e}}})
		}); err != nil {
			return err
		}
	}
	for _, id := range rounds {
		if err := a.mend(ctx, caller, "sweep.orphan", mendedRound, done, func(ctx context.Context, t *tx) (bool, error) {
			var (
				round *waitlist.Round
				live  []waitlist.Offer
				batch pg.Batch
			)
			store.FindRound(&batch, t.in, id, &round)
			store.ListLiveOffersIn(&batch, t.in, id, &live)
			if err := t.Load(ctx, &batch); err != nil || round == nil || round.Keeps == 0 || round.Claimed(live) {
				return false, err
			}
			return true, t.apply(ctx, waitlist.CloseRound(*round, waitlist.BySweep, t.now))
		}); err != nil {
			return err
		}
	}
	return nil
}

// mend runs a repair in a transaction of its own, and counts it.
func (a *App) mend(
	ctx context.Context, caller tenant.Caller, name, what string, done *Swept,
	repair func(context.Context, *tx) (bool, error),
) error {
	mended := false
	err := a.write(ctx, caller, name, func(ctx context.Context, t *tx) (err error) {
		if mended, err = repair(ctx, t); mended {
			t.tally.mended(what)
		}
		return err
	}, losing(byPromotion))
	if err == nil && mended {
		done.Mended++
	}
	return err
}

// sweepTriggers fills seats that were open already when an entry that fits them joined.
func (a *App) sweepTriggers(ctx context.Context, caller tenant.Caller, done *Swept) error {
	var sessions []tenant.SessionID
	var batch pg.Batch
	store.ListMissed(&batch, caller.Tenant, a.now(), sweepChunk, &sessions)
	if err := a.read(ctx, caller, &batch); err != nil {
		return err
	}
	for _, id := range sessions {
		if err := a.mend(ctx, caller, "sweep.trigger", mendedTrigger, done, func(ctx context.Context, t *tx) (bool, error) {
			var slot *booking.Slot
			var batch pg.Batch
			store.FindSlot(&batch, t.in, id, &slot)
			if err := t.Load(ctx, &batch); err != nil || slot == nil {
				return false, err
			}
			taken := slot.SeatsTaken
			_, err := t.fill(ctx, slot, waitlist.BySweep)
			return slot.SeatsTaken != taken, err
		}); err != nil {
			return err
		}
	}
	return nil
}
