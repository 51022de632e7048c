// Package accounts has the use cases for tenants, members, roles, service accounts, subscriptions and the audit log.
package accounts

import (
	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/quota"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what a Service needs.
type Config struct {
	Engine *engine.Engine
	// RolesChanged is called after a commit that changed permissions in a tenant. Optional. Other nodes are notified
	// through AccessChannel.
	RolesChanged func(tenant.TenantID)
	// InvitationChanged is called after the commit for each invitation that was made, sent again or revoked. Optional.
	InvitationChanged func()
	// Seals keep the tokens of devices, and the codes for contacts.
	Seals seal.Keys
	// Limits returns the limits of what a tenant with these senders sends through the platform's accounts.
	Limits func(in tenant.TenantID, senders *messagedb.Sealed) notify.SendingLimits
	// PublicURL is where browsers reach the service, without a trailing slash. Links of invitations start with it.
	PublicURL string
	// LinkByEmail lets an email that the sign-in service has verified link its account to the member with that email.
	LinkByEmail bool
	// MaxMembers is how many members a tenant may have. Default: any number.
	MaxMembers int
}

// Service has the use cases of this package. It is safe for concurrent use.
type Service struct {
	engine       *engine.Engine
	rolesChanged func(tenant.TenantID)
	// invitationChanged counts what operators watch.
	invitationChanged func()
	seals             seal.Keys
	codes             contacts.Codes
	mails             mails.Queue
	publicURL         string
	quota             quota.Quota // of members
	linkByEmail       bool
}

// New makes a Service.
func New(c Config) *Service {
	s := &Service{
		engine: c.Engine, rolesChanged: c.RolesChanged, invitationChanged: c.InvitationChanged, seals: c.Seals,
		mails: mails.Queue{Seals: c.Seals}, publicURL: c.PublicURL, linkByEmail: c.LinkByEmail,
		codes: contacts.Codes{Seals: c.Seals, Limits: c.Limits},
		quota: quota.Quota{Name: "members", Limit: c.MaxMembers, Count: coredb.CountMembers},
	}
	if s.rolesChanged == nil {
		s.rolesChanged = func(tenant.TenantID) {}
	}
	if s.invitationChanged == nil {
		s.invitationChanged = func() {}
	}
	return s
}
