package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateWorkout makes a reusable workout.
func (s *Service) CreateWorkout(ctx context.Context, caller tenant.Caller, name, body string) (session.Workout, error) {
	var w session.Workout
	err := s.engine.Write(ctx, caller, "workout.create", func(_ context.Context, tx *engine.Tx) error {
		w = newWorkout(tx, name, body)
		if err := w.Validate(); err != nil {
			return err
		}
		scheduledb.InsertWorkout(tx.Tx, tx.Tenant, w)
		seats.CatalogChanged(tx, "workout.created", "workout", w.ID.UUID, catalog.AuditChanges(nil, w.Facts()))
		return nil
	}, engine.Answers(&w))
	return w, err
}

func newWorkout(tx *engine.Tx, name, body string) session.Workout {
	return session.Workout{ID: tenant.NextID[tenant.WorkoutID](tx.IDs), Name: name, Body: body, Version: 1, CreatedAt: tx.Now, UpdatedAt: tx.Now}
}

// UpdateWorkout edits a workout, if it still is at the version expected (nil: whichever). Sessions that have it need no
// edit of their own: they only refer to it.
func (s *Service) UpdateWorkout(ctx context.Context, caller tenant.Caller, id tenant.WorkoutID, expect *int, edit func(*session.Workout)) (session.Workout, error) {
	var after session.Workout
	err := s.engine.Write(ctx, caller, "workout.update", func(ctx context.Context, tx *engine.Tx) error {
		before, err := workout(ctx, tx, id)
		if err != nil {
			return err
		}
		if before.Deleted() {
			return noWorkout
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = before
		edit(&after)
		changes := catalog.AuditChanges(before.Facts(), after.Facts())
		if changes == nil {
			return nil
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		scheduledb.UpdateWorkout(tx.Tx, tx.Tenant, after)
		seats.CatalogChanged(tx, "workout.updated", "workout", id.UUID, changes)
		return nil
	}, engine.Answers(&after))
	return after, err
}

// DeleteWorkout takes a reusable workout out of use, if it still is at the version expected (nil: whichever).
func (s *Service) DeleteWorkout(ctx context.Context, caller tenant.Caller, id tenant.WorkoutID, expect *int) (session.Workout, error) {
	var after session.Workout
	err := s.engine.Write(ctx, caller, "workout.delete", func(ctx context.Context, tx *engine.Tx) error {
		before, err := workout(ctx, tx, id)
		if err != nil {
			return err
		}
		var changed bool
		if after, changed, err = before.Delete(tx.Now); err != nil || !changed {
			return err
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		scheduledb.UpdateWorkout(tx.Tx, tx.Tenant, after)
		seats.CatalogChanged(tx, "workout.deleted", "workout", id.UUID, map[string]any{"before": before.Facts()})
		return nil
	}, engine.Answers(&after))
	return after, err
}

func workout(ctx context.Context, tx *engine.Tx, id tenant.WorkoutID) (session.Workout, error) {
	var found []session.Workout
	var batch pg.Batch
	scheduledb.FindWorkouts(&batch, tx.Tenant, []tenant.WorkoutID{id}, &found)
	if err := tx.Load(ctx, &batch); err != nil {
		return session.Workout{}, err
	}
	if len(found) == 0 {
		return session.Workout{}, noWorkout
	}
	return found[0], nil
}

var noWorkout = fault.Missing(fault.WorkoutNotFound, "Workout")

// AddInlineWorkout writes a workout for one session alone and attaches it at the end.
func (s *Service) AddInlineWorkout(ctx context.Context, caller tenant.Caller, id tenant.SessionID, name, body string) (session.Workout, error) {
	var w session.Workout
	err := s.engine.Write(ctx, caller, "workout.add_inline", func(ctx context.Context, tx *engine.Tx) error {
		before, err := scheduled(ctx, tx, id)
		if err != nil {
			return err
		}
		w = newWorkout(tx, name, body)
		w.Inline = true
		if err := w.Validate(); err != nil {
			return err
		}
		after, err := before.AddWorkout(w, tx.Now)
		if err != nil {
			return err
		}
		scheduledb.InsertWorkout(tx.Tx, tx.Tenant, w)
		attach(tx, "session.workout_added", before.Session, after)
		return nil
	}, engine.Answers(&w))
	return w, err
}

// SetWorkouts replaces what is attached to a session, if that still is at the version expected (nil: whichever).
func (s *Service) SetWorkouts(ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int, workouts []tenant.WorkoutID) (session.Session, error) {
	var after session.Session
	err := s.engine.Write(ctx, caller, "workout.set", func(ctx context.Context, tx *engine.Tx) error {
		var known []session.Workout
		before, err := scheduled(ctx, tx, id, func(b *pg.Batch) { scheduledb.FindWorkouts(b, tx.Tenant, workouts, &known) })
		if err != nil {
			return err
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		var changed bool
		after, changed, err = before.SetWorkouts(workouts, known, tx.Now)
		if err != nil || !changed {
			return err
		}
		attach(tx, "session.workouts_set", before.Session, after)
		return nil
	}, engine.Answers(&after))
	return after, err
}

func attach(tx *engine.Tx, action string, before, after session.Session) {
	scheduledb.AttachWorkouts(tx.Tx, tx.Tenant, after.ID, after.Workouts)
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, []session.Session{after})
	changes := catalog.AuditChanges(before.Facts(), after.Facts())
	tell(tx, outbox.SessionUpdated, func(session.Session) map[string]any { return changes }, after)
	tx.Audit(action, "session", after.ID.UUID, "", changes)
}

// WorkoutQuery asks for reusable workouts by name, then id.
type WorkoutQuery struct {
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.WorkoutID
	Limit     int
}

// ListWorkouts reads the reusable workouts.
func (s *Service) ListWorkouts(ctx context.Context, caller tenant.Caller, q WorkoutQuery) ([]session.Workout, error) {
	var found []session.Workout
	var batch pg.Batch
	scheduledb.ListWorkouts(&batch, caller.Tenant, q.AfterName, q.AfterID, q.Limit, &found)
	err := s.engine.Read(ctx, caller, &batch)
	return found, err
}

// ListSessionWorkouts reads those of a session in order, inline ones too.
func (s *Service) ListSessionWorkouts(ctx context.Context, caller tenant.Caller, id tenant.SessionID) ([]session.Workout, error) {
	var one *scheduledb.Scheduled
	var found []session.Workout
	var batch pg.Batch
	scheduledb.FindSession(&batch, caller.Tenant, id, &one)
	scheduledb.ListSessionWorkouts(&batch, caller.Tenant, id, &found)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if one == nil || !one.VisibleTo(caller.IsStaff()) {
		return nil, seats.ErrNoSession
	}
	return found, nil
}
