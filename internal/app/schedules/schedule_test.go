package schedules_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
)

func TestSchedule_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	there := h.OtherTenant()
	ctx := context.Background()
	id := there.CreateSession(there.SessionInput(testkit.Evening), true).ID
	for name, try := range map[string]func() error{
		"get": func() error { _, err := h.App.Schedules.GetSession(ctx, h.Owner, id); return err },
		"update": func() error {
			_, _, err := h.App.Schedules.UpdateSession(ctx, h.Owner, id, nil, session.Input{Title: "x"}, session.TitleField)
			return err
		},
		"publish":   func() error { _, err := h.App.Schedules.PublishSession(ctx, h.Owner, id, nil); return err },
		"unpublish": func() error { _, err := h.App.Schedules.UnpublishSession(ctx, h.Owner, id, nil); return err },
		"cancel":    func() error { _, err := h.App.Schedules.CancelSession(ctx, h.Owner, id, "", true); return err },
		"block":     func() error { _, err := h.App.Schedules.BlockSession(ctx, h.Owner, id, ""); return err },
		"unblock":   func() error { _, _, err := h.App.Schedules.UnblockSession(ctx, h.Owner, id); return err },
		"workouts":  func() error { _, err := h.App.Schedules.SetWorkouts(ctx, h.Owner, id, nil, nil); return err },
		"inline":    func() error { _, err := h.App.Schedules.AddInlineWorkout(ctx, h.Owner, id, "x", ""); return err },
		"their workouts": func() error {
			_, err := h.App.Schedules.ListSessionWorkouts(ctx, h.Owner, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.WantReason(t, try(), fault.SessionNotFound)
		})
	}
}
