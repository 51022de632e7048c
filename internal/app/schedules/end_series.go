package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// SeriesEndRequest ends a series.
type SeriesEndRequest struct {
	Series tenant.SeriesID
	Date   civil.Date // the first day without sessions, local to the location
	Expect *int       // the version; nil matches any
	Reason string
	Notify bool
}

// SeriesEndResult is the result of ending a series.
type SeriesEndResult struct {
	Series             session.Series
	Cancelled, Deleted []tenant.SessionID
	CancelCounts
}

// EndSeries takes the occurrences on or after a day from a series. Of their sessions, it cancels those that are booked,
// and deletes the others. As with UpdateSeries, sessions that have started, that are cancelled or detached stay.
func (s *Service) EndSeries(
	ctx context.Context, caller tenant.Caller, r SeriesEndRequest,
) (SeriesEndResult, error) {
	if err := session.CheckEndDate(r.Date); err != nil {
		return SeriesEndResult{}, err
	}
	if err := session.CheckReason(r.Reason); err != nil {
		return SeriesEndResult{}, err
	}
	t := engine.Transaction{Name: "series.end", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (SeriesEndResult, error) {
		before, err := engine.Find(ctx, tx, noSeries, func(b *pg.Batch, into **session.Series) {
			scheduledb.FindSeries(b, tx.Tenant, r.Series, into)
		})
		if err != nil {
			return SeriesEndResult{}, err
		}
		if err := fault.CheckVersion(r.Expect, before.Version); err != nil {
			return SeriesEndResult{}, err
		}
		after, ends, err := endBefore(before, r.Date)
		if err != nil {
			return SeriesEndResult{}, err
		}
		done := SeriesEndResult{Series: before}
		if ends {
			after.Version++
			after.UpdatedAt = tx.Now
			scheduledb.UpdateSeries(tx.Tx, tx.Tenant, after)
			if done, err = s.dropFrom(ctx, tx, after, r); err != nil {
				return done, err
			}
			changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
			changes["end_date"] = r.Date.String()
			changes["cancelled"], changes["deleted"] = done.Cancelled, done.Deleted
			record.Audit(tx, "series.ended", "series", after.ID.UUID, r.Reason, changes)
		}
		done.Series, err = done.Series.WithStatus(tx.Now)
		return done, err
	})
}

// endBefore returns a series without the occurrences on or after a day, and whether it had any.
func endBefore(s session.Series, date civil.Date) (session.Series, bool, error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return s, false, err
	}
	pattern, err := parseRule(s, zone)
	if err != nil {
		return s, false, err
	}
	shorter, had := pattern.EndBefore(date)
	if !had {
		return s, false, nil
	}
	s.Rule, s.Excluded, s.OpenEnded = shorter.Rule.String(), shorter.Excluded, false
	s.MaterializedUntil = date.AddDays(-1)
	return s, true, nil
}

// dropFrom takes the sessions from a day on from a series that was ended.
func (s *Service) dropFrom(
	ctx context.Context, tx *engine.Tx, series session.Series, r SeriesEndRequest,
) (SeriesEndResult, error) {
	done := SeriesEndResult{Series: series}
	var rows []scheduledb.Scheduled
	var batch pg.Batch
	scheduledb.ListSeriesSessions(&batch, tx.Tenant, series.ID, r.Date, &rows)
	if err := tx.Load(ctx, &batch); err != nil {
		return done, err
	}
	// None of them has an occurrence any longer, so that a later rule creates sessions on their days again.
	assigned := session.Assign(sessionsOf(rows), nil, tx.Now)
	var cancelled, deleted []session.Session
	for _, one := range assigned.Dropped {
		if one.Booked() {
			cancelled = append(cancelled, one)
		} else {
			deleted = append(deleted, one)
		}
	}
	if err := session.CheckBulkSize(cancelled); err != nil {
		return done, err
	}
	for i, one := range cancelled {
		after, _, err := one.Cancel(r.Reason, tx.Now)
		if err != nil {
			return done, err
		}
		cancelled[i] = after
	}
	id := tenant.NextID[tenant.BatchID](tx.IDs)
	if len(cancelled) > 0 {
		var err error
		if done.CancelCounts, err = s.cancelSessions(ctx, tx, cancelled, r.Reason, r.Notify, id); err != nil {
			return done, err
		}
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, append(assigned.Unchanged, deleted...))
	if len(deleted) > 0 {
		if _, err := s.deleteSessions(ctx, tx, deleted, r.Reason, false, id); err != nil {
			return done, err
		}
	}
	done.Cancelled, done.Deleted = idsOf(cancelled), idsOf(deleted)
	return done, nil
}
