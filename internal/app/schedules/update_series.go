package schedules

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// SeriesScope says which sessions of a series an edit changes.
type SeriesScope uint8

// The scopes.
const (
	One       SeriesScope = iota + 1 // only the named session, which becomes detached
	Following                        // the sessions from the named session's date on; the series is split there
	All
)

// SeriesEdit is an edit of sessions of a series.
type SeriesEdit struct {
	Series  tenant.SeriesID
	Scope   SeriesScope
	Session tenant.SessionID // ignored if the scope is All
	Expect  *int             // the series' version; nil matches any

	Template session.Input // its times are ignored
	Fields   session.Fields

	session.Pattern
	PatternFields session.SeriesFields
}

// SeriesEditResult is the result of a SeriesEdit.
type SeriesEditResult struct {
	Series                      session.Series // of the edited sessions after the edit
	Updated, Created, Cancelled []tenant.SessionID
}

// UpdateSeries edits one session of a series, all sessions from one on, or all. It does not change sessions that have
// started, that are cancelled, deleted or detached. If any part of the edit is refused, nothing changes.
func (s *Service) UpdateSeries(ctx context.Context, caller tenant.Caller, e SeriesEdit) (SeriesEditResult, error) {
	t := engine.Transaction{Name: "series.update", Replay: true}
	edit := func(ctx context.Context, tx *engine.Tx) (SeriesEditResult, error) {
		series, named, err := findSeriesToEdit(ctx, tx, e)
		if err != nil {
			return SeriesEditResult{}, err
		}
		if e.Scope == One {
			return s.editOne(ctx, tx, series, named, e)
		}
		return s.editMany(ctx, tx, series, named, e)
	}
	done, err := engine.Transact(
		ctx,
		s.engine,
		caller,
		t,
		func(ctx context.Context, tx *engine.Tx) (SeriesEditResult, error) {
			done, err := edit(ctx, tx)
			if err != nil {
				return done, err
			}
			done.Series, err = done.Series.WithStatus(tx.Now)
			return done, err
		},
	)
	return done, explainConflict(seriesPart, err)
}

func findSeriesToEdit(ctx context.Context, tx *engine.Tx, e SeriesEdit) (session.Series, session.Session, error) {
	var named *scheduledb.Scheduled
	series, err := engine.Find(ctx, tx, noSeries, func(b *pg.Batch, into **session.Series) {
		scheduledb.FindSeries(b, tx.Tenant, e.Series, into)
		scheduledb.FindSession(b, tx.Tenant, e.Session, &named)
	})
	switch {
	case err != nil:
		return series, session.Session{}, err
	case e.Scope == All:
		return series, session.Session{}, fault.CheckVersion(e.Expect, series.Version)
	case named == nil || named.Series != series.ID:
		return series, session.Session{}, seats.ErrNoSession
	}
	return series, named.Session, fault.CheckVersion(e.Expect, series.Version)
}

// editOne edits a single session of a series.
func (s *Service) editOne(
	ctx context.Context, tx *engine.Tx, series session.Series, named session.Session, e SeriesEdit,
) (SeriesEditResult, error) {
	done := SeriesEditResult{Series: series}
	if err := e.PatternFields.CheckOneSession(); err != nil {
		return done, inPart(seriesPart, err)
	}
	at, err := loadReferences(ctx, tx, named.WithReferences(e.Template, e.Fields))
	if err != nil {
		return done, err
	}
	in, fields := e.Template, e.Fields&^session.TimeFields
	wanted, err := session.Series{}.Edit(e.Pattern, e.PatternFields, at.Service)
	if err != nil {
		return done, inPart(seriesPart, err)
	}
	in.StartsAt = named.StartsAt
	if e.PatternFields.Has(session.TimeOfDayField) {
		in.StartsAt = named.LocalDate.At(wanted.Time, at.Location.Zone)
		fields |= session.StartField
	}
	if e.PatternFields.Has(session.DurationField) {
		in.EndsAt = in.StartsAt.Add(wanted.Duration)
		fields |= session.EndField
	}
	after, err := s.edit(ctx, tx, named, in, fields, at)
	if err == nil && after.Session.Version != named.Version {
		done.Updated = []tenant.SessionID{named.ID}
	}
	return done, inPart(seriesPart, err)
}

// editMany edits the pattern itself: all of it, or the part from a date on, which becomes a series of its own.
func (s *Service) editMany(
	ctx context.Context, tx *engine.Tx, series session.Series, named session.Session, e SeriesEdit,
) (SeriesEditResult, error) {
	done := SeriesEditResult{Series: series}
	head, before, from, err := splitSeries(series, named, e.Scope, tx.Now)
	if err != nil {
		return done, inPart(seriesPart, err)
	}
	at, err := loadReferences(ctx, tx, before.WithReferences(e.Template, e.Fields))
	if err != nil {
		return done, err
	}
	after := before
	if after.Details, err = before.Details.Edit(e.Template, e.Fields&^session.TimeFields, at); err != nil {
		return done, inPart(seriesPart, err)
	}
	if after, err = after.Edit(e.Pattern, e.PatternFields, at.Service); err != nil {
		return done, inPart(seriesPart, err)
	}
	after, occurrences, err := expand(after, at.Location.Zone, from, tx.Now)
	if err != nil {
		return done, inPart(seriesPart, err)
	}
	after.TimeZone = at.Location.TimeZone
	changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
	if changes == nil {
		return done, nil
	}
	if after.UpdatedAt = tx.Now; head == nil {
		after.Version++
		scheduledb.UpdateSeries(tx.Tx, tx.Tenant, after)
	} else {
		after.ID, after.Version, after.CreatedAt = tenant.NextID[tenant.SeriesID](tx.IDs), 1, tx.Now
		scheduledb.UpdateSeries(tx.Tx, tx.Tenant, *head)
		scheduledb.InsertSeries(tx.Tx, tx.Tenant, after)
		changes["split_from"] = series.ID.String()
	}
	done, err = s.applyPattern(ctx, tx, series.ID, from, after, occurrences, at)
	changes["updated"], changes["created"], changes["cancelled"] = done.Updated, done.Created, done.Cancelled
	record.Audit(tx, "series.updated", "series", after.ID.UUID, "", changes)
	return done, err
}

// splitSeries returns the part of a series that an edit changes, and the local date from which it does. If the edit
// splits the series, head is the part that stays, and part has no id of its own yet. Otherwise head is nil.
func splitSeries(
	series session.Series, named session.Session, scope SeriesScope, now time.Time,
) (head *session.Series, part session.Series, from civil.Date, err error) {
	zone, err := time.LoadLocation(series.TimeZone)
	if err != nil {
		return nil, series, from, err
	}
	if scope == All {
		// One day earlier does no harm: sessions that have started do not change.
		return nil, series, civil.DateOf(now, zone).AddDays(-1), nil
	}
	if from = named.OccursOn; from.IsZero() {
		from = named.LocalDate
	}
	pattern, err := parsePattern(series, zone)
	if err != nil {
		return nil, series, from, err
	}
	if first, ok := pattern.First(); ok && !first.Date.Before(from) {
		return nil, series, from, nil // no occurrence would stay
	}
	before, after, err := pattern.SplitAt(from)
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

// applyPattern changes the sessions of a series from a local date on so that they follow the pattern. Before the edit
// they belong to the series old.
func (s *Service) applyPattern(
	ctx context.Context, tx *engine.Tx, old tenant.SeriesID, from civil.Date, series session.Series,
	occurrences []session.Occurrence, at session.References,
) (SeriesEditResult, error) {
	done := SeriesEditResult{Series: series}
	var rows []scheduledb.Scheduled
	var batch pg.Batch
	scheduledb.ListSeriesSessions(&batch, tx.Tenant, old, from, &rows)
	if err := tx.Load(ctx, &batch); err != nil {
		return done, err
	}
	was := make(map[tenant.SessionID]session.Session, len(rows))
	for _, row := range rows {
		was[row.ID] = row.Session
	}
	assigned := session.Assign(sessionsOf(rows), occurrences, tx.Now)
	freed, err := s.waitlists.MakeRoom(ctx, tx, series.Capacity, assigned.Assigned)
	if err != nil {
		return done, err
	}

	var before, updated, written []session.Session
	for i, s := range assigned.Assigned {
		after, err := s.ApplySeries(series, at, assigned.Occurrences[i].Span, tx.Now)
		if err != nil {
			return done, inPart(seriesPart, err)
		}
		after.Series = series.ID
		if after.Version != s.Version {
			before, updated = append(before, was[s.ID]), append(updated, after)
		}
		written = append(written, after)
	}
	for _, s := range assigned.Unchanged {
		s.Series = series.ID
		written = append(written, s)
	}
	var dropped []session.Session
	for _, s := range assigned.Dropped {
		after, _, err := s.Cancel("", tx.Now)
		if err != nil {
			return done, err
		}
		after.Series = series.ID
		dropped = append(dropped, after)
	}
	created := newSessions(tx, series, assigned.Unassigned, at)
	if err := tx.Grow(ctx, s.quota, len(created)); err != nil {
		return done, err
	}

	// The order matters for the exclusion constraints on resources and coaches: cancelled sessions free the times that
	// others move to, and moved sessions free the times of new ones.
	if len(dropped) > 0 {
		if _, err := s.cancelSessions(ctx, tx, dropped, "", true, tenant.BatchID{}); err != nil {
			return done, err
		}
	}
	if err := moveBookings(ctx, tx, before, updated); err != nil {
		return done, err
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, slices.DeleteFunc(written, func(s session.Session) bool {
		b := was[s.ID]
		return s.Version == b.Version && s.Series == b.Series && s.OccursOn == b.OccursOn && s.OccursAt.Equal(b.OccursAt)
	}))
	scheduledb.InsertSessions(tx.Tx, tx.Tenant, created)
	appendEvents(tx, func(s session.Session) event.Data { return was[s.ID].Changes(s) }, updated...)
	appendEvents(tx, createdSession, created...)
	if _, _, err := s.updateWaitlists(ctx, tx, before, updated, freed); err != nil {
		return done, err
	}
	done.Updated, done.Created, done.Cancelled = idsOf(updated), idsOf(created), idsOf(dropped)
	_, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, done.Created...)
	return done, err
}
