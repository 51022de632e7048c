package messages_test

import (
	"errors"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/sendingdomain"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func checkFCM(key []byte) error {
	if string(key) == "bad" {
		return errors.New("no RSA key")
	}
	return nil
}

// Who edits an account may leave out its secret, which cannot be read, but not that of another account.
func TestUpdateSenders_KeepsSecretsOfTheSameAccounts(t *testing.T) {
	t.Parallel()
	const (
		tokenNeeded    = "INVALID_FIELD @senders.twilio.auth_token"
		keyNeeded      = "INVALID_FIELD @senders.fcm.service_account_json"
		passwordNeeded = "INVALID_FIELD @senders.smtp.password"
		host           = "mail.example.com"
	)
	before := messages.Senders{
		Twilio: &messages.TwilioAccount{AccountSID: "AC1", AuthToken: "token", From: "+15005550006"},
		FCM:    &messages.FCMProject{ProjectID: "studio", Credentials: []byte("key")},
		SMTP: &messages.SMTPServer{
			Host: host, Port: 587, Username: "studio", Password: "secret", From: "a@example.com",
		},
	}
	none := messages.Senders{}
	twilio := func(sid, token string) messages.Senders {
		return messages.Senders{Twilio: &messages.TwilioAccount{AccountSID: sid, AuthToken: token, From: "+15005550009"}}
	}
	firebase := func(project, key string) messages.Senders {
		return messages.Senders{FCM: &messages.FCMProject{ProjectID: project, Credentials: []byte(key)}}
	}
	smtp := func(host, user, password string) messages.Senders {
		return messages.Senders{SMTP: &messages.SMTPServer{
			Host: host, Port: 25, Username: user, Password: password, From: "b@example.com",
		}}
	}
	domain := func(address string, key ...byte) messages.Senders {
		return messages.Senders{Domain: &sendingdomain.Domain{Address: address, Key: key}}
	}
	for name, tt := range map[string]struct {
		before, edited, want messages.Senders
		refused              string
	}{
		"another domain":            {domain("a@old.com", 1), domain("a@x.com", 2), domain("a@x.com", 2), ""},
		"another address":           {domain("a@x.com", 1), domain("b@x.com"), domain("b@x.com", 1), ""},
		"another domain since":      {domain("a@old.com", 1), domain("a@x.com"), none, "ETAG_MISMATCH @etag"},
		"Twilio":                    {before, twilio("AC1", ""), twilio("AC1", "token"), ""},
		"another account of Twilio": {before, twilio("AC2", ""), none, tokenNeeded},
		"the first one of Twilio":   {none, twilio("AC1", ""), none, tokenNeeded},
		"a new token":               {before, twilio("AC2", "new"), twilio("AC2", "new"), ""},
		"Firebase":                  {before, firebase("studio", ""), firebase("studio", "key"), ""},
		"another project":           {before, firebase("gym", ""), none, keyNeeded},
		"the first project":         {none, firebase("studio", ""), none, keyNeeded},
		"a new key":                 {before, firebase("gym", "new"), firebase("gym", "new"), ""},
		"a key of no use":           {before, firebase("studio", "bad"), none, keyNeeded},
		"SMTP":                      {before, smtp(host, "studio", ""), smtp(host, "studio", "secret"), ""},
		"another server":            {before, smtp("example.com", "studio", ""), none, passwordNeeded},
		"another user":              {before, smtp(host, "gym", ""), none, passwordNeeded},
		"the first server":          {none, smtp(host, "studio", ""), none, passwordNeeded},
		"without a user":            {none, smtp(host, "", ""), smtp(host, "", ""), ""},
		"a new password":            {before, smtp("example.com", "gym", "new"), smtp("example.com", "gym", "new"), ""},
		"none":                      {before, none, none, ""},
	} {
		got, err := tt.edited.Complete(tt.before, tt.edited.Domain, checkFCM)
		if expect.Fault(t, tt.refused, name)(err); err == nil {
			test.Eq(t, tt.want, got, test.Sprint(name))
		}
	}

	studio := testkit.New(t)
	config := studio.Config()
	config.CheckFCMKey = checkFCM
	service := app.New(config).Messages
	update := func(version int, to messages.Senders) (messages.Senders, error) {
		return service.UpdateSenders(t.Context(), studio.Owner, &version, func(s *messages.Senders) { *s = to })
	}
	shown := expect.Value(update(0, before))(t)
	expect.Reason(t, fault.ETagMismatch)(update(0, none))
	expect.Reason(t, fault.InvalidField)(update(1, firebase("gym", "")))
	public := messages.Senders{
		Twilio: &messages.TwilioAccount{AccountSID: "AC1", From: "+15005550006"},
		FCM:    &messages.FCMProject{ProjectID: "studio"}, Version: 1,
		SMTP: &messages.SMTPServer{Host: host, Port: 587, Username: "studio", From: "a@example.com"},
	}
	test.Eq(t, public, shown)
	test.Eq(t, map[string]any{"before": map[string]any{}, "after": map[string]any{
		"twilio": "AC1 +15005550006", "fcm": "studio", "smtp": "studio@mail.example.com",
	}}, studio.LastAudit("senders.updated"))
	// Senders whose key is gone are none.
	studio.Exec(`update notification_senders set sealed = 'x'`)
	test.Eq(t, messages.Senders{Version: 1}, expect.Value(service.GetSenders(t.Context(), studio.Owner))(t))
}
