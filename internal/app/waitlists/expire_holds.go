package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// EndExpiredHolds ends the expired holds of a session, fills their seats from the waitlist, and returns them. Filling
// takes more reads, so if there are any, a shared transaction gets engine.ErrSolo.
func (s *Service) EndExpiredHolds(ctx context.Context, tx *engine.Tx, slot *booking.Slot) ([]booking.Booking, error) {
	expired, err := seats.ExpiredHolds(ctx, tx, *slot)
	switch {
	case err != nil || len(expired) == 0:
		return nil, err
	case tx.Shared():
		return nil, engine.ErrSolo
	}
	members := make([]tenant.MemberID, len(expired))
	for i, b := range expired {
		members[i] = b.Member
		b = booking.Expire(b, tx.Now)
		seats.EndHold(tx, &b, event.BookingExpired{})
		slot.SeatsTaken -= b.Party
	}
	_, err = s.Fill(ctx, tx, slot, waitlist.ByExpiredHold, members...)
	return expired, err
}

// ExpireHolds ends the expired holds of a tenant, session by session, and counts them. Several nodes may run it at
// once: each hold ends once.
func (s *Service) ExpireHolds(ctx context.Context, id tenant.TenantID) (int, error) {
	const page = 50
	expired := 0
	for {
		sessions, err := engine.List(ctx, s.engine, tenant.System(id), func(b *pg.Batch, into *[]tenant.SessionID) {
			bookingdb.ListDueSessions(b, id, s.engine.Now(), page, into)
		})
		if err != nil {
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
		slot, err := engine.Find(ctx, tx, nil, func(b *pg.Batch, into **booking.Slot) {
			bookingdb.FindSlot(b, tx.Tenant, session, into)
		})
		if err != nil {
			return 0, err
		}
		expired, err := s.EndExpiredHolds(ctx, tx, &slot) // a session that is deleted has no holds
		return len(expired), err
	}
	return engine.RunBatched(ctx, s.engine, tenant.System(id), engine.Batched[int]{
		Name: "booking.expire",
		Locate: func(context.Context, engine.Reader) (engine.Located[int], error) {
			return engine.Alone(engine.Locks{Together: []engine.Key{session.UUID}}, expire), nil
		},
	})
}
