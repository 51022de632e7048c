package app_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/session"
	"github.com/berthhq/berth/internal/tenant"
)

func (h *house) workout(name string) tenant.WorkoutID {
	h.t.Helper()
	w, err := h.app.CreateWorkout(context.Background(), h.Coach, name, "3 × 10")
	if err != nil {
		h.t.Fatal(err)
	}
	return w.ID
}

func (h *house) workoutsOf(id tenant.SessionID) []string {
	h.t.Helper()
	all, err := h.app.ListSessionWorkouts(context.Background(), h.Coach, id)
	if err != nil {
		h.t.Fatal(err)
	}
	names := []string{}
	for _, w := range all {
		names = append(names, w.Name)
	}
	return names
}

func TestWorkoutsAreAttachedInOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	class := h.session(slot{})
	squats, rows := h.workout("Squats"), h.workout("Rows")

	s, err := h.app.SetWorkouts(ctx, h.Coach, class, []tenant.WorkoutID{squats, rows})
	if err != nil || s.Version != 2 || !cmp.Equal(s.Workouts, []tenant.WorkoutID{squats, rows}) {
		t.Fatalf("%+v (%v)", s, err)
	}
	if again, err := h.app.SetWorkouts(ctx, h.Coach, class, []tenant.WorkoutID{squats, rows}); err != nil || again.Version != 2 {
		t.Errorf("again: %+v (%v)", again, err)
	}
	inline, err := h.app.AddInlineWorkout(ctx, h.Coach, class, "What we did", "AMRAP")
	if err != nil || !inline.Inline {
		t.Fatalf("%+v (%v)", inline, err)
	}
	if diff := cmp.Diff([]string{"Squats", "Rows", "What we did"}, h.workoutsOf(class)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := h.app.SetWorkouts(ctx, h.Coach, class, []tenant.WorkoutID{inline.ID, squats}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tenant.WorkoutID{inline.ID, squats}, h.getSession(class).Workouts); diff != "" {
		t.Errorf("in another order (-want +got)\n%s", diff)
	}
	if _, err := h.app.SetWorkouts(ctx, h.Coach, class, nil); err != nil || len(h.workoutsOf(class)) != 0 {
		t.Errorf("%v are left (%v)", h.workoutsOf(class), err)
	}
	if n := h.count(`select count(*) from workouts where inline`); n != 0 {
		t.Error("an inline workout that nothing shows is kept")
	}
	if n := h.count(`select count(*) from workouts`); n != 2 {
		t.Errorf("%d workouts, want the two for reuse", n)
	}
}

func TestWorkoutRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	there := h.another()
	ctx := context.Background()
	class, other := h.session(slot{}), h.session(slot{})
	inline, err := h.app.AddInlineWorkout(ctx, h.Coach, other, "Theirs alone", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, ids := range map[string][]tenant.WorkoutID{
		"no such workout":             {newID[tenant.WorkoutID]()},
		"another tenant's":            {there.workout("Squats")},
		"written for another session": {inline.ID},
	} {
		_, err := h.app.SetWorkouts(ctx, h.Coach, class, append(ids, h.workout("Rows "+name)))
		wantReason(t, err, fault.WorkoutNotFound)
	}
	if len(h.workoutsOf(class)) != 0 {
		t.Error("some were attached all the same")
	}
	for range session.MaxWorkouts {
		if _, err := h.app.AddInlineWorkout(ctx, h.Coach, class, "More", ""); err != nil {
			t.Fatal(err)
		}
	}
	_, err = h.app.AddInlineWorkout(ctx, h.Coach, class, "One too many", "")
	wantReason(t, err, fault.InvalidField)
}

func TestMembersSeeNoWorkoutsOfDrafts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	draft := h.session(slot{State: catalog.Draft})
	_, err := h.app.ListSessionWorkouts(context.Background(), h.member("Mia"), draft)
	wantReason(t, err, fault.SessionNotFound)
	if _, err := h.app.ListSessionWorkouts(context.Background(), h.Coach, draft); err != nil {
		t.Error(err)
	}
}

func TestReusableWorkoutsAreListedByName(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.another().workout("Theirs")
	for i := range 5 {
		h.workout(fmt.Sprintf("%c workout", "eBaDc"[i]))
	}
	h.workout("a workout")
	if _, err := h.app.AddInlineWorkout(context.Background(), h.Coach, h.session(slot{}), "Inline", ""); err != nil {
		t.Fatal(err)
	}
	var names []string
	q := app.WorkoutQuery{Limit: 2}
	for {
		page, err := h.app.ListWorkouts(context.Background(), h.Coach, q)
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
	if diff := cmp.Diff([]string{"a workout", "a workout", "B workout", "c workout", "D workout", "e workout"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
