package schedules

import (
	"context"

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
	// IncludeBooked includes sessions that have bookings or waitlist entries.
	IncludeBooked bool
	Reason        string
	Notify        bool
}

func (r BulkRequest) query(limit int) scheduledb.SessionQuery {
	return scheduledb.SessionQuery{Filter: r.Filter, Unbooked: !r.IncludeBooked, Limit: limit}
}

// PreviewBulk returns what a bulk operation would change.
func (s *Service) PreviewBulk(ctx context.Context, caller tenant.Caller, r BulkRequest) (Preview, error) {
	var found Preview
	var batch pg.Batch
	scheduledb.PreviewSessions(&batch, caller.Tenant, r.query(samples), &found)
	err := s.engine.Read(ctx, caller, &batch)
	return found, err
}

// BulkResult is the result of a bulk operation.
type BulkResult struct {
	Batch    tenant.BatchID
	Sessions int // that it changed
	CancelCounts
}

// BulkPublish publishes the drafts that the filter finds. It ignores the states of the filter.
func (s *Service) BulkPublish(ctx context.Context, caller tenant.Caller, filter session.Filter) (BulkResult, error) {
	r := BulkRequest{Filter: filter.Drafts(), IncludeBooked: true}
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
	return s.bulk(ctx, caller, "session.bulk_publish", "session.bulk_published", r, publish)
}

// BulkCancel cancels the sessions that the request selects, as CancelSession does.
func (s *Service) BulkCancel(ctx context.Context, caller tenant.Caller, r BulkRequest) (BulkResult, error) {
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
	return s.bulk(ctx, caller, "session.bulk_cancel", "session.bulk_cancelled", r, cancel)
}

// BulkDelete marks the sessions that the request selects as deleted: no list shows them any more. It cancels their
// bookings and entries, and refunds all credits.
func (s *Service) BulkDelete(ctx context.Context, caller tenant.Caller, r BulkRequest) (BulkResult, error) {
	remove := func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) (err error) {
		ids := idsOf(all)
		if done.CancelCounts, err = s.cancelAll(ctx, tx, ids, r.Reason, r.Notify); err != nil {
			return err
		}
		done.Sessions = len(ids)
		scheduledb.DeleteSessions(tx.Tx, tx.Tenant, ids, done.Batch, tx.Now)
		appendEvents(tx, always(event.SessionDeleted{Reason: r.Reason, Notify: r.Notify, Batch: done.Batch}), all...)
		return nil
	}
	return s.bulk(ctx, caller, "session.bulk_delete", "session.bulk_deleted", r, remove)
}

// bulk runs change on all sessions that the request selects, in one transaction, and writes one audit entry. It refuses
// more sessions than such a transaction can take.
func (s *Service) bulk(
	ctx context.Context, caller tenant.Caller, name, action string, r BulkRequest,
	change func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) error,
) (BulkResult, error) {
	if err := session.CheckReason(r.Reason); err != nil {
		return BulkResult{}, err
	}
	t := engine.Transaction{Name: name, Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (BulkResult, error) {
		done := BulkResult{Batch: tenant.NextID[tenant.BatchID](tx.IDs)}
		var rows []scheduledb.Scheduled
		var batch pg.Batch
		scheduledb.ListSessions(&batch, tx.Tenant, r.query(session.MaxBulk+1), &rows)
		if err := tx.Load(ctx, &batch); err != nil {
			return done, err
		}
		all := sessionsOf(rows)
		if err := session.CheckBulkSize(all); err != nil {
			return done, err
		}
		if err := change(ctx, tx, all, &done); err != nil {
			return done, err
		}
		auditBatch(tx, action, done.Batch, r.Reason, map[string]any{
			"filter": r.Filter, "include_booked": r.IncludeBooked, "notify": r.Notify, "ids": idsOf(all),
			"bookings_cancelled": done.Bookings, "entries_cancelled": done.Entries, "credits_refunded": done.Credits,
		})
		return done, nil
	})
}
