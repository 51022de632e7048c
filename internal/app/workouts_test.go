package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
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

	s, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats, rows})
	if err != nil || s.Version != 2 || !cmp.Equal(s.Workouts, []tenant.WorkoutID{squats, rows}) {
		t.Fatalf("%+v (%v)", s, err)
	}
	if again, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats, rows}); err != nil || again.Version != 2 {
		t.Errorf("again: %+v (%v)", again, err)
	}
	inline, err := h.app.AddInlineWorkout(ctx, h.Coach, class, "What we did", "AMRAP")
	if err != nil || !inline.Inline {
		t.Fatalf("%+v (%v)", inline, err)
	}
	if diff := cmp.Diff([]string{"Squats", "Rows", "What we did"}, h.workoutsOf(class)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{inline.ID, squats}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tenant.WorkoutID{inline.ID, squats}, h.getSession(class).Workouts); diff != "" {
		t.Errorf("in another order (-want +got)\n%s", diff)
	}
	if _, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, nil); err != nil || len(h.workoutsOf(class)) != 0 {
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
		_, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, append(ids, h.workout("Rows "+name)))
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

func (h *house) editWorkout(id tenant.WorkoutID, expect *int, edit func(*session.Workout)) (session.Workout, error) {
	return h.app.UpdateWorkout(context.Background(), h.Coach, id, expect, edit)
}

func TestWorkoutsAreEdited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	class := h.session(slot{})
	squats := h.workout("Squats")
	attached, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats})
	if err != nil {
		t.Fatal(err)
	}
	inline, err := h.app.AddInlineWorkout(ctx, h.Coach, class, "Finisher", "")
	if err != nil {
		t.Fatal(err)
	}
	h.clock.Set(noon.Add(time.Hour))
	told := h.catalogEvents()
	edited, err := h.editWorkout(squats, new(1), func(w *session.Workout) { w.Name, w.Body = "Deep squats", "5 × 5" })
	want := session.Workout{ID: squats, Name: "Deep squats", Body: "5 × 5", Version: 2, CreatedAt: noon, UpdatedAt: noon.Add(time.Hour)}
	if diff := cmp.Diff(want, edited); err != nil || diff != "" {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
	changes := map[string]any{
		"before": map[string]any{"name": "Squats", "body": "3 × 10"}, "after": map[string]any{"name": "Deep squats", "body": "5 × 5"},
	}
	if diff := cmp.Diff(changes, h.lastAudit("workout.updated")); diff != "" {
		t.Errorf("audit (-want +got)\n%s", diff)
	}
	if again, err := h.editWorkout(squats, nil, func(w *session.Workout) { w.Body = "5 × 5" }); err != nil || again.Version != 2 {
		t.Errorf("again: %+v (%v)", again, err)
	}
	if _, err := h.editWorkout(inline.ID, nil, func(w *session.Workout) { w.Name = "Cool down" }); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"Deep squats", "Cool down"}, h.workoutsOf(class)); diff != "" {
		t.Errorf("the session (-want +got)\n%s", diff)
	}
	if got := h.getSession(class); got.Version != attached.Version+1 { // the inline one was attached
		t.Errorf("the session was edited: %+v", got)
	}
	if n := h.count(`select count(*) from audit_entries where action = 'workout.updated'`); n != 2 || h.catalogEvents() != told+2 {
		t.Errorf("%d entries, %d events", n, h.catalogEvents()-told)
	}

	theirs := h.another().workout("Squats")
	for name, tt := range map[string]struct {
		id     tenant.WorkoutID
		expect *int
		edit   func(*session.Workout)
		reason fault.Reason
	}{
		"somebody else was faster": {squats, new(1), func(w *session.Workout) { w.Name = "Stale" }, fault.ETagMismatch},
		"no name":                  {squats, new(2), func(w *session.Workout) { w.Name = " " }, fault.InvalidField},
		"control characters":       {squats, nil, func(w *session.Workout) { w.Body = "\x00" }, fault.InvalidField},
		"no such workout":          {newID[tenant.WorkoutID](), nil, func(w *session.Workout) { w.Name = "x" }, fault.WorkoutNotFound},
		"another tenant's":         {theirs, new(7), func(w *session.Workout) { w.Name = "x" }, fault.WorkoutNotFound},
	} {
		if _, err := h.editWorkout(tt.id, tt.expect, tt.edit); fault.ReasonOf(err) != tt.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of those who edit what they have read, one is the first; the others are told.
func TestTwoEditorsOfOneWorkout(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	squats := h.workout("Squats")
	errs := atOnce(6, func(i int) error {
		_, err := h.editWorkout(squats, new(1), func(w *session.Workout) { w.Name = fmt.Sprintf("Editor %d", i) })
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, reasons(errs)); diff != "" {
		t.Error(diff)
	}
	class := h.session(slot{})
	errs = atOnce(6, func(int) error {
		_, err := h.app.SetWorkouts(context.Background(), h.Coach, class, new(1), []tenant.WorkoutID{squats})
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, reasons(errs)); diff != "" {
		t.Error("attached:", diff)
	}
}

func TestADeletedWorkoutStaysWhereItIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	class, other := h.session(slot{}), h.session(slot{})
	squats, rows := h.workout("Squats"), h.workout("Rows")
	if _, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats, rows}); err != nil {
		t.Fatal(err)
	}
	h.clock.Set(noon.Add(time.Hour))
	remove := func(who tenant.Caller, id tenant.WorkoutID, expect *int) (session.Workout, error) {
		return h.app.DeleteWorkout(ctx, who, id, expect)
	}
	_, err := remove(h.Coach, squats, new(2))
	wantReason(t, err, fault.ETagMismatch)
	gone, err := remove(h.Coach, squats, new(1))
	if err != nil || !gone.DeletedAt.Equal(noon.Add(time.Hour)) || gone.Version != 2 {
		t.Fatalf("%+v (%v)", gone, err)
	}
	h.clock.Set(noon.Add(2 * time.Hour))
	if again, err := remove(h.Coach, squats, new(1)); err != nil || cmp.Diff(gone, again) != "" {
		t.Errorf("again: %+v (%v)", again, err)
	}
	if n := h.count(`select count(*) from audit_entries where action = 'workout.deleted'`); n != 1 {
		t.Errorf("%d entries", n)
	}

	listed, err := h.app.ListWorkouts(ctx, h.Coach, app.WorkoutQuery{Limit: 10})
	if err != nil || len(listed) != 1 || listed[0].ID != rows {
		t.Errorf("%+v (%v)", listed, err)
	}
	_, err = h.editWorkout(squats, nil, func(w *session.Workout) { w.Name = "x" })
	wantReason(t, err, fault.WorkoutNotFound)
	_, err = h.app.SetWorkouts(ctx, h.Coach, other, nil, []tenant.WorkoutID{squats})
	wantReason(t, err, fault.WorkoutNotFound)

	// Who has it keeps it, wherever they move it, until they take it off.
	if _, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{rows, squats}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"Rows", "Squats"}, h.workoutsOf(class)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{rows}); err != nil {
		t.Error(err)
	}
	_, err = h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{rows, squats})
	wantReason(t, err, fault.WorkoutNotFound)

	inline, err := h.app.AddInlineWorkout(ctx, h.Coach, class, "Finisher", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = remove(h.Coach, inline.ID, nil)
	wantReason(t, err, fault.InvalidField)
	_, err = remove(h.Coach, newID[tenant.WorkoutID](), nil)
	wantReason(t, err, fault.WorkoutNotFound)
	_, err = remove(h.another().Coach, rows, nil)
	wantReason(t, err, fault.WorkoutNotFound)
}

// Somebody attaches it at the moment at which somebody else deletes it: either is the first, and nothing is lost of the session.
func TestDeletingAWorkoutThatIsBeingAttached(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	for range 5 {
		class, squats := h.session(slot{}), h.workout("Squats")
		errs := atOnce(2, func(i int) error {
			if i == 0 {
				_, err := h.app.DeleteWorkout(ctx, h.Coach, squats, new(1))
				return err
			}
			_, err := h.app.SetWorkouts(ctx, h.Coach, class, nil, []tenant.WorkoutID{squats})
			return err
		})
		attached := len(h.workoutsOf(class)) == 1
		if errs[0] != nil || attached != (errs[1] == nil) {
			t.Errorf("attached: %v, %v", attached, errs)
		}
		if errs[1] != nil {
			wantReason(t, errs[1], fault.WorkoutNotFound)
		}
	}
}
