package accounts_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func rolesOf(studio *testkit.Studio, who tenant.Caller) []string {
	return expect.Value(
		studio.App.Accounts.GetMember(studio.T.Context(), tenant.System(studio.Tenant), who.Member),
	)(studio.T).Member.Roles
}

// self is the caller of an RPC that everyone may call for what is their own.
func self(who tenant.Caller) tenant.Caller {
	who.SelfOnly = true
	return who
}

func TestTransferOwnership_IsConfirmedByTheReceiver(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app := studio.App.Accounts
	ben, mia := studio.AddPerson("Ben", tenant.RoleCoach), studio.AddMember("Mia")
	first := expect.Value(app.TransferOwnership(t.Context(), studio.Owner, mia.Member))(t)
	offer := expect.Value(app.TransferOwnership(t.Context(), studio.Owner, ben.Member))(t)
	test.EqOp(t, 7*24*time.Hour, offer.ExpiresAt.Sub(offer.CreatedAt))
	studio.Tick()
	ottos := expect.Value(app.TransferOwnership(t.Context(), studio.AddPerson("Otto", tenant.RoleOwner), mia.Member))(t)
	for _, c := range []struct {
		who  tenant.Caller
		want []grant.Transfer
	}{
		{studio.Owner, []grant.Transfer{ottos, offer}},
		{self(ben), []grant.Transfer{offer}}, {self(mia), []grant.Transfer{ottos}},
		{self(studio.AddMember("Noa")), []grant.Transfer{}},
	} {
		test.Eq(t, c.want, expect.Value(app.ListOwnershipTransfers(t.Context(), c.who))(t))
	}
	test.Eq(t, []string{"owner"}, rolesOf(studio, studio.Owner), test.Sprint("an offer changes nothing"))
	for _, wrong := range []struct {
		by tenant.Caller
		id tenant.TransferID
	}{
		{mia, first.ID}, {mia, offer.ID}, {studio.Owner, offer.ID}, {ben, tenant.TransferID{UUID: tenant.UUID{1}}},
	} {
		expect.Reason(t, fault.TransferNotFound)(app.ConfirmOwnershipTransfer(t.Context(), self(wrong.by), wrong.id))
	}
	roles := expect.Value(app.ConfirmOwnershipTransfer(t.Context(), self(ben), offer.ID))(t)
	test.Eq(t, []string{"owner", "coach", "member"}, roles)
	test.Eq(t, roles, rolesOf(studio, ben))
	test.Eq(t, []string{"admin"}, rolesOf(studio, studio.Owner))
	// The sender's power ended with the commit, whatever their token said before.
	expect.Reason(t, fault.PermissionDeniedReason)(app.TransferOwnership(t.Context(), studio.Owner, mia.Member))
	expect.Reason(t, fault.PermissionDeniedReason)(
		app.RevokeRole(t.Context(), studio.Owner, ben.Member, tenant.RoleOwner),
	)
	test.True(t, slices.Contains(studio.Audited(), "ownership.transferred"), test.Sprint(studio.Audited()))
	// The transfer has ended, also if its sender is an owner again.
	expect.OK(t)(app.AssignRole(t.Context(), ben, studio.Owner.Member, tenant.RoleOwner))
	expect.Reason(t, fault.TransferNotFound)(app.ConfirmOwnershipTransfer(t.Context(), self(ben), offer.ID))
}

func TestTransferOwnership_EndsWithItsPremise(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(studio *testkit.Studio, otto, ben tenant.Caller, x grant.Transfer){
		"it expires": func(studio *testkit.Studio, _, _ tenant.Caller, x grant.Transfer) {
			studio.Clock.Set(x.ExpiresAt)
		},
		"the sender is no owner any more": func(studio *testkit.Studio, otto, _ tenant.Caller, _ grant.Transfer) {
			expect.OK(studio.T)(
				studio.App.Accounts.RevokeRole(studio.T.Context(), studio.Owner, otto.Member, tenant.RoleOwner),
			)
		},
		"the sender is deactivated": func(studio *testkit.Studio, otto, _ tenant.Caller, _ grant.Transfer) {
			studio.Deactivate(otto)
		},
		"the receiver is deactivated": func(studio *testkit.Studio, _, ben tenant.Caller, _ grant.Transfer) {
			studio.Deactivate(ben)
		},
		"the receiver declines": func(studio *testkit.Studio, _, ben tenant.Caller, x grant.Transfer) {
			must.NoError(studio.T, studio.App.Accounts.CancelOwnershipTransfer(studio.T.Context(), self(ben), x.ID))
		},
		"another owner withdraws it": func(studio *testkit.Studio, _, _ tenant.Caller, x grant.Transfer) {
			must.NoError(studio.T, studio.App.Accounts.CancelOwnershipTransfer(studio.T.Context(), studio.Owner, x.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			otto, ben := studio.AddPerson("Otto", tenant.RoleOwner), studio.AddMember("Ben")
			offer := expect.Value(studio.App.Accounts.TransferOwnership(t.Context(), otto, ben.Member))(t)
			expect.Reason(t, fault.TransferNotFound)(
				studio.App.Accounts.CancelOwnershipTransfer(t.Context(), self(studio.AddMember("Mia")), offer.ID),
			)
			end(studio, otto, ben, offer)
			ended := func() {
				expect.Reason(t, fault.TransferNotFound)(studio.App.Accounts.ConfirmOwnershipTransfer(
					t.Context(), self(ben), offer.ID,
				))
				expect.Reason(t, fault.TransferNotFound)(studio.App.Accounts.CancelOwnershipTransfer(
					t.Context(), studio.Owner, offer.ID,
				))
				test.SliceEmpty(t, expect.Value(studio.App.Accounts.ListOwnershipTransfers(t.Context(), studio.Owner))(t))
				test.SliceNotContains(t, rolesOf(studio, ben), tenant.RoleOwner)
			}
			ended()
			// It does not come back with its premise.
			expect.OK(t)(studio.App.Accounts.AssignRole(t.Context(), studio.Owner, otto.Member, tenant.RoleOwner))
			for _, who := range []tenant.Caller{otto, ben} {
				expect.OK(t)(studio.App.Accounts.ReactivateMember(t.Context(), studio.Owner, who.Member))
			}
			ended()
		})
	}
}

// Who is removed as an owner does not become one again by an offer from before.
func TestTransferOwnership_EndsWhenItsReceiverIsRemovedAsAnOwner(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	otto, ben := studio.AddPerson("Otto", tenant.RoleOwner), studio.AddPerson("Ben", tenant.RoleOwner)
	offer := expect.Value(studio.App.Accounts.TransferOwnership(t.Context(), otto, ben.Member))(t)
	expect.OK(t)(studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, ben.Member, tenant.RoleOwner))
	expect.Reason(t, fault.TransferNotFound)(studio.App.Accounts.ConfirmOwnershipTransfer(
		t.Context(), self(ben), offer.ID,
	))
	test.SliceNotContains(t, rolesOf(studio, ben), tenant.RoleOwner)
}

func TestTransferOwnership_NamesAnotherActiveMember(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	gone := studio.AddMember("Gone")
	studio.Deactivate(gone)
	for id, want := range map[tenant.MemberID]fault.Reason{
		studio.Owner.Member: fault.InvalidField, gone.Member: fault.InvalidField,
		testkit.NewID[tenant.MemberID]():  fault.MemberNotFound,
		studio.OtherTenant().Owner.Member: fault.MemberNotFound,
	} {
		expect.Reason(t, want)(studio.App.Accounts.TransferOwnership(t.Context(), studio.Owner, id))
	}
}

// An owner confirms a transfer while its sender is removed. There is an owner in the end, and one who was asked.
func TestConfirmTransfer_RacesWithTheRemovalOfTheSender(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	for range 6 {
		otto, ben := studio.AddPerson("Otto", tenant.RoleOwner), studio.AddMember("Ben")
		offer := expect.Value(studio.App.Accounts.TransferOwnership(t.Context(), otto, ben.Member))(t)
		errs := testkit.ParallelErrors(2, func(i int) error {
			if i == 0 {
				return expect.Error(studio.App.Accounts.ConfirmOwnershipTransfer(t.Context(), self(ben), offer.ID))
			}
			return expect.Error(studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, otto.Member, tenant.RoleOwner))
		})
		must.NoError(t, errs[1])
		must.EqOp(t, errs[0] == nil, slices.Contains(rolesOf(studio, ben), tenant.RoleOwner))
		must.SliceNotContains(t, rolesOf(studio, otto), tenant.RoleOwner)
		if errs[0] != nil {
			must.EqOp(t, fault.TransferNotFound, fault.ReasonOf(errs[0]))
		}
	}
}
