package schedules

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
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

// SeriesEditResult says what an edit did.
type SeriesEditResult struct {
	Series                      session.Series // that the edited sessions belong to now
	Updated, Created, Cancelled []tenant.SessionID
}

// UpdateSeries edits one session of a series, all from one on, or all. What has started, was cancelled or deleted, or was
// edited by itself stays as it is. Either the whole edit happens or nothing of it.
func (s *Service) UpdateSeries(ctx context.Context, caller tenant.Caller, e SeriesEdit) (SeriesEditResult, error) {
	var done SeriesEditResult
	err := s.engine.Write(ctx, caller, "series.update", func(ctx context.Context, tx *engine.Tx) error {
		series, named, err := seriesToEdit(ctx, tx, e)
		if err != nil {
			return err
		}
		if e.Scope == One {
			done, err = s.editOne(ctx, tx, series, named, e)
		} else {
			done, err = s.editMany(ctx, tx, series, named, e)
		}
		return err
	}, engine.Answers(&done), engine.Losing(seats.PromotionRace))
	return done, scheduleRefusal("template", err)
}

func seriesToEdit(ctx context.Context, tx *engine.Tx, e SeriesEdit) (session.Series, session.Session, error) {
	var series *session.Series
	var named *scheduledb.Scheduled
	var batch pg.Batch
	scheduledb.FindSeries(&batch, tx.Tenant, e.Series, &series)
	scheduledb.FindSession(&batch, tx.Tenant, e.Session, &named)
	if err := tx.Load(ctx, &batch); err != nil {
		return session.Series{}, session.Session{}, err
	}
	switch {
	case series == nil:
		return session.Series{}, session.Session{}, noSeries
	case e.Scope == All:
		return *series, session.Session{}, engine.CheckVersion(e.Expect, series.Version)
	case named == nil || named.Series != series.ID:
		return session.Series{}, session.Session{}, seats.ErrNoSession
	}
	return *series, named.Session, engine.CheckVersion(e.Expect, series.Version)
}

// editOne edits a session by itself.
func (s *Service) editOne(ctx context.Context, tx *engine.Tx, series session.Series, sess session.Session, e SeriesEdit) (SeriesEditResult, error) {
	done := SeriesEditResult{Series: series}
	if e.PatternFields.Has(session.RuleField) {
		return done, fault.Invalid("rule", "One session has no rule.")
	}
	if e.PatternFields.Has(session.ExcludedField) {
		return done, fault.Invalid("excluded_dates", "One session excludes no days.")
	}
	at, err := setting(ctx, tx, sess.WithReferences(e.Template, e.Fields))
	if err != nil {
		return done, err
	}
	in, fields := e.Template, e.Fields&^session.TimeFields
	wanted, err := session.Series{}.Edit(e.Pattern, e.PatternFields, at.Service)
	if err != nil {
		return done, err
	}
	in.StartsAt = sess.StartsAt
	if e.PatternFields.Has(session.TimeOfDayField) {
		in.StartsAt = sess.LocalDate.At(wanted.Time, at.Location.Zone)
		fields |= session.StartField
	}
	if e.PatternFields.Has(session.DurationField) {
		in.EndsAt = in.StartsAt.Add(wanted.Duration)
		fields |= session.EndField
	}
	after, _, err := s.edit(ctx, tx, sess, in, fields, at)
	if err == nil && after.Version != sess.Version {
		done.Updated = []tenant.SessionID{sess.ID}
	}
	return done, under("template", err)
}

// editMany edits the pattern itself: all of it, or what follows from a day on as a series of its own.
func (s *Service) editMany(ctx context.Context, tx *engine.Tx, series session.Series, named session.Session, e SeriesEdit) (SeriesEditResult, error) {
	done := SeriesEditResult{Series: series}
	head, before, from, err := reached(series, named, e.Scope, tx.Now)
	if err != nil {
		return done, err
	}
	at, err := setting(ctx, tx, before.WithReferences(e.Template, e.Fields))
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
	after, pattern, err := expand(after, at.Location.Zone, from, tx.Now)
	if err != nil {
		return done, err
	}
	after.TimeZone = at.Location.TimeZone
	changes := catalog.AuditChanges(before.Facts(), after.Facts())
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
	done, err = s.repattern(ctx, tx, series.ID, from, after, pattern, at)
	changes["updated"], changes["created"], changes["cancelled"] = texts(done.Updated), texts(done.Created), texts(done.Cancelled)
	tx.Audit("series.updated", "series", after.ID.UUID, "", changes)
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
func (s *Service) repattern(ctx context.Context, tx *engine.Tx, old tenant.SeriesID, from civil.Date, series session.Series, pattern []session.Occurrence, at session.References) (SeriesEditResult, error) {
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
	dealt := session.Assign(sessionsOf(rows), pattern, tx.Now)
	freed, err := s.waitlists.MakeRoom(ctx, tx, series.Capacity, dealt.Assigned)
	if err != nil {
		return done, err
	}

	var before, updated, written []session.Session
	for i, s := range dealt.Assigned {
		after, err := s.ApplySeries(series, at, dealt.Occurrences[i].Span, tx.Now)
		if err != nil {
			return done, under("template", err)
		}
		after.Series = series.ID
		if after.Version != s.Version {
			before, updated = append(before, was[s.ID]), append(updated, after)
		}
		written = append(written, after)
	}
	for _, s := range dealt.Unchanged {
		s.Series = series.ID
		written = append(written, s)
	}
	var dropped []session.Session
	for _, s := range dealt.Dropped {
		off, _, err := s.Cancel("", tx.Now)
		if err != nil {
			return done, err
		}
		off.Series = series.ID
		dropped = append(dropped, off)
	}
	made := occupy(tx, series, dealt.Unassigned, at)

	// Those that go make room for those that move, and these for those that come.
	if len(dropped) > 0 {
		if _, err := s.callOff(ctx, tx, dropped, "", true, tenant.BatchID{}); err != nil {
			return done, err
		}
	}
	if err := s.move(ctx, tx, before, updated); err != nil {
		return done, err
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, slices.DeleteFunc(written, func(s session.Session) bool {
		b := was[s.ID]
		return s.Version == b.Version && s.Series == b.Series && s.OccursOn == b.OccursOn && s.OccursAt.Equal(b.OccursAt)
	}))
	scheduledb.InsertSessions(tx.Tx, tx.Tenant, made)
	tell(tx, outbox.SessionUpdated, func(s session.Session) map[string]any { return catalog.AuditChanges(was[s.ID].Facts(), s.Facts()) }, updated...)
	tell(tx, outbox.SessionCreated, ofSeries, made...)
	if _, _, err := s.resettle(ctx, tx, before, updated, freed); err != nil {
		return done, err
	}
	if _, _, err := s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, idsOf(made)...); err != nil {
		return done, err
	}
	done.Updated, done.Created, done.Cancelled = idsOf(updated), idsOf(made), idsOf(dropped)
	return done, nil
}
