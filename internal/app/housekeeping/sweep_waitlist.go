package housekeeping

import (
	"cmp"
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// sweepWaitlist fills seats after edits of rules, ends entries whose time has passed or that have waited too long, and
// repairs what other use cases should have done.
func (s *Service) sweepWaitlist(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	failed := s.waitlists.FillAfterEdits(ctx, caller.Tenant)
	failed = cmp.Or(failed, s.sweepEntries(ctx, caller, done))
	failed = cmp.Or(failed, s.sweepOrphans(ctx, caller, done))
	return cmp.Or(failed, s.sweepTriggers(ctx, caller, done))
}

// sweepRechecks checks entries again that were passed over, also because of credits that this sweep has renewed.
func (s *Service) sweepRechecks(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.waitlists.RecheckDue(ctx, caller.Tenant)
}

// sweepOpenings fills sessions whose booking has opened, if no alarm and no booking has.
func (s *Service) sweepOpenings(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.waitlists.FillOpenings(ctx, caller.Tenant)
}

// sweepEntries ends entries that can no longer get a seat.
func (s *Service) sweepEntries(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	now := s.engine.Now()
	find := func(b *pg.Batch, after tenant.EntryID, into *[]tenant.EntryID) {
		listEnding(b, caller, now, after, into)
	}
	t := engine.Transaction{Name: "sweep.entry"}
	return engine.InChunks(ctx, s.engine, caller, find, func(ids []tenant.EntryID) error {
		ended, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (int, error) {
			return s.endEntries(ctx, tx, ids)
		})
		done.Entries += ended
		return err
	})
}

// listEnding asks for entries that may have to end. The rules decide.
func listEnding(b *pg.Batch, caller tenant.Caller, now time.Time, after tenant.EntryID, into *[]tenant.EntryID) {
	waitlistdb.ListEndingEntries(b, caller.Tenant, now, now.Add(-waitlist.MinStale), after, engine.SweepChunk, into)
}

func (s *Service) endEntries(ctx context.Context, tx *engine.Tx, ids []tenant.EntryID) (int, error) {
	var (
		ending []waitlistdb.Ending
		layers []waitlist.Layer
		batch  pg.Batch
	)
	waitlistdb.ListEnding(&batch, tx.Tenant, ids, &ending)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &layers)
	if err := tx.Load(ctx, &batch); err != nil {
		return 0, err
	}
	ended := 0
	for _, e := range ending {
		changes := waitlist.EndStale(e.Entry, e.Places, waitlist.RulesOf(layers), tx.Now)
		s.waitlists.Write(tx, changes)
		ended += len(changes.Entries)
	}
	return ended, nil
}

// sweepOrphans repairs entries and rounds whose offers have ended. No use case should leave any.
func (s *Service) sweepOrphans(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	var (
		entries []tenant.EntryID
		rounds  []tenant.RoundID
		batch   pg.Batch
	)
	waitlistdb.ListOrphans(&batch, caller.Tenant, engine.SweepChunk, &entries, &rounds)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	for _, id := range entries {
		fix := func(ctx context.Context, tx *engine.Tx) (bool, error) {
			e, err := s.waitlists.Entry(ctx, tx, id)
			if err != nil {
				return false, err
			}
			var live []waitlist.Offer
			var batch pg.Batch
			waitlistdb.ListRivalOffers(&batch, tx.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{id}}, &live)
			if err := tx.Load(ctx, &batch); err != nil || len(live) > 0 || e.Status != waitlist.Offered {
				return false, err
			}
			e.Status = waitlist.Waiting
			s.waitlists.Write(tx, waitlist.Changes{Entries: []waitlist.EntryChange{{Entry: e}}})
			return true, nil
		}
		if err := s.repair(ctx, caller, "sweep.orphan", waitlists.MendedEntry, done, fix); err != nil {
			return err
		}
	}
	for _, id := range rounds {
		fix := func(ctx context.Context, tx *engine.Tx) (bool, error) {
			var (
				round *waitlist.Round
				live  []waitlist.Offer
				batch pg.Batch
			)
			waitlistdb.FindRound(&batch, tx.Tenant, id, &round)
			waitlistdb.ListLiveOffersIn(&batch, tx.Tenant, id, &live)
			if err := tx.Load(ctx, &batch); err != nil || round == nil || round.Keeps == 0 || round.Claimable(live) {
				return false, err
			}
			return true, s.waitlists.Apply(ctx, tx, waitlist.ReleaseRound(*round, waitlist.BySweep, tx.Now))
		}
		if err := s.repair(ctx, caller, "sweep.orphan", waitlists.MendedRound, done, fix); err != nil {
			return err
		}
	}
	return nil
}

// repair runs fix in a transaction of its own, and counts a repair if there was something to fix.
func (s *Service) repair(
	ctx context.Context, caller tenant.Caller, name, what string, done *SweepResult,
	fix func(context.Context, *engine.Tx) (bool, error),
) error {
	t := engine.Transaction{Name: name}
	fixed, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (bool, error) {
		fixed, err := fix(ctx, tx)
		if fixed {
			s.waitlists.CountRepair(tx, what)
		}
		return fixed, err
	})
	if fixed {
		done.Mended++
	}
	return err
}

// sweepTriggers fills seats that were open when an entry that fits them joined.
func (s *Service) sweepTriggers(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	sessions, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]tenant.SessionID) {
		waitlistdb.ListUnfilled(b, caller.Tenant, s.engine.Now(), engine.SweepChunk, into)
	})
	if err != nil {
		return err
	}
	for _, id := range sessions {
		fix := func(ctx context.Context, tx *engine.Tx) (bool, error) {
			var slot *booking.Slot
			var batch pg.Batch
			bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
			if err := tx.Load(ctx, &batch); err != nil || slot == nil {
				return false, err
			}
			taken := slot.SeatsTaken
			_, err := s.waitlists.Fill(ctx, tx, slot, waitlist.BySweep)
			return slot.SeatsTaken != taken, err
		}
		if err := s.repair(ctx, caller, "sweep.trigger", waitlists.MendedTrigger, done, fix); err != nil {
			return err
		}
	}
	return nil
}
