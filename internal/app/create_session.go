package app

import (
	"context"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateSession makes a session: a draft, or one that is on sale at once. It may lie in the past,
// so that what took place can be put on record.
func (a *App) CreateSession(ctx context.Context, caller tenant.Caller, in session.Input, publish bool) (session.Session, error) {
	var made session.Session
	err := a.write(ctx, caller, "session.create", func(ctx context.Context, t *tx) error {
		at, err := t.setting(ctx, session.Details{Service: in.Service, Location: in.Location, Resource: in.Resource, Coach: in.Coach})
		if err != nil {
			return err
		}
		made, err = session.New(tenant.Next[tenant.SessionID](t.mint), in, at, t.now)
		if err != nil {
			return under("session", err)
		}
		if publish {
			made.State = catalog.Published
		}
		scheduledb.InsertSessions(t.Tx, t.in, []session.Session{made})
		t.tell(outbox.SessionCreated, nil, made)
		t.audit("session.created", "session", made.ID.UUID, "", catalog.Changes(nil, made.Facts()))
		if made.State == catalog.Published && made.StartsAt.After(t.now) {
			made, _, err = t.refill(ctx, made, waitlist.ByPublish)
		}
		return err
	}, answers(&made), losing(byPromotion))
	return made, scheduleRefusal("session", err)
}
