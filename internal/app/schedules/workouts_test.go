package schedules_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func workout(h *testkit.Studio, name string) tenant.WorkoutID {
	h.T.Helper()
	w, err := h.App.Schedules.CreateWorkout(context.Background(), h.Coach, name, "3 × 10")
	if err != nil {
		h.T.Fatal(err)
	}
	return w.ID
}

func workoutsOf(h *testkit.Studio, id tenant.SessionID) []string {
	h.T.Helper()
	all, err := h.App.Schedules.ListSessionWorkouts(context.Background(), h.Coach, id)
	if err != nil {
		h.T.Fatal(err)
	}
	names := []string{}
	for _, w := range all {
		names = append(names, w.Name)
	}
	return names
}

func TestSetWorkouts_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	class := h.AddSession(testkit.Session{})
	squats, rows := workout(h, "Squats"), workout(h, "Rows")

	s, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats, rows})
	if err != nil || s.Version != 2 || !cmp.Equal(s.Workouts, []tenant.WorkoutID{squats, rows}) {
		t.Fatalf("%+v (%v)", s, err)
	}
	if again, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats, rows}); err != nil ||
		again.Version != 2 {
		t.Errorf("again: %+v (%v)", again, err)
	}
	inline, err := h.App.Schedules.AddInlineWorkout(ctx, h.Coach, class, "What we did", "AMRAP")
	if err != nil || !inline.Inline {
		t.Fatalf("%+v (%v)", inline, err)
	}
	if diff := cmp.Diff([]string{"Squats", "Rows", "What we did"}, workoutsOf(h, class)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{inline.ID, squats}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tenant.WorkoutID{inline.ID, squats}, h.GetSession(class).Workouts); diff != "" {
		t.Errorf("in another order (-want +got)\n%s", diff)
	}
	if _, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, nil); err != nil || len(workoutsOf(h, class)) != 0 {
		t.Errorf("%v are left (%v)", workoutsOf(h, class), err)
	}
	if n := h.Count(`select count(*) from workouts where inline`); n != 0 {
		t.Error("an inline workout that nothing shows is kept")
	}
	if n := h.Count(`select count(*) from workouts`); n != 2 {
		t.Errorf("%d workouts, want the two for reuse", n)
	}
}

func TestWorkouts_ReturnEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	there := h.OtherTenant()
	ctx := context.Background()
	class, other := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{})
	inline, err := h.App.Schedules.AddInlineWorkout(ctx, h.Coach, other, "Theirs alone", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, ids := range map[string][]tenant.WorkoutID{
		"no such workout":             {testkit.NewID[tenant.WorkoutID]()},
		"another tenant's":            {workout(there, "Squats")},
		"written for another session": {inline.ID},
	} {
		_, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, append(ids, workout(h, "Rows "+name)))
		testkit.WantReason(t, err, fault.WorkoutNotFound)
	}
	if len(workoutsOf(h, class)) != 0 {
		t.Error("some were attached all the same")
	}
	for range session.MaxWorkouts {
		if _, err := h.App.Schedules.AddInlineWorkout(ctx, h.Coach, class, "More", ""); err != nil {
			t.Fatal(err)
		}
	}
	_, err = h.App.Schedules.AddInlineWorkout(ctx, h.Coach, class, "One too many", "")
	testkit.WantReason(t, err, fault.InvalidField)
}

func TestListSessionWorkouts_HidesThoseOfDrafts(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	draft := h.AddSession(testkit.Session{State: catalog.Draft})
	_, err := h.App.Schedules.ListSessionWorkouts(context.Background(), h.AddMember("Mia"), draft)
	testkit.WantReason(t, err, fault.SessionNotFound)
	if _, err := h.App.Schedules.ListSessionWorkouts(context.Background(), h.Coach, draft); err != nil {
		t.Error(err)
	}
}

func TestListWorkouts_OrdersByName(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	workout(h.OtherTenant(), "Theirs")
	for i := range 5 {
		workout(h, fmt.Sprintf("%c workout", "eBaDc"[i]))
	}
	workout(h, "a workout")
	if _, err := h.App.Schedules.AddInlineWorkout(
		context.Background(), h.Coach, h.AddSession(testkit.Session{}), "Inline", "",
	); err != nil {
		t.Fatal(err)
	}
	var names []string
	q := schedules.WorkoutQuery{Limit: 2}
	for {
		page, err := h.App.Schedules.ListWorkouts(context.Background(), h.Coach, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, w := range page {
			names = append(names, w.Name)
			q.AfterName, q.AfterID = w.Name, w.ID
		}
	}
	if diff := cmp.Diff(
		[]string{"a workout", "a workout", "B workout", "c workout", "D workout", "e workout"}, names,
	); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func editWorkout(
	h *testkit.Studio, id tenant.WorkoutID, expect *int, edit func(*session.Workout),
) (session.Workout, error) {
	return h.App.Schedules.UpdateWorkout(context.Background(), h.Coach, id, expect, edit)
}

func TestUpdateWorkout_Edits(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	class := h.AddSession(testkit.Session{})
	squats := workout(h, "Squats")
	attached, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats})
	if err != nil {
		t.Fatal(err)
	}
	inline, err := h.App.Schedules.AddInlineWorkout(ctx, h.Coach, class, "Finisher", "")
	if err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.Noon.Add(time.Hour))
	told := h.CatalogEvents()
	edited, err := editWorkout(h, squats, new(1), func(w *session.Workout) { w.Name, w.Body = "Deep squats", "5 × 5" })
	want := session.Workout{
		ID: squats, Name: "Deep squats", Body: "5 × 5", Version: 2, CreatedAt: testkit.Noon,
		UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	if diff := cmp.Diff(want, edited); err != nil || diff != "" {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
	changes := map[string]any{
		"before": map[string]any{"name": "Squats", "body": "3 × 10"},
		"after":  map[string]any{"name": "Deep squats", "body": "5 × 5"},
	}
	if diff := cmp.Diff(changes, h.LastAudit("workout.updated")); diff != "" {
		t.Errorf("audit (-want +got)\n%s", diff)
	}
	if again, err := editWorkout(h, squats, nil, func(w *session.Workout) { w.Body = "5 × 5" }); err != nil ||
		again.Version != 2 {
		t.Errorf("again: %+v (%v)", again, err)
	}
	if _, err := editWorkout(h, inline.ID, nil, func(w *session.Workout) { w.Name = "Cool down" }); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"Deep squats", "Cool down"}, workoutsOf(h, class)); diff != "" {
		t.Errorf("the session (-want +got)\n%s", diff)
	}
	if got := h.GetSession(class); got.Version != attached.Version+1 { // the inline one was attached
		t.Errorf("the session was edited: %+v", got)
	}
	if n := h.Count(`select count(*) from audit_entries where action = 'workout.updated'`); n != 2 ||
		h.CatalogEvents() != told+2 {
		t.Errorf("%d entries, %d events", n, h.CatalogEvents()-told)
	}

	theirs := workout(h.OtherTenant(), "Squats")
	for name, tt := range map[string]struct {
		id     tenant.WorkoutID
		expect *int
		edit   func(*session.Workout)
		reason fault.Reason
	}{
		"somebody else was faster": {squats, new(1), func(w *session.Workout) { w.Name = "Stale" }, fault.ETagMismatch},
		"no name":                  {squats, new(2), func(w *session.Workout) { w.Name = " " }, fault.InvalidField},
		"control characters":       {squats, nil, func(w *session.Workout) { w.Body = "\x00" }, fault.InvalidField},
		"no such workout": {
			testkit.NewID[tenant.WorkoutID](), nil, func(w *session.Workout) { w.Name = "x" }, fault.WorkoutNotFound,
		},
		"another tenant's": {theirs, new(7), func(w *session.Workout) { w.Name = "x" }, fault.WorkoutNotFound},
	} {
		if _, err := editWorkout(h, tt.id, tt.expect, tt.edit); fault.ReasonOf(err) != tt.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of those who edit what they have read, one is the first; the others are told.
func TestUpdateWorkout_RejectsTheSecondOfTwoEdits(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	squats := workout(h, "Squats")
	errs := testkit.ParallelErrors(6, func(i int) error {
		_, err := editWorkout(h, squats, new(1), func(w *session.Workout) { w.Name = fmt.Sprintf("Editor %d", i) })
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs)); diff != "" {
		t.Error(diff)
	}
	class := h.AddSession(testkit.Session{})
	errs = testkit.ParallelErrors(6, func(int) error {
		_, err := h.App.Schedules.SetWorkouts(context.Background(), h.Coach, class, new(1), []tenant.WorkoutID{squats})
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs)); diff != "" {
		t.Error("attached:", diff)
	}
}

func TestDeleteWorkout_KeepsItAttached(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	class, other := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{})
	squats, rows := workout(h, "Squats"), workout(h, "Rows")
	if _, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats, rows}); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.Noon.Add(time.Hour))
	remove := func(who tenant.Caller, id tenant.WorkoutID, expect *int) (session.Workout, error) {
		return h.App.Schedules.DeleteWorkout(ctx, who, id, expect)
	}
	_, err := remove(h.Coach, squats, new(2))
	testkit.WantReason(t, err, fault.ETagMismatch)
	gone, err := remove(h.Coach, squats, new(1))
	if err != nil || !gone.DeletedAt.Equal(testkit.Noon.Add(time.Hour)) || gone.Version != 2 {
		t.Fatalf("%+v (%v)", gone, err)
	}
	h.Clock.Set(testkit.Noon.Add(2 * time.Hour))
	if again, err := remove(h.Coach, squats, new(1)); err != nil || cmp.Diff(gone, again) != "" {
		t.Errorf("again: %+v (%v)", again, err)
	}
	if n := h.Count(`select count(*) from audit_entries where action = 'workout.deleted'`); n != 1 {
		t.Errorf("%d entries", n)
	}

	listed, err := h.App.Schedules.ListWorkouts(ctx, h.Coach, schedules.WorkoutQuery{Limit: 10})
	if err != nil || len(listed) != 1 || listed[0].ID != rows {
		t.Errorf("%+v (%v)", listed, err)
	}
	_, err = editWorkout(h, squats, nil, func(w *session.Workout) { w.Name = "x" })
	testkit.WantReason(t, err, fault.WorkoutNotFound)
	_, err = h.App.Schedules.SetWorkouts(ctx, h.Coach, other, nil, []tenant.WorkoutID{squats})
	testkit.WantReason(t, err, fault.WorkoutNotFound)

	// Who has it keeps it, wherever they move it, until they take it off.
	if _, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{rows, squats}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"Rows", "Squats"}, workoutsOf(h, class)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{rows}); err != nil {
		t.Error(err)
	}
	_, err = h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{rows, squats})
	testkit.WantReason(t, err, fault.WorkoutNotFound)

	inline, err := h.App.Schedules.AddInlineWorkout(ctx, h.Coach, class, "Finisher", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = remove(h.Coach, inline.ID, nil)
	testkit.WantReason(t, err, fault.InvalidField)
	_, err = remove(h.Coach, testkit.NewID[tenant.WorkoutID](), nil)
	testkit.WantReason(t, err, fault.WorkoutNotFound)
	_, err = remove(h.OtherTenant().Coach, rows, nil)
	testkit.WantReason(t, err, fault.WorkoutNotFound)
}

// Somebody attaches it at the moment at which somebody else deletes it: either is the first, and nothing is lost of the
// session.
func TestDeleteWorkout_RacesWithSetWorkouts(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	for range 5 {
		class, squats := h.AddSession(testkit.Session{}), workout(h, "Squats")
		errs := testkit.ParallelErrors(2, func(i int) error {
			if i == 0 {
				_, err := h.App.Schedules.DeleteWorkout(ctx, h.Coach, squats, new(1))
				return err
			}
			_, err := h.App.Schedules.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats})
			return err
		})
		attached := len(workoutsOf(h, class)) == 1
		if errs[0] != nil || attached != (errs[1] == nil) {
			t.Errorf("attached: %v, %v", attached, errs)
		}
		if errs[1] != nil {
			testkit.WantReason(t, errs[1], fault.WorkoutNotFound)
		}
	}
}
