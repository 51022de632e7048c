package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// CancelledSession is a session that was called off, and what went with it.
type CancelledSession struct {
	Session                    session.Session
	Bookings, Entries, Credits int
}

// CancelSession calls a session off with its bookings and entries, and gives every credit back. A session that
// is called off already stays as it is.
func (s *Service) CancelSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID, reason string, notify bool) (CancelledSession, error) {
	var c CancelledSession
	err := s.engine.Write(ctx, caller, "session.cancel", func(ctx context.Context, tx *engine.Tx) error {
		before, err := scheduled(ctx, tx, id)
		if err != nil {
			return err
		}
		after, changed, err := before.Cancel(reason, tx.Now)
		c = CancelledSession{Session: after}
		if err != nil || !changed {
			return err
		}
		gone, err := s.callOff(ctx, tx, []session.Session{after}, reason, notify, tenant.BatchID{})
		if err != nil {
			return err
		}
		c.Bookings, c.Entries, c.Credits = gone.Bookings, gone.Entries, gone.Credits
		tx.Audit("session.cancelled", "session", id.UUID, reason, catalog.AuditChanges(before.Facts(), after.Facts()))
		return nil
	}, engine.Answers(&c))
	return c, err
}

// callOff writes sessions that were cancelled just now, and cancels what there is in them.
func (s *Service) callOff(ctx context.Context, tx *engine.Tx, sessions []session.Session, reason string, notify bool, batch tenant.BatchID) (cancelled, error) {
	gone, err := s.cancelAll(ctx, tx, idsOf(sessions), reason, notify)
	if err != nil {
		return gone, err
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, sessions)
	tell(tx, outbox.SessionCancelled, func(session.Session) map[string]any { return ending(reason, notify, batch) }, sessions...)
	return gone, nil
}

// ending is the data of the event that ends a session.
func ending(reason string, notify bool, batch tenant.BatchID) map[string]any {
	data := map[string]any{"reason": reason, "notify": notify}
	if !batch.IsZero() {
		data["batch_id"] = batch.String()
	}
	return data
}
