package messages_test

import (
	"errors"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func checkFCM(key []byte) error {
	if string(key) == "bad" {
		return errors.New("no RSA key")
	}
	return nil
}

func TestUpdateSenders_KeepsSecretsOfTheSameAccounts(t *testing.T) {
	t.Parallel()
	const host = "mail.example.com"
	before := messages.Senders{
		Twilio: &messages.TwilioAccount{AccountSID: "AC1", AuthToken: "token", From: "+15005550006"},
		FCM:    &messages.FCMProject{ProjectID: "studio", Credentials: []byte("key")},
		SMTP: &messages.SMTPServer{
			Host: host, Port: 587, Username: "studio", Password: "secret", From: "a@example.com",
		},
	}
	none, gym := messages.Senders{}, messages.Senders{FCM: &messages.FCMProject{ProjectID: "gym"}}
	studio := testkit.New(t)
	config := studio.Config()
	config.CheckFCMKey = checkFCM
	service := app.New(config).Messages
	update := func(version int, to messages.Senders) (messages.Senders, error) {
		return service.UpdateNotificationSenders(t.Context(), studio.Owner, &version, func(s *messages.Senders) { *s = to })
	}
	shown := expect.Value(update(0, before))(t)
	expect.Reason(t, fault.ETagMismatch)(update(0, none))
	expect.Reason(t, fault.InvalidField)(update(1, gym))
	public := messages.Senders{
		Twilio: &messages.TwilioAccount{AccountSID: "AC1", From: "+15005550006"},
		FCM:    &messages.FCMProject{ProjectID: "studio"}, Version: 1,
		SMTP: &messages.SMTPServer{Host: host, Port: 587, Username: "studio", From: "a@example.com"},
	}
	test.Eq(t, public, shown)
	test.Eq(t, map[string]any{"before": map[string]any{}, "after": map[string]any{
		"twilio": "AC1 +15005550006", "fcm": "studio", "smtp": "studio@mail.example.com",
	}}, studio.LastAudit("notification_senders.updated"))
	// Senders whose key is gone are none.
	studio.Exec(`update notification_senders set sealed = 'x'`)
	test.Eq(t, messages.Senders{Version: 1}, expect.Value(service.GetNotificationSenders(t.Context(), studio.Owner))(t))
}
