package housekeeping

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// awaitNext sets the alarm for what runs out next in a tenant: a hold or an offer.
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

// ExpireDue ends what has run out in a tenant, and sets the alarm for what runs out next. It tells how many holds it ended, and
// how many offers should have been ended before.
func (s *Service) ExpireDue(ctx context.Context, id tenant.TenantID) (holds, overdue int, err error) {
	holds, failed := s.waitlists.ExpireHolds(ctx, id)
	_, overdue, err = s.waitlists.ExpireDueOffers(ctx, id)
	if err := errors.Join(failed, err); err != nil {
		return holds, overdue, err
	}
	return holds, overdue, s.awaitNext(ctx, id)
}

// RunAlarms ends holds and offers when they run out, on the moment, until ctx ends. It knows of those that
// this node made and of those that it found with a sweep. Beside that it gives seats that are open where rules were edited on this node.
func (s *Service) RunAlarms(ctx context.Context, log *slog.Logger) {
	var both sync.WaitGroup
	defer both.Wait()
	// Apart: there may be many seats, and offers run out meanwhile.
	both.Go(func() {
		s.waitlists.Edited.Run(ctx, s.engine.Now, func(id tenant.TenantID) {
			if err := s.waitlists.FillAfterEdits(ctx, id); err != nil && ctx.Err() == nil {
				log.ErrorContext(ctx, "not all open seats were looked at after rules were edited; the next sweep will", slog.String("tenant_id", id.String()), slog.Any("error", err))
			}
		})
	})
	s.engine.Alarms.Run(ctx, s.engine.Now, func(id tenant.TenantID) {
		if _, _, err := s.ExpireDue(ctx, id); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "holds and offers not ended; the next sweep will", slog.String("tenant_id", id.String()), slog.Any("error", err))
		}
	})
}
