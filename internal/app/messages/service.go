// Package messages holds the use cases about notifications: what is planned, sent, settled and preferred.
package messages

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what a Service needs.
type Config struct {
	Engine *engine.Engine
	// PublicURL is where browsers reach the service, without a trailing slash; display links start with it.
	PublicURL string
	// Seals keep the secrets of tenants' own senders, and sign the links in mails.
	Seals seal.Keys
	// PlatformSenders are the names of the platform's senders; a channel without one, and without one of the tenant's own, goes to the
	// local outbox.
	PlatformSenders map[notify.Channel]string
	// MailFrom is the address that the platform's mails come from. Optional.
	MailFrom string
	// Offers is the waitlist, as far as messages are concerned. Optional: without it there are no offers.
	Offers waitlists.Offers
	// Send sends messages and gives what became of each. Optional where no tests are sent.
	Send func(context.Context, tenant.TenantID, []Outgoing) []AttemptResult
}

// Service holds the use cases about messages. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	publicURL string
	seals     seal.Keys
	carriers  map[notify.Channel]string
	mailFrom  string
	offers    waitlists.Offers
	Notices   engine.Alarms
	post      func(context.Context, tenant.TenantID, []Outgoing) []AttemptResult
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		engine:    c.Engine,
		publicURL: c.PublicURL,
		seals:     c.Seals,
		carriers:  c.PlatformSenders,
		mailFrom:  c.MailFrom,
		offers:    c.Offers,
		post:      c.Send,
	}
}
