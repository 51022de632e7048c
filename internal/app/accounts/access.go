package accounts

import (
	"context"
	"strings"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/policy"
)

// AccessSource gives the guard what a tenant has decided about access.
func AccessSource(db *pg.DB) access.Source { return source{db} }

type source struct{ db *pg.DB }

// Roles implements access.Source.
func (s source) Roles(ctx context.Context, id tenant.TenantID) ([]access.Role, error) {
	var own []grant.Role
	var batch pg.Batch
	accountdb.ListOwnRoles(&batch, id, &own)
	if err := s.db.ReadBatch(ctx, pg.Scope{Tenant: id}, &batch); err != nil {
		return nil, err
	}
	roles := make([]access.Role, len(own))
	for i, r := range own {
		roles[i] = access.Role{Name: r.Name, Permissions: r.Permissions}
	}
	return roles, nil
}

// Holder implements access.Source.
func (s source) Holder(ctx context.Context, id tenant.TenantID, subject string) (access.Holder, error) {
	var batch pg.Batch
	var m *member.Member
	var account *grant.ServiceAccount
	switch {
	case strings.HasPrefix(subject, token.ServiceAccountPrefix):
		accountdb.FindAccount(&batch, id, accountOf(subject), &account)
	case !unheard(subject):
		accountdb.FindMemberBySubject(&batch, id, subject, &m)
	}
	if err := s.db.ReadBatch(ctx, pg.Scope{Tenant: id}, &batch); err != nil {
		return access.Holder{}, err
	}
	switch {
	case m != nil:
		return access.Holder{Member: m.ID, Roles: m.Roles, Active: m.Active()}, nil
	case account != nil:
		return access.Holder{Roles: account.Roles, Active: !account.Revoked()}, nil
	}
	return access.Holder{}, nil
}

// AccessSubject is somebody of whom access is asked: one of the three.
type AccessSubject struct {
	Member  tenant.MemberID
	Subject string // of a member's tokens
	Account tenant.ServiceAccountID
}

// Access is whether somebody may do something, and why.
type Access struct {
	Allowed bool
	Through []string // roles that they hold and that give it
	Giving  []string // roles of the tenant that give it
	Active  bool
}

// CheckAccess asks the guard what it would say to somebody. Errors: MEMBER_NOT_FOUND,
// SERVICE_ACCOUNT_NOT_FOUND, PERMISSION_NOT_FOUND.
func (s *Service) CheckAccess(ctx context.Context, caller tenant.Caller, guard *access.Guard, who AccessSubject, permission string) (Access, error) {
	var m *member.Member
	var account *grant.ServiceAccount
	var own []grant.Role
	var batch pg.Batch
	switch {
	case !who.Account.IsZero():
		accountdb.FindAccount(&batch, caller.Tenant, who.Account, &account)
	case !who.Member.IsZero():
		accountdb.FindMember(&batch, caller.Tenant, who.Member, &m)
	case !unheard(who.Subject):
		accountdb.FindMemberBySubject(&batch, caller.Tenant, who.Subject, &m)
	}
	accountdb.ListOwnRoles(&batch, caller.Tenant, &own)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return Access{}, err
	}
	var subject string
	switch {
	case account != nil:
		subject = token.ServiceAccountPrefix + account.ID.String()
	case !who.Account.IsZero():
		return Access{}, errNoAccount
	case m == nil:
		return Access{}, fault.Missing(fault.MemberNotFound, "Member")
	case m.Subject == "":
		return unbound(grant.NewRoleSet(own), *m, permission)
	default:
		subject = m.Subject
	}
	e, err := guard.Explain(ctx, caller.Tenant, subject, permission)
	return Access{Allowed: e.Allowed, Through: e.GrantedBy, Giving: e.AllRoles, Active: e.Active}, err
}

// unbound answers about a member as whom nobody can sign in yet, whom the guard cannot know.
func unbound(book grant.RoleSet, m member.Member, permission string) (Access, error) {
	if _, ok := policy.IndexOf(permission); !ok {
		return Access{}, fault.New(fault.NotFound, fault.PermissionNotFound, "There is no permission %q.", permission)
	}
	answer := Access{Giving: book.RolesWith(permission, book.Names()), Active: m.Active()}
	if m.Active() {
		answer.Through = book.RolesWith(permission, m.Roles)
		answer.Allowed = len(answer.Through) > 0
	}
	return answer, nil
}
