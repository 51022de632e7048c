package scheduleapi

import (
	"context"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateSession handles SessionService.CreateSession.
func (s *Schedules) CreateSession(
	ctx context.Context, req *connect.Request[v1.CreateSessionRequest],
) (*connect.Response[v1.CreateSessionResponse], error) {
	created, err := s.Service.CreateSession(
		ctx, request.Caller(ctx), inputValue(req.Msg.GetSession()), req.Msg.GetPublish(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateSessionResponse{Session: sessionMessage(created)})
}

// UpdateSession handles SessionService.UpdateSession.
func (s *Schedules) UpdateSession(
	ctx context.Context, req *connect.Request[v1.UpdateSessionRequest],
) (*connect.Response[v1.UpdateSessionResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, promoted, err := s.Service.UpdateSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
		inputValue(req.Msg.GetSession()), fieldsOf(inputFields, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)})
}

// GetSession handles SessionService.GetSession.
func (s *Schedules) GetSession(
	ctx context.Context, req *connect.Request[v1.GetSessionRequest],
) (*connect.Response[v1.GetSessionResponse], error) {
	session, err := s.Service.GetSession(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetSessionResponse{Session: offeredSessionMessage(session)})
}

// sessionCursor is a position in a list of sessions ordered by start, then id.
type sessionCursor struct {
	Start time.Time
	ID    tenant.SessionID
}

// ListSessions handles SessionService.ListSessions.
func (s *Schedules) ListSessions(
	ctx context.Context, req *connect.Request[v1.ListSessionsRequest],
) (*connect.Response[v1.ListSessionsResponse], error) {
	page, err := convert.ParsePage[sessionCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := schedules.SessionQuery{Filter: FilterValue(req.Msg.GetFilter()), Limit: page.Size + 1}
	if page.After != nil {
		q.AfterStart, q.AfterID = page.After.Start, page.After.ID
	}
	sessions, err := s.Service.ListSessions(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	sessions, next, err := convert.Paginate(
		page, sessions, func(o schedules.SessionView) sessionCursor { return sessionCursor{o.StartsAt, o.ID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListSessionsResponse{
		Sessions: convert.Messages(sessions, offeredSessionMessage), NextPageToken: next,
	})
}

// PublishSession handles SessionService.PublishSession.
func (s *Schedules) PublishSession(
	ctx context.Context, req *connect.Request[v1.PublishSessionRequest],
) (*connect.Response[v1.PublishSessionResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.PublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.PublishSessionResponse{Session: sessionMessage(after)})
}

// UnpublishSession handles SessionService.UnpublishSession.
func (s *Schedules) UnpublishSession(
	ctx context.Context, req *connect.Request[v1.UnpublishSessionRequest],
) (*connect.Response[v1.UnpublishSessionResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.UnpublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UnpublishSessionResponse{Session: sessionMessage(after)})
}

// CancelSession handles SessionService.CancelSession.
func (s *Schedules) CancelSession(
	ctx context.Context, req *connect.Request[v1.CancelSessionRequest],
) (*connect.Response[v1.CancelSessionResponse], error) {
	c, err := s.Service.CancelSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetReason(),
		trueUnlessSet(req.Msg.Notify),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CancelSessionResponse{
		Session: sessionMessage(c.Session), BookingsCancelled: int32(c.Bookings), EntriesCancelled: int32(c.Entries),
		CreditsRefunded: int32(c.Credits),
	})
}

// BlockSession handles SessionService.BlockSession.
func (s *Schedules) BlockSession(
	ctx context.Context, req *connect.Request[v1.BlockSessionRequest],
) (*connect.Response[v1.BlockSessionResponse], error) {
	after, err := s.Service.BlockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetReason(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.BlockSessionResponse{Session: sessionMessage(after)})
}

// UnblockSession handles SessionService.UnblockSession.
func (s *Schedules) UnblockSession(
	ctx context.Context, req *connect.Request[v1.UnblockSessionRequest],
) (*connect.Response[v1.UnblockSessionResponse], error) {
	after, promoted, err := s.Service.UnblockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UnblockSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)})
}

// trueUnlessSet returns the value of an optional field whose default is true.
func trueUnlessSet(value *bool) bool { return value == nil || *value }

// CreateSeries handles SessionService.CreateSeries.
func (s *Schedules) CreateSeries(
	ctx context.Context, req *connect.Request[v1.CreateSeriesRequest],
) (*connect.Response[v1.CreateSeriesResponse], error) {
	m := req.Msg
	series, created, err := s.Service.CreateSeries(ctx, request.Caller(ctx), schedules.SeriesInput{
		Template: inputValue(m.GetTemplate()),
		Pattern: session.Pattern{
			Rule: m.GetRule(), Date: convert.DateValue(m.GetStartDate()), Time: convert.TimeOfDayValue(m.GetStartTimeOfDay()),
			Duration: convert.DurationValue(m.GetDuration()), Excluded: values(m.GetExcludedDates(), convert.DateValue),
		},
		Publish: m.GetPublish(),
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateSeriesResponse{Series: seriesMessage(series), SessionIds: idTexts(created)})
}

var seriesScopes = map[v1.SeriesEditScope]schedules.SeriesScope{
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE:       schedules.One,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING: schedules.Following,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL:       schedules.All,
}

// UpdateSeries handles SessionService.UpdateSeries.
func (s *Schedules) UpdateSeries(
	ctx context.Context, req *connect.Request[v1.UpdateSeriesRequest],
) (*connect.Response[v1.UpdateSeriesResponse], error) {
	m := req.Msg
	expect, err := convert.ExpectedVersion(m.GetEtag())
	if err != nil {
		return nil, err
	}
	done, err := s.Service.UpdateSeries(ctx, request.Caller(ctx), schedules.SeriesEdit{
		Series: convert.ID[tenant.SeriesID](m.GetSeriesId()), Scope: seriesScopes[m.GetScope()],
		Session: convert.ID[tenant.SessionID](m.GetSessionId()), Expect: expect,
		Template: inputValue(m.GetTemplate()), Fields: fieldsOf(inputFields, m.GetUpdateMask().GetPaths()),
		Pattern: session.Pattern{
			Rule: m.GetRule(), Time: convert.TimeOfDayValue(m.GetStartTimeOfDay()),
			Duration: convert.DurationValue(m.GetDuration()),
			Excluded: values(m.GetExcludedDates(), convert.DateValue),
		},
		PatternFields: fieldsOf(patternFields, m.GetUpdateMask().GetPaths()),
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateSeriesResponse{
		Series: seriesMessage(done.Series), UpdatedSessionIds: idTexts(done.Updated),
		CreatedSessionIds: idTexts(done.Created), CancelledSessionIds: idTexts(done.Cancelled),
	})
}

// GetSeries handles SessionService.GetSeries.
func (s *Schedules) GetSeries(
	ctx context.Context, req *connect.Request[v1.GetSeriesRequest],
) (*connect.Response[v1.GetSeriesResponse], error) {
	series, err := s.Service.GetSeries(ctx, request.Caller(ctx), convert.ID[tenant.SeriesID](req.Msg.GetSeriesId()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetSeriesResponse{Series: seriesMessage(series)})
}

// PreviewBulk handles SessionService.PreviewBulk.
func (s *Schedules) PreviewBulk(
	ctx context.Context, req *connect.Request[v1.PreviewBulkRequest],
) (*connect.Response[v1.PreviewBulkResponse], error) {
	found, err := s.Service.PreviewBulk(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.PreviewBulkResponse{
		Matched: int32(found.Matched), WithActiveBookings: int32(found.Booked), ActiveBookings: int32(found.Bookings),
		Samples: convert.Messages(found.Samples, matchMessage),
	})
}

// BulkPublish handles SessionService.BulkPublish.
func (s *Schedules) BulkPublish(
	ctx context.Context, req *connect.Request[v1.BulkPublishRequest],
) (*connect.Response[v1.BulkPublishResponse], error) {
	done, err := s.Service.BulkPublish(ctx, request.Caller(ctx), FilterValue(req.Msg.GetFilter()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.BulkPublishResponse{Published: int32(done.Sessions), BatchId: convert.IDText(done.Batch)})
}

// BulkDelete handles SessionService.BulkDelete.
func (s *Schedules) BulkDelete(
	ctx context.Context, req *connect.Request[v1.BulkDeleteRequest],
) (*connect.Response[v1.BulkDeleteResponse], error) {
	done, err := s.Service.BulkDelete(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
		Reason: req.Msg.GetReason(), Notify: trueUnlessSet(req.Msg.Notify),
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.BulkDeleteResponse{
		Deleted: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits),
		BatchId: convert.IDText(done.Batch),
	})
}

// BulkCancel handles SessionService.BulkCancel.
func (s *Schedules) BulkCancel(
	ctx context.Context, req *connect.Request[v1.BulkCancelRequest],
) (*connect.Response[v1.BulkCancelResponse], error) {
	done, err := s.Service.BulkCancel(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
		Reason: req.Msg.GetReason(), Notify: trueUnlessSet(req.Msg.Notify),
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.BulkCancelResponse{
		Cancelled: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits),
		BatchId: convert.IDText(done.Batch),
	})
}

// ImportSessions handles SessionService.ImportSessions.
func (s *Schedules) ImportSessions(
	ctx context.Context, req *connect.Request[v1.ImportSessionsRequest],
) (*connect.Response[v1.ImportSessionsResponse], error) {
	report, err := s.Service.ImportSessions(ctx, request.Caller(ctx), req.Msg.GetCsv(), req.Msg.GetDryRun())
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ImportSessionsResponse{
		Imported: int32(len(report.Sessions)), Rows: importRows(report), Problems: int32(report.InvalidRows()),
	})
}

// SetWorkouts handles SessionService.SetWorkouts.
func (s *Schedules) SetWorkouts(
	ctx context.Context, req *connect.Request[v1.SetWorkoutsRequest],
) (*connect.Response[v1.SetWorkoutsResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.SetWorkouts(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
		values(req.Msg.GetWorkoutIds(), convert.ID[tenant.WorkoutID]),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.SetWorkoutsResponse{Session: sessionMessage(after)})
}

// AddInlineWorkout handles SessionService.AddInlineWorkout.
func (s *Schedules) AddInlineWorkout(
	ctx context.Context, req *connect.Request[v1.AddInlineWorkoutRequest],
) (*connect.Response[v1.AddInlineWorkoutResponse], error) {
	w, err := s.Service.AddInlineWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetName(), req.Msg.GetBody(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.AddInlineWorkoutResponse{Workout: workoutMessage(w)})
}

// CreateWorkout handles SessionService.CreateWorkout.
func (s *Schedules) CreateWorkout(
	ctx context.Context, req *connect.Request[v1.CreateWorkoutRequest],
) (*connect.Response[v1.CreateWorkoutResponse], error) {
	w, err := s.Service.CreateWorkout(ctx, request.Caller(ctx), req.Msg.GetName(), req.Msg.GetBody())
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateWorkoutResponse{Workout: workoutMessage(w)})
}

// UpdateWorkout handles SessionService.UpdateWorkout.
func (s *Schedules) UpdateWorkout(
	ctx context.Context, req *connect.Request[v1.UpdateWorkoutRequest],
) (*connect.Response[v1.UpdateWorkoutResponse], error) {
	m := req.Msg
	expect, err := convert.ExpectedVersion(m.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.Service.UpdateWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.WorkoutID](m.GetWorkoutId()), expect,
		editWorkout(m.GetName(), m.GetBody(), m.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateWorkoutResponse{Workout: workoutMessage(w)})
}

// DeleteWorkout handles SessionService.DeleteWorkout.
func (s *Schedules) DeleteWorkout(
	ctx context.Context, req *connect.Request[v1.DeleteWorkoutRequest],
) (*connect.Response[v1.DeleteWorkoutResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.Service.DeleteWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.WorkoutID](req.Msg.GetWorkoutId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.DeleteWorkoutResponse{Workout: workoutMessage(w)})
}

// ListWorkouts handles SessionService.ListWorkouts.
func (s *Schedules) ListWorkouts(
	ctx context.Context, req *connect.Request[v1.ListWorkoutsRequest],
) (*connect.Response[v1.ListWorkoutsResponse], error) {
	if of := convert.ID[tenant.SessionID](req.Msg.GetSessionId()); !of.IsZero() {
		workouts, err := s.Service.ListSessionWorkouts(ctx, request.Caller(ctx), of)
		if err != nil {
			return nil, err
		}
		return convert.Response(&v1.ListWorkoutsResponse{Workouts: convert.Messages(workouts, workoutMessage)})
	}
	page, err := convert.ParsePage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := schedules.WorkoutQuery{Limit: page.Size + 1}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	workouts, err := s.Service.ListWorkouts(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	workouts, next, err := convert.Paginate(
		page, workouts, func(w session.Workout) convert.NameCursor { return convert.NameCursor{Name: w.Name, ID: w.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListWorkoutsResponse{
		Workouts: convert.Messages(workouts, workoutMessage), NextPageToken: next,
	})
}
