package notify_test

import (
	"testing"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCheckTests_LimitsThoseOfADay(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "")(notify.CheckTests(19, 0))
	expect.Fault(t, "QUOTA_EXCEEDED limit=20 quota=test_messages")(notify.CheckTests(20, 0))
	expect.Fault(t, "QUOTA_EXCEEDED limit=600 quota=sent_messages")(notify.CheckTests(0, 600))
}

func TestCheckReachable_NamesTheChannel(t *testing.T) {
	t.Parallel()
	stopped := map[delivery.Channel]notify.Reason{delivery.SMS: notify.Unsubscribed}
	to := notify.Recipient{Phone: "+351912345678", Stopped: stopped}
	expect.Fault(t, "RECIPIENT_UNREACHABLE channel=SMS", "stopped")(to.CheckReachable(delivery.SMS))
	expect.Fault(t, "RECIPIENT_UNREACHABLE channel=EMAIL", "without an address")(to.CheckReachable(delivery.Email))
	to.Stopped = nil
	expect.Fault(t, "")(to.CheckReachable(delivery.SMS))
}
