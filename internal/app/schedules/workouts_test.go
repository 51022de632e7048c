package schedules_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func workout(studio *testkit.Studio, name string) tenant.WorkoutID {
	studio.T.Helper()
	return expect.Value(
		studio.App.Schedules.CreateWorkout(context.Background(), studio.Coach, name, "3 × 10"),
	)(studio.T).ID
}

func workoutsOf(studio *testkit.Studio, id tenant.SessionID) []string {
	studio.T.Helper()
	all := expect.Value(studio.App.Schedules.ListSessionWorkouts(context.Background(), studio.Coach, id))(studio.T)
	names := []string{}
	for _, w := range all {
		names = append(names, w.Name)
	}
	return names
}

func TestSetWorkouts_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{})
	squats, rows := workout(studio, "Squats"), workout(studio, "Rows")

	s := expect.Value(
		studio.App.Schedules.SetWorkouts(t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{squats, rows}),
	)(t)
	must.EqOp(t, 2, s.Version)
	must.True(t, cmp.Equal(s.Workouts, []tenant.WorkoutID{squats, rows}), must.Sprintf("%+v", s))
	again := expect.Value(studio.App.Schedules.SetWorkouts(
		t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{squats, rows},
	))(t)
	test.EqOp(t, 2, again.Version, test.Sprintf("again: %+v", again))
	added := expect.Value(studio.App.Schedules.AddInlineWorkout(
		t.Context(), studio.Coach, class, "What we did", "AMRAP",
	))(t)
	test.Eq(t, studio.GetSession(class), added.Session, test.Sprint("with the version that it has now"))
	inline := added.Workout
	must.True(t, inline.Inline, must.Sprintf("%+v", inline))
	test.Eq(t, []string{"Squats", "Rows", "What we did"}, workoutsOf(studio, class))
	expect.OK(t)(studio.App.Schedules.SetWorkouts(
		t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{inline.ID, squats},
	))
	test.Eq(t, []tenant.WorkoutID{inline.ID, squats}, studio.GetSession(class).Workouts, test.Sprint("in another order"))
	expect.OK(t)(studio.App.Schedules.SetWorkouts(t.Context(), studio.Coach, class, nil, nil))
	test.SliceEmpty(t, workoutsOf(studio, class))
	test.EqOp(t, 0, studio.Count(`select count(*) from workouts where inline`),
		test.Sprint("an inline workout that nothing shows is kept"))
	test.EqOp(t, 2, studio.Count(`select count(*) from workouts`), test.Sprint("workouts, want the two for reuse"))
}

func TestWorkouts_ReturnEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	there := studio.OtherTenant()
	class, other := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{})
	inline := expect.Value(studio.App.Schedules.AddInlineWorkout(
		t.Context(), studio.Coach, other, "Theirs alone", "",
	))(t).Workout
	for name, ids := range map[string][]tenant.WorkoutID{
		"no such workout":             {testkit.NewID[tenant.WorkoutID]()},
		"another tenant's":            {workout(there, "Squats")},
		"written for another session": {inline.ID},
	} {
		expect.Reason(t, fault.WorkoutNotFound)(
			studio.App.Schedules.SetWorkouts(t.Context(), studio.Coach, class, nil, append(ids, workout(studio, "Rows "+name))),
		)
	}
	test.EqOp(t, 0, len(workoutsOf(studio, class)), test.Sprint("some were attached all the same"))
	expect.Reason(t, fault.InvalidField)(studio.App.Schedules.AddInlineWorkout(t.Context(), studio.Coach, class, " ", ""))
	for range session.MaxWorkouts {
		expect.OK(t)(studio.App.Schedules.AddInlineWorkout(t.Context(), studio.Coach, class, "More", ""))
	}
	expect.Reason(t, fault.InvalidField)(
		studio.App.Schedules.AddInlineWorkout(t.Context(), studio.Coach, class, "One too many", ""),
	)
}

func TestListSessionWorkouts_HidesThoseOfDrafts(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	draft := studio.AddSession(testkit.Session{State: catalog.Draft})
	expect.Reason(t, fault.SessionNotFound)(
		studio.App.Schedules.ListSessionWorkouts(context.Background(), studio.AddMember("Mia"), draft),
	)
	expect.OK(t)(studio.App.Schedules.ListSessionWorkouts(context.Background(), studio.Coach, draft))
}

func editWorkout(
	studio *testkit.Studio, id tenant.WorkoutID, expect *int, edit func(*session.Workout),
) (session.Workout, error) {
	return studio.App.Schedules.UpdateWorkout(context.Background(), studio.Coach, id, expect, edit)
}

func TestUpdateWorkout_Edits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{})
	squats := workout(studio, "Squats")
	attached := expect.Value(
		studio.App.Schedules.SetWorkouts(t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{squats}),
	)(t)
	inline := expect.Value(studio.App.Schedules.AddInlineWorkout(
		t.Context(), studio.Coach, class, "Finisher", "",
	))(t).Workout
	studio.Clock.Set(testkit.Noon.Add(time.Hour))
	told := studio.CatalogEvents()
	edited, err := editWorkout(
		studio, squats, new(1), func(w *session.Workout) { w.Name, w.Body = "Deep squats", "5 × 5" },
	)
	want := session.Workout{
		ID: squats, Name: "Deep squats", Body: "5 × 5", Version: 2, CreatedAt: testkit.Noon,
		UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	diff := cmp.Diff(want, edited)
	must.NoError(t, err, must.Sprintf("%v (-want +got)\n%s", err, diff))
	must.EqOp(t, "", diff, must.Sprintf("%v (-want +got)\n%s", err, diff))
	changes := map[string]any{
		"before": map[string]any{"name": "Squats", "body": "3 × 10"},
		"after":  map[string]any{"name": "Deep squats", "body": "5 × 5"},
	}
	test.Eq(t, changes, studio.LastAudit("workout.updated"), test.Sprint("audit"))
	again := expect.Value(editWorkout(studio, squats, nil, func(w *session.Workout) { w.Body = "5 × 5" }))(t)
	test.EqOp(t, 2, again.Version, test.Sprintf("again: %+v", again))
	expect.OK(t)(editWorkout(studio, inline.ID, nil, func(w *session.Workout) { w.Name = "Cool down" }))
	test.Eq(t, []string{"Deep squats", "Cool down"}, workoutsOf(studio, class), test.Sprint("the session"))
	test.EqOp(t, attached.Version+1, studio.GetSession(class).Version, test.Sprint("the inline one was attached"))
	n := studio.Count(`select count(*) from audit_entries where action = 'workout.updated'`)
	test.EqOp(t, 2, n, test.Sprintf("%d entries, %d events", n, studio.CatalogEvents()-told))
	test.EqOp(t, told+2, studio.CatalogEvents(), test.Sprintf("%d entries, %d events", n, studio.CatalogEvents()-told))

	theirs := workout(studio.OtherTenant(), "Squats")
	for name, tt := range map[string]struct {
		id     tenant.WorkoutID
		expect *int
		edit   func(*session.Workout)
		reason fault.Reason
	}{
		"another user was faster": {squats, new(1), func(w *session.Workout) { w.Name = "Stale" }, fault.ETagMismatch},
		"no name":                 {squats, new(2), func(w *session.Workout) { w.Name = " " }, fault.InvalidField},
		"control characters":      {squats, nil, func(w *session.Workout) { w.Body = "\x00" }, fault.InvalidField},
		"no such workout": {
			testkit.NewID[tenant.WorkoutID](), nil, func(w *session.Workout) { w.Name = "x" }, fault.WorkoutNotFound,
		},
		"another tenant's": {theirs, new(7), func(w *session.Workout) { w.Name = "x" }, fault.WorkoutNotFound},
	} {
		expect.Reason(t, tt.reason, name)(editWorkout(studio, tt.id, tt.expect, tt.edit))
	}
}

// Of those who edit what they have read, one is the first; the others are told.
func TestUpdateWorkout_RejectsTheSecondOfTwoEdits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	squats := workout(studio, "Squats")
	errs := testkit.ParallelErrors(6, func(i int) error {
		return expect.Error(
			editWorkout(studio, squats, new(1), func(w *session.Workout) { w.Name = fmt.Sprintf("Editor %d", i) }),
		)
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs))
	class := studio.AddSession(testkit.Session{})
	errs = testkit.ParallelErrors(6, func(int) error {
		return expect.Error(studio.App.Schedules.SetWorkouts(
			context.Background(), studio.Coach, class, new(1), []tenant.WorkoutID{squats},
		))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs), test.Sprint("attached:"))
}

func TestDeleteWorkout_KeepsItAttached(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, other := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{})
	squats, rows := workout(studio, "Squats"), workout(studio, "Rows")
	expect.OK(t)(studio.App.Schedules.SetWorkouts(
		t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{squats, rows},
	))
	studio.Clock.Set(testkit.Noon.Add(time.Hour))
	remove := func(who tenant.Caller, id tenant.WorkoutID, expect *int) (session.Workout, error) {
		return studio.App.Schedules.DeleteWorkout(t.Context(), who, id, expect)
	}
	expect.Reason(t, fault.ETagMismatch)(remove(studio.Coach, squats, new(2)))
	gone := expect.Value(remove(studio.Coach, squats, new(1)))(t)
	must.True(t, gone.DeletedAt.Equal(testkit.Noon.Add(time.Hour)), must.Sprintf("%+v", gone))
	must.EqOp(t, 2, gone.Version)
	studio.Clock.Set(testkit.Noon.Add(2 * time.Hour))
	again := expect.Value(remove(studio.Coach, squats, new(1)))(t)
	test.EqOp(t, "", cmp.Diff(gone, again), test.Sprintf("again: %+v", again))
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where action = 'workout.deleted'`),
		test.Sprint("entries"))

	listed := expect.Value(studio.App.Schedules.ListWorkouts(
		t.Context(), studio.Coach, schedules.WorkoutQuery{Limit: 10},
	))(t)
	must.SliceLen(t, 1, listed)
	test.EqOp(t, rows, listed[0].ID)
	expect.Reason(t, fault.WorkoutNotFound)(editWorkout(studio, squats, nil, func(w *session.Workout) { w.Name = "x" }))
	expect.Reason(t, fault.WorkoutNotFound)(
		studio.App.Schedules.SetWorkouts(t.Context(), studio.Coach, other, nil, []tenant.WorkoutID{squats}),
	)

	// A session that has the deleted workout keeps it, at any place in the list, until it is removed.
	expect.OK(t)(studio.App.Schedules.SetWorkouts(
		t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{rows, squats},
	))
	test.Eq(t, []string{"Rows", "Squats"}, workoutsOf(studio, class))
	expect.OK(t)(studio.App.Schedules.SetWorkouts(t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{rows}))
	expect.Reason(t, fault.WorkoutNotFound)(
		studio.App.Schedules.SetWorkouts(t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{rows, squats}),
	)

	inline := expect.Value(studio.App.Schedules.AddInlineWorkout(
		t.Context(), studio.Coach, class, "Finisher", "",
	))(t).Workout
	expect.Reason(t, fault.InvalidField)(remove(studio.Coach, inline.ID, nil))
	expect.Reason(t, fault.WorkoutNotFound)(remove(studio.Coach, testkit.NewID[tenant.WorkoutID](), nil))
	expect.Reason(t, fault.WorkoutNotFound)(remove(studio.OtherTenant().Coach, rows, nil))
}

// One user attaches a workout at the moment at which another deletes it: either one is first, and the session loses
// nothing.
func TestDeleteWorkout_RacesWithSetWorkouts(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	for range 5 {
		class, squats := studio.AddSession(testkit.Session{}), workout(studio, "Squats")
		errs := testkit.ParallelErrors(2, func(i int) error {
			if i == 0 {
				return expect.Error(studio.App.Schedules.DeleteWorkout(t.Context(), studio.Coach, squats, new(1)))
			}
			return expect.Error(studio.App.Schedules.SetWorkouts(
				t.Context(), studio.Coach, class, nil, []tenant.WorkoutID{squats},
			))
		})
		attached := len(workoutsOf(studio, class)) == 1
		must.NoError(t, errs[0], must.Sprintf("attached: %v, %v", attached, errs))
		test.EqOp(t, (errs[1] == nil), attached, test.Sprintf("attached: %v, %v", attached, errs))
		if errs[1] != nil {
			expect.Reason(t, fault.WorkoutNotFound)(errs[1])
		}
	}
}
