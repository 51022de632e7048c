// Package app holds the use cases, one file each: load facts, decide, apply,
// record. The deciding is done by the pure packages, the loading and applying by
// package store; what is left here reads like prose.
package app

import (
	"cmp"
	"context"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/store"
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
	Tally func(Tally)
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
	Offers Offers
	// Post sends messages and gives what became of each. Optional where no tests are sent.
	Post func(ctx context.Context, in tenant.TenantID, out []Outgoing) []Attempted
}

// App runs the use cases. It is safe for concurrent use.
type App struct {
	db           *pg.DB
	now          func() time.Time
	keys         checkin.Keys
	claims       waitlist.ClaimKey
	tally        func(Tally)
	publicURL    string
	committed    func(tenant.TenantID)
	rolesChanged func(tenant.TenantID)
	alarms       alarms
	edited       alarms // tenants whose waitlist rules were
	relay        *outbox.Relay

	seals    seal.Keys
	carriers map[notify.Channel]string
	mailFrom string
	offers   Offers
	notices  alarms
	post     func(context.Context, tenant.TenantID, []Outgoing) []Attempted

	lanes  *lanes
	houses houses
	crowds crowds
}

// New makes an App.
func New(c Config) *App {
	ignore := func(tenant.TenantID) {}
	a := &App{
		db: c.DB, keys: c.CheckInKeys, claims: c.Claims, publicURL: c.PublicURL, tally: func(Tally) {}, committed: ignore, rolesChanged: ignore, relay: c.Relay,
		seals: c.Seals, carriers: c.Carriers, mailFrom: c.MailFrom, post: c.Post, offers: c.Offers,
	}
	if a.offers == nil {
		a.offers = offerNotifier{a}
	}
	// Postgres keeps microseconds. Cutting the rest off here makes what an answer
	// says equal to what a later read says.
	a.now = func() time.Time { return c.Now().UTC().Truncate(time.Microsecond) }
	width := cmp.Or(c.Lanes, 2)
	a.lanes = newLanes(width, max(width, mostLanes), cmp.Or(c.QueueDepth, 4096), a.settleTogether)
	if c.Tally != nil {
		a.tally = c.Tally
	}
	if c.Committed != nil {
		a.committed = c.Committed
	}
	if c.RolesChanged != nil {
		a.rolesChanged = c.RolesChanged
	}
	return a
}

// Drain refuses new requests about seats and waits for those that were taken. Call it when none are to come any
// more, before the database is closed.
func (a *App) Drain() { a.lanes.drain() }

// tx is one attempt at a use case: the transaction, and all that may enter it
// from outside. Each attempt sees the same time and mints the same ids.
type tx struct {
	*pg.Tx
	in     tenant.TenantID
	caller tenant.Caller
	// request is the id under which the log knows the request; empty where there is none.
	request string
	now     time.Time
	mint    *tenant.Mint
	claims  waitlist.ClaimKey
	table   *table   // shared with other deals; nil for whatever is none
	deal    *waiting // nil, too
	*effects
}

// effects are what an attempt leaves to be done once it is durable. They are nothing that correctness depends on.
type effects struct {
	due   *time.Time // the earliest moment at which something it made runs out
	tally Tally
}

// dueAt has somebody woken when something of the tenant runs out.
func (e *effects) dueAt(at time.Time) {
	if e.due == nil || at.Before(*e.due) {
		e.due = &at
	}
}

// write runs a use case in a serializable transaction of the caller's tenant. What it may lose a race
// over, and what it gives, the options say.
func (a *App) write(ctx context.Context, caller tenant.Caller, name string, fn func(ctx context.Context, t *tx) error, options ...option) error {
	var w writing
	for _, option := range options {
		option(&w)
	}
	if w.answers != nil {
		w.key = keyOf(ctx)
	}
	const looks = 5
	for look := 1; ; look++ {
		err := a.attempt(ctx, caller, name, fn, &w)
		if store.KeyUsed(err) {
			var recalled bool
			if recalled, err = a.recall(ctx, caller, w.key, w.answers...); err == nil && !recalled {
				err = errForgotten
			}
		}
		if err == nil {
			a.committed(caller.Tenant)
			a.follow(caller.Tenant, &w.effects)
			return nil
		}
		if look == looks || !w.again(err) {
			return err
		}
	}
}

// attempt runs a use case in one transaction.
func (a *App) attempt(ctx context.Context, caller tenant.Caller, name string, fn func(ctx context.Context, t *tx) error, w *writing) error {
	now := a.now()
	mint := tenant.NewMint(now)
	return a.db.InTx(ctx, pg.Scope{Tenant: caller.Tenant}, name, func(ctx context.Context, db *pg.Tx) error {
		w.effects = effects{}
		t := &tx{
			Tx: db, in: caller.Tenant, caller: caller, request: requestOf(ctx), now: now, mint: mint.Again(), claims: a.claims, effects: &w.effects,
		}
		if w.key == nil {
			return fn(ctx, t)
		}
		claim := w.key.claim(caller, now)
		store.ClaimKey(db, t.in, claim)
		if err := fn(ctx, t); err != nil {
			return err
		}
		return w.keep(t, claim)
	})
}

// follow does what an attempt has left to be done.
func (a *App) follow(in tenant.TenantID, e *effects) {
	if e.due != nil {
		a.alarms.set(in, *e.due)
	}
	if !e.tally.empty() {
		a.tally(e.tally)
	}
}

// read sends a batch that does not depend on itself as one snapshot, in one round trip.
func (a *App) read(ctx context.Context, caller tenant.Caller, batch *pg.Batch) error {
	return a.db.ReadBatch(ctx, pg.Scope{Tenant: caller.Tenant}, batch)
}

// audit keeps an act of the caller that the tenant may want to ask about later.
func (t *tx) audit(action, kind string, target tenant.UUID, reason string, changes map[string]any) {
	store.AppendAudit(t.Tx, t.in, store.AuditEntry{
		ID: tenant.Next[tenant.AuditID](t.mint), Actor: t.caller.Actor(), Subject: t.caller.Subject, Action: action,
		TargetKind: kind, TargetID: target.String(), Reason: reason, Changes: changes, Request: t.request, At: t.now,
	})
}
