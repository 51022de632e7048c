// Package app wires the services of all areas. The use cases themselves are in the packages below it: each loads facts,
// lets a pure rule decide, and writes the result.
package app

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what the use cases need from outside.
type Config struct {
	DB *pg.DB
	// Now is the clock. Only this package reads it, once for each use case.
	Now func() time.Time
	// CheckInKeys sign QR codes and display links.
	CheckInKeys checkin.Keys
	// Claims make the tokens in the links of waitlist offers.
	Claims waitlist.ClaimKey
	// PublicURL is where browsers reach the service, without a trailing slash; display links start with it.
	PublicURL string
	// Stats, if set, is called after the commit with what a use case did to waitlist entries and offers.
	Stats func(waitlists.Stats)
	// Committed, if set, is called after the commit for every tenant whose data changed.
	Committed func(id tenant.TenantID)
	// RolesChanged, if set, is called after the commit for every tenant in which a caller's rights changed. Other nodes
	// are notified through AccessChannel.
	RolesChanged func(id tenant.TenantID)
	// InvitationChanged, if set, is called after the commit for each invitation that was made, sent again or revoked.
	InvitationChanged func()
	// Width is how many transactions about one tenant's seats run at a time. Default 2, which is best on 2 cores.
	Width int
	// Widest is how many transactions about seats run at a time. Default 12.
	Widest int
	// QueueDepth is how many requests about seats of one tenant may wait for them. Default 4096.
	QueueDepth int
	// Quotas limit rows that only grow in number. Default: no limits.
	Quotas Quotas
	// Relay delivers events to watchers. It is optional if no one watches events.
	Relay *outbox.Relay

	// LinkByEmail lets an email that the sign-in service has verified link its account to the member with that email.
	LinkByEmail bool
	// Seals keep the secrets of tenants' own senders and the tokens of devices, and sign the links in mails.
	Seals seal.Keys
	// PlatformSenders are the names of the platform's senders; a channel without one, and without one of the tenant's own,
	// goes to the local outbox.
	PlatformSenders map[delivery.Channel]string
	// SendingQuotas limit what the platform's senders send for a new tenant. Default: no limits.
	SendingQuotas notify.SendingLimits
	// MailFrom is the address that the platform's mails come from. Optional.
	MailFrom string
	// ReportTo is the address to which misuse of the platform's mail account is reported. Default: MailFrom.
	ReportTo string
	// CheckFCMKey says why the key of a tenant's Firebase project cannot be used.
	CheckFCMKey func(serviceAccountJSON []byte) error
	// LookupTXT looks up the texts of a name in DNS; none if it does not exist. Optional if no domains are verified.
	LookupTXT func(ctx context.Context, name string) ([]string, error)
	// Offers is the waitlist, as far as messages are concerned. Optional: without it there are no offers.
	Offers waitlists.Offers
	// HasIdentityProvider says that members sign in at an identity provider, and those whom it knows only there.
	HasIdentityProvider bool
	// Send sends messages and gives what became of each. Optional where no tests are sent.
	Send func(ctx context.Context, in tenant.TenantID, out []messages.Outgoing) []messages.AttemptResult
}

// Quotas limit rows that only grow in number. Zero is no limit.
type Quotas struct {
	Members, Sessions int // of a tenant
	Keys              int // of a caller, within idempotency.Lifetime
}

// Services holds the use cases, by area. All are safe for concurrent use.
type Services struct {
	Engine       *engine.Engine
	Waitlists    *waitlists.Service
	Bookings     *bookings.Service
	Schedules    *schedules.Service
	Imports      *imports.Service
	Messages     *messages.Service
	Mails        *mails.Service
	Settings     *settings.Service
	Catalog      *catalog.Service
	Events       *events.Service
	Accounts     *accounts.Service
	SignIns      *signins.Service
	Housekeeping *housekeeping.Service
}

// New makes the services, each after those that it calls.
func New(c Config) *Services {
	if c.Stats == nil {
		c.Stats = func(waitlists.Stats) {}
	}
	if c.RolesChanged == nil {
		c.RolesChanged = func(tenant.TenantID) {}
	}
	snapshots := new(seats.Snapshots)
	e := engine.New(engine.Config{
		DB: c.DB, Now: c.Now, NewState: seats.NewState(snapshots), Committed: c.Committed,
		Width: c.Width, Widest: c.Widest, QueueDepth: c.QueueDepth, MaxKeys: c.Quotas.Keys,
		Races: []engine.Race{seats.PromotionRace},
	})
	s := &Services{
		Engine:  e,
		Catalog: catalog.New(catalog.Config{Engine: e}),
		Events:  events.New(events.Config{DB: c.DB, Relay: c.Relay}),
	}
	s.Waitlists = waitlists.New(waitlists.Config{Engine: e, Claims: c.Claims, Stats: c.Stats, PublicURL: c.PublicURL})
	s.Bookings = bookings.New(bookings.Config{
		Engine: e, Waitlists: s.Waitlists, Keys: c.CheckInKeys, PublicURL: c.PublicURL,
	})
	s.Schedules = schedules.New(schedules.Config{
		Engine: e, Waitlists: s.Waitlists, Snapshots: snapshots, MaxSessions: c.Quotas.Sessions,
	})
	if c.Offers == nil {
		c.Offers = s.Waitlists
	}
	s.Messages = messages.New(messages.Config{
		Engine: e, PublicURL: c.PublicURL, Seals: c.Seals, PlatformSenders: c.PlatformSenders, MailFrom: c.MailFrom,
		Quotas: c.SendingQuotas, ReportTo: c.ReportTo,
		CheckFCMKey: c.CheckFCMKey, LookupTXT: c.LookupTXT, Offers: c.Offers, Send: c.Send,
	})
	s.Mails = mails.New(mails.Config{Engine: e, Seals: c.Seals, From: c.MailFrom, ReportTo: c.ReportTo})
	s.Accounts = accounts.New(accounts.Config{
		Engine: e, RolesChanged: c.RolesChanged, Seals: c.Seals, Limits: s.Messages.Limits, MaxMembers: c.Quotas.Members,
		PublicURL:   c.PublicURL,
		LinkByEmail: c.LinkByEmail, InvitationChanged: c.InvitationChanged,
	})
	s.SignIns = signins.New(signins.Config{
		Engine: e, Accounts: s.Accounts, Seals: c.Seals, HasProvider: c.HasIdentityProvider,
		PublicURL: c.PublicURL,
	})
	s.Imports = imports.New(imports.Config{
		Engine: e, Accounts: s.Accounts, Schedules: s.Schedules, Bookings: s.Bookings,
	})
	s.Settings = settings.New(settings.Config{Engine: e, Waitlists: s.Waitlists})
	s.Housekeeping = housekeeping.New(housekeeping.Config{
		Engine: e, Accounts: s.Accounts, Waitlists: s.Waitlists, Schedules: s.Schedules, Imports: s.Imports,
		Messages: s.Messages, Mails: s.Mails,
	})
	return s
}
