package schedules_test

import (
	"testing"

	"github.com/berthhq/berth/internal/app/schedules"
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
		"get": func() error { return expect.Error(studio.App.Schedules.GetSession(t.Context(), studio.Owner, id)) },
		"update": func() error {
			return expect.Error(studio.App.Schedules.UpdateSession(
				t.Context(), studio.Owner, id, nil, session.Input{Title: "x"}, session.TitleField,
			))
		},
		"publish": func() error {
			return expect.Error(studio.App.Schedules.PublishSession(
				t.Context(), studio.Owner, id, nil,
			))
		},
		"unpublish": func() error {
			return expect.Error(studio.App.Schedules.UnpublishSession(
				t.Context(), studio.Owner, id, nil,
			))
		},
		"cancel": func() error {
			return expect.Error(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, id, schedules.Removal{
				Notify: true,
			}))
		},
		"block": func() error {
			return expect.Error(studio.App.Schedules.BlockSession(
				t.Context(), studio.Owner, id, "",
			))
		},
		"unblock": func() error {
			return expect.Error(studio.App.Schedules.UnblockSession(
				t.Context(), studio.Owner, id,
			))
		},
		"workouts": func() error {
			return expect.Error(studio.App.Schedules.SetWorkouts(
				t.Context(), studio.Owner, id, nil, nil,
			))
		},
		"inline": func() error {
			return expect.Error(studio.App.Schedules.AddInlineWorkout(t.Context(), studio.Owner, id, "x", ""))
		},
		"their workouts": func() error {
			return expect.Error(studio.App.Schedules.ListSessionWorkouts(t.Context(), studio.Owner, id))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect.Reason(t, fault.SessionNotFound)(try())
		})
	}
}
