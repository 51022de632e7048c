package accounts_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	app, ctx, owner := s.App.Accounts, t.Context(), s.Owner
	ana, ben := s.AddMember("Ana"), s.AddMember("Ben")
	cleo := s.AddMemberWith(member.Member{Name: "Cleo", Email: "cleo@example.com"})
	pack := s.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 4})
	sub := s.Subscribe(ana, pack)
	booked := s.MustBook(ana, s.AddSession(testkit.Session{}))
	account, key := s.AddAccount("Robot", tenant.RolePartner)
	bank := newBank(t, s.Clock.Now)
	device := expect.Value(app.RegisterDevice(ctx, ana, member.IOS, "phone"))(t)
	s.EditTenant(func(t *catalog.Tenant) { t.AuditMemberReads = true })
	s.Exec(`update devices set token = 'old', sealed = null`) // as they were stored before
	desk := grant.Role{Name: "desk", Title: "Desk", Permissions: []string{"session.read"}}
	transfer := expect.Value(app.TransferOwnership(ctx, owner, ana.Member))(t)
	s.WantErrors(
		func() error {
			return expect.Error(app.CreateSubscription(ctx, owner, accounts.NewSubscription{Member: ben.Member, Plan: pack.ID}))
		},
		func() error { return expect.Error(app.GrantCredits(ctx, owner, sub.ID, 1, "")) },
		func() error { return expect.Error(app.RefundCredit(ctx, owner, booked, "")) },
		func() error { return expect.Error(app.GetBalance(ctx, owner, ana.Member, nil)) },
		func() error {
			return expect.Error(app.ListCreditLines(ctx, owner, sub.ID, accounts.LineQuery{Limit: 9}))
		},
		func() error { return expect.Error(app.GetMember(ctx, owner, ana.Member)) },
		func() error {
			return expect.Error(app.ConfirmMemberContact(ctx, owner, cleo.Member, member.Contact{
				Kind: member.ByEmail, Address: "cleo@example.com",
			}, ""))
		},
		func() error { return expect.Error(app.ListMembers(ctx, owner, member.Search{Limit: 9})) },
		func() error { return expect.Error(app.UpdateMe(ctx, ana, nil, named("Ana"))) },
		func() error {
			return expect.Error(app.UpdateMe(ctx, ana, nil, func(m *member.Member) error {
				m.Email = "ana@example.com"
				return nil
			}))
		},
		func() error { return expect.Error(app.ResendContactCode(ctx, ana, member.ByEmail)) },
		func() error { return app.CancelContact(ctx, ana, member.ByEmail) },
		func() error { return app.BindIssuer(ctx, ana, "https://id.example", []string{""}) },
		func() error {
			return expect.Error(app.CheckAccess(ctx, owner, access.New(accounts.AccessSource(s.DB.DB)),
				accounts.AccessSubject{Member: ana.Member}, "role.read"))
		},
		func() error {
			return expect.Error(app.ImportMembers(ctx, owner, expect.Value(member.ParseImport([]byte("name\nIda\n")))(t),
				false, nil))
		},
		func() error {
			return app.CheckImport(ctx, owner, expect.Value(member.ParseImport([]byte("name\nIda\n")))(t).Rows)
		},
		func() error { return expect.Error(app.GetMe(ctx, ana)) },
		func() error { return expect.Error(app.RegisterDevice(ctx, ana, member.Web, "browser")) },
		func() error { return app.SealDevices(ctx, s.Tenant) },
		func() error { return app.UnregisterDevice(ctx, ana, device.ID) },
		func() error { return expect.Error(app.CreateRole(ctx, owner, desk)) },
		func() error { return expect.Error(app.AssignRole(ctx, owner, ben.Member, "desk")) },
		func() error { return expect.Error(app.RevokeRole(ctx, owner, ben.Member, "desk")) },
		func() error { return expect.Error(app.ListRoles(ctx, owner, grant.RoleSearch{Limit: 9})) },
		func() error { return app.DeleteRole(ctx, owner, "desk", nil) },
		func() error {
			return expect.Error(app.CreateServiceAccount(ctx, owner, grant.ServiceAccount{
				Name: "Door", Roles: []string{tenant.RolePartner},
			}))
		},
		func() error { return expect.Error(app.ExchangeKey(ctx, bank.issuer, s.Tenant, key)) },
		func() error {
			return expect.Error(app.ListServiceAccounts(ctx, owner, grant.ServiceAccountSearch{Limit: 9}))
		},
		func() error {
			return expect.Error(app.RotateServiceAccountKey(ctx, owner, account.ID, time.Hour))
		},
		func() error { return expect.Error(app.RevokeServiceAccount(ctx, owner, account.ID)) },
		func() error { return expect.Error(app.GetTenant(ctx, owner)) },
		func() error { return expect.Error(app.StepUp(ctx, s.Tenant)) },
		func() error {
			return expect.Error(app.ListAuditEntries(ctx, owner, accounts.AuditQuery{Limit: 9}))
		},
		func() error { return app.SweepCodes(ctx, s.Tenant) },
		func() error { return expect.Error(app.ListSignIns(ctx, owner, ana.Member)) },
		func() error {
			return app.RemovePasskey(ctx, owner, ana.Member, testkit.NewID[tenant.PasskeyID]())
		},
		func() error {
			return expect.Error(app.EndSignIns(ctx, owner, accounts.SignInQuery{Member: ana.Member}))
		},
		func() error { return expect.Error(app.ListOwnershipTransfers(ctx, owner)) },
		func() error { return expect.Error(app.ConfirmOwnershipTransfer(ctx, self(ana), transfer.ID)) },
		func() error { return expect.Error(app.TransferOwnership(ctx, ana, ben.Member)) },
	)
}
