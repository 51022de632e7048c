package schedules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// A series without an end has its sessions made for a year ahead. They are made anew when the year has
// shrunk by a month.
const (
	seriesAhead   = 365
	seriesRenewal = 30
)

var noSeries = fault.Missing(fault.SeriesNotFound, "Series")

// SeriesInput is what staff decide about a series.
type SeriesInput struct {
	Template session.Input // its times are not used
	session.Pattern
	Publish bool // its sessions are on sale as soon as they are made
}

// CreateSeries makes a recurring schedule with its sessions, all of them or none.
func (s *Service) CreateSeries(ctx context.Context, caller tenant.Caller, in SeriesInput) (session.Series, []tenant.SessionID, error) {
	var series session.Series
	var made []tenant.SessionID
	err := s.engine.Write(ctx, caller, "series.create", func(ctx context.Context, tx *engine.Tx) error {
		at, err := setting(ctx, tx, session.Details{}.WithReferences(in.Template, ^session.Fields(0)))
		if err != nil {
			return err
		}
		series = session.Series{
			ID: tenant.NextID[tenant.SeriesID](tx.IDs), Date: in.Date, Publish: in.Publish, TimeZone: at.Location.TimeZone,
			Version: 1, CreatedAt: tx.Now, UpdatedAt: tx.Now,
		}
		if series.Details, err = session.NewDetails(in.Template, at); err != nil {
			return under("template", err)
		}
		if series, err = series.Edit(in.Pattern, session.AllPatternFields, at.Service); err != nil {
			return err
		}
		var pattern []session.Occurrence
		if series, pattern, err = expand(series, at.Location.Zone, series.Date, tx.Now); err != nil {
			return err
		}
		sessions := occupy(tx, series, pattern, at)
		made = idsOf(sessions)
		scheduledb.InsertSeries(tx.Tx, tx.Tenant, series)
		scheduledb.InsertSessions(tx.Tx, tx.Tenant, sessions)
		tell(tx, outbox.SessionCreated, ofSeries, sessions...)
		tx.Audit("series.created", "series", series.ID.UUID, "", catalog.AuditChanges(nil, series.Facts()))
		_, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, made...)
		return err
	}, engine.Answers(&series, &made))
	return series, made, scheduleRefusal("template", err)
}

// GetSeries reads a series.
func (s *Service) GetSeries(ctx context.Context, caller tenant.Caller, id tenant.SeriesID) (session.Series, error) {
	var found *session.Series
	var batch pg.Batch
	scheduledb.FindSeries(&batch, caller.Tenant, id, &found)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return session.Series{}, err
	}
	if found == nil {
		return session.Series{}, noSeries
	}
	return *found, nil
}

// ExtendSeries makes the sessions that the series without an end are due, and tells how many. It is for
// a sweep to call now and then, once for each tenant. Nobody is there to ask, so an occurrence for
// which the resource or the staff member is taken is left out, and the audit log says so; a series whose
// service, location, resource or staff member is no longer there waits until it is edited.
func (s *Service) ExtendSeries(ctx context.Context, id tenant.TenantID) (int, error) {
	caller := tenant.System(id)
	var due []tenant.SeriesID
	var batch pg.Batch
	FindSeries(&batch, caller, s.engine.Now(), &due)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return 0, err
	}
	made := 0
	var failed error // of one series, which is no reason to leave out the others
	for _, series := range due {
		var more int
		err := s.engine.Write(ctx, caller, "series.extend", func(ctx context.Context, tx *engine.Tx) (err error) {
			more, err = s.extendOne(ctx, tx, series)
			return err
		}, engine.Losing(byTakenPlace))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("series %s: %w", series, err))
			continue
		}
		made += more
	}
	return made, failed
}

// FindSeries asks for series without an end that want more sessions.
func FindSeries(b *pg.Batch, caller tenant.Caller, now time.Time, into *[]tenant.SeriesID) {
	scheduledb.ListSeriesToExtend(b, caller.Tenant, civil.DateOf(now, time.UTC).AddDays(seriesAhead-seriesRenewal), into)
}

// byTakenPlace: somebody took the place of a session at the same moment. The next look sees it.
var byTakenPlace = func(err error) bool { return pg.IsExclusion(err, "sessions_resource_busy", "sessions_staff_busy") }

func (s *Service) extendOne(ctx context.Context, tx *engine.Tx, id tenant.SeriesID) (int, error) {
	var series *session.Series
	var batch pg.Batch
	scheduledb.FindSeries(&batch, tx.Tenant, id, &series)
	if err := tx.Load(ctx, &batch); err != nil || series == nil || !series.OpenEnded {
		return 0, err
	}
	at, err := setting(ctx, tx, series.Details)
	if err != nil {
		return 0, err
	}
	if gone := series.CheckReferences(session.Details{}, at); gone != nil {
		return 0, nil //nolint:nilerr // nobody asked for anything: what is missing is for staff to see and put right
	}
	extended, pattern, err := expand(*series, at.Location.Zone, series.MaterializedUntil.AddDays(1), tx.Now)
	if err != nil {
		return 0, err
	}
	pattern = slices.DeleteFunc(pattern, func(o session.Occurrence) bool { return !o.Start.After(tx.Now) })
	made := occupy(tx, extended, pattern, at)
	var busy []session.BusySpan
	var taken pg.Batch
	scheduledb.ListBusySpans(&taken, tx.Tenant, []tenant.ResourceID{series.Resource}, []tenant.MemberID{series.Coach}, session.Bounds(made), &busy)
	if err := tx.Load(ctx, &taken); err != nil {
		return 0, err
	}
	free, skipped := made[:0:0], []string{}
	clashing := make(map[int]bool)
	for _, clash := range session.Clashes(made, busy) {
		clashing[clash.Session] = true
	}
	for i, s := range made {
		if clashing[i] {
			skipped = append(skipped, s.StartsAt.Format(time.RFC3339))
		} else {
			free = append(free, s)
		}
	}
	scheduledb.UpdateSeries(tx.Tx, tx.Tenant, extended)
	scheduledb.InsertSessions(tx.Tx, tx.Tenant, free)
	tell(tx, outbox.SessionCreated, ofSeries, free...)
	if len(skipped) > 0 {
		tx.Audit("series.extended", "series", id.UUID, "", map[string]any{"made": len(free), "left_out": skipped})
	}
	_, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, idsOf(free)...)
	return len(free), err
}

// occupy makes the sessions for occurrences.
func occupy(tx *engine.Tx, series session.Series, pattern []session.Occurrence, at session.References) []session.Session {
	made := make([]session.Session, len(pattern))
	for i, o := range pattern {
		made[i] = series.NewSession(tenant.NextID[tenant.SessionID](tx.IDs), o, at, tx.Now)
	}
	return made
}

// ofSeries is the data of an event about a session that its series has made or changed.
func ofSeries(s session.Session) map[string]any {
	return map[string]any{"series_id": s.Series.String()}
}

// recurring reads the pattern of a series.
func recurring(s session.Series, zone *time.Location) (recurrence.Series, error) {
	rule, err := recurrence.Parse(s.Rule)
	if err != nil {
		return recurrence.Series{}, err
	}
	r := recurrence.Series{Rule: rule, Date: s.Date, Time: s.Time, Zone: zone, Duration: s.Duration, Excluded: s.Excluded}
	return r, r.Validate()
}

// expand gives the occurrences of a series from a local day on: all of them where the rule ends, else those
// of a year from now or from the series' start. The series is given back with its rule in canonical form, and with what is
// known of its end.
func expand(s session.Series, zone *time.Location, from civil.Date, now time.Time) (session.Series, []session.Occurrence, error) {
	r, err := recurring(s, zone)
	if err != nil {
		return s, nil, err
	}
	s.Rule, s.OpenEnded = r.Rule.String(), !r.Rule.Bounded()
	reach := now.Add(session.MaxStartDistance)
	if s.Date.On(zone).Before(now.Add(-session.MaxStartDistance)) || s.Date.On(zone).After(reach) {
		return s, nil, fault.Invalid("start_date", "A series starts within ten years of now.")
	}
	horizon := civil.DateOf(reach, zone)
	if s.OpenEnded {
		horizon = latest(civil.DateOf(now, zone).AddDays(seriesAhead), s.Date.AddDays(seriesAhead), s.MaterializedUntil)
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
			return s, nil, tooLong("The rule gives more than %d sessions.", session.MaxSeriesSessions).WithMetadata("limit", strconv.Itoa(session.MaxSeriesSessions))
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
