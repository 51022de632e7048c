package messages

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/sendingdomain"
	"github.com/berthhq/berth/internal/tenant"
)

// Senders are a tenant's own accounts with providers, with their secrets. A channel without one uses the platform's
// sender.
type Senders struct {
	Twilio *TwilioAccount `json:"twilio,omitempty"`
	FCM    *FCMProject    `json:"fcm,omitempty"`
	SMTP   *SMTPServer    `json:"smtp,omitempty"`

	// Domain is the domain from which the platform's account sends mails, once it is verified.
	Domain *sendingdomain.Domain `json:"domain,omitempty"`

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

// Names of the providers.
const (
	ProviderTwilio = "twilio"
	ProviderFCM    = "fcm"
	ProviderSMTP   = "smtp"
)

func (s Senders) own(c delivery.Channel) (string, bool) {
	switch c {
	case delivery.SMS:
		return ProviderTwilio, s.Twilio != nil
	case delivery.Push:
		return ProviderFCM, s.FCM != nil
	default:
		return ProviderSMTP, s.SMTP != nil
	}
}

// Complete fills in omitted secrets from before, if the account is the same. A sender that still lacks its secret is
// INVALID_FIELD, and so is a key of Firebase that checkFCM rejects. Another domain is replaced by the one that was made
// for this.
func (s Senders) Complete(
	before Senders, domain *sendingdomain.Domain, checkFCM func([]byte) error,
) (Senders, error) {
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
	if m := s.SMTP; m != nil && m.Password == "" && m.Username != "" {
		if was := before.SMTP; was == nil || was.Host != m.Host || was.Username != m.Username {
			return s, fault.Invalid("senders.smtp.password", "The password is needed.")
		}
		s.SMTP = &SMTPServer{m.Host, m.Port, m.Username, before.SMTP.Password, m.From}
	}
	var err error
	s.Domain, err = completeDomain(s.Domain, before.Domain, domain)
	return s, err
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

// unseal decrypts a tenant's senders. If the key is gone, the tenant has none.
func (s *Service) unseal(in tenant.TenantID, sealed *messagedb.Sealed) Senders {
	var own Senders
	if sealed == nil {
		return own
	}
	if text, err := s.seals.Open(in, sealed.Text); err != nil || json.Unmarshal(text, &own) != nil {
		own = Senders{}
	}
	own.Version = sealed.Version
	return own
}

// provider returns the provider of a channel's messages, and whether the account is the tenant's own.
func (s *Service) provider(senders Senders, c delivery.Channel) (provider string, own bool) {
	if provider, own = senders.own(c); own {
		return provider, true
	}
	return cmp.Or(s.providers[c], LocalOutbox), false
}

// foot returns the foot of a tenant's mails.
func (s *Service) foot(senders Senders, unsubscribe string) content.Foot {
	return content.Foot{Unsubscribe: unsubscribe, Platform: senders.fromPlatform(), Report: s.reportTo}
}

// checkHTML rejects a template with HTML if the tenant's mails come from the platform's address: TEMPLATE_HTML. In
// those, readers have to see for whom they are.
func (s Senders) checkHTML(t content.Template) error {
	if t.HTML == "" || !s.fromPlatform() {
		return nil
	}
	return fault.New(fault.FailedPrecondition, fault.TemplateHTML,
		"Mails with HTML of your own need a mail account or a verified domain of your own.").WithField("template.html")
}

// ChannelSender is the provider of a channel's messages.
type ChannelSender struct {
	Channel  delivery.Channel
	Provider string
	Own      bool // the account is the tenant's own
}

// ChannelSenders returns the provider of each channel.
func (s *Service) ChannelSenders(senders Senders) []ChannelSender {
	return pg.Array(delivery.Channels(), func(c delivery.Channel) ChannelSender {
		provider, own := s.provider(senders, c)
		return ChannelSender{c, provider, own}
	})
}

// SendersOf returns a tenant's senders with their secrets.
func (s *Service) SendersOf(ctx context.Context, in tenant.TenantID) (Senders, error) {
	var sealed *messagedb.Sealed
	var batch pg.Batch
	messagedb.FindSenders(&batch, in, &sealed)
	err := s.engine.Read(ctx, tenant.System(in), &batch)
	return s.unseal(in, sealed), err
}

// GetSenders returns the tenant's senders without secrets.
func (s *Service) GetSenders(ctx context.Context, caller tenant.Caller) (Senders, error) {
	own, err := s.SendersOf(ctx, caller.Tenant)
	return own.Public(), err
}

// UpdateSenders edits the tenant's senders if they still have the expected version; nil matches any.
func (s *Service) UpdateSenders(
	ctx context.Context, caller tenant.Caller, expect *int, edit func(*Senders),
) (Senders, error) {
	domain, err := s.newDomain(ctx, caller.Tenant, edit)
	if err != nil {
		return Senders{}, err
	}
	return s.changeSenders(ctx, caller, "senders.update", func(ctx context.Context, tx *engine.Tx) (Senders, error) {
		before, err := s.loadSenders(ctx, tx)
		if err == nil {
			err = engine.CheckVersion(expect, before.Version)
		}
		if err != nil {
			return Senders{}, err
		}
		after := before
		edit(&after)
		if after, err = after.Complete(before, domain, s.checkFCM); err != nil {
			return Senders{}, err
		}
		after.Version = before.Version + 1
		changes := engine.AuditChange(before.auditFields(), after.auditFields())
		tx.Audit("senders.updated", "tenant", tx.Tenant.UUID, "", changes)
		s.putSenders(tx, after)
		return after.Public(), nil
	})
}

// storedSenders is the result of a change for repeated requests. In the JSON of the senders themselves, which is
// sealed, there is no version.
type storedSenders struct {
	Senders Senders
	Version int
}

// changeSenders runs a transaction that changes the tenant's senders.
func (s *Service) changeSenders(
	ctx context.Context, caller tenant.Caller, name string, change func(context.Context, *engine.Tx) (Senders, error),
) (Senders, error) {
	t := engine.Transaction{Name: name, Replay: true}
	run := func(ctx context.Context, tx *engine.Tx) (storedSenders, error) {
		after, err := change(ctx, tx)
		return storedSenders{after, after.Version}, err
	}
	stored, err := engine.Transact(ctx, s.engine, caller, t, run)
	stored.Senders.Version = stored.Version
	return stored.Senders, err
}

// loadSenders reads the tenant's senders in a transaction.
func (s *Service) loadSenders(ctx context.Context, tx *engine.Tx) (Senders, error) {
	var sealed *messagedb.Sealed
	var batch pg.Batch
	messagedb.FindSenders(&batch, tx.Tenant, &sealed)
	err := tx.Load(ctx, &batch)
	return s.unseal(tx.Tenant, sealed), err
}

// putSenders writes the tenant's senders.
func (s *Service) putSenders(tx *engine.Tx, senders Senders) {
	text, _ := json.Marshal(senders) //nolint:errchkjson // the clock gives no times that JSON does not have
	sealed := messagedb.Sealed{Text: s.seals.Seal(tx.Tenant, text), Version: senders.Version, UpdatedAt: tx.Now}
	if senders.Domain != nil {
		sealed.DomainCheckAt = senders.Domain.CheckAt
	}
	messagedb.PutSenders(tx.Tx, tx.Tenant, sealed)
}

// auditFields are what the audit log keeps of the senders.
func (s Senders) auditFields() map[string]any {
	facts := make(map[string]any)
	if s.Twilio != nil {
		facts["twilio"] = s.Twilio.AccountSID + " " + s.Twilio.From
	}
	if s.FCM != nil {
		facts["fcm"] = s.FCM.ProjectID
	}
	if s.SMTP != nil {
		facts["smtp"] = s.SMTP.Username + "@" + s.SMTP.Host
	}
	if s.Domain != nil {
		facts["domain"] = s.Domain.Address
	}
	return facts
}
