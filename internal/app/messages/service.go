// Package messages holds the use cases about messages: planning and sending notices, the delivery log, templates,
// senders, preferences and replies.
package messages

import (
	"cmp"
	"context"
	"sync"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Config configures a Service.
type Config struct {
	Engine *engine.Engine
	// PublicURL is the service's URL for browsers, without a trailing slash. Links start with it.
	PublicURL string
	// Seals encrypt the secrets of tenants' own senders, and sign the links in mails.
	Seals seal.Keys
	// PlatformSenders are the providers of the platform's senders by channel. The messages of a channel that has none here
	// and none of the tenant's own go to the local outbox.
	PlatformSenders map[delivery.Channel]string
	// Quotas limit what the platform's accounts send for a new tenant. Default: no limits.
	Quotas notify.SendingLimits
	// MailFrom is the address from which the platform sends mail. Optional.
	MailFrom string
	// ReportTo is the address to which misuse of the platform's mail account is reported. Default: MailFrom.
	ReportTo string
	// CheckFCMKey says why the key of a tenant's Firebase project cannot be used.
	CheckFCMKey func(serviceAccountJSON []byte) error
	// LookupTXT looks up the texts of a name in DNS; none if it does not exist. Optional if no domains are verified.
	LookupTXT func(ctx context.Context, name string) ([]string, error)
	// Offers is the part of the waitlist that messages need. Optional: without it there are no offers.
	Offers waitlists.Offers
	// Send sends messages and returns the results. Optional if no tests are sent.
	Send func(context.Context, tenant.TenantID, []Outgoing) []AttemptResult
}

// Service holds the use cases about messages. It is safe for concurrent use.
type Service struct {
	// Notices has an alarm for each tenant's next notice.
	Notices alarm.Clock
	// Domains has an alarm for when the records of each tenant's sending domain are looked up.
	Domains alarm.Clock

	engine    *engine.Engine
	publicURL string
	seals     seal.Keys
	codes     contacts.Codes
	providers map[delivery.Channel]string // of the platform
	quotas    notify.SendingLimits
	mailFrom  string
	reportTo  string
	checkFCM  func([]byte) error
	lookupTXT func(context.Context, string) ([]string, error)
	offers    waitlists.Offers
	send      func(context.Context, tenant.TenantID, []Outgoing) []AttemptResult
	making    sync.Mutex // while the key of a sending domain is made
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{
		engine:    c.Engine,
		publicURL: c.PublicURL,
		seals:     c.Seals,
		providers: c.PlatformSenders,
		quotas:    c.Quotas,
		mailFrom:  c.MailFrom,
		reportTo:  cmp.Or(c.ReportTo, c.MailFrom),
		checkFCM:  c.CheckFCMKey,
		lookupTXT: c.LookupTXT,
		offers:    c.Offers,
		send:      c.Send,
	}
	s.codes = contacts.Codes{Seals: c.Seals, Limits: s.Limits}
	return s
}

// opener returns a function that opens the sealed tokens of a tenant's devices.
func (s *Service) opener(in tenant.TenantID) func(sealed []byte) ([]byte, error) {
	return func(sealed []byte) ([]byte, error) { return s.seals.Open(in, sealed) }
}

// tenantProfile is what messages say about the tenant.
type tenantProfile struct {
	name, locale string
	brand        brand.Brand
}

func (p *tenantProfile) queue(b *pg.Batch, in tenant.TenantID) {
	accountdb.FindTenantProfile(b, in, &p.name, &p.locale, &p.brand)
}
