package messages_test

import (
	"testing"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Two nodes find the same notices due at the same moment. Serializable transactions guard them: one node sends each.
// Without those, both do.
func TestTakeNotices_TwoNodesSendOnce(t *testing.T) {
	t.Parallel()
	for name, careless := range map[string]bool{"guarded": false, "unguarded": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			barrier, studio := testkit.NewRace(t)
			h := messagetest.On(studio)
			h.BookMembers(20)
			h.Plan()
			barrier.ReadCommitted = careless
			taken := make([]messages.DueNotices, 2)
			take := func(i int, node *messagetest.Studio) func() {
				return func() {
					var err error
					if taken[i], err = node.App.Messages.TakeNotices(t.Context(), h.Tenant); err != nil {
						t.Error(err)
					}
				}
			}
			barrier.Run(take(0, h), take(1, h.OtherNode()))
			n := len(taken[0].Out) + len(taken[1].Out)
			if want := map[bool]int{false: 40, true: 80}[careless]; n != want {
				t.Errorf("%d messages were taken, want %d", n, want)
			}
			if careless {
				return
			}
			for i, node := range []*messagetest.Studio{h, h.OtherNode()} {
				h.NoError(
					h.App.Messages.SettleDeliveries(
						h.T.Context(), h.Tenant, node.Dispatcher.SendAll(h.T.Context(), h.Tenant, taken[i].Out),
					),
				)
			}
			if people, twice := h.Provider.Duplicates(); people != 40 || twice != 0 {
				t.Errorf("%d of 40 messages, %d twice", people, twice)
			}
			if n := h.Count(
				`select count(*) from deliveries where topic = 'BOOKING_CONFIRMED' and (status <> 'SENT' or possible_duplicate)`,
			); n != 0 {
				t.Errorf("%d lines of the log say otherwise", n)
			}
		})
	}
}
