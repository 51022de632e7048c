package twilio_test

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A code means the same in a response and in a later callback: write to the recipient no more, send another way, retry,
// or fix the account. The codes are from https://www.twilio.com/docs/api/errors.
func TestCodes_MeanTheSameInResponsesAndCallbacks(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	hook := twilio.Webhook{AuthToken: fake.AuthToken}
	for kind, codes := range map[delivery.FailureKind][]int{
		delivery.OptedOut: {21610},
		delivery.Unregistered: {
			21211, // not a number
			21265, // a short code
			21614, // not a mobile number
			21635, // a landline
			30005, // not in service
			30006, // a landline
			63003, 63024,
		},
		delivery.Permanent: {
			21266, 21602, 21612, 21617,
			30003, // off, or out of coverage
			30004, // blocked
			30007, // taken for spam
			30008, // the carrier does not say
			30010, 30036,
			29999, // unknown
		},
		delivery.Transient: {
			14107, 20429, 20503, 21611,
			30001, // Twilio's queue is full
			30017, 30022, 30023, 30027, 63018, 63038,
		},
		delivery.Misconfigured: {
			10001, 20003, 20005, 20008, 20404, 21222, 21224, 21408, 21608,
			30002, // suspended
			21212, 21267, 21603, 21606, 21609, 21659, 21660, 21661, 21701, 21703, 21704, 21705,
			30024, 30032, 30034, 63007,
		},
	} {
		for _, code := range codes {
			fake.React(func(twiliotest.Message) twiliotest.Reaction { return twiliotest.Refuse(400, code) })
			got := fails(t, c, message())
			test.EqOp(t, kind, got.Kind)
			test.EqOp(t, strconv.Itoa(code), got.Code)
			test.NotEqOp(t, "", got.Reason, test.Sprint(code))
			form := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {"undelivered"}, "ErrorCode": {strconv.Itoa(code)}}
			const address = "https://berth.example/status"
			call := expect.Value(hook.Verify(address, twiliotest.Sign(fake.AuthToken, address, form), []byte(form.Encode())))(t)
			failure := expect.Value(call.Update())(t).Failure
			must.NotNil(t, failure, must.Sprint(code))
			test.EqOp(t, kind, failure.Kind)
			test.EqOp(t, strconv.Itoa(code), failure.Code)
		}
	}
}
