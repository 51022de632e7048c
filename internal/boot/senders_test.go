package boot

import (
	"errors"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A tenant's mail server may have a private address only if the operator allows it.
func TestTenantMail_ConnectsToPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	fake := expect.Value(smtptest.Start(smtptest.Options{}))(t)
	t.Cleanup(fake.Close)
	own := messages.Senders{SMTP: &messages.SMTPServer{Host: fake.Host, Port: fake.Port, From: "hello@studio.example"}}
	for allowed, want := range map[bool]string{false: "PRIVATE_ADDRESS", true: ""} {
		open := SenderConfig{PrivateHosts: allowed}.openTenants(nil)
		sender := expect.Value(open(t.Context(), tenant.TenantID{}, messages.ProviderSMTP, own))(t)
		_, err := sender.Send(t.Context(), delivery.Message{To: "ann@mail.example", Subject: "Hello", Text: "Hello"})
		// If allowed, the connection succeeds, and then fails because the server offers no encryption.
		failed, ok := errors.AsType[*delivery.Error](err)
		must.True(t, ok, must.Sprintf("allowed %v: %v", allowed, err))
		test.EqOp(t, want, failed.Code, test.Sprintf("allowed %v: %v", allowed, err))
	}
}
