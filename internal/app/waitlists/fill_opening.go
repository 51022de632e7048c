package waitlists

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// FillOpening gives half of a session's open seats to those who have waited for its booking to open, once it has. It
// comes before whatever else takes seats, and happens once: Slot.OpeningDue says whether it is still to do. It takes
// more reads, so in a shared transaction it returns engine.ErrSolo. Filled reports whether there was something to do.
func (s *Service) FillOpening(ctx context.Context, tx *engine.Tx, slot *booking.Slot) (filled bool, err error) {
	if !s.openingDue(tx, slot) {
		return false, nil
	}
	if tx.Shared() {
		return false, engine.ErrSolo
	}
	_, err = s.fillOpening(ctx, tx, slot)
	return true, err
}

func (*Service) openingDue(tx *engine.Tx, slot *booking.Slot) bool {
	return slot.OpeningDue && !tx.Now.Before(slot.Opens())
}

func (s *Service) fillOpening(ctx context.Context, tx *engine.Tx, slot *booking.Slot) (promoted int, err error) {
	if err := lockQueues(tx, queueOf(*slot)); err != nil {
		return 0, err
	}
	slot.OpeningDue = false
	bookingdb.SetOpening(tx.Tx, tx.Tenant, false, slot.ID)
	return s.fillSeats(ctx, tx, slot, waitlist.ByOpening, nil)
}

// FillOpenings fills a tenant's sessions whose booking has opened for those who wait, each in a transaction of its own.
// Several nodes may run it at once, and members may book meanwhile: each session is filled once.
func (s *Service) FillOpenings(ctx context.Context, id tenant.TenantID) error {
	caller, now := tenant.System(id), s.engine.Now()
	find := func(b *pg.Batch, after tenant.SessionID, into *[]tenant.SessionID) {
		bookingdb.ListOpenings(b, id, now, after, engine.SweepChunk, into)
	}
	return engine.InChunks(ctx, s.engine, caller, find, func(sessions []tenant.SessionID) (failed error) {
		for _, session := range sessions {
			t := engine.Transaction{Name: "waitlist.opening"}
			failed = cmp.Or(failed, engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
				return s.openSession(ctx, tx, session)
			}))
		}
		return failed
	})
}

// openSession fills a session whose booking has opened. One that is deleted awaits nothing any more.
func (s *Service) openSession(ctx context.Context, tx *engine.Tx, id tenant.SessionID) error {
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	if slot == nil {
		bookingdb.SetOpening(tx.Tx, tx.Tenant, false, id)
		return nil
	}
	_, err := s.FillOpening(ctx, tx, slot)
	return err
}
