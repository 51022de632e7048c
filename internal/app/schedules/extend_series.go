package schedules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// seriesRenewal is by how many days the year ahead may shrink before sessions are created for it.
const seriesRenewal = 30

// FindSeries asks for series without an end that need more sessions.
func FindSeries(b *pg.Batch, caller tenant.Caller, now time.Time, into *[]tenant.SeriesID) {
	scheduledb.ListSeriesToExtend(
		b, caller.Tenant, civil.DateOf(now, time.UTC).AddDays(session.SeriesAhead-seriesRenewal), into)
}

// ExtendSeries creates the sessions that a tenant's series without an end need, and returns how many. The sweep calls
// it. No caller can resolve a conflict, so an occurrence whose resource or coach is taken is skipped, and the audit log
// lists it. A series whose service, location, resource or coach is gone waits until it is edited.
func (s *Service) ExtendSeries(ctx context.Context, id tenant.TenantID) (int, error) {
	caller := tenant.System(id)
	due, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]tenant.SeriesID) {
		FindSeries(b, caller, s.engine.Now(), into)
	})
	if err != nil {
		return 0, err
	}
	t := engine.Transaction{Name: "series.extend", Races: []engine.Race{clashRace}}
	created := 0
	var failed error // a series that fails does not stop the others
	for _, series := range due {
		more, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (int, error) {
			return s.extendOne(ctx, tx, series)
		})
		if created += more; err != nil {
			failed = errors.Join(failed, fmt.Errorf("series %s: %w", series, err))
		}
	}
	return created, failed
}

func (s *Service) extendOne(ctx context.Context, tx *engine.Tx, id tenant.SeriesID) (int, error) {
	var series *session.Series
	var batch pg.Batch
	scheduledb.FindSeries(&batch, tx.Tenant, id, &series)
	if err := tx.Load(ctx, &batch); err != nil || series == nil || !series.OpenEnded {
		return 0, err
	}
	at, err := loadReferences(ctx, tx, series.Details)
	if err != nil {
		return 0, err
	}
	if missing := series.CheckReferences(session.Details{}, at); missing != nil {
		return 0, nil //nolint:nilerr // no caller made a mistake: staff see what is missing and edit the series
	}
	extended, occurrences, err := expand(*series, at.Location.Zone, series.MaterializedUntil.AddDays(1), tx.Now)
	if err != nil {
		return 0, err
	}
	occurrences = slices.DeleteFunc(occurrences, func(o session.Occurrence) bool { return !o.Start.After(tx.Now) })
	made := newSessions(tx, extended, occurrences, at)
	busy, err := findBusy(ctx, tx, made)
	if err != nil {
		return 0, err
	}
	clashing := make(map[int]bool)
	for _, clash := range session.Clashes(made, busy) {
		clashing[clash.Session] = true
	}
	var free []session.Session
	var skipped []string
	for i, s := range made {
		if clashing[i] {
			skipped = append(skipped, s.StartsAt.Format(time.RFC3339))
		} else {
			free = append(free, s)
		}
	}
	scheduledb.UpdateSeries(tx.Tx, tx.Tenant, extended)
	scheduledb.InsertSessions(tx.Tx, tx.Tenant, free)
	appendEvents(tx, createdSession, free...)
	if len(skipped) > 0 {
		record.Audit(tx, "series.extended", "series", id.UUID, "", map[string]any{"made": len(free), "left_out": skipped})
	}
	_, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, idsOf(free)...)
	return len(free), err
}

// findBusy loads when the resources and coaches of sessions are taken during those sessions.
func findBusy(ctx context.Context, tx *engine.Tx, sessions []session.Session) ([]session.BusySpan, error) {
	resources := pg.Array(sessions, func(s session.Session) tenant.ResourceID { return s.Resource })
	coaches := pg.Array(sessions, func(s session.Session) tenant.MemberID { return s.Coach })
	var busy []session.BusySpan
	var batch pg.Batch
	scheduledb.ListBusySpans(&batch, tx.Tenant, pg.Distinct(resources), pg.Distinct(coaches),
		session.Bounds(sessions), &busy)
	err := tx.Load(ctx, &batch)
	return busy, err
}
