package session

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// MaxWorkouts is the most workouts of a session.
const MaxWorkouts = 50

// Workout is a training plan.
type Workout struct {
	ID        tenant.WorkoutID
	Name      string
	Body      string // plain text or Markdown
	Inline    bool   // belongs to one session and cannot be reused
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt time.Time // zero: not deleted
}

// AuditFields returns the editable fields, for the audit log.
func (w Workout) AuditFields() catalog.AuditFields {
	return catalog.AuditFields{"name": w.Name, "body": w.Body}
}

// Deleted reports whether the workout is deleted. Sessions that have it keep it.
func (w Workout) Deleted() bool { return !w.DeletedAt.IsZero() }

// Delete deletes a reusable workout and reports whether anything changed. An inline workout belongs to its session:
// INVALID_FIELD.
func (w Workout) Delete(now time.Time) (Workout, bool, error) {
	if w.Inline {
		return w, false, fault.Invalid("workout_id", "The workout belongs to one session. Remove it there.")
	}
	if w.Deleted() {
		return w, false, nil
	}
	w.DeletedAt = now
	w.Version++
	return w, true, nil
}

// Normalize returns the workout as it is stored. The error is INVALID_FIELD.
func (w Workout) Normalize() (Workout, error) { return w.NormalizeFrom(Workout{}) }

// NormalizeFrom is Normalize for an edited workout. What stays as it was is not judged again.
func (w Workout) NormalizeFrom(before Workout) (Workout, error) {
	var err error
	if w.Name == "" || w.Name != before.Name {
		w.Name, err = line("name", w.Name, maxName)
	}
	if err == nil && w.Name == "" {
		err = fault.Invalid("name", "A workout needs a name.")
	}
	if err == nil && w.Body != before.Body {
		err = lines("body", w.Body, maxBody)
	}
	return w, err
}

// SetWorkouts returns the session with other workouts. Known has those of them that the tenant has. Inline and deleted
// workouts can only stay with a session that already has them.
func (s Session) SetWorkouts(ids []tenant.WorkoutID, known []Workout, now time.Time) (Session, bool, error) {
	for _, id := range ids {
		n := slices.IndexFunc(known, func(w Workout) bool { return w.ID == id })
		if n < 0 || (known[n].Inline || known[n].Deleted()) && !slices.Contains(s.Workouts, id) {
			return s, false, fault.Missing(fault.WorkoutNotFound, "Workout").WithMetadata("workout_id", id.String())
		}
	}
	if slices.Equal(s.Workouts, ids) {
		return s, false, nil
	}
	s.Workouts = slices.Clone(ids)
	return s.edited(now), true, nil
}

// AddWorkout returns the session with one more workout at the end.
func (s Session) AddWorkout(w Workout, now time.Time) (Session, error) {
	if len(s.Workouts) >= MaxWorkouts {
		return s, fault.Invalid("session_id", "The session already has %d workouts.", MaxWorkouts).
			WithMetadata("limit", strconv.Itoa(MaxWorkouts))
	}
	s.Workouts = append(slices.Clone(s.Workouts), w.ID)
	return s.edited(now), nil
}
