package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// samples is how many sessions a preview lists.
const samples = 20

// Preview says what a bulk operation would change.
type Preview = scheduledb.Preview

// Sample is a session that a bulk operation would change.
type Sample = scheduledb.Sample

// BulkRequest selects the sessions of a bulk operation.
type BulkRequest struct {
	session.Filter
	// IncludeBooked includes sessions that have bookings, no-shows or waitlist entries.
	IncludeBooked bool
	// IncludeEnded includes sessions that have ended, when they are cancelled or deleted.
	IncludeEnded bool
	// Token of a preview: the sessions must be as they were then. Empty: whatever matches.
	Token  string
	Reason string
	Notify bool
}

func (r BulkRequest) query(a session.BulkAction, limit int, now time.Time) scheduledb.SessionQuery {
	q := scheduledb.SessionQuery{
		Filter: r.Applicable(a), Unbooked: !r.IncludeBooked && a != session.BulkPublish, Limit: limit,
	}
	if !r.IncludeEnded && a.ChangesEnded() {
		q.EndAfter = now
	}
	return q
}

// PreviewBulkSessions returns what a bulk operation would change, with a token for it. Without a token, it is too much
// for one operation.
func (s *Service) PreviewBulkSessions(
	ctx context.Context, caller tenant.Caller, a session.BulkAction, r BulkRequest,
) (found Preview, token string, err error) {
	var matches []session.Match
	now := s.engine.Now()
	// One snapshot, so that the token is about the sessions that are counted.
	err = s.engine.Snapshot(ctx, caller, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		scheduledb.PreviewSessions(&batch, caller.Tenant, r.query(a, samples, now), &found)
		scheduledb.ListMatches(&batch, caller.Tenant, r.query(a, session.MaxBulk+1, now), &matches)
		return tx.Load(ctx, &batch)
	})
	if err != nil || len(matches) > session.MaxBulk {
		return found, "", err
	}
	return found, session.BulkToken(a, matches), nil
}

// BulkResult is the result of a bulk operation.
type BulkResult struct {
	Batch    tenant.BatchID
	Sessions int // that it changed
	Ended    int // sessions that it left out because they have ended
	CancelCounts
}

// BulkPublishSessions publishes the drafts that the request selects.
func (s *Service) BulkPublishSessions(ctx context.Context, caller tenant.Caller, r BulkRequest) (BulkResult, error) {
	publish := func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) error {
		var published []session.Session
		for _, s := range all {
			after, changed, err := s.Publish(tx.Now)
			if err != nil {
				return err
			}
			if changed {
				published = append(published, after)
			}
		}
		done.Sessions = len(published)
		scheduledb.UpdateSessions(tx.Tx, tx.Tenant, published)
		appendEvents(tx, always(event.SessionPublished{Batch: done.Batch}), published...)
		_, _, err := s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, idsOf(published)...)
		return err
	}
	return s.bulk(ctx, caller, session.BulkPublish, r, publish)
}

// BulkCancelSessions cancels the sessions that the request selects, as CancelSession does.
func (s *Service) BulkCancelSessions(ctx context.Context, caller tenant.Caller, r BulkRequest) (BulkResult, error) {
	cancel := func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) (err error) {
		var cancelled []session.Session
		for _, s := range all {
			after, changed, err := s.Cancel(r.Reason, tx.Now)
			if err != nil {
				return err
			}
			if changed {
				cancelled = append(cancelled, after)
			}
		}
		done.Sessions = len(cancelled)
		done.CancelCounts, err = s.cancelSessions(ctx, tx, cancelled, r.Reason, r.Notify, done.Batch)
		return err
	}
	return s.bulk(ctx, caller, session.BulkCancel, r, cancel)
}

// BulkDeleteSessions marks the sessions that the request selects as deleted: no list shows them any more. It cancels
// their bookings and entries, and refunds all credits.
func (s *Service) BulkDeleteSessions(ctx context.Context, caller tenant.Caller, r BulkRequest) (BulkResult, error) {
	remove := func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) (err error) {
		done.Sessions = len(all)
		done.CancelCounts, err = s.deleteSessions(ctx, tx, all, r.Reason, r.Notify, done.Batch)
		return err
	}
	return s.bulk(ctx, caller, session.BulkDelete, r, remove)
}

// The names of the bulk operations, as use cases and in the audit log.
var (
	bulkNames = map[session.BulkAction]string{
		session.BulkPublish: "session.bulk_publish",
		session.BulkCancel:  "session.bulk_cancel",
		session.BulkDelete:  "session.bulk_delete",
	}
	bulkActions = map[session.BulkAction]string{
		session.BulkPublish: "session.bulk_published",
		session.BulkCancel:  "session.bulk_cancelled",
		session.BulkDelete:  "session.bulk_deleted",
	}
)

// bulk runs change on all sessions that the request selects, in one transaction, and writes one audit entry. It
// refuses more sessions than such a transaction can take, and others than those of the preview.
func (s *Service) bulk(
	ctx context.Context, caller tenant.Caller, a session.BulkAction, r BulkRequest,
	change func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) error,
) (BulkResult, error) {
	if err := session.CheckReason(r.Reason); err != nil {
		return BulkResult{}, err
	}
	t := engine.Transaction{Name: bulkNames[a], Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (BulkResult, error) {
		done := BulkResult{Batch: tenant.NextID[tenant.BatchID](tx.IDs)}
		var rows []scheduledb.Scheduled
		var batch pg.Batch
		query := r.query(a, session.MaxBulk+1, tx.Now)
		scheduledb.ListSessions(&batch, tx.Tenant, query, &rows)
		if !query.EndAfter.IsZero() {
			scheduledb.CountEnded(&batch, tx.Tenant, query, &done.Ended)
		}
		if err := tx.Load(ctx, &batch); err != nil {
			return done, err
		}
		all := sessionsOf(rows)
		if err := session.CheckBulkSize(all); err != nil {
			return done, err
		}
		if err := session.CheckBulkToken(r.Token, a, pg.Array(all, session.Session.Match)); err != nil {
			return done, err
		}
		if err := change(ctx, tx, all, &done); err != nil {
			return done, err
		}
		auditBatch(tx, bulkActions[a], done.Batch, r.Reason, map[string]any{
			"filter": r.Applicable(a), "include_booked": r.IncludeBooked, "include_ended": r.IncludeEnded,
			"notify": r.Notify, "ids": idsOf(all),
			"bookings_cancelled": done.Bookings, "entries_cancelled": done.Entries, "credits_refunded": done.Credits,
		})
		return done, nil
	})
}
