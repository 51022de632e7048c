package rpc

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestWorkouts_CreateUpdateAndDelete(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	ctx := t.Context()
	coach := s.Token(t, "coach")
	response := expect.Value(s.CreateWorkout(ctx, as(coach, &v1.CreateWorkoutRequest{Name: "Squats", Body: "3 × 10"})))(t)
	want := &v1.Workout{
		Id: response.Msg.GetWorkout().GetId(), Name: "Squats", Body: "3 × 10", Etag: "v1",
		CreateTime: timestamppb.New(monday),
		UpdateTime: timestamppb.New(monday),
	}
	test.Eq(t, want, response.Msg.GetWorkout(), test.Cmp(protocmp.Transform()), test.Sprint("created"))
	for i, e := range []edit[*v1.Workout]{
		{"name", &v1.Workout{Name: "Deep squats", Body: "Other"}},
		{"body", &v1.Workout{Name: "Other", Body: "5 × 5"}},
		{"body", &v1.Workout{Name: "Other"}},
	} {
		sent := &v1.UpdateWorkoutRequest{
			WorkoutId: want.GetId(), Name: e.to.GetName(), Body: e.to.GetBody(), UpdateMask: mask(e.path), Etag: want.GetEtag(),
		}
		setFields(want, e.to, e.path)
		want.Etag = convert.Etag(i + 2)
		edited := expect.Value(s.UpdateWorkout(ctx, as(coach, sent)))(t)
		test.Eq(t, want, edited.Msg.GetWorkout(), test.Cmp(protocmp.Transform()), test.Sprint(e.path))
	}
	one := s.create(t, s.input(monday.Add(time.Hour)))
	set := expect.Value(s.SetWorkouts(
		ctx,
		as(coach, &v1.SetWorkoutsRequest{SessionId: one.GetId(), WorkoutIds: []string{want.GetId()}, Etag: one.GetEtag()}),
	))(t)
	deleted := expect.Value(s.DeleteWorkout(
		ctx, as(coach, &v1.DeleteWorkoutRequest{WorkoutId: want.GetId(), Etag: want.GetEtag()}),
	))(t)
	want.Etag, want.DeleteTime = "v5", timestamppb.New(monday)
	test.Eq(t, want, deleted.Msg.GetWorkout(), test.Cmp(protocmp.Transform()), test.Sprint("deleted"))
	kept := expect.Value(s.ListWorkouts(ctx, as(coach, &v1.ListWorkoutsRequest{SessionId: one.GetId()})))(t)
	test.True(
		t, len(kept.Msg.GetWorkouts()) == 1 && cmp.Diff(want, kept.Msg.GetWorkouts()[0], protocmp.Transform()) == "",
		test.Sprintf("%v", kept),
	)
	all := expect.Value(s.ListWorkouts(ctx, as(coach, &v1.ListWorkoutsRequest{})))(t)
	test.EqOp(t, 0, len(all.Msg.GetWorkouts()), test.Sprintf("%v", all))

	there := s.Token(t, "coach", s.NewTenant(t, "Other Club"))
	member := s.Token(t, "member")
	for name, c := range map[string]struct {
		token   string
		request proto.Message
		want    string
	}{
		"edited once it is deleted": {
			coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x", UpdateMask: mask("name")},
			"WORKOUT_NOT_FOUND",
		},
		"another tenant's": {
			there, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x", UpdateMask: mask("name")},
			"WORKOUT_NOT_FOUND",
		},
		"another tenant's, to delete": {
			there, &v1.DeleteWorkoutRequest{WorkoutId: want.GetId()}, "WORKOUT_NOT_FOUND",
		},
		"by a member": {
			member, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x", UpdateMask: mask("name")},
			"PERMISSION_DENIED",
		},
		"by a member, to delete": {
			member, &v1.DeleteWorkoutRequest{WorkoutId: want.GetId()}, "PERMISSION_DENIED",
		},
		"without a name": {
			coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), UpdateMask: mask("name")}, "INVALID_FIELD",
		},
		"without a mask": {
			coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), Name: "x"}, "INVALID_FIELD update_mask",
		},
		"what cannot be edited": {
			coach, &v1.UpdateWorkoutRequest{WorkoutId: want.GetId(), UpdateMask: mask("inline")}, "INVALID_FIELD update_mask",
		},
		"none": {
			coach, &v1.DeleteWorkoutRequest{WorkoutId: someSession}, "WORKOUT_NOT_FOUND",
		},
		"attached to what was edited": {
			coach, &v1.SetWorkoutsRequest{SessionId: one.GetId(), Etag: one.GetEtag()}, "ETAG_MISMATCH etag",
		},
		"deleted with a stale etag": {
			coach, &v1.DeleteWorkoutRequest{WorkoutId: s.workout(t, coach), Etag: "v2"}, "ETAG_MISMATCH etag",
		},
	} {
		refused(t, c.want, test.Sprint(name))(s.call(t, c.token, c.request))
	}
	test.EqOp(t, "v2", set.Msg.GetSession().GetEtag(), test.Sprint(set))
}

func (s *studio) workout(t *testing.T, token string) string {
	t.Helper()
	return ask[*v1.CreateWorkoutResponse](t, s, token, &v1.CreateWorkoutRequest{Name: "Rows"}).GetWorkout().GetId()
}
