package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

var noSeries = fault.Missing(fault.SeriesNotFound, "Series")

// GetSeries returns a series.
func (s *Service) GetSeries(ctx context.Context, caller tenant.Caller, id tenant.SeriesID) (session.Series, error) {
	found, err := engine.Get(ctx, s.engine, caller, noSeries, func(b *pg.Batch, into **session.Series) {
		scheduledb.FindSeries(b, caller.Tenant, id, into)
	})
	if err != nil {
		return found, err
	}
	return found.WithStatus(s.engine.Now())
}

// SeriesQuery selects series, in order of title, ignoring case, then id.
type SeriesQuery struct {
	session.SeriesFilter
	AfterTitle string // keyset: the last title and id of the page before
	AfterID    tenant.SeriesID
	Limit      int
}

// ListSeries returns a page of series.
func (s *Service) ListSeries(ctx context.Context, caller tenant.Caller, q SeriesQuery) ([]session.Series, error) {
	now := s.engine.Now()
	found, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]session.Series) {
		scheduledb.ListSeries(b, caller.Tenant, scheduledb.SeriesQuery{
			SeriesFilter: q.SeriesFilter, Now: now, AfterTitle: q.AfterTitle, AfterID: q.AfterID, Limit: q.Limit,
		}, into)
	})
	for i := 0; i < len(found) && err == nil; i++ {
		found[i], err = found[i].WithStatus(now)
	}
	return found, err
}

// newSessions makes the sessions of a series for occurrences.
func newSessions(
	tx *engine.Tx, series session.Series, occurrences []session.Occurrence, at session.References,
) []session.Session {
	made := make([]session.Session, len(occurrences))
	for i, o := range occurrences {
		made[i] = series.NewSession(tenant.NextID[tenant.SessionID](tx.IDs), o, at, tx.Now)
	}
	return made
}

// createdSession is what the event says about a session that was created by itself or with its series.
func createdSession(s session.Session) event.Data { return s.Created(tenant.BatchID{}) }

// parsePattern reads the pattern of a series, which has an occurrence.
func parsePattern(s session.Series, zone *time.Location) (recurrence.Series, error) {
	r, err := parseRule(s, zone)
	if err != nil {
		return r, err
	}
	return r, r.Validate()
}

// parseRule reads the pattern of a stored series, which may have ended before its first occurrence.
func parseRule(s session.Series, zone *time.Location) (recurrence.Series, error) {
	rule, err := recurrence.Parse(s.Rule)
	return recurrence.Series{
		Rule: rule, Date: s.Date, Time: s.Time, Zone: zone, Duration: s.Duration, Excluded: s.Excluded,
	}, err
}

// expand returns the occurrences of a series from a local date on, as session.Series.Expand does. It also returns the
// series with its rule in canonical form.
func expand(
	s session.Series, zone *time.Location, from civil.Date, now time.Time,
) (session.Series, []session.Occurrence, error) {
	r, err := parsePattern(s, zone)
	if err != nil {
		return s, nil, err
	}
	s.Rule, s.OpenEnded = r.Rule.String(), !r.Rule.Bounded()
	return s.Expand(func(yield func(session.Occurrence) bool) {
		for o := range r.All() {
			if !yield(session.Occurrence{On: o.Date, Span: civil.Span{Start: o.Start, End: o.End}}) {
				return
			}
		}
	}, zone, from, now)
}
