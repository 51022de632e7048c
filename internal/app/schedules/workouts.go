package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateWorkout creates a reusable workout.
func (s *Service) CreateWorkout(
	ctx context.Context, caller tenant.Caller, name, body string,
) (session.Workout, error) {
	t := engine.Transaction{Name: "workout.create", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) (session.Workout, error) {
		w, err := newWorkout(tx, name, body).Normalize()
		if err != nil {
			return w, err
		}
		scheduledb.InsertWorkout(tx.Tx, tx.Tenant, w)
		record.CatalogChange(tx, "workout.created", "workout", w.ID.UUID, catalog.AuditChanges(nil, w.AuditFields()))
		return w, nil
	})
}

func newWorkout(tx *engine.Tx, name, body string) session.Workout {
	return session.Workout{
		ID: tenant.NextID[tenant.WorkoutID](tx.IDs), Name: name, Body: body, Version: 1, CreatedAt: tx.Now, UpdatedAt: tx.Now,
	}
}

// UpdateWorkout edits a workout if it still has the expected version; nil matches any. The sessions with the workout
// need no edit, because they only refer to it.
func (s *Service) UpdateWorkout(
	ctx context.Context, caller tenant.Caller, id tenant.WorkoutID, expect *int, edit func(*session.Workout),
) (session.Workout, error) {
	t := engine.Transaction{Name: "workout.update", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (session.Workout, error) {
		before, err := findWorkout(ctx, tx, id)
		if err != nil {
			return before, err
		}
		if before.Deleted() {
			return before, noWorkout
		}
		if err := fault.CheckVersion(expect, before.Version); err != nil {
			return before, err
		}
		after := before
		edit(&after)
		if after, err = after.NormalizeFrom(before); err != nil {
			return after, err
		}
		changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
		if changes == nil {
			return after, nil
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		scheduledb.UpdateWorkout(tx.Tx, tx.Tenant, after)
		record.CatalogChange(tx, "workout.updated", "workout", id.UUID, changes)
		return after, nil
	})
}

// DeleteWorkout deletes a reusable workout if it still has the expected version; nil matches any. A deleted workout
// does not change.
func (s *Service) DeleteWorkout(
	ctx context.Context, caller tenant.Caller, id tenant.WorkoutID, expect *int,
) (session.Workout, error) {
	t := engine.Transaction{Name: "workout.delete", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (session.Workout, error) {
		before, err := findWorkout(ctx, tx, id)
		if err != nil {
			return before, err
		}
		after, changed, err := before.Delete(tx.Now)
		if err != nil || !changed {
			return after, err
		}
		if err := fault.CheckVersion(expect, before.Version); err != nil {
			return after, err
		}
		scheduledb.UpdateWorkout(tx.Tx, tx.Tenant, after)
		record.CatalogChange(tx, "workout.deleted", "workout", id.UUID, map[string]any{"before": before.AuditFields()})
		return after, nil
	})
}

func findWorkout(ctx context.Context, tx *engine.Tx, id tenant.WorkoutID) (session.Workout, error) {
	return engine.Find(ctx, tx, noWorkout, func(b *pg.Batch, into **session.Workout) {
		scheduledb.FindWorkout(b, tx.Tenant, id, into)
	})
}

var noWorkout = fault.Missing(fault.WorkoutNotFound, "Workout")

// InlineWorkout is a workout that was written for one session, and the session with it.
type InlineWorkout struct {
	Workout session.Workout
	Session session.Session
}

// AddInlineWorkout creates a workout that belongs to one session, and attaches it after the others.
func (s *Service) AddInlineWorkout(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, name, body string,
) (InlineWorkout, error) {
	t := engine.Transaction{Name: "workout.add_inline", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (InlineWorkout, error) {
		before, err := findSession(ctx, tx, id, nil)
		if err != nil {
			return InlineWorkout{}, err
		}
		w, err := newWorkout(tx, name, body).Normalize()
		if err != nil {
			return InlineWorkout{}, err
		}
		w.Inline = true
		after, err := before.AddWorkout(w, tx.Now)
		if err != nil {
			return InlineWorkout{}, err
		}
		scheduledb.InsertWorkout(tx.Tx, tx.Tenant, w)
		attachWorkouts(tx, "session.workout_added", before.Session, after)
		return InlineWorkout{Workout: w, Session: after}, nil
	})
}

// SetWorkouts replaces the workouts of a session if it still has the expected version; nil matches any.
func (s *Service) SetWorkouts(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int, workouts []tenant.WorkoutID,
) (session.Session, error) {
	t := engine.Transaction{Name: "workout.set", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (session.Session, error) {
		var found []session.Workout
		before, err := findSession(ctx, tx, id, expect, func(b *pg.Batch) {
			scheduledb.FindWorkouts(b, tx.Tenant, workouts, &found)
		})
		if err != nil {
			return session.Session{}, err
		}
		after, changed, err := before.SetWorkouts(workouts, found, tx.Now)
		if err == nil && changed {
			attachWorkouts(tx, "session.workouts_set", before.Session, after)
		}
		return after, err
	})
}

func attachWorkouts(tx *engine.Tx, action string, before, after session.Session) {
	scheduledb.AttachWorkouts(tx.Tx, tx.Tenant, after.ID, after.Workouts)
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, []session.Session{after})
	changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
	appendEvents(tx, always(before.Changes(after)), after)
	record.Audit(tx, action, "session", after.ID.UUID, "", changes)
}

// WorkoutQuery selects reusable workouts, in order of name, then id.
type WorkoutQuery struct {
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.WorkoutID
	Limit     int
}

// GetWorkout reads a workout, also a deleted one, which sessions keep.
func (s *Service) GetWorkout(
	ctx context.Context, caller tenant.Caller, id tenant.WorkoutID,
) (session.Workout, error) {
	return engine.Get(ctx, s.engine, caller, noWorkout, func(b *pg.Batch, into **session.Workout) {
		scheduledb.FindWorkout(b, caller.Tenant, id, into)
	})
}

// ListWorkouts returns the reusable workouts.
func (s *Service) ListWorkouts(ctx context.Context, caller tenant.Caller, q WorkoutQuery) ([]session.Workout, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]session.Workout) {
		scheduledb.ListWorkouts(b, caller.Tenant, q.AfterName, q.AfterID, q.Limit, into)
	})
}

// ListSessionWorkouts returns the workouts of a session in order, including inline ones.
func (s *Service) ListSessionWorkouts(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID,
) ([]session.Workout, error) {
	var of *scheduledb.Scheduled
	var found []session.Workout
	var batch pg.Batch
	scheduledb.FindSession(&batch, caller.Tenant, id, &of)
	scheduledb.ListSessionWorkouts(&batch, caller.Tenant, id, &found)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if of == nil || !of.VisibleTo(caller.May) {
		return nil, seats.ErrNoSession
	}
	return found, nil
}
