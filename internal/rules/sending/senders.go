// Package sending has the rules for the accounts and the domain from which a tenant's messages are sent: what an edit
// keeps of their secrets, which domains can be used, which DNS records prove that a tenant controls one, and when that
// lapses.
package sending

import "github.com/berthhq/berth/internal/fault"

// Senders are a tenant's own accounts with providers, with their secrets. A channel without one uses the platform's
// sender.
type Senders struct {
	Twilio *TwilioAccount `json:"twilio,omitempty"`
	FCM    *FCMProject    `json:"fcm,omitempty"`
	SMTP   *SMTPServer    `json:"smtp,omitempty"`

	// Domain is the domain from which the platform's account sends mails, once it is verified.
	Domain *Domain `json:"domain,omitempty"`

	Version int `json:"-"`
}

// TwilioAccount sends SMS.
type TwilioAccount struct {
	AccountSID string `json:"account_sid"`
	AuthToken  string `json:"auth_token"`
	From       string `json:"from"` // a number in E.164, or the SID of a messaging service
}

// FCMProject sends push notifications.
type FCMProject struct {
	ProjectID   string `json:"project_id"`
	Credentials []byte `json:"credentials"` // a service account's key, as JSON
}

// SMTPServer sends mail.
type SMTPServer struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Username string `json:"username"`
	Password string `json:"password"`
	From     string `json:"from"`
}

// Complete fills in omitted secrets from before, if the account is the same. A sender that still lacks its secret is
// INVALID_FIELD, and so is a key of Firebase that checkFCM rejects.
func (s Senders) Complete(before Senders, checkFCM func([]byte) error) (Senders, error) {
	if t := s.Twilio; t != nil && t.AuthToken == "" {
		if was := before.Twilio; was == nil || was.AccountSID != t.AccountSID {
			return s, fault.Invalid("senders.twilio.auth_token", "The account's auth token is needed.")
		}
		s.Twilio = &TwilioAccount{t.AccountSID, before.Twilio.AuthToken, t.From}
	}
	if f := s.FCM; f != nil {
		if len(f.Credentials) == 0 {
			if was := before.FCM; was == nil || was.ProjectID != f.ProjectID {
				return s, fault.Invalid("senders.fcm.service_account_json", "The service account's key is needed.")
			}
			s.FCM = &FCMProject{f.ProjectID, before.FCM.Credentials}
		} else if err := checkFCM(f.Credentials); err != nil {
			return s, fault.Invalid("senders.fcm.service_account_json", "The key cannot be used: %v.", err)
		}
	}
	if server := s.SMTP; server != nil && server.Password == "" && server.Username != "" {
		if was := before.SMTP; was == nil || was.Host != server.Host || was.Username != server.Username {
			return s, fault.Invalid("senders.smtp.password", "The password is needed.")
		}
		s.SMTP = &SMTPServer{server.Host, server.Port, server.Username, before.SMTP.Password, server.From}
	}
	return s, nil
}

// WithDomain returns the senders after an edit that sets their domain: that of before with another address, or a new
// one. A new one needs a key, which was made before; it reports false if there is none.
func (s Senders) WithDomain(before Senders, fresh *Domain) (after Senders, made bool) {
	switch {
	case s.Domain == nil || s.Domain == before.Domain:
		return s, true
	case before.Domain != nil && before.Domain.Name() == fresh.Name():
		domain := *before.Domain
		domain.Address = fresh.Address
		s.Domain = &domain
		return s, true
	}
	s.Domain = fresh
	return s, fresh.Key != nil
}

// Public returns the senders without their secrets.
func (s Senders) Public() Senders {
	if s.Twilio != nil {
		s.Twilio = &TwilioAccount{AccountSID: s.Twilio.AccountSID, From: s.Twilio.From}
	}
	if s.FCM != nil {
		s.FCM = &FCMProject{ProjectID: s.FCM.ProjectID}
	}
	if s.SMTP != nil {
		s.SMTP = &SMTPServer{Host: s.SMTP.Host, Port: s.SMTP.Port, Username: s.SMTP.Username, From: s.SMTP.From}
	}
	if s.Domain != nil {
		public := *s.Domain
		public.Key = nil
		s.Domain = &public
	}
	return s
}

// FromPlatform reports whether the tenant's mails come from the platform's address.
func (s Senders) FromPlatform() bool {
	return s.SMTP == nil && (s.Domain == nil || s.Domain.VerifiedAt.IsZero())
}

// CheckHTML rejects the HTML of a template if the tenant's mails come from the platform's address: TEMPLATE_HTML. In
// those, readers have to see for whom they are.
func (s Senders) CheckHTML(html string) error {
	if html == "" || !s.FromPlatform() {
		return nil
	}
	return fault.New(fault.FailedPrecondition, fault.TemplateHTML,
		"Mails with HTML of your own need a mail account or a verified domain of your own.").WithField("template.html")
}

// AuditFields are what the audit log keeps of the senders.
func (s Senders) AuditFields() map[string]any {
	fields := make(map[string]any)
	if s.Twilio != nil {
		fields["twilio"] = s.Twilio.AccountSID + " " + s.Twilio.From
	}
	if s.FCM != nil {
		fields["fcm"] = s.FCM.ProjectID
	}
	if s.SMTP != nil {
		fields["smtp"] = s.SMTP.Username + "@" + s.SMTP.Host
	}
	if s.Domain != nil {
		fields["domain"] = s.Domain.Address
	}
	return fields
}
