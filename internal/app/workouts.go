package app

import (
	"context"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateWorkout makes a reusable workout.
func (a *App) CreateWorkout(ctx context.Context, caller tenant.Caller, name, body string) (session.Workout, error) {
	var w session.Workout
	err := a.write(ctx, caller, "workout.create", func(_ context.Context, t *tx) error {
		w = t.newWorkout(name, body)
		if err := w.Validate(); err != nil {
			return err
		}
		scheduledb.InsertWorkout(t.Tx, t.in, w)
		t.catalogChanged("workout.created", "workout", w.ID.UUID, catalog.Changes(nil, w.Facts()))
		return nil
	}, answers(&w))
	return w, err
}

func (t *tx) newWorkout(name, body string) session.Workout {
	return session.Workout{ID: tenant.Next[tenant.WorkoutID](t.mint), Name: name, Body: body, Version: 1, CreatedAt: t.now, UpdatedAt: t.now}
}

// UpdateWorkout edits a workout, if it still is at the version expected (nil: whichever). Sessions that have it need no
// edit of their own: they only refer to it.
func (a *App) UpdateWorkout(ctx context.Context, caller tenant.Caller, id tenant.WorkoutID, expect *int, edit func(*session.Workout)) (session.Workout, error) {
	var after session.Workout
	err := a.write(ctx, caller, "workout.update", func(ctx context.Context, t *tx) error {
		before, err := t.workout(ctx, id)
		if err != nil {
			return err
		}
		if before.Deleted() {
			return noWorkout
		}
		if err := current(expect, before.Version); err != nil {
			return err
		}
		after = before
		edit(&after)
		changes := catalog.Changes(before.Facts(), after.Facts())
		if changes == nil {
			return nil
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, t.now
		scheduledb.UpdateWorkout(t.Tx, t.in, after)
		t.catalogChanged("workout.updated", "workout", id.UUID, changes)
		return nil
	}, answers(&after))
	return after, err
}

// DeleteWorkout takes a reusable workout out of use, if it still is at the version expected (nil: whichever).
func (a *App) DeleteWorkout(ctx context.Context, caller tenant.Caller, id tenant.WorkoutID, expect *int) (session.Workout, error) {
	var after session.Workout
	err := a.write(ctx, caller, "workout.delete", func(ctx context.Context, t *tx) error {
		before, err := t.workout(ctx, id)
		if err != nil {
			return err
		}
		var changed bool
		if after, changed, err = before.Delete(t.now); err != nil || !changed {
			return err
		}
		if err := current(expect, before.Version); err != nil {
			return err
		}
		scheduledb.UpdateWorkout(t.Tx, t.in, after)
		t.catalogChanged("workout.deleted", "workout", id.UUID, map[string]any{"before": before.Facts()})
		return nil
	}, answers(&after))
	return after, err
}

func (t *tx) workout(ctx context.Context, id tenant.WorkoutID) (session.Workout, error) {
	var found []session.Workout
	var batch pg.Batch
	scheduledb.FindWorkouts(&batch, t.in, []tenant.WorkoutID{id}, &found)
	if err := t.Load(ctx, &batch); err != nil {
		return session.Workout{}, err
	}
	if len(found) == 0 {
		return session.Workout{}, noWorkout
	}
	return found[0], nil
}

var noWorkout = fault.Missing(fault.WorkoutNotFound, "Workout")

// AddInlineWorkout writes a workout for one session alone and attaches it at the end.
func (a *App) AddInlineWorkout(ctx context.Context, caller tenant.Caller, id tenant.SessionID, name, body string) (session.Workout, error) {
	var w session.Workout
	err := a.write(ctx, caller, "workout.add_inline", func(ctx context.Context, t *tx) error {
		before, err := t.scheduled(ctx, id)
		if err != nil {
			return err
		}
		w = t.newWorkout(name, body)
		w.Inline = true
		if err := w.Validate(); err != nil {
			return err
		}
		after, err := before.AttachInline(w, t.now)
		if err != nil {
			return err
		}
		scheduledb.InsertWorkout(t.Tx, t.in, w)
		t.attach("session.workout_added", before.Session, after)
		return nil
	}, answers(&w))
	return w, err
}

// SetWorkouts replaces what is attached to a session, if that still is at the version expected (nil: whichever).
func (a *App) SetWorkouts(ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int, workouts []tenant.WorkoutID) (session.Session, error) {
	var after session.Session
	err := a.write(ctx, caller, "workout.set", func(ctx context.Context, t *tx) error {
		var known []session.Workout
		before, err := t.scheduled(ctx, id, func(b *pg.Batch) { scheduledb.FindWorkouts(b, t.in, workouts, &known) })
		if err != nil {
			return err
		}
		if err := current(expect, before.Version); err != nil {
			return err
		}
		var changed bool
		after, changed, err = before.Attach(workouts, known, t.now)
		if err != nil || !changed {
			return err
		}
		t.attach("session.workouts_set", before.Session, after)
		return nil
	}, answers(&after))
	return after, err
}

func (t *tx) attach(action string, before, after session.Session) {
	scheduledb.AttachWorkouts(t.Tx, t.in, after.ID, after.Workouts)
	scheduledb.UpdateSessions(t.Tx, t.in, []session.Session{after})
	changes := catalog.Changes(before.Facts(), after.Facts())
	t.tell(outbox.SessionUpdated, func(session.Session) map[string]any { return changes }, after)
	t.audit(action, "session", after.ID.UUID, "", changes)
}

// WorkoutQuery asks for reusable workouts by name, then id.
type WorkoutQuery struct {
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.WorkoutID
	Limit     int
}

// ListWorkouts reads the reusable workouts.
func (a *App) ListWorkouts(ctx context.Context, caller tenant.Caller, q WorkoutQuery) ([]session.Workout, error) {
	var found []session.Workout
	var batch pg.Batch
	scheduledb.ListWorkouts(&batch, caller.Tenant, q.AfterName, q.AfterID, q.Limit, &found)
	err := a.read(ctx, caller, &batch)
	return found, err
}

// ListSessionWorkouts reads those of a session in order, inline ones too.
func (a *App) ListSessionWorkouts(ctx context.Context, caller tenant.Caller, id tenant.SessionID) ([]session.Workout, error) {
	var one *scheduledb.Scheduled
	var found []session.Workout
	var batch pg.Batch
	scheduledb.FindSession(&batch, caller.Tenant, id, &one)
	scheduledb.ListSessionWorkouts(&batch, caller.Tenant, id, &found)
	if err := a.read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if one == nil || !one.VisibleTo(caller.Staff()) {
		return nil, noSession
	}
	return found, nil
}
