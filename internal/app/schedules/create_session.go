package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateSession creates a session as a draft, or published. It may be in the past, to record one that took place.
func (s *Service) CreateSession(
	ctx context.Context, caller tenant.Caller, in session.Input, publish bool,
) (session.Session, error) {
	t := engine.Transaction{Name: "session.create", Replay: true}
	create := func(ctx context.Context, tx *engine.Tx) (session.Session, error) {
		at, err := loadReferences(ctx, tx, session.Details{
			Service: in.Service, Location: in.Location, Resource: in.Resource, Coach: in.Coach,
		})
		if err != nil {
			return session.Session{}, err
		}
		created, err := session.New(tenant.NextID[tenant.SessionID](tx.IDs), in, at, tx.Now)
		if err != nil {
			return created, inPart("session", err)
		}
		if publish {
			created.State = catalog.Published
		}
		if err := tx.Grow(ctx, s.quota, 1); err != nil {
			return created, err
		}
		scheduledb.InsertSessions(tx.Tx, tx.Tenant, []session.Session{created})
		appendEvents(tx, createdSession, created)
		record.Audit(tx, "session.created", "session", created.ID.UUID, "", catalog.AuditChanges(nil, created.AuditFields()))
		if !publish || !created.StartsAt.After(tx.Now) {
			return created, nil
		}
		after, err := s.fill(ctx, tx, created, waitlist.ByPublish)
		return after.Session, err
	}
	created, err := engine.Transact(ctx, s.engine, caller, t, create)
	return created, explainConflict("session", err)
}
