package messages_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Two nodes find the same notices due at the same moment. Serializable transactions guard them: one node sends each.
// Without those, both do.
func TestTakeNotices_TwoNodesSendOnce(t *testing.T) {
	t.Parallel()
	for name, careless := range map[string]bool{"guarded": false, "unguarded": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			barrier, base := testkit.NewRace(t)
			studio := messagetest.On(base)
			studio.BookMembers(20)
			studio.Plan()
			barrier.ReadCommitted = careless
			taken := make([]messages.DueNotices, 2)
			take := func(i int, node *messagetest.Studio) func() {
				return func() { taken[i] = expect.Value(node.App.Messages.TakeNotices(t.Context(), studio.Tenant))(t) }
			}
			barrier.Run(take(0, studio), take(1, studio.OtherNode()))
			n := len(taken[0].Out) + len(taken[1].Out)
			test.EqOp(t, map[bool]int{false: 40, true: 80}[careless], n, test.Sprintf("%d messages were taken, want", n))
			if careless {
				return
			}
			for i, node := range []*messagetest.Studio{studio, studio.OtherNode()} {
				studio.NoError(
					studio.App.Messages.SettleDeliveries(
						studio.T.Context(), studio.Tenant, node.Dispatcher.SendAll(studio.T.Context(), studio.Tenant, taken[i].Out),
					),
				)
			}
			people, twice := studio.Provider.Duplicates()
			test.EqOp(t, 40, people, test.Sprintf("%d of 40 messages, %d twice", people, twice))
			test.EqOp(t, 0, twice, test.Sprintf("%d of 40 messages, %d twice", people, twice))
			test.EqOp(t, 0, studio.Count(
				`select count(*) from deliveries where topic = 'BOOKING_CONFIRMED' and (status <> 'SENT' or possible_duplicate)`,
			), test.Sprint("lines of the log say otherwise"))
		})
	}
}
