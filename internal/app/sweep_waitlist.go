package app

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// What a sweep may have to mend. Each is counted: something else should have seen to it.
const (
	mendedOffer   = "overdue_offer"  // no alarm ended it
	mendedEntry   = "orphaned_entry" // OFFERED, without a live offer
	mendedRound   = "orphaned_round" // keeps seats, and nobody may claim them
	mendedTrigger = "missed_trigger" // seats are open, somebody waits for them, and nobody was woken
)

// sweepWaitlist ends wishes whose time has passed, and those that have waited for too long; and it is the safety net of the
// offer engine.
func (a *App) sweepWaitlist(ctx context.Context, caller tenant.Caller, done *Swept) error {
	failed := a.wakeForRules(ctx, caller.Tenant)
	for _, step := range []func(context.Context, tenant.Caller, *Swept) error{a.sweepEntries, a.sweepOrphans, a.sweepTriggers} {
		if err := step(ctx, caller, done); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// sweepEntries ends entries that nothing can come of any more.
func (a *App) sweepEntries(ctx context.Context, caller tenant.Caller, done *Swept) error {
	now := a.now()
	find := func(after tenant.EntryID, into *[]tenant.EntryID) error {
		var batch pg.Batch
		findEnding(&batch, caller, now, after, into)
		return a.read(ctx, caller, &batch)
	}
	return inChunks(ctx, find, func(ids []tenant.EntryID) error {
		ended := 0
		err := a.write(ctx, caller, "sweep.entry", func(ctx context.Context, tx *engine.Tx) (err error) {
			ended, err = a.endEntries(ctx, tx, ids)
			return err
		})
		if err == nil {
			done.Entries += ended
		}
		return err
	})
}

// findEnding asks for entries whose time may have passed, or that may have waited for too long: rules say whether they have.
func findEnding(b *pg.Batch, caller tenant.Caller, now time.Time, after tenant.EntryID, into *[]tenant.EntryID) {
	store.ListEndingEntries(b, caller.Tenant, now, now.Add(-waitlist.MinStale), after, sweepChunk, into)
}

func (a *App) endEntries(ctx context.Context, tx *engine.Tx, ids []tenant.EntryID) (int, error) {
	var ending []store.Ending
	var rules []waitlist.Layer
	var batch pg.Batch
	store.ListEnding(&batch, tx.Tenant, ids, &ending)
	store.ListAllRules(&batch, tx.Tenant, &rules)
	if err := tx.Load(ctx, &batch); err != nil {
		return 0, err
	}
	ended := 0
	for _, e := range ending {
		if !e.Entry.Status.Active() || e.Entry.Status == waitlist.Offered {
			continue
		}
		// An entry goes with the last of its places.
		over := !slices.ContainsFunc(e.Places, func(p waitlist.Place) bool {
			return !p.Over(rulesAt(rules, p.Location, p.Service).Rules, tx.Now)
		})
		stale := !slices.ContainsFunc(e.Places, func(p waitlist.Place) bool {
			return !rulesAt(rules, p.Location, p.Service).Rules.Stale(e.Entry, tx.Now)
		})
		if !over && !stale {
			continue
		}
		reason := "Its time has passed."
		if !over {
			reason = "It has waited for too long."
		}
		a.left(tx, a.close(tx, e.Entry, waitlist.Expired, tenant.BookingID{}), reason, stale)
		ended++
	}
	return ended, nil
}

// sweepOrphans mends what no use case leaves behind.
func (a *App) sweepOrphans(ctx context.Context, caller tenant.Caller, done *Swept) error {
	var entries []tenant.EntryID
	var rounds []tenant.RoundID
	var batch pg.Batch
	store.ListOrphans(&batch, caller.Tenant, sweepChunk, &entries, &rounds)
	if err := a.read(ctx, caller, &batch); err != nil || len(entries)+len(rounds) == 0 {
		return err
	}
	for _, id := range entries {
		mended := 0
		err := a.write(ctx, caller, "sweep.orphan", func(ctx context.Context, tx *engine.Tx) error {
			mended = 0
			e, err := a.entry(ctx, tx, id)
			if err != nil {
				return err
			}
			var live []waitlist.Offer
			var batch pg.Batch
			store.ListRivalOffers(&batch, tx.Tenant, store.WhoseRivals{Entries: []tenant.EntryID{id}}, &live)
			if err := tx.Load(ctx, &batch); err != nil || len(live) > 0 || e.Status != waitlist.Offered {
				return err
			}
			e.Status = waitlist.Waiting
			store.UpdateEntry(tx.Tx, tx.Tenant, e, tx.Now)
			a.countMended(tx, mendedEntry)
			mended = 1
			return nil
		})
		if err != nil {
			return err
		}
		done.Mended += mended
	}
	for _, id := range rounds {
		mended := 0
		err := a.write(ctx, caller, "sweep.orphan", func(ctx context.Context, tx *engine.Tx) error {
			mended = 0
			var round *waitlist.Round
			var live []waitlist.Offer
			var batch pg.Batch
			store.FindRound(&batch, tx.Tenant, id, &round)
			store.ListLiveOffersIn(&batch, tx.Tenant, id, &live)
			if err := tx.Load(ctx, &batch); err != nil || round == nil || round.Keeps == 0 || sharing(live) > 0 {
				return err
			}
			mended = 1
			a.countMended(tx, mendedRound)
			a.keepOrFree(tx, *round, 0)
			return a.rollOn(ctx, tx, *round, waitlist.BySweep)
		}, losing(seats.LostByPromotion))
		if err != nil {
			return err
		}
		done.Mended += mended
	}
	return nil
}

// sweepTriggers wakes the engine for seats that have been open since before somebody who fits them joined.
func (a *App) sweepTriggers(ctx context.Context, caller tenant.Caller, done *Swept) error {
	var sessions []tenant.SessionID
	var batch pg.Batch
	store.ListMissed(&batch, caller.Tenant, a.now(), sweepChunk, &sessions)
	if err := a.read(ctx, caller, &batch); err != nil {
		return err
	}
	for _, id := range sessions {
		mended := false
		err := a.write(ctx, caller, "sweep.trigger", func(ctx context.Context, tx *engine.Tx) error {
			mended = false
			var slot *booking.Slot
			var batch pg.Batch
			store.FindSlot(&batch, tx.Tenant, id, &slot)
			if err := tx.Load(ctx, &batch); err != nil || slot == nil {
				return err
			}
			taken := slot.SeatsTaken
			_, err := a.fill(ctx, tx, slot, waitlist.BySweep)
			if mended = slot.SeatsTaken != taken; mended {
				a.countMended(tx, mendedTrigger)
			}
			return err
		}, losing(seats.LostByPromotion))
		if err != nil {
			return err
		}
		if mended {
			done.Mended++
		}
	}
	return nil
}
