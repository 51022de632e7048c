package accounts_test

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// desk adds somebody at the desk, who may enter members and do little else, and a role of helpers, who may do less.
func desk(s *testkit.Studio) tenant.Caller {
	s.T.Helper()
	for name, may := range map[string][]string{
		"desk": {"member.read", "member.write", "booking.read"}, "helper": {"booking.read"},
	} {
		expect.OK(s.T)(s.App.Accounts.CreateRole(s.T.Context(), s.Owner, grant.Role{Name: name, Permissions: may}))
	}
	return s.AddPerson("Dee Desk", "desk")
}

// entered returns Mia, whose address somebody has entered and proven as hers: they read the mails there.
func entered(s *testkit.Studio, by tenant.Caller) member.Member {
	s.T.Helper()
	m := expect.Value(s.App.Accounts.CreateMember(s.T.Context(), by, member.Member{
		Name: "Mia", Email: "mia@example.com",
	}))(s.T)
	expect.OK(s.T)(invite(s, by, m.ID))
	expect.OK(s.T)(s.App.Accounts.AcceptInvitation(s.T.Context(), mailedLink(s), begin))
	s.Exec(`insert into sign_ins (tenant_id, id, member_id, token_hash, method, created_at, used_at, expires_at)
		select $1, gen_random_uuid(), $2, sha256('s'), 'CODE', $3, $3, $3::timestamptz + interval '1 day'`,
		s.Tenant, m.ID, testkit.Noon)
	return m
}

// mailedLink returns the link of the only invitation that was mailed since.
func mailedLink(s *testkit.Studio) string {
	s.T.Helper()
	var links []string
	for _, o := range deliver(s) {
		if o.Kind == content.MailInvitation {
			_, rest, _ := strings.Cut(o.Message.Text, "https://berth.example"+accounts.InvitePath)
			links = append(links, strings.Fields(rest)[0])
		}
	}
	must.SliceLen(s.T, 1, links)
	return links[0]
}

// holds reports whether an access token that names a member still is a member's.
func holds(s *testkit.Studio, id tenant.MemberID) bool {
	s.T.Helper()
	source := accounts.AccessSource(s.Config().DB)
	return expect.Value(source.Holder(s.T.Context(), s.Tenant, tenant.MemberSubject(id)))(s.T).Active
}

// Who entered an address, and signed in with it, gets no permission by it that they lack: whoever has the permission
// invites the member first. That is so for every way to get one, and not for those that they have themselves.
func TestRoles_GiveAnAddressNothingThatItsEditorLacks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	assign := func(s *testkit.Studio, to member.Member, role string) {
		expect.OK(s.T)(s.App.Accounts.AssignRole(ctx, s.Owner, to.ID, role))
	}
	edit := func(s *testkit.Studio, role string, add ...string) {
		expect.OK(s.T)(s.App.Accounts.UpdateRole(ctx, s.Owner, role, nil, func(r *grant.Role) error {
			r.Permissions = append(r.Permissions, add...)
			return nil
		}))
	}
	for why, c := range map[string]struct {
		grow func(s *testkit.Studio, to member.Member)
		anew bool
	}{
		"a built-in role": {func(s *testkit.Studio, to member.Member) { assign(s, to, tenant.RoleCoach) }, true},
		"an own role": {func(s *testkit.Studio, to member.Member) {
			edit(s, "helper", "payment.record")
			assign(s, to, "helper")
		}, true},
		"a role that they hold is edited": {func(s *testkit.Studio, to member.Member) {
			assign(s, to, "helper")
			edit(s, "helper", "payment.record")
		}, true},
		"the editor has lost the permission": {func(s *testkit.Studio, to member.Member) {
			expect.OK(t)(s.App.Accounts.UpdateRole(ctx, s.Owner, "desk", nil, func(r *grant.Role) error {
				r.Permissions = []string{"member.read"}
				return nil
			}))
			assign(s, to, "helper")
		}, true},
		"a permission of the editor's": {func(s *testkit.Studio, to member.Member) { assign(s, to, "helper") }, false},
		"the editor gets it, too": {func(s *testkit.Studio, to member.Member) {
			edit(s, "desk", "payment.record")
			edit(s, "helper", "payment.record")
			assign(s, to, "helper")
		}, false},
		"a role loses a permission": {func(s *testkit.Studio, to member.Member) {
			assign(s, to, "helper")
			expect.OK(t)(s.App.Accounts.UpdateRole(ctx, s.Owner, "helper", nil, func(r *grant.Role) error {
				r.Permissions = nil
				return nil
			}))
		}, false},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			s := testkit.New(t)
			dee := desk(s)
			mia := entered(s, dee)
			open := expect.Value(invite(s, dee, mia.ID))(t)
			old := mailedLink(s)
			c.grow(s, mia)
			now := expect.Value(s.App.Accounts.GetMember(ctx, s.Owner, mia.ID))(t).Member
			test.EqOp(t, !c.anew, now.SignsInByCode(nil, s.Clock.Now()))
			test.EqOp(t, !c.anew, holds(s, mia.ID), test.Sprint("an access token that is left"))
			test.EqOp(t, map[bool]int{false: 1}[c.anew], s.Count(`select count(*) from sign_ins`))
			if !c.anew {
				test.SliceEmpty(t, deliver(s))
				return
			}
			expect.Reason(t, fault.LinkInvalid)(s.App.Accounts.AcceptInvitation(ctx, old, begin))
			expect.Reason(t, fault.PermissionDeniedReason)(s.App.Accounts.ResendInvitation(ctx, dee, open.ID))
			expect.Reason(t, fault.PermissionDeniedReason)(invite(s, dee, mia.ID))
			after := expect.Value(s.App.Accounts.AcceptInvitation(ctx, mailedLink(s), begin))(t)
			test.True(t, after.SignsInByCode(nil, s.Clock.Now()))
			test.True(t, holds(s, mia.ID))
			test.EqOp(t, s.Owner.Member.String(), after.EmailBy)
			assign(s, mia, "desk")
			test.SliceEmpty(t, deliver(s), test.Sprint("the owner vouches for the rest"))
		})
	}
}

// An address that nobody has proven yet proves nothing either, once the member has more than its editor.
func TestRoles_AnUnprovenAddressNeedsAnInvitation(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	dee := desk(s)
	mia := expect.Value(s.App.Accounts.CreateMember(t.Context(), dee, member.Member{
		Name: "Mia", Email: "mia@example.com",
	}))(t)
	byCode := func() bool {
		now := expect.Value(s.App.Accounts.GetMember(t.Context(), s.Owner, mia.ID))(t).Member
		return now.SignsInByCode(nil, s.Clock.Now())
	}
	test.True(t, byCode())
	expect.OK(t)(s.App.Accounts.AssignRole(t.Context(), s.Owner, mia.ID, tenant.RoleCoach))
	test.False(t, byCode())
	test.SliceEmpty(t, deliver(s))
	expect.OK(t)(s.App.Accounts.RevokeRole(t.Context(), s.Owner, mia.ID, tenant.RoleCoach))
	test.False(t, byCode(), test.Sprint("until somebody invites them"))

	// Somebody who has the permissions enters the address anew.
	expect.OK(t)(s.App.Accounts.AssignRole(t.Context(), s.Owner, mia.ID, tenant.RoleCoach))
	readdress(s, mia.ID, "mia@example.net")
	test.True(t, byCode())
}

// The old address that refuses a change is no better known than before.
func TestRefuseAddress_LeavesNobodyVouching(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := entered(s, desk(s))
	readdress(s, mia.ID, "new@example.com")
	must.NoError(t, s.App.Accounts.RefuseAddress(t.Context(), asked(s)))
	expect.OK(t)(s.App.Accounts.AssignRole(t.Context(), s.Owner, mia.ID, tenant.RoleCoach))
	now := expect.Value(s.App.Accounts.GetMember(t.Context(), s.Owner, mia.ID))(t).Member
	test.False(t, now.SignsInByCode(nil, s.Clock.Now()))
	mailedLink(s)
}

// An account that was linked by an address is linked no more when the member gets more than the address's editor has,
// and not again by the address. The invitation links it.
func TestRoles_UnlinkAnAccountThatAnAddressHasLinked(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := testkit.New(t)
	config := s.Config()
	config.LinkByEmail, config.HasIdentityProvider = true, true
	s.App = app.New(config)
	dee := desk(s)
	mia := expect.Value(s.App.Accounts.CreateMember(ctx, dee, member.Member{Name: "Mia", Email: "mia@example.com"}))(t)
	account := tenant.Caller{Tenant: s.Tenant, Subject: "idp|dee", Email: "mia@example.com", SelfOnly: true}
	expect.OK(t)(s.App.Accounts.LinkMe(ctx, account, "https://idp.example"))
	source := accounts.AccessSource(s.Config().DB)
	holder := func() tenant.MemberID {
		return expect.Value(source.Holder(ctx, s.Tenant, account.Subject))(t).Member
	}
	must.EqOp(t, mia.ID, holder())
	deliver(s)
	expect.OK(t)(s.App.Accounts.AssignRole(ctx, s.Owner, mia.ID, tenant.RoleCoach))
	test.True(t, holder().IsZero())
	test.EqOp(t, 1, s.Count(`select count(*) from audit_entries where action = 'member.unlinked'`))
	expect.Reason(t, fault.InvitationRequired)(s.App.Accounts.LinkMe(ctx, account, "https://idp.example"))
	expect.OK(t)(s.App.Accounts.AcceptInvitationAs(ctx, account, "https://idp.example", mailedLink(s)))
	test.EqOp(t, mia.ID, holder())
	expect.OK(t)(s.App.Accounts.AssignRole(ctx, s.Owner, mia.ID, tenant.RoleAdmin))
	test.EqOp(t, mia.ID, holder(), test.Sprint("the invitation has linked it, not the address"))
}
