package messages_test

import (
	"errors"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
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
	for name, tt := range map[string]struct {
		before, edited, want messages.Senders
		refused              string
	}{
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
		got, err := tt.edited.Complete(tt.before, nil, checkFCM)
		if expect.Fault(t, tt.refused, name)(err); err == nil {
			test.Eq(t, tt.want, got, test.Sprint(name))
		}
	}

	studio := testkit.New(t)
	config := studio.Config()
	config.CheckFCMKey = checkFCM
	shown := expect.Value(app.New(config).Messages.UpdateSenders(
		t.Context(), studio.Owner, nil, func(s *messages.Senders) { *s = before },
	))(t)
	public := messages.Senders{
		Twilio: &messages.TwilioAccount{AccountSID: "AC1", From: "+15005550006"},
		FCM:    &messages.FCMProject{ProjectID: "studio"}, Version: 1,
		SMTP: &messages.SMTPServer{Host: host, Port: 587, Username: "studio", From: "a@example.com"},
	}
	test.Eq(t, public, shown)
	test.Eq(t, map[string]any{"before": map[string]any{}, "after": map[string]any{
		"twilio": "AC1 +15005550006", "fcm": "studio", "smtp": "studio@mail.example.com",
	}}, studio.LastAudit("senders.updated"))
}
