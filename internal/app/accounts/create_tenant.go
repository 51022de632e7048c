package accounts

import (
	"context"

	"golang.org/x/text/unicode/norm"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// NewTenant describes a tenant to create.
type NewTenant struct {
	// ID makes the creation idempotent. If it is zero the tenant gets a new one.
	ID            tenant.TenantID
	Name          string
	TimeZone      string // IANA
	Locale        string // BCP 47
	Currency      string // ISO 4217
	TakesPayments bool
	Brand         brand.Brand
	// Owner is the first member, who has all permissions. Optional.
	Owner *FirstOwner
}

// FirstOwner is the first owner of a tenant.
type FirstOwner struct {
	Subject string // of the person's tokens; empty until it is known
	Name    string
	Email   string
	// Invite makes an invitation, which signs them in with Berth itself. Whoever gets the link vouches for the address.
	Invite bool
}

// CreatedTenant is a tenant that was created.
type CreatedTenant struct {
	catalog.Tenant

	// OwnerLink is the link of the first owner's invitation: "" if there is none, or if the tenant existed.
	OwnerLink string
}

// CreateTenant creates a tenant with the built-in roles. If a tenant with the id exists it returns that one, unchanged.
// It is for operators: no RPC calls it.
func (s *Service) CreateTenant(ctx context.Context, n NewTenant) (CreatedTenant, error) {
	if n.ID.IsZero() {
		n.ID = tenant.New[tenant.TenantID](s.engine.Now())
	}
	t := catalog.Tenant{
		ID: n.ID, Name: norm.NFC.String(n.Name), TimeZone: n.TimeZone, Locale: n.Locale, Currency: n.Currency,
		TakesPayments: n.TakesPayments, Brand: n.Brand, Version: 1,
	}
	if err := t.Validate(); err != nil {
		return CreatedTenant{}, err
	}
	var owner member.Member
	if n.Owner != nil {
		var err error
		owner, err = member.Member{
			Subject: n.Owner.Subject, Name: n.Owner.Name, Email: n.Owner.Email,
			Status: member.Active, Roles: []string{tenant.RoleOwner},
		}.Normalize()
		if err != nil {
			return CreatedTenant{}, err
		}
	}
	transaction := engine.Transaction{Name: "tenant.create", Races: []engine.Race{sameTenant}}
	created, err := engine.Transact(ctx, s.engine, tenant.System(n.ID), transaction,
		func(ctx context.Context, tx *engine.Tx) (CreatedTenant, error) {
			existing, err := engine.Find(ctx, tx, nil, func(b *pg.Batch, into **catalog.Tenant) {
				accountdb.FindTenant(b, tx.Tenant, into)
			})
			if err != nil || !existing.ID.IsZero() {
				return CreatedTenant{Tenant: existing}, err
			}
			made := CreatedTenant{Tenant: t}
			made.CreatedAt, made.UpdatedAt = tx.Now, tx.Now
			accountdb.InsertTenant(tx.Tx, made.Tenant, builtInRoles)
			record.CatalogChange(tx, "tenant.created", "tenant", tx.Tenant.UUID, catalog.AuditChanges(nil, t.AuditFields()))
			if n.Owner != nil {
				owner := s.insertMember(tx, owner)
				if n.Owner.Invite {
					if _, made.OwnerLink, err = s.insertInvitation(tx, owner, &leaves{}); err != nil {
						return CreatedTenant{}, err
					}
				}
			}
			notifyNodes(tx)
			return made, nil
		})
	if pg.MayBeCommitted(err) {
		s.rolesChanged(n.ID) // the guard may have cached that the tenant has no members
	}
	return created, err
}

var builtInRoles = []string{
	tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, tenant.RolePartner,
}

// sameTenant recognizes two concurrent creations of one tenant. The second then finds what the first created.
func sameTenant(err error) bool { return pg.IsUnique(err, "directory_pkey", "tenants_pkey") }
