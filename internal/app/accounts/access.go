package accounts

import (
	"context"
	"strings"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// AccessSource reads roles, members and service accounts for the guard.
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
	var issuer string
	var account *grant.ServiceAccount
	named, isNamed := strings.CutPrefix(subject, tenant.MemberPrefix)
	switch {
	case isNamed:
		if member, err := tenant.Parse[tenant.MemberID](named); err == nil {
			accountdb.FindMember(&batch, id, member, &m)
		}
	case strings.HasPrefix(subject, tenant.AccountPrefix):
		accountdb.FindAccount(&batch, id, tenant.AccountOf(subject), &account)
	case !hasZeroByte(subject):
		accountdb.FindMemberBySubject(&batch, id, subject, &m)
		accountdb.FindIssuer(&batch, id, subject, &issuer)
	}
	if err := s.db.ReadBatch(ctx, pg.Scope{Tenant: id}, &batch); err != nil {
		return access.Holder{}, err
	}
	switch {
	case m != nil && isNamed && m.ByInvitation && m.Subject == "":
		return access.Holder{}, nil // an access token that is left of a sign-in, which has ended: see proveAnew
	case m != nil:
		return access.Holder{Member: m.ID, Roles: m.Roles, Active: m.Active(), Issuer: issuer}, nil
	case account != nil:
		return access.Holder{Roles: account.Roles, Active: !account.Revoked()}, nil
	}
	return access.Holder{}, nil
}

// BindIssuer makes an issuer the one of the caller's tokens, if it was one of others until now. From then on, tokens of
// other issuers with the same subject do not belong to the member.
func (s *Service) BindIssuer(ctx context.Context, caller tenant.Caller, issuer string, others []string) error {
	t := engine.Transaction{Name: "member.bind_issuer", Quiet: true}
	_, err := changeAccess(ctx, s, caller, t, func(_ context.Context, tx *engine.Tx) (struct{}, error) {
		accountdb.BindIssuer(tx.Tx, tx.Tenant, caller.Member, issuer, others)
		record.Audit(tx, "member.issuer_bound", "member", caller.Member.UUID, "", map[string]any{"issuer": issuer})
		return struct{}{}, nil
	})
	return err
}

// AccessSubject names a member or a service account. Exactly one field is set.
type AccessSubject struct {
	Member  tenant.MemberID
	Subject string // of a member's tokens
	Account tenant.ServiceAccountID
}

// Access says whether a member or a service account has a permission, and why.
type Access struct {
	Allowed bool
	Through []string // roles of theirs with the permission
	Giving  []string // roles of the tenant with the permission
	Active  bool
}

// CheckAccess asks the guard for a decision about a member or a service account. Errors: MEMBER_NOT_FOUND,
// SERVICE_ACCOUNT_NOT_FOUND, PERMISSION_NOT_FOUND.
func (s *Service) CheckAccess(
	ctx context.Context, caller tenant.Caller, guard *access.Guard, who AccessSubject, permission string,
) (Access, error) {
	var m *member.Member
	var account *grant.ServiceAccount
	var batch pg.Batch
	switch {
	case !who.Account.IsZero():
		accountdb.FindAccount(&batch, caller.Tenant, who.Account, &account)
	case !who.Member.IsZero():
		accountdb.FindMember(&batch, caller.Tenant, who.Member, &m)
	case !hasZeroByte(who.Subject):
		accountdb.FindMemberBySubject(&batch, caller.Tenant, who.Subject, &m)
	}
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return Access{}, err
	}
	var subject string
	switch {
	case account != nil:
		subject = tenant.AccountPrefix + account.ID.String()
	case !who.Account.IsZero():
		return Access{}, errNoAccount
	case m == nil:
		return Access{}, errNoMember
	default:
		subject = tenant.MemberSubject(m.ID) // not every member has a subject of their own
	}
	e, err := guard.Explain(ctx, caller.Tenant, subject, permission)
	return Access{Allowed: e.Allowed, Through: e.GrantedBy, Giving: e.AllRoles, Active: e.Active}, err
}
