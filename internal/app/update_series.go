package app

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// SeriesScope is which sessions of a series an edit reaches.
type SeriesScope uint8

// The scopes.
const (
	One       SeriesScope = iota + 1 // the named session alone, which leaves the pattern
	Following                        // those from the named session's day on; the series is split there
	All
)

// SeriesEdit edits sessions of a series.
type SeriesEdit struct {
	Series  tenant.SeriesID
	Scope   SeriesScope
	Session tenant.SessionID // unless All
	Expect  *int             // the series' version; nil: whichever

	Template session.Input // its times are not used
	Fields   session.Fields

	session.Pattern
	PatternFields session.SeriesFields
}

// SeriesEdited says what an edit did.
type SeriesEdited struct {
	Series                      session.Series // that the edited sessions belong to now
	Updated, Created, Cancelled []tenant.SessionID
}

// UpdateSeries edits one session of a series, all from one on, or all. What has started, was cancelled or deleted, or was
// edited by itself stays as it is. Either the whole edit happens or nothing of it.
func (a *App) UpdateSeries(ctx context.Context, caller tenant.Caller, e SeriesEdit) (SeriesEdited, error) {
	var done SeriesEdited
	err := a.write(ctx, caller, "series.update", func(ctx context.Context, t *tx) error {
		series, named, err := t.seriesToEdit(ctx, e)
		if err != nil {
			return err
		}
		if e.Scope == One {
			done, err = t.editOne(ctx, series, named, e)
		} else {
			done, err = t.editMany(ctx, series, named, e)
		}
		return err
	}, answers(&done), losing(byPromotion))
	return done, scheduleRefusal("template", err)
}

func (t *tx) seriesToEdit(ctx context.Context, e SeriesEdit) (session.Series, session.Session, error) {
	var series *session.Series
	var named *store.Scheduled
	var batch pg.Batch
	store.FindSeries(&batch, t.in, e.Series, &series)
	store.FindSession(&batch, t.in, e.Session, &named)
	if err := t.Load(ctx, &batch); err != nil {
		return session.Series{}, session.Session{}, err
	}
	switch {
	case series == nil:
		return session.Series{}, session.Session{}, noSeries
	case e.Scope == All:
		return *series, session.Session{}, current(e.Expect, series.Version)
	case named == nil || named.Series != series.ID:
		return session.Series{}, session.Session{}, noSession
	}
	return *series, named.Session, current(e.Expect, series.Version)
}

// editOne edits a session by itself.
func (t *tx) editOne(ctx context.Context, series session.Series, s session.Session, e SeriesEdit) (SeriesEdited, error) {
	done := SeriesEdited{Series: series}
	if e.PatternFields.Has(session.RuleField) {
		return done, fault.Invalid("rule", "One session has no rule.")
	}
	if e.PatternFields.Has(session.ExcludedField) {
		return done, fault.Invalid("excluded_dates", "One session excludes no days.")
	}
	at, err := t.setting(ctx, s.Target(e.Template, e.Fields))
	if err != nil {
		return done, err
	}
	in, fields := e.Template, e.Fields&^session.TimeFields
	wanted, err := session.Series{}.Edit(e.Pattern, e.PatternFields, at.Service)
	if err != nil {
		return done, err
	}
	in.StartsAt = s.StartsAt
	if e.PatternFields.Has(session.TimeOfDayField) {
		in.StartsAt = s.LocalDate.At(wanted.Time, at.Location.Zone)
		fields |= session.StartField
	}
	if e.PatternFields.Has(session.DurationField) {
		in.EndsAt = in.StartsAt.Add(wanted.Duration)
		fields |= session.EndField
	}
	after, _, err := t.edit(ctx, s, in, fields, at)
	if err == nil && after.Version != s.Version {
		done.Updated = []tenant.SessionID{s.ID}
	}
	return done, under("template", err)
}

// editMany edits the pattern itself: all of it, or what follows from a day on as a series of its own.
func (t *tx) editMany(ctx context.Context, series session.Series, named session.Session, e SeriesEdit) (SeriesEdited, error) {
	done := SeriesEdited{Series: series}
	head, before, from, err := reached(series, named, e.Scope, t.now)
	if err != nil {
		return done, err
	}
	at, err := t.setting(ctx, before.Target(e.Template, e.Fields))
	if err != nil {
		return done, err
	}
	after := before
	if after.Details, err = before.Details.Edit(e.Template, e.Fields&^session.TimeFields, at); err != nil {
		return done, under("template", err)
	}
	if after, err = after.Edit(e.Pattern, e.PatternFields, at.Service); err != nil {
		return done, err
	}
	after, pattern, err := expand(after, at.Location.Zone, from, t.now)
	if err != nil {
		return done, err
	}
	after.TimeZone = at.Location.TimeZone
	changes := catalog.Changes(before.Facts(), after.Facts())
	if changes == nil {
		return done, nil
	}
	if after.UpdatedAt = t.now; head == nil {
		after.Version++
		store.UpdateSeries(t.Tx, t.in, after)
	} else {
		after.ID, after.Version, after.CreatedAt = tenant.Next[tenant.SeriesID](t.mint), 1, t.now
		store.UpdateSeries(t.Tx, t.in, *head)
		store.InsertSeries(t.Tx, t.in, after)
		changes["split_from"] = series.ID.String()
	}
	done, err = t.repattern(ctx, series.ID, from, after, pattern, at)
	changes["updated"], changes["created"], changes["cancelled"] = texts(done.Updated), texts(done.Created), texts(done.Cancelled)
	t.audit("series.updated", "series", after.ID.UUID, "", changes)
	return done, err
}

// reached tells which part of a series an edit reaches, and from which day on. The head is what is left of the series where
// it is split; the part reached has no id of its own yet then.
func reached(series session.Series, named session.Session, scope SeriesScope, now time.Time) (head *session.Series, part session.Series, from civil.Date, err error) {
	zone, err := time.LoadLocation(series.TimeZone)
	if err != nil {
		return nil, series, from, err
	}
	if scope == All {
		return nil, series, civil.DateOf(now, zone).AddDays(-1), nil // a day early: what has started is left alone anyway
	}
	if from = named.OccursOn; from.IsZero() {
		from = named.LocalDate
	}
	r, err := recurring(series, zone)
	if err != nil {
		return nil, series, from, err
	}
	if first, ok := r.First(); ok && !first.Date.Before(from) {
		return nil, series, from, nil // nothing would be left of it
	}
	before, after, err := r.SplitAt(from)
	if err != nil {
		return nil, series, from, err
	}
	kept := series
	kept.Rule, kept.Excluded, kept.OpenEnded = before.Rule.String(), before.Excluded, false
	kept.MaterializedUntil, kept.Version, kept.UpdatedAt = from.AddDays(-1), series.Version+1, now
	part = series
	part.Rule, part.Date, part.Time, part.Excluded = after.Rule.String(), after.Date, after.Time, after.Excluded
	return &kept, part, from, nil
}

// repattern brings the sessions of a series from a day on in line with its pattern.
func (t *tx) repattern(ctx context.Context, old tenant.SeriesID, from civil.Date, series session.Series, pattern []session.Occurrence, at session.Setting) (SeriesEdited, error) {
	done := SeriesEdited{Series: series}
	var rows []store.Scheduled
	var batch pg.Batch
	store.ListSeriesSessions(&batch, t.in, old, from, &rows)
	if err := t.Load(ctx, &batch); err != nil {
		return done, err
	}
	was := make(map[tenant.SessionID]session.Session, len(rows))
	for _, row := range rows {
		was[row.ID] = row.Session
	}
	dealt := session.Assign(sessionsOf(rows), pattern, t.now)
	freed, err := t.makeRoom(ctx, series.Capacity, dealt.Held)
	if err != nil {
		return done, err
	}

	var before, updated, written []session.Session
	for i, s := range dealt.Held {
		after, err := s.Follow(series, at, dealt.On[i].Span, t.now)
		if err != nil {
			return done, under("template", err)
		}
		after.Series = series.ID
		if after.Version != s.Version {
			before, updated = append(before, was[s.ID]), append(updated, after)
		}
		written = append(written, after)
	}
	for _, s := range dealt.Fixed {
		s.Series = series.ID
		written = append(written, s)
	}
	var dropped []session.Session
	for _, s := range dealt.Dropped {
		off, _, err := s.Cancel("", t.now)
		if err != nil {
			return done, err
		}
		off.Series = series.ID
		dropped = append(dropped, off)
	}
	made := t.occupy(series, dealt.Free, at)

	// Those that go make room for those that move, and these for those that come.
	if len(dropped) > 0 {
		if _, err := t.callOff(ctx, dropped, "", true, tenant.BatchID{}); err != nil {
			return done, err
		}
	}
	if err := t.move(ctx, before, updated); err != nil {
		return done, err
	}
	store.UpdateSessions(t.Tx, t.in, slices.DeleteFunc(written, func(s session.Session) bool {
		b := was[s.ID]
		return s.Version == b.Version && s.Series == b.Series && s.OccursOn == b.OccursOn && s.OccursAt.Equal(b.OccursAt)
	}))
	store.InsertSessions(t.Tx, t.in, made)
	t.tell(outbox.SessionUpdated, func(s session.Session) map[string]any { return catalog.Changes(was[s.ID].Facts(), s.Facts()) }, updated...)
	t.tell(outbox.SessionCreated, ofSeries, made...)
	if _, _, err := t.resettle(ctx, before, updated, freed); err != nil {
		return done, err
	}
	if _, _, err := t.fillAll(ctx, waitlist.ByPublish, idsOf(made)...); err != nil {
		return done, err
	}
	done.Updated, done.Created, done.Cancelled = idsOf(updated), idsOf(made), idsOf(dropped)
	return done, nil
}
