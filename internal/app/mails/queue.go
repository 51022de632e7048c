// Package mails has the mails of the platform about signing in: they wait in a queue that no tenant can read, and leave
// by the platform's account alone. They count toward no tenant's sending quota.
package mails

import (
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Queue takes mails to be sent. The zero Queue must not be used.
type Queue struct{ Seals seal.Keys }

// Mail is a mail to queue.
type Mail struct {
	content.PlatformMail
	About tenant.UUID // Withdraw names it
	// DueAt is when the mail may leave; zero: at once.
	DueAt time.Time
	// ExpiresAt is when it is worth nothing any more. It must be later than now.
	ExpiresAt time.Time
}

// Channel notifies nodes that send of tenants that have queued a mail. The payload is the tenant's id.
const Channel = "berth_platform_mail"

// unheard is a channel at which nobody listens.
const unheard = "berth_no_mail"

// Add queues a mail. It leaves after the commit. Who reads the tenant's data sees nothing of it, so nothing else may
// record what it says either.
func (q Queue) Add(tx *engine.Tx, m Mail) { q.AddIf(tx, true, m) }

// AddIf queues a mail, or sends the same statements and queues none: how long it takes tells nothing.
func (q Queue) AddIf(tx *engine.Tx, sends bool, m Mail) {
	if m.DueAt.Before(tx.Now) {
		m.DueAt = tx.Now
	}
	all, channel := []accountdb.PlatformMail{{
		ID: tenant.NextID[tenant.MailID](tx.IDs), Kind: string(m.Kind), About: m.About,
		Sealed: q.Seals.Seal(tx.Tenant, m.Text()), DueAt: m.DueAt, ExpiresAt: m.ExpiresAt,
	}}, Channel
	if !sends {
		all, channel = nil, unheard
	}
	accountdb.InsertPlatformMails(tx.Tx, tx.Tenant, all...)
	tx.Notify(channel, tx.Tenant.String())
}

// Withdraw deletes what has not left of the mails about something.
func (Queue) Withdraw(tx *engine.Tx, about tenant.UUID) {
	accountdb.DeletePlatformMailsAbout(tx.Tx, tx.Tenant, about)
}
