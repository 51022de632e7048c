package messages

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Senders is who carries a tenant's messages, secrets and all. A channel without one uses the platform's.
type Senders struct {
	Twilio *TwilioAccount `json:"twilio,omitempty"`
	FCM    *FCMProject    `json:"fcm,omitempty"`
	SMTP   *SMTPServer    `json:"smtp,omitempty"`

	Version int `json:"-"`
}

// TwilioAccount sends SMS.
type TwilioAccount struct {
	AccountSID string `json:"account_sid"`
	AuthToken  string `json:"auth_token"`
	From       string `json:"from"` // a number in E.164 or a messaging service's SID
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

func (s Senders) own(c notify.Channel) (string, bool) {
	switch c {
	case notify.SMS:
		return ProviderTwilio, s.Twilio != nil
	case notify.Push:
		return ProviderFCM, s.FCM != nil
	default:
		return ProviderSMTP, s.SMTP != nil
	}
}

// Complete takes over the secrets that are left out, as long as the account is the same one, and refuses a sender that then
// still lacks its own: INVALID_FIELD.
func (s Senders) Complete(before Senders) (Senders, error) {
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
		} else if !json.Valid(f.Credentials) {
			return s, fault.Invalid("senders.fcm.service_account_json", "The key file is no JSON.")
		}
	}
	if m := s.SMTP; m != nil && m.Password == "" && m.Username != "" {
		if was := before.SMTP; was == nil || was.Host != m.Host || was.Username != m.Username {
			return s, fault.Invalid("senders.smtp.password", "The password is needed.")
		}
		s.SMTP = &SMTPServer{m.Host, m.Port, m.Username, before.SMTP.Password, m.From}
	}
	return s, nil
}

// Public gives the senders without their secrets.
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
	return s
}

// unseal reads a tenant's senders. Those that were sealed with a key that is gone are as good as none.
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

// carrier says who carries a channel's messages.
func (s *Service) carrier(ownNow Senders, c notify.Channel) (provider string, own bool) {
	if provider, own = ownNow.own(c); own {
		return provider, true
	}
	return cmp.Or(s.carriers[c], LocalOutbox), false
}

// ChannelSender is who carries a channel's messages.
type ChannelSender struct {
	Channel  notify.Channel
	Provider string
	Own      bool
}

// ChannelSenders tells who carries the messages of each channel.
func (s *Service) ChannelSenders(ownNow Senders) []ChannelSender {
	var all []ChannelSender
	for _, c := range notify.Channels() {
		provider, own := s.carrier(ownNow, c)
		all = append(all, ChannelSender{c, provider, own})
	}
	return all
}

// SendersOf reads a tenant's senders with their secrets, for who sends.
func (s *Service) SendersOf(ctx context.Context, in tenant.TenantID) (Senders, error) {
	var sealed *messagedb.Sealed
	var batch pg.Batch
	messagedb.FindSenders(&batch, in, &sealed)
	err := s.engine.Read(ctx, tenant.System(in), &batch)
	return s.unseal(in, sealed), err
}

// GetSenders tells who carries the tenant's messages, without secrets.
func (s *Service) GetSenders(ctx context.Context, caller tenant.Caller) (Senders, error) {
	own, err := s.SendersOf(ctx, caller.Tenant)
	return own.Public(), err
}

// UpdateSenders changes who carries the tenant's messages, if they still are at the version expected (nil: whichever).
func (s *Service) UpdateSenders(ctx context.Context, caller tenant.Caller, expect *int, edit func(*Senders)) (Senders, error) {
	var after Senders
	var version int
	err := s.engine.Write(ctx, caller, "senders.update", func(ctx context.Context, tx *engine.Tx) error {
		var sealed *messagedb.Sealed
		var batch pg.Batch
		messagedb.FindSenders(&batch, tx.Tenant, &sealed)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		before := s.unseal(tx.Tenant, sealed)
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = before
		edit(&after)
		var err error
		if after, err = after.Complete(before); err != nil {
			return err
		}
		version = before.Version + 1
		text, err := json.Marshal(after)
		if err != nil {
			return err
		}
		messagedb.PutSenders(tx.Tx, tx.Tenant, messagedb.Sealed{Text: s.seals.Seal(tx.Tenant, text), Version: version, UpdatedAt: tx.Now})
		after = after.Public()
		tx.Audit("senders.updated", "tenant", tx.Tenant.UUID, "", map[string]any{"before": before.summary(), "after": after.summary()})
		return nil
	}, engine.Answers(&after, &version))
	after.Version = version
	return after, err
}

// summary is what the audit log keeps of the senders.
func (s Senders) summary() map[string]any {
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
	return facts
}
