package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// A provider that is down is not asked for each message.
func TestBreaker_SparesAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	class := h.SessionAt(testkit.Noon.Add(48*time.Hour), func(in *session.Input) { in.Capacity = new(40) })
	for i := range 40 {
		h.MustPlace(h.AddReachable(fmt.Sprint("Mia", i)), class)
	}
	h.Provider.Fail(push, &notify.SendError{Kind: notify.Transient})
	deliver(h)
	asked := 0
	for _, m := range h.Provider.Take() {
		if m.Channel == push {
			asked++
		}
	}
	if asked >= 40 || asked < 5 {
		t.Errorf("asked %d times", asked)
	}
	if n := h.Count(`select count(*) from deliveries where error_code = 'BREAKER_OPEN'`); n != 40-asked {
		t.Errorf("%d were spared, %d asked", n, asked)
	}
	h.Provider.Fail(push, nil)
	for range 20 {
		h.Clock.Set(h.Clock.Now().Add(30 * time.Second))
		deliver(h)
	}
	if n := h.Count(
		`select count(distinct recipient) from deliveries where topic = 'BOOKING_CONFIRMED' and channel = 'PUSH'
			and status = 'SENT'`,
	); n != 40 {
		t.Errorf("%d of 40 were told in the end", n)
	}
}
