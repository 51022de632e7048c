package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateSession makes a session: a draft, or one that is on sale at once. It may lie in the past,
// so that what took place can be put on record.
func (s *Service) CreateSession(ctx context.Context, caller tenant.Caller, in session.Input, publish bool) (session.Session, error) {
	var made session.Session
	err := s.engine.Write(ctx, caller, "session.create", func(ctx context.Context, tx *engine.Tx) error {
		at, err := setting(ctx, tx, session.Details{Service: in.Service, Location: in.Location, Resource: in.Resource, Coach: in.Coach})
		if err != nil {
			return err
		}
		made, err = session.New(tenant.NextID[tenant.SessionID](tx.IDs), in, at, tx.Now)
		if err != nil {
			return under("session", err)
		}
		if publish {
			made.State = catalog.Published
		}
		scheduledb.InsertSessions(tx.Tx, tx.Tenant, []session.Session{made})
		tell(tx, outbox.SessionCreated, nil, made)
		tx.Audit("session.created", "session", made.ID.UUID, "", catalog.AuditChanges(nil, made.Facts()))
		if made.State == catalog.Published && made.StartsAt.After(tx.Now) {
			made, _, err = s.refill(ctx, tx, made, waitlist.ByPublish)
		}
		return err
	}, engine.Answers(&made), engine.Losing(seats.PromotionRace))
	return made, scheduleRefusal("session", err)
}
