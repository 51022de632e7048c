package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Removal says how a session is cancelled or deleted.
type Removal struct {
	Reason       string
	Notify       bool // whether the people affected are told; a session that is deleted has none
	IncludeEnded bool // also if it has ended
}

// CancelledSession is a cancelled session with what was cancelled in it.
type CancelledSession struct {
	Session session.Session
	CancelCounts
}

// CancelSession cancels a session with its bookings and entries, and refunds all their credits. A session that is
// already cancelled does not change. One that has ended is cancelled only if that is meant.
func (s *Service) CancelSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, r Removal,
) (CancelledSession, error) {
	t := engine.Transaction{Name: "session.cancel", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (CancelledSession, error) {
		before, err := findSession(ctx, tx, id, nil)
		if err != nil {
			return CancelledSession{}, err
		}
		after, changed, err := before.Cancel(r.Reason, tx.Now)
		done := CancelledSession{Session: after}
		if err != nil || !changed {
			return done, err
		}
		if err := before.CheckEnded(r.IncludeEnded, tx.Now); err != nil {
			return done, err
		}
		done.CancelCounts, err = s.cancelSessions(ctx, tx, []session.Session{after}, r.Reason, r.Notify, tenant.BatchID{})
		if err != nil {
			return done, err
		}
		done.Session.SeatsTaken = done.KeptSeats
		changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
		record.Audit(tx, "session.cancelled", "session", id.UUID, r.Reason, changes)
		return done, nil
	})
}

// cancelSessions writes sessions that were just cancelled, and cancels their bookings and entries.
func (s *Service) cancelSessions(
	ctx context.Context, tx *engine.Tx, sessions []session.Session, reason string, notify bool, batch tenant.BatchID,
) (CancelCounts, error) {
	counts, err := s.cancelAll(ctx, tx, idsOf(sessions), reason, notify)
	if err != nil {
		return counts, err
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, sessions)
	appendEvents(tx, always(event.SessionCancelled{Reason: reason, Notify: notify, Batch: batch}), sessions...)
	return counts, nil
}
