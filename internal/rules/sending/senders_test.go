package sending

import (
	"errors"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func checkFCM(key []byte) error {
	if string(key) == "bad" {
		return errors.New("no RSA key")
	}
	return nil
}

// Who edits an account may leave out its secret, which cannot be read, but not that of another account.
func TestComplete_KeepsSecretsOfTheSameAccounts(t *testing.T) {
	t.Parallel()
	const (
		tokenNeeded    = "INVALID_FIELD @senders.twilio.auth_token"
		keyNeeded      = "INVALID_FIELD @senders.fcm.service_account_json"
		passwordNeeded = "INVALID_FIELD @senders.smtp.password"
		host           = "mail.example.com"
	)
	before := Senders{
		Twilio: &TwilioAccount{AccountSID: "AC1", AuthToken: "token", From: "+15005550006"},
		FCM:    &FCMProject{ProjectID: "studio", Credentials: []byte("key")},
		SMTP: &SMTPServer{
			Host: host, Port: 587, Username: "studio", Password: "secret", From: "a@example.com",
		},
	}
	none := Senders{}
	twilio := func(sid, token string) Senders {
		return Senders{Twilio: &TwilioAccount{AccountSID: sid, AuthToken: token, From: "+15005550009"}}
	}
	firebase := func(project, key string) Senders {
		return Senders{FCM: &FCMProject{ProjectID: project, Credentials: []byte(key)}}
	}
	smtp := func(host, user, password string) Senders {
		return Senders{SMTP: &SMTPServer{
			Host: host, Port: 25, Username: user, Password: password, From: "b@example.com",
		}}
	}
	for name, tt := range map[string]struct {
		before, edited, want Senders
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
		got, err := tt.edited.Complete(tt.before, checkFCM)
		if expect.Fault(t, tt.refused, name)(err); err == nil {
			test.Eq(t, tt.want, got, test.Sprint(name))
		}
	}
}

func TestWithDomain_KeepsTheKeyOfTheSameDomain(t *testing.T) {
	t.Parallel()
	domain := func(address string, key ...byte) *Domain { return &Domain{Address: address, Key: key} }
	current, other := domain("a@x.com", 1), domain("a@old.com", 1)
	for name, tt := range map[string]struct {
		before, edited, fresh, want *Domain
		lost                        bool
	}{
		"none":                 {},
		"none any more":        {before: current},
		"the same":             {before: current, edited: current, want: current},
		"the first":            {edited: domain("a@x.com"), fresh: domain("a@x.com", 2), want: domain("a@x.com", 2)},
		"another domain":       {other, domain("a@x.com"), domain("a@x.com", 2), domain("a@x.com", 2), false},
		"another address":      {current, domain("b@x.com"), domain("b@x.com"), domain("b@x.com", 1), false},
		"another domain since": {other, domain("a@x.com"), domain("a@x.com"), domain("a@x.com"), true},
	} {
		after, made := Senders{Domain: tt.edited}.WithDomain(Senders{Domain: tt.before}, tt.fresh)
		test.EqOp(t, !tt.lost, made, test.Sprint(name))
		test.Eq(t, tt.want, after.Domain, test.Sprint(name))
	}
	test.EqOp(t, "a@x.com", current.Address)
}

func TestCheckHTML_NeedsAnAccountOrADomainOfTheTenant(t *testing.T) {
	t.Parallel()
	const refused = "TEMPLATE_HTML @template.html"
	for name, tt := range map[string]struct {
		senders Senders
		html    string
		want    string
	}{
		"from the platform":           {Senders{}, "<p>", refused},
		"without HTML":                {Senders{}, "", ""},
		"through an account":          {Senders{SMTP: &SMTPServer{}}, "<p>", ""},
		"from a domain":               {Senders{Domain: &Domain{VerifiedAt: monday}}, "<p>", ""},
		"from one that is unverified": {Senders{Domain: &Domain{}}, "<p>", refused},
	} {
		expect.Fault(t, tt.want, name)(tt.senders.CheckHTML(tt.html))
	}
}
