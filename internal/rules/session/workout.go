package session

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// MaxWorkouts is how many a session may have.
const MaxWorkouts = 50

// Workout is a plan of what is trained.
type Workout struct {
	ID        tenant.WorkoutID
	Name      string
	Body      string // plain text or Markdown
	Inline    bool   // written for one session, and not offered for reuse
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt time.Time // zero: in use
}

// Facts gives what can be edited.
func (w Workout) Facts() catalog.Facts { return catalog.Facts{"name": w.Name, "body": w.Body} }

// Deleted reports whether nothing but the sessions that have it knows it any more.
func (w Workout) Deleted() bool { return !w.DeletedAt.IsZero() }

// Delete takes a reusable workout out of use, and tells whether that changes anything. An inline one is its session's: INVALID_FIELD.
func (w Workout) Delete(now time.Time) (Workout, bool, error) {
	if w.Inline {
		return w, false, fault.Invalid("workout_id", "The workout belongs to one session. Take it off there.")
	}
	if w.Deleted() {
		return w, false, nil
	}
	w.DeletedAt = now
	w.Version++
	return w, true, nil
}

// Validate refuses a workout that cannot be kept: INVALID_FIELD.
func (w Workout) Validate() error {
	if strings.TrimSpace(w.Name) == "" {
		return fault.Invalid("name", "A workout needs a name.")
	}
	return cmp.Or(line("name", w.Name, maxName), lines("body", w.Body, maxBody))
}

// Attach gives the session with other workouts. Known are those of them that the
// tenant has; an inline one stays with the session for which it was written, and
// one that was deleted with those that have it.
func (s Session) Attach(ids []tenant.WorkoutID, known []Workout, now time.Time) (Session, bool, error) {
	for _, id := range ids {
		n := slices.IndexFunc(known, func(w Workout) bool { return w.ID == id })
		if n < 0 || (known[n].Inline || known[n].Deleted()) && !slices.Contains(s.Workouts, id) {
			return s, false, fault.Missing(fault.WorkoutNotFound, "Workout").With("workout_id", id.String())
		}
	}
	if slices.Equal(s.Workouts, ids) {
		return s, false, nil
	}
	s.Workouts = slices.Clone(ids)
	return s.edited(now), true, nil
}

// AttachInline gives the session with one more workout at the end.
func (s Session) AttachInline(w Workout, now time.Time) (Session, error) {
	if len(s.Workouts) >= MaxWorkouts {
		return s, fault.Invalid("session_id", "The session has %d workouts already.", MaxWorkouts).With("limit", strconv.Itoa(MaxWorkouts))
	}
	s.Workouts = append(slices.Clone(s.Workouts), w.ID)
	return s.edited(now), nil
}
