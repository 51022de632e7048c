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
// have the expected version; nil matches any.
func (s *Service) DeleteSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int, reason string,
) error {
	if err := session.CheckReason(reason); err != nil {
		return err
	}
	t := engine.Transaction{Name: "session.delete", Replay: true}
	_, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (struct{}, error) {
		found, err := findSession(ctx, tx, id, expect)
		if err != nil {
			return struct{}{}, err
		}
		if err := found.CheckUnbooked(); err != nil {
			return struct{}{}, err
		}
		all := []session.Session{found.Session}
		if _, err := s.deleteSessions(ctx, tx, all, reason, false, tenant.BatchID{}); err != nil {
			return struct{}{}, err
		}
		record.Audit(tx, "session.deleted", "session", id.UUID, reason, nil)
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
