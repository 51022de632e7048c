package session_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

func TestSetWorkouts_KeepsInlineAndDeletedWorkouts(t *testing.T) {
	t.Parallel()
	workoutID := func() tenant.WorkoutID { return tenant.New[tenant.WorkoutID](noon) }
	warm, strength, mine, theirs, old := workoutID(), workoutID(), workoutID(), workoutID(), workoutID()
	known := []session.Workout{
		{ID: warm, DeletedAt: noon}, {ID: strength}, {ID: mine, Inline: true}, {ID: theirs, Inline: true},
		{ID: old, DeletedAt: noon},
	}
	s := session.Session{Workouts: []tenant.WorkoutID{mine, warm}, Version: 1}
	for name, tt := range map[string]struct {
		ids    []tenant.WorkoutID
		same   bool
		reason fault.Reason
	}{
		"others":        {ids: []tenant.WorkoutID{strength, warm}},
		"another order": {ids: []tenant.WorkoutID{warm, mine}},
		"none":          {},
		"the same":      {ids: []tenant.WorkoutID{mine, warm}, same: true},
		"absent, or of another tenant": {
			ids: []tenant.WorkoutID{tenant.New[tenant.WorkoutID](noon)}, reason: fault.WorkoutNotFound,
		},
		"written for another session": {ids: []tenant.WorkoutID{theirs}, reason: fault.WorkoutNotFound},
		"deleted, and not had before": {ids: []tenant.WorkoutID{mine, warm, old}, reason: fault.WorkoutNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed, err := s.SetWorkouts(tt.ids, known, noon)
			wantReason(t, err, tt.reason)
			test.False(
				t, err == nil && (changed == tt.same || !cmp.Equal(got.Workouts, tt.ids) && len(tt.ids) > 0),
				test.Sprintf("changed: %v, %v", changed, got.Workouts),
			)
		})
	}
}

func TestWorkoutDelete_RejectsInlineAndChangesOnlyOnce(t *testing.T) {
	t.Parallel()
	w := session.Workout{Name: "Squats", Version: 3, UpdatedAt: noon}
	gone, changed, err := w.Delete(noon.Add(time.Hour))
	want := session.Workout{Name: "Squats", Version: 4, UpdatedAt: noon, DeletedAt: noon.Add(time.Hour)}
	diff := cmp.Diff(want, gone)
	test.True(
		t, err == nil && changed && gone.Deleted() && diff == "",
		test.Sprintf("changed: %v, %v (-want +got)\n%s", changed, err, diff),
	)
	again, changed, err := gone.Delete(noon.Add(2 * time.Hour))
	test.True(
		t, err == nil && !changed && again.DeletedAt.Equal(noon.Add(time.Hour)),
		test.Sprintf("again: %v, %+v, %v", changed, again, err),
	)
	_, _, err = session.Workout{Name: "Finisher", Inline: true}.Delete(noon)
	if wantReason(t, err, fault.InvalidField); fieldOf(err) != "workout_id" {
		t.Error(err)
	}
}

func TestAddWorkout_RejectsMoreThanMaxWorkouts(t *testing.T) {
	t.Parallel()
	s := session.Session{Workouts: make([]tenant.WorkoutID, session.MaxWorkouts)}
	_, err := s.AddWorkout(session.Workout{}, noon)
	wantReason(t, err, fault.InvalidField)
}
