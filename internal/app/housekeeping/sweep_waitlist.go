package housekeeping

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// sweepWaitlist ends entries whose time has passed, and those that have waited too long. It also repairs what other use
// cases should have done.
func (s *Service) sweepWaitlist(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	failed := s.waitlists.FillAfterEdits(ctx, caller.Tenant)
	steps := []func(context.Context, tenant.Caller, *SweepResult) error{s.sweepEntries, s.sweepOrphans, s.sweepTriggers}
	for _, step := range steps {
		if err := step(ctx, caller, done); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// sweepEntries ends entries that can no longer get a seat.
func (s *Service) sweepEntries(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	now := s.engine.Now()
	find := func(after tenant.EntryID, into *[]tenant.EntryID) error {
		var batch pg.Batch
		findEnding(&batch, caller, now, after, into)
		return s.engine.Read(ctx, caller, &batch)
	}
	return engine.InChunks(ctx, find, func(ids []tenant.EntryID) error {
		ended := 0
		err := s.engine.Write(ctx, caller, "sweep.entry", func(ctx context.Context, tx *engine.Tx) (err error) {
			ended, err = s.endEntries(ctx, tx, ids)
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
	waitlistdb.ListEndingEntries(b, caller.Tenant, now, now.Add(-waitlist.MinStale), after, engine.SweepChunk, into)
}

func (s *Service) endEntries(ctx context.Context, tx *engine.Tx, ids []tenant.EntryID) (int, error) {
	var (
		ending []waitlistdb.Ending
		rules  []waitlist.Layer
		batch  pg.Batch
	)
	waitlistdb.ListEnding(&batch, tx.Tenant, ids, &ending)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &rules)
	if err := tx.Load(ctx, &batch); err != nil {
		return 0, err
	}
	ended := 0
	for _, e := range ending {
		changes := waitlist.EndStale(e.Entry, e.Places, waitlist.RulesOf(rules), tx.Now)
		if err := s.waitlists.Apply(ctx, tx, changes); err != nil {
			return ended, err
		}
		ended += len(changes.Entries)
	}
	return ended, nil
}

// sweepOrphans repairs entries and rounds whose offers have ended. No use case leaves any.
func (s *Service) sweepOrphans(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	var (
		entries []tenant.EntryID
		rounds  []tenant.RoundID
		batch   pg.Batch
	)
	waitlistdb.ListOrphans(&batch, caller.Tenant, engine.SweepChunk, &entries, &rounds)
	if err := s.engine.Read(ctx, caller, &batch); err != nil || len(entries)+len(rounds) == 0 {
		return err
	}
	for _, id := range entries {
		repair := func(ctx context.Context, tx *engine.Tx) (bool, error) {
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
			return true, s.waitlists.Apply(ctx, tx, waitlist.Changes{Entries: []waitlist.EntryChange{{Entry: e}}})
		}
		if err := s.mend(ctx, caller, "sweep.orphan", waitlists.MendedEntry, done, repair); err != nil {
			return err
		}
	}
	for _, id := range rounds {
		repair := func(ctx context.Context, tx *engine.Tx) (bool, error) {
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
		if err := s.mend(ctx, caller, "sweep.orphan", waitlists.MendedRound, done, repair); err != nil {
			return err
		}
	}
	return nil
}

// mend runs a repair in a transaction of its own, and counts it.
func (s *Service) mend(
	ctx context.Context, caller tenant.Caller, name, what string, done *SweepResult,
	repair func(context.Context, *engine.Tx) (bool, error),
) error {
	mended := false
	err := s.engine.Write(ctx, caller, name, func(ctx context.Context, tx *engine.Tx) (err error) {
		if mended, err = repair(ctx, tx); mended {
			s.waitlists.CountRepair(tx, what)
		}
		return err
	}, engine.Losing(seats.PromotionRace))
	if err == nil && mended {
		done.Mended++
	}
	return err
}

// sweepTriggers fills seats that were open already when an entry that fits them joined.
func (s *Service) sweepTriggers(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	var sessions []tenant.SessionID
	var batch pg.Batch
	waitlistdb.ListUnfilled(&batch, caller.Tenant, s.engine.Now(), engine.SweepChunk, &sessions)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	for _, id := range sessions {
		repair := func(ctx context.Context, tx *engine.Tx) (bool, error) {
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
		if err := s.mend(ctx, caller, "sweep.trigger", waitlists.MendedTrigger, done, repair); err != nil {
			return err
		}
	}
	return nil
}
