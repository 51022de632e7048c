package worker_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/provider/fcm/fcmtest"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// All three providers refuse everything for a while, each in its own way. They are left alone for most of it, what
// has time waits, and in the end each message arrives once.
func TestDeliver_SendsOnceAfterAnOutageOfAllProviders(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	var storm atomic.Bool
	storm.Store(true)
	var refused atomic.Int32
	p.Twilio.React(func(twiliotest.Message) twiliotest.Reaction {
		if storm.Load() {
			refused.Add(1)
			return twiliotest.Busy(10 * time.Second)
		}
		return twiliotest.Reaction{}
	})
	p.FCM.React(func(fcmtest.Message) fcmtest.Reaction {
		if storm.Load() {
			refused.Add(1)
			return fcmtest.Busy(10 * time.Second)
		}
		return fcmtest.Reaction{}
	})
	p.Mail.React(func(string) smtptest.Reaction {
		if storm.Load() {
			refused.Add(1)
			return smtptest.Reaction{Mail: "451 4.7.1 try again later"}
		}
		return smtptest.Reaction{}
	})
	const people = 40
	class := p.SessionAt(testkit.Noon.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(2 * people) })
	for i := range people {
		p.MustPlace(p.AddReachable(fmt.Sprint("Mia", i)), class) // a mail and a push
		p.MustPlace(p.AddTextOnly(fmt.Sprint("Noa", i)), class)  // an SMS
	}
	deliver(p.Studio)
	for range 4 {
		later(p.Studio, 15*time.Second)
	}
	// Five tries trip a provider's breaker; some more are on their way by then, and each pause ends in one.
	n := refused.Load()
	test.GreaterEq(t, 15, n,
		test.Sprintf("the providers were asked %d times in a minute of storm, for %d messages", n, 3*people))
	test.LessEq(t, 3*people, n,
		test.Sprintf("the providers were asked %d times in a minute of storm, for %d messages", n, 3*people))
	storm.Store(false)
	for range 60 {
		later(p.Studio, 30*time.Second)
	}
	test.Eq(
		t, []int{people, people, people}, []int{len(p.Twilio.Messages()), len(p.FCM.Messages()), len(p.Mail.Mails())},
		test.Sprint("SMS, pushes and mails"),
	)
	test.EqOp(t, 0, p.Count(`select count(*) from deliveries where possible_duplicate or status = 'POSSIBLY_SENT'`),
		test.Sprint("lines of the log are in doubt"))
}
