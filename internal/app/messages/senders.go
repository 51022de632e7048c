package messages

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/sending"
	"github.com/berthhq/berth/internal/tenant"
)

// Types about which package sending decides.
type (
	Senders       = sending.Senders
	TwilioAccount = sending.TwilioAccount
	FCMProject    = sending.FCMProject
	SMTPServer    = sending.SMTPServer
)

// Names of the providers.
const (
	ProviderTwilio = "twilio"
	ProviderFCM    = "fcm"
	ProviderSMTP   = "smtp"
)

// ownSender returns the provider of a tenant's own sender for a channel, and whether there is one.
func ownSender(s Senders, c delivery.Channel) (string, bool) {
	switch c {
	case delivery.SMS:
		return ProviderTwilio, s.Twilio != nil
	case delivery.Push:
		return ProviderFCM, s.FCM != nil
	default:
		return ProviderSMTP, s.SMTP != nil
	}
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
	if provider, own = ownSender(senders, c); own {
		return provider, true
	}
	return cmp.Or(s.providers[c], LocalOutbox), false
}

// foot returns the foot of a tenant's mails.
func (s *Service) foot(senders Senders, unsubscribe string) content.Foot {
	return content.Foot{Unsubscribe: unsubscribe, Platform: senders.FromPlatform(), Report: s.reportTo}
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

// GetNotificationSenders returns the tenant's senders without secrets.
func (s *Service) GetNotificationSenders(ctx context.Context, caller tenant.Caller) (Senders, error) {
	own, err := s.SendersOf(ctx, caller.Tenant)
	return own.Public(), err
}

// UpdateNotificationSenders edits the tenant's senders if they still have the expected version; nil matches any.
func (s *Service) UpdateNotificationSenders(
	ctx context.Context, caller tenant.Caller, expect *int, edit func(*Senders),
) (Senders, error) {
	domain, err := s.newDomain(ctx, caller.Tenant, edit)
	if err != nil {
		return Senders{}, err
	}
	update := func(ctx context.Context, tx *engine.Tx) (Senders, error) {
		before, err := s.loadSenders(ctx, tx)
		if err == nil {
			err = fault.CheckVersion(expect, before.Version)
		}
		if err != nil {
			return Senders{}, err
		}
		after := before
		edit(&after)
		if after, err = after.Complete(before, s.checkFCM); err != nil {
			return Senders{}, err
		}
		after, made := after.WithDomain(before, domain)
		if !made { // the domain was changed after newDomain read it
			return Senders{}, fault.ErrEdited
		}
		after.Version = before.Version + 1
		changes := record.Changes(before.AuditFields(), after.AuditFields())
		record.Audit(tx, "notification_senders.updated", "tenant", tx.Tenant.UUID, "", changes)
		return after.Public(), s.putSenders(tx, after)
	}
	return s.changeSenders(ctx, caller, "notification_senders.update", update)
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
func (s *Service) putSenders(tx *engine.Tx, senders Senders) error {
	text, err := json.Marshal(senders)
	if err != nil {
		return err
	}
	sealed := messagedb.Sealed{Text: s.seals.Seal(tx.Tenant, text), Version: senders.Version, UpdatedAt: tx.Now}
	if senders.Domain != nil {
		sealed.DomainCheckAt = senders.Domain.CheckAt
	}
	messagedb.PutSenders(tx.Tx, tx.Tenant, sealed)
	return nil
}
