package rpc

import (
	"context"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// sessionService serves berth.v1.SessionService.
type sessionService struct{ app *app.App }

func (s *sessionService) CreateSession(ctx context.Context, req *connect.Request[v1.CreateSessionRequest]) (*connect.Response[v1.CreateSessionResponse], error) {
	made, err := s.app.Schedules.CreateSession(ctx, caller(ctx), inputValue(req.Msg.GetSession()), req.Msg.GetPublish())
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateSessionResponse{Session: sessionMessage(made)})
}

func (s *sessionService) UpdateSession(ctx context.Context, req *connect.Request[v1.UpdateSessionRequest]) (*connect.Response[v1.UpdateSessionResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, promoted, err := s.app.Schedules.UpdateSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()), expect,
		inputValue(req.Msg.GetSession()), masked(inputFields, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)})
}

func (s *sessionService) GetSession(ctx context.Context, req *connect.Request[v1.GetSessionRequest]) (*connect.Response[v1.GetSessionResponse], error) {
	one, err := s.app.Schedules.GetSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetSessionResponse{Session: offeredMessage(one)})
}

// sessionCursor is a position among sessions in order of start.
type sessionCursor struct {
	Start time.Time
	ID    tenant.SessionID
}

func (s *sessionService) ListSessions(ctx context.Context, req *connect.Request[v1.ListSessionsRequest]) (*connect.Response[v1.ListSessionsResponse], error) {
	page, err := openPage[sessionCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := schedules.SessionQuery{Filter: filterValue(req.Msg.GetFilter()), Limit: page.Size + 1}
	if page.After != nil {
		q.AfterStart, q.AfterID = page.After.Start, page.After.ID
	}
	sessions, err := s.app.Schedules.ListSessions(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	sessions, next, err := cut(page, sessions, func(o schedules.Offered) sessionCursor { return sessionCursor{o.StartsAt, o.ID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListSessionsResponse{Sessions: messages(sessions, offeredMessage), NextPageToken: next})
}

func (s *sessionService) PublishSession(ctx context.Context, req *connect.Request[v1.PublishSessionRequest]) (*connect.Response[v1.PublishSessionResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.app.Schedules.PublishSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()), expect)
	if err != nil {
		return nil, err
	}
	return reply(&v1.PublishSessionResponse{Session: sessionMessage(after)})
}

func (s *sessionService) UnpublishSession(ctx context.Context, req *connect.Request[v1.UnpublishSessionRequest]) (*connect.Response[v1.UnpublishSessionResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.app.Schedules.UnpublishSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()), expect)
	if err != nil {
		return nil, err
	}
	return reply(&v1.UnpublishSessionResponse{Session: sessionMessage(after)})
}

func (s *sessionService) CancelSession(ctx context.Context, req *connect.Request[v1.CancelSessionRequest]) (*connect.Response[v1.CancelSessionResponse], error) {
	c, err := s.app.Schedules.CancelSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetReason(), unlessSaid(req.Msg.Notify))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CancelSessionResponse{
		Session: sessionMessage(c.Session), BookingsCancelled: int32(c.Bookings), EntriesCancelled: int32(c.Entries), CreditsRefunded: int32(c.Credits),
	})
}

func (s *sessionService) BlockSession(ctx context.Context, req *connect.Request[v1.BlockSessionRequest]) (*connect.Response[v1.BlockSessionResponse], error) {
	after, err := s.app.Schedules.BlockSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetReason())
	if err != nil {
		return nil, err
	}
	return reply(&v1.BlockSessionResponse{Session: sessionMessage(after)})
}

func (s *sessionService) UnblockSession(ctx context.Context, req *connect.Request[v1.UnblockSessionRequest]) (*connect.Response[v1.UnblockSessionResponse], error) {
	after, promoted, err := s.app.Schedules.UnblockSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UnblockSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)})
}

// unlessSaid is true unless the caller said otherwise.
func unlessSaid(said *bool) bool { return said == nil || *said }

func (s *sessionService) CreateSeries(ctx context.Context, req *connect.Request[v1.CreateSeriesRequest]) (*connect.Response[v1.CreateSeriesResponse], error) {
	m := req.Msg
	series, made, err := s.app.Schedules.CreateSeries(ctx, caller(ctx), schedules.SeriesInput{
		Template: inputValue(m.GetTemplate()),
		Pattern: session.Pattern{
			Rule: m.GetRule(), Date: civilDate(m.GetStartDate()), Time: civilTime(m.GetStartTimeOfDay()),
			Duration: span(m.GetDuration()), Excluded: values(m.GetExcludedDates(), civilDate),
		},
		Publish: m.GetPublish(),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateSeriesResponse{Series: seriesMessage(series), SessionIds: idTexts(made)})
}

var seriesScopes = map[v1.SeriesEditScope]schedules.SeriesScope{
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE:       schedules.One,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING: schedules.Following,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL:       schedules.All,
}

func (s *sessionService) UpdateSeries(ctx context.Context, req *connect.Request[v1.UpdateSeriesRequest]) (*connect.Response[v1.UpdateSeriesResponse], error) {
	m := req.Msg
	expect, err := expected(m.GetEtag())
	if err != nil {
		return nil, err
	}
	done, err := s.app.Schedules.UpdateSeries(ctx, caller(ctx), schedules.SeriesEdit{
		Series: id[tenant.SeriesID](m.GetSeriesId()), Scope: seriesScopes[m.GetScope()], Session: id[tenant.SessionID](m.GetSessionId()), Expect: expect,
		Template: inputValue(m.GetTemplate()), Fields: masked(inputFields, m.GetUpdateMask().GetPaths()),
		Pattern: session.Pattern{
			Rule: m.GetRule(), Time: civilTime(m.GetStartTimeOfDay()), Duration: span(m.GetDuration()), Excluded: values(m.GetExcludedDates(), civilDate),
		},
		PatternFields: masked(patternFields, m.GetUpdateMask().GetPaths()),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateSeriesResponse{
		Series: seriesMessage(done.Series), UpdatedSessionIds: idTexts(done.Updated),
		CreatedSessionIds: idTexts(done.Created), CancelledSessionIds: idTexts(done.Cancelled),
	})
}

func (s *sessionService) GetSeries(ctx context.Context, req *connect.Request[v1.GetSeriesRequest]) (*connect.Response[v1.GetSeriesResponse], error) {
	series, err := s.app.Schedules.GetSeries(ctx, caller(ctx), id[tenant.SeriesID](req.Msg.GetSeriesId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetSeriesResponse{Series: seriesMessage(series)})
}

func (s *sessionService) PreviewBulk(ctx context.Context, req *connect.Request[v1.PreviewBulkRequest]) (*connect.Response[v1.PreviewBulkResponse], error) {
	found, err := s.app.Schedules.PreviewBulk(ctx, caller(ctx), schedules.BulkRequest{
		Filter: filterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.PreviewBulkResponse{
		Matched: int32(found.Matched), WithActiveBookings: int32(found.Booked), ActiveBookings: int32(found.Bookings),
		Samples: messages(found.Samples, matchMessage),
	})
}

func (s *sessionService) BulkPublish(ctx context.Context, req *connect.Request[v1.BulkPublishRequest]) (*connect.Response[v1.BulkPublishResponse], error) {
	done, err := s.app.Schedules.BulkPublish(ctx, caller(ctx), filterValue(req.Msg.GetFilter()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.BulkPublishResponse{Published: int32(done.Sessions), BatchId: idText(done.Batch)})
}

func (s *sessionService) BulkDelete(ctx context.Context, req *connect.Request[v1.BulkDeleteRequest]) (*connect.Response[v1.BulkDeleteResponse], error) {
	done, err := s.app.Schedules.BulkDelete(ctx, caller(ctx), schedules.BulkRequest{
		Filter: filterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
		Reason: req.Msg.GetReason(), Notify: unlessSaid(req.Msg.Notify),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.BulkDeleteResponse{
		Deleted: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits), BatchId: idText(done.Batch),
	})
}

func (s *sessionService) BulkCancel(ctx context.Context, req *connect.Request[v1.BulkCancelRequest]) (*connect.Response[v1.BulkCancelResponse], error) {
	done, err := s.app.Schedules.BulkCancel(ctx, caller(ctx), schedules.BulkRequest{
		Filter: filterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
		Reason: req.Msg.GetReason(), Notify: unlessSaid(req.Msg.Notify),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.BulkCancelResponse{
		Cancelled: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits), BatchId: idText(done.Batch),
	})
}

func (s *sessionService) ImportSessions(ctx context.Context, req *connect.Request[v1.ImportSessionsRequest]) (*connect.Response[v1.ImportSessionsResponse], error) {
	report, err := s.app.Schedules.ImportSessions(ctx, caller(ctx), req.Msg.GetCsv(), req.Msg.GetDryRun())
	if err != nil {
		return nil, err
	}
	return reply(&v1.ImportSessionsResponse{
		Imported: int32(len(report.Sessions)), Rows: importRows(report), Problems: int32(report.Wrong()),
	})
}

func (s *sessionService) SetWorkouts(ctx context.Context, req *connect.Request[v1.SetWorkoutsRequest]) (*connect.Response[v1.SetWorkoutsResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.app.Schedules.SetWorkouts(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()), expect, values(req.Msg.GetWorkoutIds(), id[tenant.WorkoutID]))
	if err != nil {
		return nil, err
	}
	return reply(&v1.SetWorkoutsResponse{Session: sessionMessage(after)})
}

func (s *sessionService) AddInlineWorkout(ctx context.Context, req *connect.Request[v1.AddInlineWorkoutRequest]) (*connect.Response[v1.AddInlineWorkoutResponse], error) {
	w, err := s.app.Schedules.AddInlineWorkout(ctx, caller(ctx), id[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetName(), req.Msg.GetBody())
	if err != nil {
		return nil, err
	}
	return reply(&v1.AddInlineWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *sessionService) CreateWorkout(ctx context.Context, req *connect.Request[v1.CreateWorkoutRequest]) (*connect.Response[v1.CreateWorkoutResponse], error) {
	w, err := s.app.Schedules.CreateWorkout(ctx, caller(ctx), req.Msg.GetName(), req.Msg.GetBody())
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *sessionService) UpdateWorkout(ctx context.Context, req *connect.Request[v1.UpdateWorkoutRequest]) (*connect.Response[v1.UpdateWorkoutResponse], error) {
	m := req.Msg
	expect, err := expected(m.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.app.Schedules.UpdateWorkout(ctx, caller(ctx), id[tenant.WorkoutID](m.GetWorkoutId()), expect, editWorkout(m.GetName(), m.GetBody(), m.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *sessionService) DeleteWorkout(ctx context.Context, req *connect.Request[v1.DeleteWorkoutRequest]) (*connect.Response[v1.DeleteWorkoutResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.app.Schedules.DeleteWorkout(ctx, caller(ctx), id[tenant.WorkoutID](req.Msg.GetWorkoutId()), expect)
	if err != nil {
		return nil, err
	}
	return reply(&v1.DeleteWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *sessionService) ListWorkouts(ctx context.Context, req *connect.Request[v1.ListWorkoutsRequest]) (*connect.Response[v1.ListWorkoutsResponse], error) {
	if of := id[tenant.SessionID](req.Msg.GetSessionId()); !of.IsZero() {
		workouts, err := s.app.Schedules.ListSessionWorkouts(ctx, caller(ctx), of)
		if err != nil {
			return nil, err
		}
		return reply(&v1.ListWorkoutsResponse{Workouts: messages(workouts, workoutMessage)})
	}
	page, err := openPage[nameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := schedules.WorkoutQuery{Limit: page.Size + 1}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	workouts, err := s.app.Schedules.ListWorkouts(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	workouts, next, err := cut(page, workouts, func(w session.Workout) nameCursor { return nameCursor{w.Name, w.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListWorkoutsResponse{Workouts: messages(workouts, workoutMessage), NextPageToken: next})
}
