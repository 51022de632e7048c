package scheduleapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

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
	added, err := s.Service.AddInlineWorkout(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()),
		req.GetWorkout().GetName(), req.GetWorkout().GetBody(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.AddInlineWorkoutResponse{
		Workout: workoutMessage(added.Workout), Session: sessionMessage(added.Session),
	}, nil
}

// CreateWorkout handles WorkoutService.CreateWorkout.
func (s *Schedules) CreateWorkout(
	ctx context.Context, req *v1.CreateWorkoutRequest,
) (*v1.CreateWorkoutResponse, error) {
	w, err := s.Service.CreateWorkout(ctx, request.Caller(ctx), req.GetWorkout().GetName(), req.GetWorkout().GetBody())
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
		editWorkout(req.GetWorkout(), req.GetUpdateMask().GetPaths()),
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
	if of := convert.ID[tenant.SessionID](req.GetFilter().GetSessionId()); !of.IsZero() {
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
