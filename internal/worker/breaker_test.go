package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// A provider that is down is not asked for each message.
func TestBreaker_SparesAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	class := studio.SessionAt(testkit.Noon.Add(48*time.Hour), func(in *session.Input) { in.Capacity = new(40) })
	for i := range 40 {
		studio.MustPlace(studio.AddReachable(fmt.Sprint("Mia", i)), class)
	}
	studio.Provider.Fail(push, &delivery.Error{Kind: delivery.Transient})
	deliver(studio)
	asked := 0
	for _, m := range studio.Provider.Take() {
		if m.Channel == push {
			asked++
		}
	}
	test.Less(t, 40, asked, test.Sprintf("asked %d times", asked))
	test.GreaterEq(t, 5, asked, test.Sprintf("asked %d times", asked))
	test.EqOp(t, 40-asked, studio.Count(`select count(*) from deliveries where error_code = 'BREAKER_OPEN'`),
		test.Sprintf("were spared, %d asked", asked))
	studio.Provider.Fail(push, nil)
	for range 20 {
		studio.Clock.Set(studio.Clock.Now().Add(30 * time.Second))
		deliver(studio)
	}
	test.EqOp(t, 40, studio.Count(
		`select count(distinct recipient) from deliveries where topic = 'BOOKING_CONFIRMED' and channel = 'PUSH'
			and status = 'SENT'`,
	), test.Sprint("of 40 were told in the end"))
}
