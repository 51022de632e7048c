package schedules

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// seriesAhead is how many days ahead the sessions of a series without an end are created.
const seriesAhead = 365

var noSeries = fault.Missing(fault.SeriesNotFound, "Series")

// GetSeries returns a series.
func (s *Service) GetSeries(ctx context.Context, caller tenant.Caller, id tenant.SeriesID) (session.Series, error) {
	return engine.Get(ctx, s.engine, caller, noSeries, func(b *pg.Batch, into **session.Series) {
		scheduledb.FindSeries(b, caller.Tenant, id, into)
	})
}

// newSessions makes the sessions of a series for occurrences.
func newSessions(
	tx *engine.Tx, series session.Series, pattern []session.Occurrence, at session.References,
) []session.Session {
	made := make([]session.Session, len(pattern))
	for i, o := range pattern {
		made[i] = series.NewSession(tenant.NextID[tenant.SessionID](tx.IDs), o, at, tx.Now)
	}
	return made
}

// seriesData is the data of an event about a session that its series created.
func seriesData(s session.Session) map[string]any {
	return map[string]any{"series_id": s.Series.String()}
}

// parsePattern reads the pattern of a series.
func parsePattern(s session.Series, zone *time.Location) (recurrence.Series, error) {
	rule, err := recurrence.Parse(s.Rule)
	if err != nil {
		return recurrence.Series{}, err
	}
	r := recurrence.Series{
		Rule: rule, Date: s.Date, Time: s.Time, Zone: zone, Duration: s.Duration, Excluded: s.Excluded,
	}
	return r, r.Validate()
}

// expand returns the occurrences of a series from a local date on: all of them if the rule ends, otherwise those within
// a year of now or of the series' start, whichever is later. It also returns the series with its rule in canonical form
// and with what is known about its end.
func expand(
	s session.Series, zone *time.Location, from civil.Date, now time.Time,
) (session.Series, []session.Occurrence, error) {
	r, err := parsePattern(s, zone)
	if err != nil {
		return s, nil, err
	}
	s.Rule, s.OpenEnded = r.Rule.String(), !r.Rule.Bounded()
	limit := now.Add(session.MaxStartDistance)
	if s.Date.On(zone).Before(now.Add(-session.MaxStartDistance)) || s.Date.On(zone).After(limit) {
		return s, nil, fault.Invalid("start_date", "A series starts within ten years of now.")
	}
	horizon := civil.DateOf(limit, zone)
	if s.OpenEnded {
		year := civil.DateOf(now, zone).AddDays(seriesAhead)
		horizon = latest(year, s.Date.AddDays(seriesAhead), s.MaterializedUntil)
	}
	last := s.Date
	var pattern []session.Occurrence
	for o := range r.All() {
		if o.Date.After(horizon) {
			if s.OpenEnded {
				break
			}
			return s, nil, tooLong("The rule gives sessions more than ten years ahead.")
		}
		last = o.Date
		if o.Date.Before(from) {
			continue
		}
		if len(pattern) == session.MaxSeriesSessions {
			return s, nil, tooLong("The rule gives more than %d sessions.", session.MaxSeriesSessions).
				WithMetadata("limit", strconv.Itoa(session.MaxSeriesSessions))
		}
		pattern = append(pattern, session.Occurrence{On: o.Date, Span: civil.Span{Start: o.Start, End: o.End}})
	}
	if s.MaterializedUntil = last; s.OpenEnded {
		s.MaterializedUntil = horizon
	}
	return s, pattern, nil
}

func latest(dates ...civil.Date) civil.Date { return slices.MaxFunc(dates, civil.Date.Compare) }

func tooLong(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, format, args...).WithField("rule")
}
