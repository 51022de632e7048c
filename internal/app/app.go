// Package app holds the use cases, one file each: load facts, decide, apply,
// record. The deciding is done by the pure packages, the loading and applying by
// package store; what is left here reads like prose.
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
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/checkin"
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
	// Tally, if set, hears what a use case did to waitlist entries and offers, after the commit.
	Tally func(waitlists.Tally)
	// Committed, if set, hears of every tenant whose data changed, after the commit.
	Committed func(id tenant.TenantID)
	// RolesChanged, if set, hears of every tenant in which somebody may now do something else, after the commit. Other nodes
	// hear of it through AccessChannel.
	RolesChanged func(id tenant.TenantID)
	// Lanes is how many transactions about one tenant's seats run at a time. Default 2, which is best on 2 cores.
	Lanes int
	// QueueDepth is how many requests about seats of one tenant may wait for them. Default 4096.
	QueueDepth int
	// Relay is whom events are watched through. Optional where nobody watches any.
	Relay *outbox.Relay

	// Seals keep the secrets of tenants' own senders, and sign the links in mails.
	Seals seal.Keys
	// Carriers are the names of the platform's senders; a channel without one, and without one of the tenant's own, goes to the
	// local outbox.
	Carriers map[notify.Channel]string
	// MailFrom is the address that the platform's mails come from. Optional.
	MailFrom string
	// Offers is the waitlist, as far as messages are concerned. Optional: without it there are no offers.
	Offers waitlists.Offers
	// Post sends messages and gives what became of each. Optional where no tests are sent.
	Post func(ctx context.Context, in tenant.TenantID, out []messages.Outgoing) []messages.Attempted
}

// App runs the use cases. It is safe for concurrent use.
type App struct {
	Waitlists    *waitlists.Service
	Bookings     *bookings.Service
	Schedules    *schedules.Service
	Messages     *messages.Service
	Settings     *settings.Service
	Catalog      *catalog.Service
	Events       *events.Service
	Accounts     *accounts.Service
	Housekeeping *housekeeping.Service

	db           *pg.DB
	now          func() time.Time
	keys         checkin.Keys
	claims       waitlist.ClaimKey
	tally        func(waitlists.Tally)
	publicURL    string
	rolesChanged func(tenant.TenantID)
	relay        *outbox.Relay

	seals    seal.Keys
	carriers map[notify.Channel]string
	mailFrom string
	offers   waitlists.Offers
	post     func(context.Context, tenant.TenantID, []messages.Outgoing) []messages.Attempted

	Engine    *engine.Engine
	snapshots *engine.Snapshots[booking.House]
}

// New makes an App.
func New(c Config) *App {
	ignore := func(tenant.TenantID) {}
	a := &App{
		db: c.DB, keys: c.CheckInKeys, claims: c.Claims, publicURL: c.PublicURL, tally: func(waitlists.Tally) {}, rolesChanged: ignore, relay: c.Relay,
		snapshots: new(engine.Snapshots[booking.House]), seals: c.Seals, carriers: c.Carriers, mailFrom: c.MailFrom, post: c.Post, offers: c.Offers,
	}
	a.Engine = engine.New(engine.Config{
		DB: c.DB, Now: c.Now, NewState: seats.NewState(a.snapshots), Committed: c.Committed, Width: c.Lanes, QueueDepth: c.QueueDepth,
	})
	a.now = a.Engine.Now
	if c.Tally != nil {
		a.tally = c.Tally
	}
	if c.RolesChanged != nil {
		a.rolesChanged = c.RolesChanged
	}
	a.wire()
	return a
}

// Drain refuses new requests about seats and waits for those that were taken. Call it when none are to come any
// more, before the database is closed.
func (a *App) Drain() { a.Engine.Drain() }
