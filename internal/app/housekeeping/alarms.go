package housekeeping

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// awaitNext sets the alarm for the next hold or offer of a tenant that expires.
func (s *Service) awaitNext(ctx context.Context, id tenant.TenantID) error {
	var next *time.Time
	var batch pg.Batch
	bookingdb.FindNextExpiry(&batch, id, &next)
	if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
		return err
	}
	if next != nil {
		s.engine.Alarms.Set(id, *next)
	}
	return nil
}

// ExpireDue ends the expired holds and offers of a tenant, and sets the alarm for the next one. It counts the holds
// that it ended, and the offers that an alarm should have ended before.
func (s *Service) ExpireDue(ctx context.Context, id tenant.TenantID) (holds, overdue int, err error) {
	holds, failed := s.waitlists.ExpireHolds(ctx, id)
	_, overdue, err = s.waitlists.ExpireDueOffers(ctx, id)
	if err := errors.Join(failed, err); err != nil {
		return holds, overdue, err
	}
	return holds, overdue, s.awaitNext(ctx, id)
}

// FillDue fills a tenant's open seats after edits of its rules, and for entries that were passed over and whose reason
// may have gone, and gives those who have waited for it seats of sessions whose booking has opened. It renews
// subscriptions first, and sets the alarm for the next one of a member who waits, and for the next opening.
func (s *Service) FillDue(ctx context.Context, id tenant.TenantID) error {
	var renewal, opening *time.Time
	var batch pg.Batch
	failed := errors.Join(
		s.waitlists.FillOpenings(ctx, id),
		s.sweepSubscriptions(ctx, tenant.System(id), new(SweepResult)),
		s.waitlists.FillAfterEdits(ctx, id), s.waitlists.RecheckDue(ctx, id))
	now := s.engine.Now()
	bookingdb.FindNextRenewal(&batch, id, now, &renewal)
	bookingdb.FindNextOpening(&batch, id, &opening)
	if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
		return errors.Join(failed, err)
	}
	for _, next := range []*time.Time{renewal, opening} {
		if next != nil && next.After(now) { // what is due was done, or the next sweep tries it again
			s.engine.Fills.Set(id, *next)
		}
	}
	return failed
}

// RunAlarms ends holds and offers as soon as they expire, until ctx ends. It knows those that this node made and those
// that its sweeps found. It also fills open seats after rules were edited on this node or an entry that was passed over
// could get them, and works on imports.
func (s *Service) RunAlarms(ctx context.Context, log *slog.Logger) {
	var others sync.WaitGroup
	defer others.Wait()
	// On goroutines of their own: there may be many seats to fill, and holds and offers must not wait for that.
	others.Go(func() {
		s.engine.Fills.Run(ctx, s.engine.Now, 1, alarm.Logging(ctx, log,
			"not all open seats were filled; the next sweep will",
			func(id tenant.TenantID) error { return s.FillDue(ctx, id) }))
	})
	others.Go(func() {
		s.imports.Due.Run(ctx, s.engine.Now, 1, alarm.Logging(ctx, log,
			"an import was not completed; it will be tried again",
			func(id tenant.TenantID) error { return s.imports.RunDue(ctx, id) }))
	})
	s.engine.Alarms.Run(ctx, s.engine.Now, 1, alarm.Logging(ctx, log,
		"holds and offers not ended; the next sweep will",
		func(id tenant.TenantID) error {
			_, _, err := s.ExpireDue(ctx, id)
			return err
		}))
}
