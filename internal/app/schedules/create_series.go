package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// seriesPart is the part of a request that describes a series.
const seriesPart = "series"

// SeriesInput is what staff decide about a series.
type SeriesInput struct {
	Template session.Input // its times are ignored
	session.Pattern
	Publish bool // its sessions are published as soon as they are created
}

type createdSeries struct {
	Series   session.Series
	Sessions []tenant.SessionID
}

// CreateSeries creates a series with all its sessions. If one of them conflicts it creates nothing.
func (s *Service) CreateSeries(
	ctx context.Context, caller tenant.Caller, in SeriesInput,
) (session.Series, []tenant.SessionID, error) {
	t := engine.Transaction{Name: "series.create", Replay: true}
	create := func(ctx context.Context, tx *engine.Tx) (createdSeries, error) {
		series, sessions, err := newSeries(ctx, tx, in)
		if err != nil {
			return createdSeries{}, err
		}
		if err := tx.Grow(ctx, s.quota, len(sessions)); err != nil {
			return createdSeries{}, err
		}
		scheduledb.InsertSeries(tx.Tx, tx.Tenant, series)
		scheduledb.InsertSessions(tx.Tx, tx.Tenant, sessions)
		appendEvents(tx, createdSession, sessions...)
		record.Audit(tx, "series.created", "series", series.ID.UUID, "", catalog.AuditChanges(nil, series.AuditFields()))
		ids := idsOf(sessions)
		if _, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, ids...); err != nil {
			return createdSeries{}, err
		}
		series, err = series.WithStatus(tx.Now)
		return createdSeries{series, ids}, err
	}
	done, err := engine.Transact(ctx, s.engine, caller, t, create)
	return done.Series, done.Sessions, explainConflict(seriesPart, err)
}

// newSeries makes a series with its sessions.
func newSeries(ctx context.Context, tx *engine.Tx, in SeriesInput) (session.Series, []session.Session, error) {
	var series session.Series
	at, err := loadReferences(ctx, tx, session.Details{}.WithReferences(in.Template, ^session.Fields(0)))
	if err != nil {
		return series, nil, err
	}
	series = session.Series{
		ID: tenant.NextID[tenant.SeriesID](tx.IDs), Date: in.Date, Publish: in.Publish, TimeZone: at.Location.TimeZone,
		Version: 1, CreatedAt: tx.Now, UpdatedAt: tx.Now,
	}
	if series.Details, err = session.NewDetails(in.Template, at); err != nil {
		return series, nil, inPart(seriesPart, err)
	}
	if series, err = series.Edit(in.Pattern, session.AllPatternFields, at.Service); err != nil {
		return series, nil, inPart(seriesPart, err)
	}
	series, occurrences, err := expand(series, at.Location.Zone, series.Date, tx.Now)
	return series, newSessions(tx, series, occurrences, at), inPart(seriesPart, err)
}
