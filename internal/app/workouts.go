package app

import (
	"context"

	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/session"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateWorkout makes a reusable workout.
func (a *App) CreateWorkout(ctx context.Context, caller tenant.Caller, name, body string) (session.Workout, error) {
	var w session.Workout
	err := a.write(ctx, caller, "workout.create", func(_ context.Context, t *tx) error {
		w = session.Workout{ID: tenant.Next[tenant.WorkoutID](t.mint), Name: name, Body: body, CreatedAt: t.now}
		if err := w.Validate(); err != nil {
			return err
		}
		store.InsertWorkout(t.Tx, t.in, w)
		t.audit("workout.created", "workout", w.ID.UUID, "", map[string]any{"after": map[string]any{"name": name}})
		return nil
	}, answers(&w))
	return w, err
}

// AddInlineWorkout writes a workout for one session alone and attaches it at the end.
func (a *App) AddInlineWorkout(ctx context.Context, caller tenant.Caller, id tenant.SessionID, name, body string) (session.Workout, error) {
	var w session.Workout
	err := a.write(ctx, caller, "workout.add_inline", func(ctx context.Context, t *tx) error {
		before, err := t.scheduled(ctx, id)
		if err != nil {
			return err
		}
		w = session.Workout{ID: tenant.Next[tenant.WorkoutID](t.mint), Name: name, Body: body, Inline: true, CreatedAt: t.now}
		if err := w.Validate(); err != nil {
			return err
		}
		after, err := before.AttachInline(w, t.now)
		if err != nil {
			return err
		}
		store.InsertWorkout(t.Tx, t.in, w)
		t.attach("session.workout_added", before.Session, after)
		return nil
	}, answers(&w))
	return w, err
}

// SetWorkouts replaces what is attached to a session.
func (a *App) SetWorkouts(ctx context.Context, caller tenant.Caller, id tenant.SessionID, workouts []tenant.WorkoutID) (session.Session, error) {
	var after session.Session
	err := a.write(ctx, caller, "workout.set", func(ctx context.Context, t *tx) error {
		var known []session.Workout
		before, err := t.scheduled(ctx, id, func(b *pg.Batch) { store.FindWorkouts(b, t.in, workouts, &known) })
		if err != nil {
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
	store.AttachWorkouts(t.Tx, t.in, after.ID, after.Workouts)
	store.UpdateSessions(t.Tx, t.in, []session.Session{after})
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
	store.ListWorkouts(&batch, caller.Tenant, q.AfterName, q.AfterID, q.Limit, &found)
	err := a.read(ctx, caller, &batch)
	return found, err
}

// ListSessionWorkouts reads those of a session in order, inline ones too.
func (a *App) ListSessionWorkouts(ctx context.Context, caller tenant.Caller, id tenant.SessionID) ([]session.Workout, error) {
	var one *store.Scheduled
	var found []session.Workout
	var batch pg.Batch
	store.FindSession(&batch, caller.Tenant, id, &one)
	store.ListSessionWorkouts(&batch, caller.Tenant, id, &found)
	if err := a.read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if one == nil || !one.VisibleTo(caller.Staff()) {
		return nil, noSession
	}
	return found, nil
}
