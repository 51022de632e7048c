package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// NewTenant is what a tenant begins with.
type NewTenant struct {
	// ID makes creating it twice the same as once. Zero takes a new one.
	ID            tenant.TenantID
	Name          string
	TimeZone      string // IANA
	Locale        string // BCP 47
	Currency      string // ISO 4217
	TakesPayments bool
	Brand         brand.Brand
	// Owner, if set, is the first member, and may do everything.
	Owner *FirstOwner
}

// FirstOwner is the person with whom a tenant begins.
type FirstOwner struct {
	Subject string // of their tokens; empty until they are known
	Name    string
	Email   string
}

// CreateTenant makes a tenant with the roles that every tenant has. Where its id is taken already
// nothing changes, and what is there is given. It is for operators: no RPC leads here.
func (s *Service) CreateTenant(ctx context.Context, n NewTenant) (catalog.Tenant, error) {
	if n.ID.IsZero() {
		n.ID = tenant.New[tenant.TenantID](s.engine.Now())
	}
	made := catalog.Tenant{
		ID: n.ID, Name: n.Name, TimeZone: n.TimeZone, Locale: n.Locale, Currency: n.Currency,
		TakesPayments: n.TakesPayments, Brand: n.Brand, Version: 1,
	}
	if err := made.Validate(); err != nil {
		return catalog.Tenant{}, err
	}
	var owner *member.Member
	if n.Owner != nil {
		person, err := member.Member{
			Subject: n.Owner.Subject, Name: n.Owner.Name, Email: n.Owner.Email, Status: member.Active, Roles: []string{tenant.RoleOwner},
		}.Normalize()
		if err != nil {
			return catalog.Tenant{}, err
		}
		owner = &person
	}
	err := s.engine.Write(ctx, tenant.System(n.ID), "tenant.create", func(ctx context.Context, tx *engine.Tx) error {
		var there *catalog.Tenant
		var batch pg.Batch
		accountdb.FindTenant(&batch, tx.Tenant, &there)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if there != nil {
			made = *there
			return nil
		}
		made.CreatedAt, made.UpdatedAt = tx.Now, tx.Now
		accountdb.InsertTenant(tx.Tx, made, builtInRoles)
		seats.CatalogChanged(tx, "tenant.created", "tenant", tx.Tenant.UUID, catalog.AuditChanges(nil, made.AuditFields()))
		if owner != nil {
			firstOwner(tx, *owner)
		}
		tellNodes(tx)
		return nil
	}, engine.Losing(byTenant))
	if mayBeDurable(err) {
		s.rolesChanged(n.ID) // somebody may have asked before there was anybody
	}
	return made, err
}

func firstOwner(tx *engine.Tx, m member.Member) {
	m.ID, m.Version, m.CreatedAt, m.UpdatedAt = tenant.NextID[tenant.MemberID](tx.IDs), 1, tx.Now, tx.Now
	accountdb.InsertMembers(tx.Tx, tx.Tenant, m)
	set := member.ChangedFields(member.Member{}, m)
	tx.Audit("member.created", "member", m.ID.UUID, "", engine.AuditChange(nil, m.AuditValues(set)))
	memberEvent(tx, m.ID, set)
}

var builtInRoles = []string{tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, tenant.RolePartner}

// byTenant: two create the same tenant at the same moment. The second finds what the first made.
var byTenant = func(err error) bool { return pg.IsUnique(err, "directory_pkey", "tenants_pkey") }
