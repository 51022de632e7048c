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

// RunAlarms ends holds and offers as soon as they expire, until ctx ends. It knows those that this node made and those
// that its sweeps found. It also fills open seats after rules were edited on this node, and works on imports.
func (s *Service) RunAlarms(ctx context.Context, log *slog.Logger) {
	var others sync.WaitGroup
	defer others.Wait()
	// On goroutines of their own: there may be many seats to fill, and holds and offers must not wait for that.
	others.Go(func() {
		s.waitlists.Edited.Run(ctx, s.engine.Now, 1, alarm.Logging(ctx, log,
			"not all open seats were filled after an edit of rules; the next sweep will",
			func(id tenant.TenantID) error { return s.waitlists.FillAfterEdits(ctx, id) }))
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
