package delivery_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Rows, providers and clients have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []delivery.Channel{"SMS", "PUSH", "EMAIL"}, delivery.Channels())
	test.Eq(t, []delivery.Status{
		"POSSIBLY_SENT", "QUEUED", "SENT", "FAILED", "UNDELIVERED", "BOUNCED", "DELIVERED", "READ",
	}, []delivery.Status{
		delivery.PossiblySent, delivery.Queued, delivery.Sent, delivery.Failed, delivery.Undelivered, delivery.Bounced,
		delivery.Delivered, delivery.Read,
	})
	test.Eq(t, []delivery.FailureKind{
		"TRANSIENT", "PERMANENT", "UNREGISTERED", "OPTED_OUT", "MISCONFIGURED", "UNKNOWN",
	}, []delivery.FailureKind{
		delivery.Transient, delivery.Permanent, delivery.Unregistered, delivery.OptedOut, delivery.Misconfigured,
		delivery.Unknown,
	})
	test.Eq(t, []delivery.Encoding{"GSM-7", "UCS-2"}, []delivery.Encoding{delivery.GSM7Bit, delivery.UCS2})
}
