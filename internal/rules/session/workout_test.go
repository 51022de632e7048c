package session_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
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
	absent := workoutID()
	unknown := "WORKOUT_NOT_FOUND workout_id="
	for name, tt := range map[string]struct {
		ids  []tenant.WorkoutID
		want string
	}{
		"others":                       {[]tenant.WorkoutID{strength, warm}, ""},
		"another order":                {[]tenant.WorkoutID{warm, mine}, ""},
		"none":                         {nil, ""},
		"the same":                     {[]tenant.WorkoutID{mine, warm}, ""},
		"absent, or of another tenant": {[]tenant.WorkoutID{absent}, unknown + absent.String()},
		"written for another session":  {[]tenant.WorkoutID{theirs}, unknown + theirs.String()},
		"deleted, and not had before":  {[]tenant.WorkoutID{mine, warm, old}, unknown + old.String()},
	} {
		want, changes := s, name != "the same" && tt.want == ""
		if changes {
			want = vary.From(s, set{"Workouts": tt.ids, "Version": 2, "UpdatedAt": noon})
		}
		got, changed, err := s.SetWorkouts(tt.ids, known, noon)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		test.EqOp(t, changes, changed, test.Sprint(name))
		test.Eq(t, want, got, test.Sprint(name))
	}
}

func TestWorkoutDelete_RejectsInlineAndChangesOnlyOnce(t *testing.T) {
	t.Parallel()
	w := session.Workout{Name: "Squats", Version: 3, UpdatedAt: noon}
	gone := vary.From(w, set{"Version": 4, "DeletedAt": noon.Add(time.Hour)})
	inline := session.Workout{Name: "Finisher", Inline: true}
	for name, tt := range map[string]struct {
		from, to session.Workout
		err      string
	}{
		"reusable": {w, gone, ""}, "again": {gone, gone, ""}, "of a session": {inline, inline, "INVALID_FIELD @workout_id"},
	} {
		got, changed, err := tt.from.Delete(noon.Add(time.Hour))
		test.EqOp(t, tt.err, faulttest.Text(err), test.Sprint(name))
		test.Eq(t, tt.to, got, test.Sprint(name))
		test.EqOp(t, tt.from != tt.to, changed, test.Sprint(name))
		test.EqOp(t, !got.DeletedAt.IsZero(), got.Deleted(), test.Sprint(name))
	}
}
