package boot

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/provider/fcm"
	"github.com/berthhq/berth/internal/provider/localbox"
	"github.com/berthhq/berth/internal/provider/smtp"
	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/worker"
)

// SenderConfig configures the platform's accounts with providers. They send the messages of tenants that have no
// accounts themselves. Messages of a channel without an account go to the local outbox.
type SenderConfig struct {
	// Send is on, off, or empty, which means on.
	Send string `env:"BERTH_SEND" enum:"on,off" default:"on" help:"Whether this node plans and sends messages: on or off. If off, other nodes or workers must do it."`

	PrivateHosts bool `name:"senders-private-hosts" env:"BERTH_SENDERS_PRIVATE_HOSTS" help:"Allow mail servers of tenants on this machine and in private networks."`

	TwilioAccount string `env:"BERTH_TWILIO_ACCOUNT" placeholder:"AC…" help:"Twilio account that sends SMS."`
	TwilioToken   string `env:"BERTH_TWILIO_TOKEN" placeholder:"TOKEN" help:"Auth token of the Twilio account."`
	TwilioFrom    string `env:"BERTH_TWILIO_FROM" placeholder:"NUMBER|MG…" help:"Phone number or messaging service that sends SMS."`
	TwilioURL     string `env:"BERTH_TWILIO_URL" placeholder:"https://…" help:"Base URL of Twilio's API. Default: Twilio's own."`

	TwilioTokenFile string `env:"BERTH_TWILIO_TOKEN_FILE" type:"path" placeholder:"FILE" help:"File with the token, instead of the token. It may change."`

	FCMKey      string `env:"BERTH_FCM_KEY" type:"path" placeholder:"FILE" help:"Key of the Firebase service account that sends push notifications (JSON). The file may change."`
	FCMURL      string `env:"BERTH_FCM_URL" placeholder:"https://…" help:"Base URL of FCM's API. Default: Google's own."`
	FCMTokenURL string `env:"BERTH_FCM_TOKEN_URL" placeholder:"https://…" help:"URL that issues tokens for FCM. Default: Google's own."`

	SMTPHost         string `env:"BERTH_SMTP_HOST" placeholder:"HOST" help:"Host name of the mail server."`
	SMTPPort         int    `env:"BERTH_SMTP_PORT" placeholder:"PORT" help:"Port of the mail server. Default: depends on the security."`
	SMTPSecurity     string `env:"BERTH_SMTP_SECURITY" enum:"STARTTLS,TLS,NONE," default:"" help:"STARTTLS (default), TLS (from the start) or NONE."`
	SMTPUser         string `env:"BERTH_SMTP_USER" placeholder:"USER" help:"User to sign in as. Default: no sign-in."`
	SMTPPassword     string `env:"BERTH_SMTP_PASSWORD" placeholder:"PASSWORD" help:"Password of the user."`
	SMTPPasswordFile string `env:"BERTH_SMTP_PASSWORD_FILE" type:"path" placeholder:"FILE" help:"File with the password, instead of the password. It may change."`

	SMTPFrom string `env:"BERTH_SMTP_FROM" placeholder:"ADDRESS" help:"Sender address of emails."`
	ReportTo string `env:"BERTH_REPORT_TO" placeholder:"ADDRESS" help:"Address in emails to which misuse is reported. Default: the sender address."`

	// KeepMails keeps mails about signing in for display, if there is no mail server. Only development does: whoever reads
	// them signs in as anybody.
	KeepMails bool `kong:"-"`

	DNS string `name:"dns" env:"BERTH_DNS" placeholder:"HOST:PORT" help:"Name server that is asked for the records of tenants' sending domains. Default: the system's."`

	MaxSMS       int `name:"max-sms" env:"BERTH_MAX_SMS" default:"200" help:"How many text messages the platform's account sends for a new tenant within 24 hours; 0 for no limit. Limits grow with good standing. What cannot wait is sent all the same."`
	MaxSMSAbroad int `name:"max-sms-abroad" env:"BERTH_MAX_SMS_ABROAD" default:"10" help:"How many of them it sends to each country that is not the tenant's own; 0 for no limit."`
	MaxMails     int `env:"BERTH_MAX_MAILS" default:"500" help:"How many emails the platform's account sends for a new tenant within 24 hours; 0 for no limit."`
}

// sends reports whether the node plans and sends messages.
func (c SenderConfig) sends() bool { return c.Send != "off" }

// quotas returns what the platform's accounts send for a new tenant.
func (c SenderConfig) quotas() notify.SendingLimits {
	return notify.SendingLimits{
		delivery.SMS:   {Total: c.MaxSMS, Abroad: c.MaxSMSAbroad},
		delivery.Email: {Total: c.MaxMails},
	}
}

// providers returns the provider of each channel for which the platform has an account.
func (c SenderConfig) providers() map[delivery.Channel]string {
	providers := make(map[delivery.Channel]string)
	if c.TwilioAccount != "" {
		providers[delivery.SMS] = messages.ProviderTwilio
	}
	if c.FCMKey != "" {
		providers[delivery.Push] = messages.ProviderFCM
	}
	if c.SMTPHost != "" {
		providers[delivery.Email] = messages.ProviderSMTP
	}
	return providers
}

// open creates the platform's senders, and what sends messages and the platform's own mails through them.
func (c SenderConfig) open(
	ctx context.Context, a *app.Services, secrets Secrets, box *localbox.Box, log *slog.Logger,
	metrics prometheus.Registerer,
) (*worker.Dispatcher, *worker.PlatformMails, error) {
	platform := map[string]func(tenant.TenantID) worker.Sender{
		messages.LocalOutbox: func(tenant.TenantID) worker.Sender { return localbox.Sender{} },
	}
	if c.TwilioAccount != "" {
		// Each tenant has its own, because the callback's URL names the tenant. An invalid configuration fails here.
		token := textOf(secrets.Twilio, c.TwilioToken)
		if _, err := c.twilio(a, tenant.TenantID{}, c.platformTwilio(token())); err != nil {
			return nil, nil, err
		}
		platform[messages.ProviderTwilio] = func(in tenant.TenantID) worker.Sender {
			sender, err := c.twilio(a, in, c.platformTwilio(token()))
			if err != nil {
				return failedSender{err}
			}
			return sender
		}
	}
	if c.FCMKey != "" {
		sender, err := following(secrets.FCM.Text, func(key string) (worker.Sender, error) {
			return fcm.New(ctx, fcm.Config{Credentials: []byte(key), BaseURL: c.FCMURL, TokenURL: c.FCMTokenURL})
		})
		if err != nil {
			return nil, nil, err
		}
		platform[messages.ProviderFCM] = sender
	}
	if c.SMTPHost != "" {
		if c.SMTPFrom == "" {
			return nil, nil, errors.New("BERTH_SMTP_HOST needs BERTH_SMTP_FROM")
		}
		sender, err := following(textOf(secrets.SMTP, c.SMTPPassword), func(password string) (worker.Sender, error) {
			return smtp.New(smtp.Config{
				Host: c.SMTPHost, Port: c.SMTPPort, Security: smtp.Security(c.SMTPSecurity),
				Username: c.SMTPUser, Password: password, From: delivery.Mailbox{Address: c.SMTPFrom},
			})
		})
		if err != nil {
			return nil, nil, err
		}
		platform[messages.ProviderSMTP] = sender
	}
	dispatcher, err := worker.New(worker.Config{
		Messages: a.Messages, Platform: platform, Open: c.openTenants(a), Log: log, Metrics: metrics, Now: time.Now,
	})
	if err != nil {
		return nil, nil, err
	}
	mails, err := worker.NewPlatformMails(worker.PlatformMailConfig{
		Mails: a.Mails, Sender: c.mailSender(platform[messages.ProviderSMTP], box), Log: log, Metrics: metrics, Now: time.Now,
	})
	return dispatcher, mails, err
}

// mailSender returns what sends mails about signing in: the platform's mail server, or the box of a developer.
func (c SenderConfig) mailSender(server func(tenant.TenantID) worker.Sender, box *localbox.Box) func() worker.Sender {
	return func() worker.Sender {
		switch {
		case server != nil:
			return server(tenant.TenantID{})
		case c.KeepMails:
			return box
		}
		return failedSender{errors.New("the platform has no mail server: BERTH_SMTP_HOST is not set")}
	}
}

// following returns the platform's sender with a credential. It has connections and tokens, so it is only created again
// if the credential has changed. If that fails, messages do, until the credential changes once more.
func following(
	credential func() string, create func(string) (worker.Sender, error),
) (func(tenant.TenantID) worker.Sender, error) {
	used := credential()
	sender, err := create(used)
	var lock sync.Mutex
	return func(tenant.TenantID) worker.Sender {
		lock.Lock()
		defer lock.Unlock()
		if now := credential(); now != used {
			used = now
			if sender, err = create(now); err != nil {
				sender = failedSender{err}
			}
		}
		return sender
	}, err
}

func (c SenderConfig) platformTwilio(token string) messages.TwilioAccount {
	return messages.TwilioAccount{AccountSID: c.TwilioAccount, AuthToken: token, From: c.TwilioFrom}
}

func (c SenderConfig) twilio(
	a *app.Services, in tenant.TenantID, account messages.TwilioAccount,
) (*twilio.Sender, error) {
	config := twilio.Config{
		AccountSID: account.AccountSID, AuthToken: account.AuthToken,
		BaseURL: c.TwilioURL, StatusCallback: a.Messages.TwilioStatusURL(in),
	}
	if strings.HasPrefix(account.From, "MG") {
		config.MessagingServiceSID = account.From
	} else {
		config.From = account.From
	}
	return twilio.New(config)
}

// openTenants returns a function that creates senders for tenants' own accounts. Accounts with Twilio and FCM use the
// same URLs as the platform's. A mail server can have any public address.
func (c SenderConfig) openTenants(
	a *app.Services,
) func(context.Context, tenant.TenantID, string, messages.Senders) (worker.Sender, error) {
	return func(ctx context.Context, in tenant.TenantID, provider string, s messages.Senders) (worker.Sender, error) {
		switch {
		case provider == messages.ProviderTwilio && s.Twilio != nil:
			return c.twilio(a, in, *s.Twilio)
		case provider == messages.ProviderFCM && s.FCM != nil:
			return fcm.New(ctx, fcm.Config{
				Credentials: s.FCM.Credentials, ProjectID: s.FCM.ProjectID, BaseURL: c.FCMURL, TokenURL: c.FCMTokenURL,
			})
		case provider == messages.ProviderSMTP && s.SMTP != nil:
			security := smtp.StartTLS
			if s.SMTP.Port == implicitTLS {
				security = smtp.ImplicitTLS
			}
			return c.tenantMail(smtp.Config{
				Host: s.SMTP.Host, Port: s.SMTP.Port, Security: security,
				Username: s.SMTP.Username, Password: s.SMTP.Password, From: delivery.Mailbox{Address: s.SMTP.From},
			})
		}
		return nil, errors.New("the tenant no longer has an account with " + provider)
	}
}

// tenantMail creates the sender for a tenant's own mail server. It connects to public addresses only, so that no tenant
// can reach the operator's network, unless the operator allows it.
func (c SenderConfig) tenantMail(config smtp.Config) (worker.Sender, error) {
	if !c.PrivateHosts {
		config.Dialer = provider.PublicDialer()
	}
	return smtp.New(config)
}

// implicitTLS is the port on which mail servers expect TLS from the first byte.
const implicitTLS = 465

// failedSender replaces a sender that could not be created.
type failedSender struct{ err error }

// Send fails with the reason.
func (s failedSender) Send(context.Context, delivery.Message) (delivery.Receipt, error) {
	return delivery.Receipt{}, &delivery.Error{
		Kind: delivery.Misconfigured, Reason: "the sender cannot be opened", Err: s.err,
	}
}
