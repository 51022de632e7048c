package delivery_test

import (
	"slices"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/delivery"
)

var statuses = []delivery.Status{
	"", delivery.PossiblySent, delivery.Queued, delivery.Sent, delivery.Failed, delivery.Undelivered, delivery.Bounced,
	delivery.Delivered, delivery.Read,
}

// Reports in any order and any number lead to the same status, and the status only advances.
func TestAdvance_IsIndependentOfOrderAndRepetition(t *testing.T) {
	t.Parallel()
	final := []delivery.Status{
		delivery.Failed, delivery.Undelivered, delivery.Bounced, delivery.Delivered, delivery.Read,
	}
	rapid.Check(t, func(t *rapid.T) {
		reports := rapid.SliceOfN(rapid.SampledFrom(append(statuses, "NEWS")), 1, 12).Draw(t, "reports")
		again := append(rapid.Permutation(reports).Draw(t, "order"), rapid.SampledFrom(reports).Draw(t, "twice"))
		run := func(reports []delivery.Status) (status delivery.Status) {
			for _, to := range reports {
				next := delivery.Advance(status, to)
				must.False(
					t, next != status && delivery.Advance(next, status) != next,
					must.Sprintf("%s and %s follow each other", status, next),
				)
				must.False(
					t, slices.Contains(final, status) && !slices.Contains(final, next),
					must.Sprintf("%s was final, and became %s", status, next),
				)
				status = next
			}
			return status
		}
		must.EqOp(t, run(reports), run(again), must.Sprintf("%v and %v", reports, again))
	})
	for _, step := range [][2]delivery.Status{
		{"", delivery.PossiblySent}, {delivery.PossiblySent, delivery.Queued}, {delivery.Queued, delivery.Sent},
		{delivery.Sent, delivery.Failed}, {delivery.Failed, delivery.Undelivered}, {delivery.Sent, delivery.Delivered},
		{delivery.Undelivered, delivery.Delivered}, {delivery.Delivered, delivery.Read},
	} {
		test.EqOp(t, step[1], delivery.Advance(step[0], step[1]), test.Sprint(step))
		test.EqOp(t, step[1], delivery.Advance(step[1], step[0]), test.Sprint(step))
	}
}

func TestStatus_SaysWhetherTheProviderHasTheMessage(t *testing.T) {
	t.Parallel()
	for status, want := range map[delivery.Status]struct{ notDelivered, accepted bool }{
		"": {}, delivery.PossiblySent: {}, delivery.Queued: {false, true}, delivery.Sent: {false, true},
		delivery.Failed: {true, false}, delivery.Undelivered: {true, false}, delivery.Bounced: {true, false},
		delivery.Delivered: {false, true}, delivery.Read: {false, true},
	} {
		test.EqOp(t, want.notDelivered, status.NotDelivered(), test.Sprint(status))
		test.EqOp(t, want.accepted, status.Accepted(), test.Sprint(status))
	}
}
