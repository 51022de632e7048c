package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
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
func (a *App) CreateSeries(ctx context.Context, caller tenant.Caller, in SeriesInput) (session.Series, []tenant.SessionID, error) {
	var series session.Series
	var made []tenant.SessionID
	err := a.write(ctx, caller, "series.create", func(ctx context.Context, t *tx) error {
		at, err := t.setting(ctx, session.Details{}.Target(in.Template, ^session.Fields(0)))
		if err != nil {
			return err
		}
		series = session.Series{
			ID: tenant.Next[tenant.SeriesID](t.mint), Date: in.Date, Publish: in.Publish, TimeZone: at.Location.TimeZone,
			Version: 1, CreatedAt: t.now, UpdatedAt: t.now,
		}
		if series.Details, err = session.NewDetails(in.Template, at); err != nil {
			return under("template", err)
		}
		if series, err = series.Edit(in.Pattern, session.WholePattern, at.Service); err != nil {
			return err
		}
		var pattern []session.Occurrence
		if series, pattern, err = expand(series, at.Location.Zone, series.Date, t.now); err != nil {
			return err
		}
		sessions := t.occupy(series, pattern, at)
		made = idsOf(sessions)
		store.InsertSeries(t.Tx, t.in, series)
		store.InsertSessions(t.Tx, t.in, sessions)
		t.tell(outbox.SessionCreated, ofSeries, sessions...)
		t.audit("series.created", "series", series.ID.UUID, "", catalog.Changes(nil, series.Facts()))
		_, _, err = t.fillAll(ctx, waitlist.ByPublish, made...)
		return err
	}, answers(&series, &made))
	return series, made, scheduleRefusal("template", err)
}

// GetSeries reads a series.
func (a *App) GetSeries(ctx context.Context, caller tenant.Caller, id tenant.SeriesID) (session.Series, error) {
	var found *session.Series
	var batch pg.Batch
	store.FindSeries(&batch, caller.Tenant, id, &found)
	if err := a.read(ctx, caller, &batch); err != nil {
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
func (a *App) ExtendSeries(ctx context.Context, id tenant.TenantID) (int, error) {
	caller := tenant.System(id)
	var due []tenant.SeriesID
	var batch pg.Batch
	findSeries(&batch, caller, a.now(), &due)
	if err := a.read(ctx, caller, &batch); err != nil {
		return 0, err
	}
	made := 0
	var failed error // of one series, which is no reason to leave out the others
	for _, series := range due {
		var more int
		err := a.write(ctx, caller, "series.extend", func(ctx context.Context, t *tx) (err error) {
			more, err = t.extend(ctx, series)
			return err
		}, losing(byTakenPlace))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("series %s: %w", series, err))
			continue
		}
		made += more
	}
	return made, failed
}

// findSeries asks for series without an end that want more sessions.
func findSeries(b *pg.Batch, caller tenant.Caller, now time.Time, into *[]tenant.SeriesID) {
	store.ListSeriesToExtend(b, caller.Tenant, civil.DateOf(now, time.UTC).AddDays(seriesAhead-seriesRenewal), into)
}

// byTakenPlace: somebody took the place of a session at the same moment. The next look sees it.
var byTakenPlace = func(err error) bool { return pg.IsExclusion(err, "sessions_resource_busy", "sessions_staff_busy") }

func (t *tx) extend(ctx context.Context, id tenant.SeriesID) (int, error) {
	var series *session.Series
	var batch pg.Batch
	store.FindSeries(&batch, t.in, id, &series)
	if err := t.Load(ctx, &batch); err != nil || series == nil || !series.OpenEnded {
		return 0, err
	}
	at, err := t.setting(ctx, series.Details)
	if err != nil {
		return 0, err
	}
	if gone := series.Refer(session.Details{}, at); gone != nil {
		return 0, nil //nolint:nilerr // nobody asked for anything: what is missing is for staff to see and put right
	}
	extended, pattern, err := expand(*series, at.Location.Zone, series.MaterializedUntil.AddDays(1), t.now)
	if err != nil {
		return 0, err
	}
	pattern = slices.DeleteFunc(pattern, func(o session.Occurrence) bool { return !o.Start.After(t.now) })
	made := t.occupy(extended, pattern, at)
	var busy []session.Busy
	var taken pg.Batch
	store.ListBusySpans(&taken, t.in, []tenant.ResourceID{series.Resource}, []tenant.MemberID{series.Coach}, session.Window(made), &busy)
	if err := t.Load(ctx, &taken); err != nil {
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
	store.UpdateSeries(t.Tx, t.in, extended)
	store.InsertSessions(t.Tx, t.in, free)
	t.tell(outbox.SessionCreated, ofSeries, free...)
	if len(skipped) > 0 {
		t.audit("series.extended", "series", id.UUID, "", map[string]any{"made": len(free), "left_out": skipped})
	}
	_, _, err = t.fillAll(ctx, waitlist.ByPublish, idsOf(free)...)
	return len(free), err
}

// occupy makes the sessions for occurrences.
func (t *tx) occupy(series session.Series, pattern []session.Occurrence, at session.Setting) []session.Session {
	made := make([]session.Session, len(pattern))
	for i, o := range pattern {
		made[i] = series.Make(tenant.Next[tenant.SessionID](t.mint), o, at, t.now)
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
	reach := now.Add(session.MaxReach)
	if s.Date.On(zone).Before(now.Add(-session.MaxReach)) || s.Date.On(zone).After(reach) {
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
		if len(pattern) == session.MaxSeries {
			return s, nil, tooLong("The rule gives more than %d sessions.", session.MaxSeries).With("limit", strconv.Itoa(session.MaxSeries))
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
	return fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, format, args...).In("rule")
}
