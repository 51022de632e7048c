package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// DeleteSession deletes a session without bookings and waitlist entries: no list shows it any more. The session must
// have the expected version; nil matches any. One that has ended is deleted only if that is meant.
func (s *Service) DeleteSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int, r Removal,
) error {
	if err := session.CheckReason(r.Reason); err != nil {
		return err
	}
	t := engine.Transaction{Name: "session.delete", Replay: true}
	_, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (struct{}, error) {
		found, err := findWithNoShows(ctx, tx, id, expect)
		if err != nil {
			return struct{}{}, err
		}
		if err := found.CheckEnded(r.IncludeEnded, tx.Now); err != nil {
			return struct{}{}, err
		}
		if err := found.CheckUnbooked(); err != nil {
			return struct{}{}, err
		}
		all := []session.Session{found.Session}
		if _, err := s.deleteSessions(ctx, tx, all, r.Reason, false, tenant.BatchID{}); err != nil {
			return struct{}{}, err
		}
		record.Audit(tx, "session.deleted", "session", id.UUID, r.Reason, nil)
		return struct{}{}, nil
	})
	return err
}

// deleteSessions marks sessions as deleted, cancels their bookings and entries, and refunds all credits.
func (s *Service) deleteSessions(
	ctx context.Context, tx *engine.Tx, sessions []session.Session, reason string, notify bool, batch tenant.BatchID,
) (CancelCounts, error) {
	ids := idsOf(sessions)
	counts, err := s.cancelAll(ctx, tx, ids, reason, notify)
	if err != nil {
		return counts, err
	}
	scheduledb.DeleteSessions(tx.Tx, tx.Tenant, ids, batch, tx.Now)
	appendEvents(tx, always(event.SessionDeleted{Reason: reason, Notify: notify, Batch: batch}), sessions...)
	return counts, nil
}
