package schedules_test

import (
	"testing"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestSchedule_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	there := studio.OtherTenant()
	id := there.CreateSession(there.SessionInput(testkit.Evening), true).ID
	for name, try := range map[string]func() error{
		"get": func() error { _, err := studio.App.Schedules.GetSession(t.Context(), studio.Owner, id); return err },
		"update": func() error {
			_, _, err := studio.App.Schedules.UpdateSession(
				t.Context(), studio.Owner, id, nil, session.Input{Title: "x"}, session.TitleField,
			)
			return err
		},
		"publish": func() error {
			_, err := studio.App.Schedules.PublishSession(
				t.Context(), studio.Owner, id, nil,
			)
			return err
		},
		"unpublish": func() error {
			_, err := studio.App.Schedules.UnpublishSession(
				t.Context(), studio.Owner, id, nil,
			)
			return err
		},
		"cancel": func() error {
			_, err := studio.App.Schedules.CancelSession(t.Context(), studio.Owner, id, "", true)
			return err
		},
		"block": func() error {
			_, err := studio.App.Schedules.BlockSession(
				t.Context(), studio.Owner, id, "",
			)
			return err
		},
		"unblock": func() error {
			_, _, err := studio.App.Schedules.UnblockSession(
				t.Context(), studio.Owner, id,
			)
			return err
		},
		"workouts": func() error {
			_, err := studio.App.Schedules.SetWorkouts(
				t.Context(), studio.Owner, id, nil, nil,
			)
			return err
		},
		"inline": func() error {
			_, err := studio.App.Schedules.AddInlineWorkout(t.Context(), studio.Owner, id, "x", "")
			return err
		},
		"their workouts": func() error {
			_, err := studio.App.Schedules.ListSessionWorkouts(t.Context(), studio.Owner, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect.Reason(t, fault.SessionNotFound)(try())
		})
	}
}
