package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// PublishSession publishes a draft. A published session does not change. The session must have the expected version;
// nil matches any.
func (s *Service) PublishSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int,
) (session.Session, error) {
	done, err := s.changeState(ctx, caller, stateChange{
		name: "session.publish", event: event.SessionPublished{Batch: tenant.BatchID{}}, id: id, expect: expect,
		apply: session.Session.Publish, trigger: waitlist.ByPublish,
	})
	return done.Session, err
}

// UnpublishSession makes a session a draft again. A draft does not change. The session must have the expected version;
// nil matches any.
func (s *Service) UnpublishSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int,
) (session.Session, error) {
	done, err := s.changeState(ctx, caller, stateChange{
		name: "session.unpublish", event: event.SessionUnpublished{}, id: id, expect: expect,
		apply: session.Session.Unpublish,
	})
	return done.Session, err
}
