package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// ExpireHolds ends the holds of a tenant that have run out by now, session by session, and counts them. It may run on
// several nodes at once: each hold ends once.
func (s *Service) ExpireHolds(ctx context.Context, id tenant.TenantID) (int, error) {
	const page = 50
	expired := 0
	for {
		var sessions []tenant.SessionID
		var batch pg.Batch
		bookingdb.ListDueSessions(&batch, id, s.engine.Now(), page, &sessions)
		if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
			return expired, err
		}
		for _, session := range sessions {
			n, err := s.expireHolds(ctx, id, session)
			if err != nil {
				return expired, err
			}
			expired += n
		}
		if len(sessions) < page {
			return expired, nil
		}
	}
}

func (s *Service) expireHolds(ctx context.Context, id tenant.TenantID, session tenant.SessionID) (int, error) {
	expire := func(ctx context.Context, tx *engine.Tx) (int, error) {
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, tx.Tenant, session, &slot)
		if err := tx.Load(ctx, &batch); err != nil || slot == nil {
			return 0, err
		}
		expired, err := seats.ExpiredHolds(ctx, tx, *slot)
		if err != nil {
			return 0, err
		}
		return len(expired), s.EndExpiredHolds(ctx, tx, slot, expired)
	}
	return engine.Run(ctx, s.engine, tenant.System(id), engine.Spec[int]{
		Name: "booking.expire", Races: []engine.Race{seats.PromotionRace},
		Locks: engine.Locks{Together: []engine.Key{session.UUID}, Solo: true},
		New:   func() engine.Operation[int] { return engine.RunFunc[int](expire) },
	})
}
