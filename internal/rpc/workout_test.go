package rpc

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
)

func TestWorkouts_AttachToSessions(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	ctx := t.Context()
	coach := s.Token(t, "coach")
	one := s.create(t, s.input(monday.Add(time.Hour)), true)
	var ids []string
	for i := range 3 {
		created, err := s.CreateWorkout(
			ctx, as(coach, &v1.CreateWorkoutRequest{Name: fmt.Sprintf("Workout %d", i), Body: "3 × 10"}),
		)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, created.Msg.GetWorkout().GetId())
	}
	set, err := s.SetWorkouts(
		ctx, as(coach, &v1.SetWorkoutsRequest{SessionId: one.GetId(), WorkoutIds: []string{ids[2], ids[0]}}),
	)
	if err != nil || !slices.Equal(set.Msg.GetSession().GetWorkoutIds(), []string{ids[2], ids[0]}) {
		t.Errorf("%v (%v)", set, err)
	}
	if _, err := s.AddInlineWorkout(
		ctx, as(coach, &v1.AddInlineWorkoutRequest{SessionId: one.GetId(), Name: "Finisher"}),
	); err != nil {
		t.Fatal(err)
	}
	names := func(r *v1.ListWorkoutsRequest) (names []string, next string) {
		t.Helper()
		response, err := s.ListWorkouts(ctx, as(coach, r))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range response.Msg.GetWorkouts() {
			names = append(names, w.GetName())
		}
		return names, response.Msg.GetNextPageToken()
	}
	if got, _ := names(&v1.ListWorkoutsRequest{SessionId: one.GetId()}); !slices.Equal(
		got, []string{"Workout 2", "Workout 0", "Finisher"},
	) {
		t.Errorf("%v", got)
	}
	first, token := names(&v1.ListWorkoutsRequest{PageSize: 2})
	rest, end := names(&v1.ListWorkoutsRequest{PageSize: 2, PageToken: token})
	if !slices.Equal(append(first, rest...), []string{"Workout 0", "Workout 1", "Workout 2"}) || end != "" {
		t.Errorf("%v, %v, %q", first, rest, end)
	}
	_, err = s.SetWorkouts(
		ctx, as(coach, &v1.SetWorkoutsRequest{SessionId: one.GetId(), WorkoutIds: []string{someSession}}),
	)
	if got := apiErrorOf(t, err); got.Reason != "WORKOUT_NOT_FOUND" {
		t.Errorf("%+v", got)
	}
}

func TestWorkouts_CreateUpdateAndDelete(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	ctx := t.Context()
	coach := s.Token(t, "coach")
	response, err := s.CreateWorkout(ctx, as(coach, &v1.CreateWorkoutRequest{Name: "Squats", Body: "3 × 10"}))
	if err != nil {
		t.Fatal(err)
	}
	want := &v1.Workout{
		Id: response.Msg.GetWorkout().GetId(), Name: "Squats", Body: "3 × 10", Etag: "v1",
		CreateTime: timestamppb.New(monday),
		UpdateTime: timestamppb.New(monday),
	}
	if diff := cmp.Diff(want, response.Msg.GetWorkout(), protocmp.Transform()); diff != "" {
		t.Errorf("created (-want +got)\n%s", diff)
	}
	for i, c := range []struct {
		path string
		set  func(*v1.UpdateWorkoutRequest)
	}{
		{"name", func(r *v1.UpdateWorkoutRequest) { r.Name, want.Name = "Deep squats", "Deep squats" }},
		{"body", func(r *v1.UpdateWorkoutRequest) { r.Body, want.Body = "5 × 5", "5 × 5" }},
		{"body", func(r *v1.UpdateWorkoutRequest) { r.Body, want.Body = "", "" }},
	} {
		sent := &v1.UpdateWorkoutRequest{
			WorkoutId: want.GetId(), Name: "Other", Body: "Other", UpdateMask: mask(c.path), Etag: want.GetEtag(),
		}
		c.set(sent)
		want.Etag = convert.Etag(i + 2)
		edited, err := s.UpdateWorkout(ctx, as(coach, sent))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, edited.Msg.GetWorkout(), protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.path, diff)
		}
	}
	one := s.create(t, s.input(monday.Add(time.Hour)), true)
	set, err := s.SetWorkouts(
		ctx,
		as(coach, &v1.SetWorkoutsRequest{SessionId: one.GetId(), WorkoutIds: []string{want.GetId()}, Etag: one.GetEtag()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	deleted, err := s.DeleteWorkout(
		ctx, as(coach, &v1.DeleteWorkoutRequest{WorkoutId: want.GetId(), Etag: want.GetEtag()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	want.Etag, want.DeleteTime = "v5", timestamppb.New(monday)
	if diff := cmp.Diff(want, deleted.Msg.GetWorkout(), protocmp.Transform()); diff != "" {
		t.Errorf("deleted (-want +got)\n%s", diff)
	}
	kept, err := s.ListWorkouts(ctx, as(coach, &v1.ListWorkoutsRequest{SessionId: one.GetId()}))
	if err != nil || len(kept.Msg.GetWorkouts()) != 1 ||
		cmp.Diff(want, kept.Msg.GetWorkouts()[0], protocmp.Transform()) != "" {
		t.Errorf("%v (%v)", kept, err)
	}
	if all, err := s.ListWorkouts(ctx, as(coach, &v1.ListWorkoutsRequest{})); err != nil ||
		len(all.Msg.GetWorkouts()) != 0 {
		t.Errorf("%v (%v)", all, err)
	}

	there := s.Token(t, "coach", s.NewTenant(t, "Other Club"))
	update := func(token string, r *v1.UpdateWorkoutRequest) error {
		_, err := s.UpdateWorkout(ctx, as(token, r))
		return err
	}
	remove := func(token string, r *v1.DeleteWorkoutRequest) error {
		_, err := s.DeleteWorkout(ctx, as(token, r))
		return err
	}
	for name, c := range map[string]struct {
		err           error
		reason, field string
	}{
		"edited once it is deleted": {
			update(coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x", UpdateMask: mask("name")}),
			"WORKOUT_NOT_FOUND", "",
		},
		"another tenant's": {
			update(there, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x", UpdateMask: mask("name")}),
			"WORKOUT_NOT_FOUND", "",
		},
		"another tenant's, to delete": {
			remove(there, &v1.DeleteWorkoutRequest{WorkoutId: want.GetId()}), "WORKOUT_NOT_FOUND", "",
		},
		"by a member": {
			update(s.Token(t, "member"), &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x", UpdateMask: mask("name")}),
			"PERMISSION_DENIED", "",
		},
		"by a member, to delete": {
			remove(s.Token(t, "member"), &v1.DeleteWorkoutRequest{WorkoutId: want.GetId()}), "PERMISSION_DENIED", "",
		},
		"without a name": {
			update(coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), UpdateMask: mask("name")}), "INVALID_FIELD", "",
		},
		"without a mask": {
			update(coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x"}), "INVALID_FIELD", "update_mask",
		},
		"what cannot be edited": {
			update(coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), UpdateMask: mask("inline")}), "INVALID_FIELD",
			"update_mask",
		},
		"none": {
			remove(coach, &v1.DeleteWorkoutRequest{WorkoutId: someSession}), "WORKOUT_NOT_FOUND", "",
		},
		"attached to what was edited": {func() error {
			_, err := s.SetWorkouts(ctx, as(coach, &v1.SetWorkoutsRequest{SessionId: one.GetId(), Etag: one.GetEtag()}))
			return err
		}(), "ETAG_MISMATCH", "etag"},
		"deleted with a stale etag": {
			remove(coach, &v1.DeleteWorkoutRequest{WorkoutId: s.workout(t, coach), Etag: "v2"}), "ETAG_MISMATCH", "etag",
		},
	} {
		if got := apiErrorOf(t, c.err); got.Reason != c.reason || c.field != "" && got.Metadata["field"] != c.field {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if set.Msg.GetSession().GetEtag() != "v2" {
		t.Errorf("%v", set)
	}
}

func (s *studio) workout(t *testing.T, token string) string {
	t.Helper()
	created, err := s.CreateWorkout(t.Context(), as(token, &v1.CreateWorkoutRequest{Name: "Rows"}))
	if err != nil {
		t.Fatal(err)
	}
	return created.Msg.GetWorkout().GetId()
}
