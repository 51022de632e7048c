package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// samples is how many sessions a preview names.
const samples = 20

// Preview is what a bulk operation would reach.
type Preview = scheduledb.Preview

// Sample is one session that it would reach.
type Sample = scheduledb.Sample

// BulkRequest names the sessions of a bulk operation.
type BulkRequest struct {
	session.Filter
	// IncludeBooked also takes those in which anybody has a place or waits for one.
	IncludeBooked bool
	Reason        string
	Notify        bool
}

// PreviewBulk tells what a bulk operation would reach.
func (s *Service) PreviewBulk(ctx context.Context, caller tenant.Caller, r BulkRequest) (Preview, error) {
	var found Preview
	var batch pg.Batch
	scheduledb.PreviewSessions(&batch, caller.Tenant, scheduledb.SessionQuery{Filter: r.Filter, Unbooked: !r.IncludeBooked, Limit: samples}, &found)
	err := s.engine.Read(ctx, caller, &batch)
	return found, err
}

// BulkResult is what a bulk operation did.
type BulkResult struct {
	Batch                      tenant.BatchID
	Sessions                   int // that it changed
	Bookings, Entries, Credits int
}

// BulkPublish puts all drafts on sale that the filter finds, and nothing else, whatever states it names.
func (s *Service) BulkPublish(ctx context.Context, caller tenant.Caller, filter session.Filter) (BulkResult, error) {
	return s.bulk(ctx, caller, "session.bulk_publish", "session.bulk_published", BulkRequest{Filter: filter.Drafts(), IncludeBooked: true},
		func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) error {
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
			tell(tx, outbox.SessionPublished, func(session.Session) map[string]any {
				return map[string]any{"batch_id": done.Batch.String()}
			}, published...)
			_, _, err := s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, idsOf(published)...)
			return err
		})
}

// BulkCancel calls off what the filter finds, as CancelSession does.
func (s *Service) BulkCancel(ctx context.Context, caller tenant.Caller, r BulkRequest) (BulkResult, error) {
	return s.bulk(ctx, caller, "session.bulk_cancel", "session.bulk_cancelled", r, func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) error {
		var off []session.Session
		for _, s := range all {
			after, changed, err := s.Cancel(r.Reason, tx.Now)
			if err != nil {
				return err
			}
			if changed {
				off = append(off, after)
			}
		}
		gone, err := s.callOff(ctx, tx, off, r.Reason, r.Notify, done.Batch)
		done.Sessions = len(off)
		done.Bookings, done.Entries, done.Credits = gone.Bookings, gone.Entries, gone.Credits
		return err
	})
}

// BulkDelete deletes, softly, what the filter finds: the sessions vanish from every list and their bookings and
// entries are cancelled, with every credit given back.
func (s *Service) BulkDelete(ctx context.Context, caller tenant.Caller, r BulkRequest) (BulkResult, error) {
	return s.bulk(ctx, caller, "session.bulk_delete", "session.bulk_deleted", r, func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) error {
		ids := idsOf(all)
		gone, err := s.cancelAll(ctx, tx, ids, r.Reason, r.Notify)
		if err != nil {
			return err
		}
		done.Sessions = len(ids)
		done.Bookings, done.Entries, done.Credits = gone.Bookings, gone.Entries, gone.Credits
		scheduledb.DeleteSessions(tx.Tx, tx.Tenant, ids, done.Batch, tx.Now)
		tell(tx, outbox.SessionDeleted, func(session.Session) map[string]any { return ending(r.Reason, r.Notify, done.Batch) }, all...)
		return nil
	})
}

// bulk runs an operation on all sessions that are found, in one transaction, and keeps one audit entry of it.
// More of them than such a transaction can bear are refused.
func (s *Service) bulk(ctx context.Context, caller tenant.Caller, use, action string, r BulkRequest,
	operate func(ctx context.Context, tx *engine.Tx, all []session.Session, done *BulkResult) error,
) (BulkResult, error) {
	if err := session.CheckReason(r.Reason); err != nil {
		return BulkResult{}, err
	}
	var done BulkResult
	err := s.engine.Write(ctx, caller, use, func(ctx context.Context, tx *engine.Tx) error {
		done = BulkResult{Batch: tenant.NextID[tenant.BatchID](tx.IDs)}
		var rows []scheduledb.Scheduled
		var batch pg.Batch
		scheduledb.ListSessions(&batch, tx.Tenant, scheduledb.SessionQuery{Filter: r.Filter, Unbooked: !r.IncludeBooked, Limit: session.MaxBulk + 1}, &rows)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		all := sessionsOf(rows)
		if err := session.CheckBulkSize(all); err != nil {
			return err
		}
		if err := operate(ctx, tx, all, &done); err != nil {
			return err
		}
		auditBatch(tx, action, done.Batch, r.Reason, map[string]any{
			"filter": r.Filter, "include_booked": r.IncludeBooked, "notify": r.Notify, "ids": texts(idsOf(all)),
			"bookings_cancelled": done.Bookings, "entries_cancelled": done.Entries, "credits_refunded": done.Credits,
		})
		return nil
	}, engine.Answers(&done))
	return done, err
}

func sessionsOf(rows []scheduledb.Scheduled) []session.Session {
	all := make([]session.Session, len(rows))
	for i, row := range rows {
		all[i] = row.Session
	}
	return all
}

func idsOf(all []session.Session) []tenant.SessionID {
	ids := make([]tenant.SessionID, len(all))
	for i, s := range all {
		ids[i] = s.ID
	}
	return ids
}

func texts(ids []tenant.SessionID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}
