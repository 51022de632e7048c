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

func (s *Schedules) CreateSession(
	ctx context.Context, req *connect.Request[v1.CreateSessionRequest],
) (*connect.Response[v1.CreateSessionResponse], error) {
	made, err := s.Schedules.CreateSession(
		ctx, request.Caller(ctx), inputValue(req.Msg.GetSession()), req.Msg.GetPublish(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateSessionResponse{Session: sessionMessage(made)})
}

func (s *Schedules) UpdateSession(
	ctx context.Context, req *connect.Request[v1.UpdateSessionRequest],
) (*connect.Response[v1.UpdateSessionResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, promoted, err := s.Schedules.UpdateSession(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
		inputValue(req.Msg.GetSession()), masked(inputFields, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)})
}

func (s *Schedules) GetSession(
	ctx context.Context, req *connect.Request[v1.GetSessionRequest],
) (*connect.Response[v1.GetSessionResponse], error) {
	one, err := s.Schedules.GetSession(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetSessionResponse{Session: offeredMessage(one)})
}

// sessionCursor is a position among sessions in order of start.
type sessionCursor struct {
	Start time.Time
	ID    tenant.SessionID
}

func (s *Schedules) ListSessions(
	ctx context.Context, req *connect.Request[v1.ListSessionsRequest],
) (*connect.Response[v1.ListSessionsResponse], error) {
	page, err := convert.OpenPage[sessionCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := schedules.SessionQuery{Filter: FilterValue(req.Msg.GetFilter()), Limit: page.Size + 1}
	if page.After != nil {
		q.AfterStart, q.AfterID = page.After.Start, page.After.ID
	}
	sessions, err := s.Schedules.ListSessions(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	sessions, next, err := convert.Cut(
		page, sessions, func(o schedules.SessionView) sessionCursor { return sessionCursor{o.StartsAt, o.ID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListSessionsResponse{
		Sessions: convert.Messages(sessions, offeredMessage), NextPageToken: next,
	})
}

func (s *Schedules) PublishSession(
	ctx context.Context, req *connect.Request[v1.PublishSessionRequest],
) (*connect.Response[v1.PublishSessionResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Schedules.PublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.PublishSessionResponse{Session: sessionMessage(after)})
}

func (s *Schedules) UnpublishSession(
	ctx context.Context, req *connect.Request[v1.UnpublishSessionRequest],
) (*connect.Response[v1.UnpublishSessionResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Schedules.UnpublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UnpublishSessionResponse{Session: sessionMessage(after)})
}

func (s *Schedules) CancelSession(
	ctx context.Context, req *connect.Request[v1.CancelSessionRequest],
) (*connect.Response[v1.CancelSessionResponse], error) {
	c, err := s.Schedules.CancelSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetReason(),
		unlessSaid(req.Msg.Notify),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CancelSessionResponse{
		Session: sessionMessage(c.Session), BookingsCancelled: int32(c.Bookings), EntriesCancelled: int32(c.Entries),
		CreditsRefunded: int32(c.Credits),
	})
}

func (s *Schedules) BlockSession(
	ctx context.Context, req *connect.Request[v1.BlockSessionRequest],
) (*connect.Response[v1.BlockSessionResponse], error) {
	after, err := s.Schedules.BlockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetReason(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.BlockSessionResponse{Session: sessionMessage(after)})
}

func (s *Schedules) UnblockSession(
	ctx context.Context, req *connect.Request[v1.UnblockSessionRequest],
) (*connect.Response[v1.UnblockSessionResponse], error) {
	after, promoted, err := s.Schedules.UnblockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UnblockSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)})
}

// unlessSaid is true unless the caller said otherwise.
func unlessSaid(said *bool) bool { return said == nil || *said }

func (s *Schedules) CreateSeries(
	ctx context.Context, req *connect.Request[v1.CreateSeriesRequest],
) (*connect.Response[v1.CreateSeriesResponse], error) {
	m := req.Msg
	series, made, err := s.Schedules.CreateSeries(ctx, request.Caller(ctx), schedules.SeriesInput{
		Template: inputValue(m.GetTemplate()),
		Pattern: session.Pattern{
			Rule: m.GetRule(), Date: convert.CivilDate(m.GetStartDate()), Time: convert.CivilTime(m.GetStartTimeOfDay()),
			Duration: convert.Span(m.GetDuration()), Excluded: values(m.GetExcludedDates(), convert.CivilDate),
		},
		Publish: m.GetPublish(),
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateSeriesResponse{Series: seriesMessage(series), SessionIds: idTexts(made)})
}

var seriesScopes = map[v1.SeriesEditScope]schedules.SeriesScope{
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE:       schedules.One,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING: schedules.Following,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL:       schedules.All,
}

func (s *Schedules) UpdateSeries(
	ctx context.Context, req *connect.Request[v1.UpdateSeriesRequest],
) (*connect.Response[v1.UpdateSeriesResponse], error) {
	m := req.Msg
	expect, err := convert.Expected(m.GetEtag())
	if err != nil {
		return nil, err
	}
	done, err := s.Schedules.UpdateSeries(ctx, request.Caller(ctx), schedules.SeriesEdit{
		Series: convert.ID[tenant.SeriesID](m.GetSeriesId()), Scope: seriesScopes[m.GetScope()],
		Session: convert.ID[tenant.SessionID](m.GetSessionId()), Expect: expect,
		Template: inputValue(m.GetTemplate()), Fields: masked(inputFields, m.GetUpdateMask().GetPaths()),
		Pattern: session.Pattern{
			Rule: m.GetRule(), Time: convert.CivilTime(m.GetStartTimeOfDay()), Duration: convert.Span(m.GetDuration()),
			Excluded: values(m.GetExcludedDates(), convert.CivilDate),
		},
		PatternFields: masked(patternFields, m.GetUpdateMask().GetPaths()),
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateSeriesResponse{
		Series: seriesMessage(done.Series), UpdatedSessionIds: idTexts(done.Updated),
		CreatedSessionIds: idTexts(done.Created), CancelledSessionIds: idTexts(done.Cancelled),
	})
}

func (s *Schedules) GetSeries(
	ctx context.Context, req *connect.Request[v1.GetSeriesRequest],
) (*connect.Response[v1.GetSeriesResponse], error) {
	series, err := s.Schedules.GetSeries(ctx, request.Caller(ctx), convert.ID[tenant.SeriesID](req.Msg.GetSeriesId()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetSeriesResponse{Series: seriesMessage(series)})
}

func (s *Schedules) PreviewBulk(
	ctx context.Context, req *connect.Request[v1.PreviewBulkRequest],
) (*connect.Response[v1.PreviewBulkResponse], error) {
	found, err := s.Schedules.PreviewBulk(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.PreviewBulkResponse{
		Matched: int32(found.Matched), WithActiveBookings: int32(found.Booked), ActiveBookings: int32(found.Bookings),
		Samples: convert.Messages(found.Samples, matchMessage),
	})
}

func (s *Schedules) BulkPublish(
	ctx context.Context, req *connect.Request[v1.BulkPublishRequest],
) (*connect.Response[v1.BulkPublishResponse], error) {
	done, err := s.Schedules.BulkPublish(ctx, request.Caller(ctx), FilterValue(req.Msg.GetFilter()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.BulkPublishResponse{Published: int32(done.Sessions), BatchId: convert.IDText(done.Batch)})
}

func (s *Schedules) BulkDelete(
	ctx context.Context, req *connect.Request[v1.BulkDeleteRequest],
) (*connect.Response[v1.BulkDeleteResponse], error) {
	done, err := s.Schedules.BulkDelete(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
		Reason: req.Msg.GetReason(), Notify: unlessSaid(req.Msg.Notify),
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.BulkDeleteResponse{
		Deleted: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits),
		BatchId: convert.IDText(done.Batch),
	})
}

func (s *Schedules) BulkCancel(
	ctx context.Context, req *connect.Request[v1.BulkCancelRequest],
) (*connect.Response[v1.BulkCancelResponse], error) {
	done, err := s.Schedules.BulkCancel(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.Msg.GetFilter()), IncludeBooked: req.Msg.GetIncludeBooked(),
		Reason: req.Msg.GetReason(), Notify: unlessSaid(req.Msg.Notify),
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.BulkCancelResponse{
		Cancelled: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), CreditsRefunded: int32(done.Credits),
		BatchId: convert.IDText(done.Batch),
	})
}

func (s *Schedules) ImportSessions(
	ctx context.Context, req *connect.Request[v1.ImportSessionsRequest],
) (*connect.Response[v1.ImportSessionsResponse], error) {
	report, err := s.Schedules.ImportSessions(ctx, request.Caller(ctx), req.Msg.GetCsv(), req.Msg.GetDryRun())
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ImportSessionsResponse{
		Imported: int32(len(report.Sessions)), Rows: importRows(report), Problems: int32(report.InvalidRows()),
	})
}

func (s *Schedules) SetWorkouts(
	ctx context.Context, req *connect.Request[v1.SetWorkoutsRequest],
) (*connect.Response[v1.SetWorkoutsResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Schedules.SetWorkouts(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), expect,
		values(req.Msg.GetWorkoutIds(), convert.ID[tenant.WorkoutID]),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.SetWorkoutsResponse{Session: sessionMessage(after)})
}

func (s *Schedules) AddInlineWorkout(
	ctx context.Context, req *connect.Request[v1.AddInlineWorkoutRequest],
) (*connect.Response[v1.AddInlineWorkoutResponse], error) {
	w, err := s.Schedules.AddInlineWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.GetSessionId()), req.Msg.GetName(), req.Msg.GetBody(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.AddInlineWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *Schedules) CreateWorkout(
	ctx context.Context, req *connect.Request[v1.CreateWorkoutRequest],
) (*connect.Response[v1.CreateWorkoutResponse], error) {
	w, err := s.Schedules.CreateWorkout(ctx, request.Caller(ctx), req.Msg.GetName(), req.Msg.GetBody())
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *Schedules) UpdateWorkout(
	ctx context.Context, req *connect.Request[v1.UpdateWorkoutRequest],
) (*connect.Response[v1.UpdateWorkoutResponse], error) {
	m := req.Msg
	expect, err := convert.Expected(m.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.Schedules.UpdateWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.WorkoutID](m.GetWorkoutId()), expect,
		editWorkout(m.GetName(), m.GetBody(), m.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *Schedules) DeleteWorkout(
	ctx context.Context, req *connect.Request[v1.DeleteWorkoutRequest],
) (*connect.Response[v1.DeleteWorkoutResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	w, err := s.Schedules.DeleteWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.WorkoutID](req.Msg.GetWorkoutId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.DeleteWorkoutResponse{Workout: workoutMessage(w)})
}

func (s *Schedules) ListWorkouts(
	ctx context.Context, req *connect.Request[v1.ListWorkoutsRequest],
) (*connect.Response[v1.ListWorkoutsResponse], error) {
	if of := convert.ID[tenant.SessionID](req.Msg.GetSessionId()); !of.IsZero() {
		workouts, err := s.Schedules.ListSessionWorkouts(ctx, request.Caller(ctx), of)
		if err != nil {
			return nil, err
		}
		return convert.Reply(&v1.ListWorkoutsResponse{Workouts: convert.Messages(workouts, workoutMessage)})
	}
	page, err := convert.OpenPage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := schedules.WorkoutQuery{Limit: page.Size + 1}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	workouts, err := s.Schedules.ListWorkouts(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	workouts, next, err := convert.Cut(
		page, workouts, func(w session.Workout) convert.NameCursor { return convert.NameCursor{Name: w.Name, ID: w.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListWorkoutsResponse{
		Workouts: convert.Messages(workouts, workoutMessage), NextPageToken: next,
	})
}
