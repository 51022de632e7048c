package scheduleapi

import (
	"context"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// createPublished is the permission to publish sessions as they are created.
const createPublished = "session.create_published"

func mayCreatePublished(ctx context.Context, publish bool) error {
	if !publish {
		return nil
	}
	return request.RequirePermission(ctx, createPublished)
}

// CreateSession handles SessionService.CreateSession.
func (s *Schedules) CreateSession(
	ctx context.Context, req *v1.CreateSessionRequest,
) (*v1.CreateSessionResponse, error) {
	if err := mayCreatePublished(ctx, req.GetPublish()); err != nil {
		return nil, err
	}
	created, err := s.Service.CreateSession(
		ctx, request.Caller(ctx), inputValue(req.GetSession()), req.GetPublish(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.CreateSessionResponse{Session: sessionMessage(created)}, nil
}

// UpdateSession handles SessionService.UpdateSession.
func (s *Schedules) UpdateSession(
	ctx context.Context, req *v1.UpdateSessionRequest,
) (*v1.UpdateSessionResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	after, promoted, err := s.Service.UpdateSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), expect,
		inputValue(req.GetSession()), fieldsOf(inputFields, req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)}, nil
}

// GetSession handles SessionService.GetSession.
func (s *Schedules) GetSession(ctx context.Context, req *v1.GetSessionRequest) (*v1.GetSessionResponse, error) {
	session, err := s.Service.GetSession(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetSessionResponse{Session: sessionViewMessage(session)}, nil
}

// sessionCursor is a position in a list of sessions ordered by start, then id.
type sessionCursor struct {
	Start time.Time
	ID    tenant.SessionID
}

// ListSessions handles SessionService.ListSessions.
func (s *Schedules) ListSessions(ctx context.Context, req *v1.ListSessionsRequest) (*v1.ListSessionsResponse, error) {
	page, err := convert.ParsePage[sessionCursor](req)
	if err != nil {
		return nil, err
	}
	q := schedules.SessionQuery{Filter: FilterValue(req.GetFilter()), Limit: page.Limit()}
	if page.After != nil {
		q.AfterStart, q.AfterID = page.After.Start, page.After.ID
	}
	sessions, err := s.Service.ListSessions(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	sessions, next := convert.Paginate(
		page, sessions, func(v schedules.SessionView) sessionCursor { return sessionCursor{v.StartsAt, v.ID} },
	)
	return &v1.ListSessionsResponse{
		Sessions: convert.Messages(sessions, sessionViewMessage), NextPageToken: next,
	}, nil
}

// PublishSession handles SessionService.PublishSession.
func (s *Schedules) PublishSession(
	ctx context.Context, req *v1.PublishSessionRequest,
) (*v1.PublishSessionResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.PublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return &v1.PublishSessionResponse{Session: sessionMessage(after)}, nil
}

// UnpublishSession handles SessionService.UnpublishSession.
func (s *Schedules) UnpublishSession(
	ctx context.Context, req *v1.UnpublishSessionRequest,
) (*v1.UnpublishSessionResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.UnpublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return &v1.UnpublishSessionResponse{Session: sessionMessage(after)}, nil
}

// CancelSession handles SessionService.CancelSession.
func (s *Schedules) CancelSession(
	ctx context.Context, req *v1.CancelSessionRequest,
) (*v1.CancelSessionResponse, error) {
	c, err := s.Service.CancelSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), req.GetReason(),
		convert.TrueUnlessSet(req.Notify),
	)
	if err != nil {
		return nil, err
	}
	return &v1.CancelSessionResponse{
		Session: sessionMessage(c.Session), BookingsCancelled: int32(c.Bookings), EntriesCancelled: int32(c.Entries),
		CreditsRefunded: int32(c.Credits),
	}, nil
}

// BlockSession handles SessionService.BlockSession.
func (s *Schedules) BlockSession(ctx context.Context, req *v1.BlockSessionRequest) (*v1.BlockSessionResponse, error) {
	after, err := s.Service.BlockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), req.GetReason(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.BlockSessionResponse{Session: sessionMessage(after)}, nil
}

// UnblockSession handles SessionService.UnblockSession.
func (s *Schedules) UnblockSession(
	ctx context.Context, req *v1.UnblockSessionRequest,
) (*v1.UnblockSessionResponse, error) {
	after, promoted, err := s.Service.UnblockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UnblockSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)}, nil
}

// CreateSeries handles SessionService.CreateSeries.
func (s *Schedules) CreateSeries(ctx context.Context, req *v1.CreateSeriesRequest) (*v1.CreateSeriesResponse, error) {
	if err := mayCreatePublished(ctx, req.GetPublish()); err != nil {
		return nil, err
	}
	series, created, err := s.Service.CreateSeries(ctx, request.Caller(ctx), schedules.SeriesInput{
		Template: inputValue(req.GetTemplate()),
		Pattern: session.Pattern{
			Rule: req.GetRule(), Date: convert.DateValue(req.GetStartDate()),
			Time:     convert.TimeOfDayValue(req.GetStartTimeOfDay()),
			Duration: convert.DurationValue(req.GetDuration()), Excluded: values(req.GetExcludedDates(), convert.DateValue),
		},
		Publish: req.GetPublish(),
	})
	if err != nil {
		return nil, err
	}
	return &v1.CreateSeriesResponse{Series: seriesMessage(series), SessionIds: idTexts(created)}, nil
}

var seriesScopes = map[v1.SeriesEditScope]schedules.SeriesScope{
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE:       schedules.One,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING: schedules.Following,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL:       schedules.All,
}

// UpdateSeries handles SessionService.UpdateSeries.
func (s *Schedules) UpdateSeries(ctx context.Context, req *v1.UpdateSeriesRequest) (*v1.UpdateSeriesResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	done, err := s.Service.UpdateSeries(ctx, request.Caller(ctx), schedules.SeriesEdit{
		Series: convert.ID[tenant.SeriesID](req.GetSeriesId()), Scope: seriesScopes[req.GetScope()],
		Session: convert.ID[tenant.SessionID](req.GetSessionId()), Expect: expect,
		Template: inputValue(req.GetTemplate()), Fields: fieldsOf(inputFields, req.GetUpdateMask().GetPaths()),
		Pattern: session.Pattern{
			Rule: req.GetRule(), Time: convert.TimeOfDayValue(req.GetStartTimeOfDay()),
			Duration: convert.DurationValue(req.GetDuration()),
			Excluded: values(req.GetExcludedDates(), convert.DateValue),
		},
		PatternFields: fieldsOf(patternFields, req.GetUpdateMask().GetPaths()),
	})
	if err != nil {
		return nil, err
	}
	return &v1.UpdateSeriesResponse{
		Series: seriesMessage(done.Series), UpdatedSessionIds: idTexts(done.Updated),
		CreatedSessionIds: idTexts(done.Created), CancelledSessionIds: idTexts(done.Cancelled),
	}, nil
}

// GetSeries handles SessionService.GetSeries.
func (s *Schedules) GetSeries(ctx context.Context, req *v1.GetSeriesRequest) (*v1.GetSeriesResponse, error) {
	series, err := s.Service.GetSeries(ctx, request.Caller(ctx), convert.ID[tenant.SeriesID](req.GetSeriesId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetSeriesResponse{Series: seriesMessage(series)}, nil
}

// PreviewBulkSessions handles SessionService.PreviewBulkSessions.
func (s *Schedules) PreviewBulkSessions(
	ctx context.Context, req *v1.PreviewBulkSessionsRequest,
) (*v1.PreviewBulkSessionsResponse, error) {
	found, err := s.Service.PreviewBulk(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.GetFilter()), IncludeBooked: req.GetIncludeBooked(),
	})
	if err != nil {
		return nil, err
	}
	return &v1.PreviewBulkSessionsResponse{
		Matched: int32(found.Matched), WithActiveBookings: int32(found.Booked), ActiveBookings: int32(found.Bookings),
		Samples: convert.Messages(found.Samples, matchMessage),
	}, nil
}

// BulkPublishSessions handles SessionService.BulkPublishSessions.
func (s *Schedules) BulkPublishSessions(
	ctx context.Context, req *v1.BulkPublishSessionsRequest,
) (*v1.BulkPublishSessionsResponse, error) {
	done, err := s.Service.BulkPublish(ctx, request.Caller(ctx), FilterValue(req.GetFilter()))
	if err != nil {
		return nil, err
	}
	return &v1.BulkPublishSessionsResponse{Published: int32(done.Sessions), BatchId: convert.IDText(done.Batch)}, nil
}

// BulkDeleteSessions handles SessionService.BulkDeleteSessions.
func (s *Schedules) BulkDeleteSessions(
	ctx context.Context, req *v1.BulkDeleteSessionsRequest,
) (*v1.BulkDeleteSessionsResponse, error) {
	done, err := s.Service.BulkDelete(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.GetFilter()), IncludeBooked: req.GetIncludeBooked(),
		Reason: req.GetReason(), Notify: convert.TrueUnlessSet(req.Notify),
	})
	if err != nil {
		return nil, err
	}
	return &v1.BulkDeleteSessionsResponse{
		Deleted: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits),
		BatchId: convert.IDText(done.Batch),
	}, nil
}

// BulkCancelSessions handles SessionService.BulkCancelSessions.
func (s *Schedules) BulkCancelSessions(
	ctx context.Context, req *v1.BulkCancelSessionsRequest,
) (*v1.BulkCancelSessionsResponse, error) {
	done, err := s.Service.BulkCancel(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.GetFilter()), IncludeBooked: req.GetIncludeBooked(),
		Reason: req.GetReason(), Notify: convert.TrueUnlessSet(req.Notify),
	})
	if err != nil {
		return nil, err
	}
	return &v1.BulkCancelSessionsResponse{
		Cancelled: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits),
		BatchId: convert.IDText(done.Batch),
	}, nil
}

// ImportSessions handles SessionService.ImportSessions.
func (s *Schedules) ImportSessions(
	ctx context.Context, req *v1.ImportSessionsRequest,
) (*v1.ImportSessionsResponse, error) {
	caller := request.Caller(ctx)
	may, err := request.Permitted(ctx, caller, []string{createPublished})
	if err != nil {
		return nil, err
	}
	imported, err := s.Service.ImportSessions(ctx, caller, req.GetCsv(), may[createPublished], req.GetDryRun())
	if err != nil {
		return nil, err
	}
	return &v1.ImportSessionsResponse{
		Imported: int32(len(imported.Sessions)), Rows: importRows(imported), Problems: int32(imported.InvalidRows()),
	}, nil
}

// SetWorkouts handles WorkoutService.SetWorkouts.
func (s *Schedules) SetWorkouts(ctx context.Context, req *v1.SetWorkoutsRequest) (*v1.SetWorkoutsResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.SetWorkouts(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), expect,
		values(req.GetWorkoutIds(), convert.ID[tenant.WorkoutID]),
	)
	if err != nil {
		return nil, err
	}
	return &v1.SetWorkoutsResponse{Session: sessionMessage(after)}, nil
}

// AddInlineWorkout handles WorkoutService.AddInlineWorkout.
func (s *Schedules) AddInlineWorkout(
	ctx context.Context, req *v1.AddInlineWorkoutRequest,
) (*v1.AddInlineWorkoutResponse, error) {
	w, err := s.Service.AddInlineWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), req.GetName(), req.GetBody(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.AddInlineWorkoutResponse{Workout: workoutMessage(w)}, nil
}

// CreateWorkout handles WorkoutService.CreateWorkout.
func (s *Schedules) CreateWorkout(
	ctx context.Context, req *v1.CreateWorkoutRequest,
) (*v1.CreateWorkoutResponse, error) {
	w, err := s.Service.CreateWorkout(ctx, request.Caller(ctx), req.GetName(), req.GetBody())
	if err != nil {
		return nil, err
	}
	return &v1.CreateWorkoutResponse{Workout: workoutMessage(w)}, nil
}

// UpdateWorkout handles WorkoutService.UpdateWorkout.
func (s *Schedules) UpdateWorkout(
	ctx context.Context, req *v1.UpdateWorkoutRequest,
) (*v1.UpdateWorkoutResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.Service.UpdateWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.WorkoutID](req.GetWorkoutId()), expect,
		editWorkout(req.GetName(), req.GetBody(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateWorkoutResponse{Workout: workoutMessage(w)}, nil
}

// DeleteWorkout handles WorkoutService.DeleteWorkout.
func (s *Schedules) DeleteWorkout(
	ctx context.Context, req *v1.DeleteWorkoutRequest,
) (*v1.DeleteWorkoutResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.Service.DeleteWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.WorkoutID](req.GetWorkoutId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return &v1.DeleteWorkoutResponse{Workout: workoutMessage(w)}, nil
}

// GetWorkout handles WorkoutService.GetWorkout.
func (s *Schedules) GetWorkout(ctx context.Context, req *v1.GetWorkoutRequest) (*v1.GetWorkoutResponse, error) {
	found, err := s.Service.GetWorkout(ctx, request.Caller(ctx), convert.ID[tenant.WorkoutID](req.WorkoutId))
	if err != nil {
		return nil, err
	}
	return &v1.GetWorkoutResponse{Workout: workoutMessage(found)}, nil
}

// ListWorkouts handles WorkoutService.ListWorkouts.
func (s *Schedules) ListWorkouts(ctx context.Context, req *v1.ListWorkoutsRequest) (*v1.ListWorkoutsResponse, error) {
	if of := convert.ID[tenant.SessionID](req.GetSessionId()); !of.IsZero() {
		workouts, err := s.Service.ListSessionWorkouts(ctx, request.Caller(ctx), of)
		if err != nil {
			return nil, err
		}
		return &v1.ListWorkoutsResponse{Workouts: convert.Messages(workouts, workoutMessage)}, nil
	}
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	q := schedules.WorkoutQuery{Limit: page.Limit()}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	workouts, err := s.Service.ListWorkouts(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	workouts, next := convert.Paginate(
		page, workouts, func(w session.Workout) convert.NameCursor { return convert.NameCursor{Name: w.Name, ID: w.ID.UUID} },
	)
	return &v1.ListWorkoutsResponse{
		Workouts: convert.Messages(workouts, workoutMessage), NextPageToken: next,
	}, nil
}
