package twilio_test

import (
	"net/url"
	"testing"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
)

// For any signed body: reading it does not panic, and what is read has an ID. Without the signature it is refused.
func FuzzWebhook(f *testing.F) {
	for _, body := range []string{
		"MessageSid=SM1&From=%2B4915112345678&To=%2B49151&Body=STOP&OptOutType=STOP",
		"MessageSid=SM1&MessageStatus=failed&ErrorCode=30005",
		"MessageSid=SM1&MessageSid=SM2", "%zz", "a;b", "=&=&==", "MessageSid=%00",
	} {
		f.Add(body, "")
	}
	f.Add("MessageSid=SM1&MessageStatus=delivered", "delivery=0190a5e0-0000-7000-8000-000001000000")
	hook := twilio.Webhook{AuthToken: "secret", PublicURL: "https://berth.example"}
	f.Fuzz(func(t *testing.T, body, query string) {
		address := "https://berth.example/twilio/platform/status?" + query
		_, err := hook.Verify(address, "bm8=", []byte(body))
		must.ErrorIs(t, err, twilio.ErrSignature)
		form, err := url.ParseQuery(body)
		if err != nil {
			return // a signature of it cannot be made
		}
		call, err := hook.Verify(address, twiliotest.Sign("secret", address, form), []byte(body))
		if err != nil {
			return
		}
		if sms, err := call.InboundSMS(); err == nil {
			must.NotEq(t, "", sms.ProviderID)
			must.NotEq(t, "", sms.From)
		}
		if update, err := call.Update(); err == nil {
			must.NotEq(t, "", update.ProviderID)
		}
	})
}
