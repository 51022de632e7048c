package housekeeping

import (
	"context"
	"slices"
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

// sweepWaitlist ends wishes whose time has passed, and those that have waited for too long; and it is the safety net of the
// offer engine.
func (s *Service) sweepWaitlist(ctx context.Context, caller tenant.Caller, done *Swept) error {
	failed := s.waitlists.WakeForRules(ctx, caller.Tenant)
	for _, step := range []func(context.Context, tenant.Caller, *Swept) error{s.sweepEntries, s.sweepOrphans, s.sweepTriggers} {
		if err := step(ctx, caller, done); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// sweepEntries ends entries that nothing can come of any more.
func (s *Service) sweepEntries(ctx context.Context, caller tenant.Caller, done *Swept) error {
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

// findEnding asks for entries whose time may have passed, or that may have waited for too long: rules say whether they have.
func findEnding(b *pg.Batch, caller tenant.Caller, now time.Time, after tenant.EntryID, into *[]tenant.EntryID) {
	waitlistdb.ListEndingEntries(b, caller.Tenant, now, now.Add(-waitlist.MinStale), after, engine.SweepChunk, into)
}

func (s *Service) endEntries(ctx context.Context, tx *engine.Tx, ids []tenant.EntryID) (int, error) {
	var ending []waitlistdb.Ending
	var rules []waitlist.Layer
	var batch pg.Batch
	waitlistdb.ListEnding(&batch, tx.Tenant, ids, &ending)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &rules)
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
			return !p.Over(waitlist.RulesAt(rules, p.Location, p.Service).Rules, tx.Now)
		})
		stale := !slices.ContainsFunc(e.Places, func(p waitlist.Place) bool {
			return !waitlist.RulesAt(rules, p.Location, p.Service).Rules.Stale(e.Entry, tx.Now)
		})
		if !over && !stale {
			continue
		}
		reason := "Its time has passed."
		if !over {
			reason = "It has waited for too long."
		}
		s.waitlists.Left(tx, s.waitlists.Close(tx, e.Entry, waitlist.Expired, tenant.BookingID{}), reason, stale)
		ended++
	}
	return ended, nil
}

// sweepOrphans mends what no use case leaves behind.
func (s *Service) sweepOrphans(ctx context.Context, caller tenant.Caller, done *Swept) error {
	var entries []tenant.EntryID
	var rounds []tenant.RoundID
	var batch pg.Batch
	waitlistdb.ListOrphans(&batch, caller.Tenant, engine.SweepChunk, &entries, &rounds)
	if err := s.engine.Read(ctx, caller, &batch); err != nil || len(entries)+len(rounds) == 0 {
		return err
	}
	for _, id := range entries {
		mended := 0
		err := s.engine.Write(ctx, caller, "sweep.orphan", func(ctx context.Context, tx *engine.Tx) error {
			mended = 0
			e, err := s.waitlists.Entry(ctx, tx, id)
			if err != nil {
				return err
			}
			var live []waitlist.Offer
			var batch pg.Batch
			waitlistdb.ListRivalOffers(&batch, tx.Tenant, waitlistdb.WhoseRivals{Entries: []tenant.EntryID{id}}, &live)
			if err := tx.Load(ctx, &batch); err != nil || len(live) > 0 || e.Status != waitlist.Offered {
				return err
			}
			e.Status = waitlist.Waiting
			waitlistdb.UpdateEntry(tx.Tx, tx.Tenant, e, tx.Now)
			s.waitlists.CountMended(tx, waitlists.MendedEntry)
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
		err := s.engine.Write(ctx, caller, "sweep.orphan", func(ctx context.Context, tx *engine.Tx) error {
			mended = 0
			var round *waitlist.Round
			var live []waitlist.Offer
			var batch pg.Batch
			waitlistdb.FindRound(&batch, tx.Tenant, id, &round)
			waitlistdb.ListLiveOffersIn(&batch, tx.Tenant, id, &live)
			if err := tx.Load(ctx, &batch); err != nil || round == nil || round.Keeps == 0 || waitlists.Sharing(live) > 0 {
				return err
			}
			mended = 1
			s.waitlists.CountMended(tx, waitlists.MendedRound)
			s.waitlists.KeepOrFree(tx, *round, 0)
			return s.waitlists.RollOn(ctx, tx, *round, waitlist.BySweep)
		}, engine.Losing(seats.LostByPromotion))
		if err != nil {
			return err
		}
		done.Mended += mended
	}
	return nil
}

// sweepTriggers wakes the engine for seats that have been open since before somebody who fits them joined.
func (s *Service) sweepTriggers(ctx context.Context, caller tenant.Caller, done *Swept) error {
	var sessions []tenant.SessionID
	var batch pg.Batch
	waitlistdb.ListMissed(&batch, caller.Tenant, s.engine.Now(), engine.SweepChunk, &sessions)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	for _, id := range sessions {
		mended := false
		err := s.engine.Write(ctx, caller, "sweep.trigger", func(ctx context.Context, tx *engine.Tx) error {
			mended = false
			var slot *booking.Slot
			var batch pg.Batch
			bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
			if err := tx.Load(ctx, &batch); err != nil || slot == nil {
				return err
			}
			taken := slot.SeatsTaken
			_, err := s.waitlists.Fill(ctx, tx, slot, waitlist.BySweep)
			if mended = slot.SeatsTaken != taken; mended {
				s.waitlists.CountMended(tx, waitlists.MendedTrigger)
			}
			return err
		}, engine.Losing(seats.LostByPromotion))
		if err != nil {
			return err
		}
		if mended {
			done.Mended++
		}
	}
	return nil
}
