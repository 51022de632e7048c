package testkit

import (
	"context"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// AddMember creates a member and returns it as a caller.
func (s *Studio) AddMember(name string) tenant.Caller {
	s.T.Helper()
	return s.AddMemberWith(member.Member{Name: name})
}

// AddMemberWith creates a member with more than a name and returns it as a caller.
func (s *Studio) AddMemberWith(m member.Member) tenant.Caller {
	s.T.Helper()
	m.Subject = newSubject()
	m = expect.Value(s.App.Accounts.CreateMember(context.Background(), s.Owner, m))(s.T)
	return tenant.Caller{
		Tenant: s.Tenant, Subject: m.Subject, Member: m.ID, Roles: m.Roles, May: grant.PermissionsOf(m.Roles...),
	}
}

// AddPerson creates a member with a further role and returns it as a caller.
func (s *Studio) AddPerson(name, role string) tenant.Caller {
	s.T.Helper()
	who := s.AddMember(name)
	if role != tenant.RoleMember {
		who.Roles = expect.Value(s.App.Accounts.AssignRole(context.Background(), s.Owner, who.Member, role))(s.T)
		who.May = grant.PermissionsOf(who.Roles...)
	}
	return who
}

// EditMember edits a member as the owner.
func (s *Studio) EditMember(who tenant.Caller, edit func(*member.Member)) {
	s.T.Helper()
	expect.OK(s.T)(
		s.App.Accounts.UpdateMember(context.Background(), s.Owner, who.Member, nil, func(m *member.Member) error {
			edit(m)
			return nil
		}),
	)
}

// ConfirmContacts makes the contacts of a member confirmed.
func (s *Studio) ConfirmContacts(who tenant.Caller) {
	s.T.Helper()
	expect.OK(s.T)(s.DB.Owner.Exec(
		context.Background(),
		`update members set confirmed_email = email, confirmed_phone = phone where tenant_id = $1 and id = $2`,
		s.Tenant, who.Member,
	))
}

// SetTier puts a member into a tier.
func (s *Studio) SetTier(who tenant.Caller, tier string) {
	s.T.Helper()
	s.EditMember(who, func(m *member.Member) { m.Tier = tier })
}

// Deactivate ends a membership.
func (s *Studio) Deactivate(who tenant.Caller) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Accounts.DeactivateMember(context.Background(), s.Owner, who.Member))
}

// SelfOnly returns the caller as in an RPC that allows access only to what is their own.
func SelfOnly(c tenant.Caller) tenant.Caller {
	c.SelfOnly = true
	return c
}

// ReaderOfAll returns the caller as a reader of events with all permissions for it.
func ReaderOfAll(c tenant.Caller) events.EventReader {
	may := make(map[string]bool, len(events.ReadPermissions))
	for _, p := range events.ReadPermissions {
		may[p] = true
	}
	return events.EventReader{Caller: c, May: may}
}

// AddAccount creates a service account and returns it with its key.
func (s *Studio) AddAccount(name string, roles ...string) (grant.ServiceAccount, string) {
	s.T.Helper()
	account, key, err := s.App.Accounts.CreateServiceAccount(
		context.Background(), s.Owner, grant.ServiceAccount{Name: name, Roles: roles},
	)
	s.NoError(err)
	return account, key
}

// AddPartner creates a service account and returns it as a caller for what it created.
func (s *Studio) AddPartner(name string) tenant.Caller {
	s.T.Helper()
	account, _ := s.AddAccount(name, tenant.RolePartner)
	return SelfOnly(tenant.Caller{
		Tenant: s.Tenant, Subject: "sa:" + account.ID.String(), Roles: account.Roles,
		May: grant.PermissionsOf(account.Roles...),
	})
}

// AddPlan creates a plan. Without a name it gets one.
func (s *Studio) AddPlan(p credit.Plan) credit.Plan {
	s.T.Helper()
	if p.Name == "" {
		p.Name = "Plan " + NewID[tenant.PlanID]().String()
	}
	p.Active = true
	return expect.Value(s.App.Catalog.CreatePlan(context.Background(), s.Owner, p))(s.T)
}

// Subscribe starts a subscription of a member to a plan.
func (s *Studio) Subscribe(who tenant.Caller, p credit.Plan) credit.Subscription {
	s.T.Helper()
	return expect.Value(s.App.Accounts.CreateSubscription(
		context.Background(), s.Owner, accounts.NewSubscription{Member: who.Member, Plan: p.ID},
	))(s.T)
}

// Balance returns the balance of a subscription.
func (s *Studio) Balance(of credit.Subscription) int {
	s.T.Helper()
	return s.Count(`select balance from subscriptions where tenant_id = $1 and id = $2`, s.Tenant, of.ID)
}

// newSubject returns the subject of a person who has none yet.
func newSubject() string { return "user-" + NewID[tenant.MemberID]().String() }

// ImportMembers imports a file of members.
func (s *Studio) ImportMembers(file string, dryRun bool) accounts.MemberImport {
	s.T.Helper()
	parsed := expect.Value(member.ParseImport([]byte(file)))(s.T)
	must.NoError(s.T, s.App.Accounts.CheckImport(context.Background(), s.Owner, parsed.Rows))
	return expect.Value(s.App.Accounts.ImportMembers(context.Background(), s.Owner, parsed, dryRun, nil))(s.T)
}
