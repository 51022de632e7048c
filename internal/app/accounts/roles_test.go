package accounts_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// role defines one of the tenant's own.
func role(studio *testkit.Studio, name string, permissions ...string) {
	studio.T.Helper()
	expect.OK(studio.T)(studio.App.Accounts.CreateRole(
		studio.T.Context(), studio.Owner, grant.Role{Name: name, Permissions: permissions},
	))
}

// assign gives a member a role.
func assign(studio *testkit.Studio, who tenant.Caller, role string) {
	studio.T.Helper()
	expect.OK(studio.T)(studio.App.Accounts.AssignRole(studio.T.Context(), studio.Owner, who.Member, role))
}

func permits(names ...string) func(*grant.Role) error {
	return func(r *grant.Role) error { r.Permissions = names; return nil }
}

func TestRoles_CreateEditAssignAndDelete(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made := expect.Value(studio.App.Accounts.CreateRole(
		t.Context(), studio.Owner,
		grant.Role{Name: "front_desk", Permissions: []string{"booking.create", "session.read", "booking.create"}},
	))(t)
	want := grant.Role{
		Name: "front_desk", Title: "front_desk", Permissions: []string{"session.read", "booking.create"}, Version: 1,
		CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	test.Eq(t, want, made)
	for name, reason := range map[string]fault.Reason{
		"front_desk": fault.AlreadyExistsReason, "owner": fault.AlreadyExistsReason,
	} {
		expect.Reason(t, reason)(studio.App.Accounts.CreateRole(t.Context(), studio.Owner, grant.Role{Name: name}))
	}
	expect.Reason(t, fault.PermissionNotFound)(studio.App.Accounts.CreateRole(
		t.Context(), studio.Owner, grant.Role{Name: "x", Permissions: []string{"world.rule"}},
	))

	for _, version := range []int{1, 2} { // the second changes nothing
		after := expect.Value(studio.App.Accounts.UpdateRole(
			t.Context(), studio.Owner, "front_desk", &version, func(r *grant.Role) error { r.Title = "Front desk"; return nil },
		))(t)
		must.EqOp(t, "Front desk", after.Title)
		must.EqOp(t, 2, after.Version)
	}
	// No stored text has a zero byte, so none comes after one.
	test.SliceEmpty(t, expect.Value(studio.App.Accounts.ListRoles(
		t.Context(), studio.Owner, grant.RoleSearch{After: "\x00", Limit: 9},
	))(t))
	expect.Reason(t, fault.ETagMismatch)(
		studio.App.Accounts.UpdateRole(t.Context(), studio.Owner, "front_desk", new(1), permits()),
	)
	expect.Reason(t, fault.ETagMismatch)(
		studio.App.Accounts.DeleteRole(t.Context(), studio.Owner, "front_desk", new(1)),
	)
	expect.Reason(t, fault.RoleBuiltIn)(
		studio.App.Accounts.UpdateRole(t.Context(), studio.Owner, "admin", nil, permits()),
	)
	expect.Reason(t, fault.RoleBuiltIn)(studio.App.Accounts.DeleteRole(t.Context(), studio.Owner, "member", nil))
	expect.Reason(t, fault.RoleNotFound)(
		studio.App.Accounts.UpdateRole(t.Context(), studio.Owner, "ghost", nil, permits()),
	)
	role(studio.OtherTenant(), "theirs")
	expect.Reason(t, fault.RoleNotFound)(studio.App.Accounts.DeleteRole(t.Context(), studio.Owner, "theirs", nil))

	ana := studio.AddMember("Ana")
	roles := expect.Value(studio.App.Accounts.AssignRole(t.Context(), studio.Owner, ana.Member, "front_desk"))(t)
	must.True(t, slices.Equal(roles, []string{"member", "front_desk"}), must.Sprintf("%v", roles))
	account, _ := studio.AddAccount("Robot", "front_desk")
	inUse := expect.Reason(t, fault.RoleInUse)(
		studio.App.Accounts.DeleteRole(t.Context(), studio.Owner, "front_desk", nil),
	)
	test.EqOp(t, "2", inUse.Metadata["holders"])
	expect.OK(t)(studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, ana.Member, "front_desk"))
	expect.OK(t)(studio.App.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, account.ID))
	test.NoError(t, studio.App.Accounts.DeleteRole(t.Context(), studio.Owner, "front_desk", new(2)))
	expect.Reason(t, fault.RoleNotFound)(studio.App.Accounts.DeleteRole(t.Context(), studio.Owner, "front_desk", nil))

	for action, n := range map[string]int{
		"role.created": 1, "role.updated": 1, "role.deleted": 1, "role.assigned": 1, "role.revoked": 1,
		"service_account.created": 1, "service_account.revoked": 1,
	} {
		test.EqOp(t, n, studio.Count(`select count(*) from audit_entries
			where tenant_id = $1 and action = $2 and actor = $3 and occurred_at >= $4`,
			studio.Tenant, action, studio.Owner.Member.String(), testkit.Noon), test.Sprintf("audit entries %s", action))
	}
	test.EqOp(t, 7, studio.Count(
		`select count(*) from events where tenant_id = $1 and type = 'access.changed' and occurred_at >= $2`,
		studio.Tenant, testkit.Noon,
	), test.Sprint("events"))
}

func TestAssignRole_RepeatingChangesNothing(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ana := studio.AddMember("Ana")
	errs := testkit.ParallelErrors(4, func(int) error {
		roles, err := studio.App.Accounts.AssignRole(t.Context(), studio.Owner, ana.Member, tenant.RoleCoach)
		if err == nil && !slices.Equal(roles, []string{tenant.RoleCoach, tenant.RoleMember}) {
			return fmt.Errorf("roles %v", roles)
		}
		return err
	})
	test.Eq(t, map[fault.Reason]int{"": 4}, testkit.CountReasons(errs))
	for range 2 {
		left := expect.Value(studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, ana.Member, tenant.RoleCoach))(t)
		test.Eq(t, []string{tenant.RoleMember}, left.Roles)
	}
	for _, action := range []string{"role.assigned", "role.revoked"} {
		test.EqOp(t, 1, studio.Count(
			`select count(*) from audit_entries where tenant_id = $1 and action = $2 and occurred_at >= $3`,
			studio.Tenant, action, testkit.Noon,
		), test.Sprintf("audit entries %s", action))
	}
	expect.Reason(t, fault.RoleNotFound)(studio.App.Accounts.AssignRole(t.Context(), studio.Owner, ana.Member, "ghost"))
	for _, from := range []tenant.MemberID{ana.Member, studio.Owner.Member} {
		expect.Reason(t, fault.RoleNotFound)(studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, from, "ghost"))
	}
}

// A role is deleted while a member is assigned to it. Either the assignment is first and the role stays, or the
// deletion is first and the role cannot be assigned.
func TestDeleteRole_NeverLeavesHolders(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ana := studio.AddMember("Ana")
	for round := range 12 {
		name := fmt.Sprint("role_", round)
		role(studio, name)
		errs := testkit.ParallelErrors(3, func(i int) error {
			var err error
			switch i {
			case 0:
				return studio.App.Accounts.DeleteRole(t.Context(), studio.Owner, name, nil)
			case 1:
				_, err = studio.App.Accounts.AssignRole(t.Context(), studio.Owner, ana.Member, name)
			case 2:
				_, _, err = studio.App.Accounts.CreateServiceAccount(
					t.Context(), studio.Owner, grant.ServiceAccount{Name: name, Roles: []string{name}},
				)
			}
			return err
		})
		left := studio.Count(`select count(*) from roles where tenant_id = $1 and name = $2`, studio.Tenant, name)
		held := studio.Count(`select count(*) from member_roles where tenant_id = $1 and role = $2`, studio.Tenant, name) +
			studio.Count(`select count(*) from service_account_roles where tenant_id = $1 and role = $2`, studio.Tenant, name)
		got := testkit.CountReasons(errs)
		switch {
		case errs[0] == nil && left == 0 && held == 0 && got[fault.RoleNotFound] == 2:
		case fault.ReasonOf(errs[0]) == fault.RoleInUse && left == 1 && held == 2 && got[""] == 2:
		default:
			t.Fatalf("round %d: %v, %d left, %d held", round, errs, left, held)
		}
	}
}

// So it is if only foreign keys guard it: who loses finds what the other did.
func TestDeleteRole_RacesWithGivingIt(t *testing.T) {
	t.Parallel()
	testkit.EachRace(t, map[string]func(studio *testkit.Studio, to tenant.Caller) error{
		"to a member": func(studio *testkit.Studio, to tenant.Caller) error {
			return expect.Error(studio.App.Accounts.AssignRole(context.Background(), studio.Owner, to.Member, "desk"))
		},
		"to an account": func(studio *testkit.Studio, _ tenant.Caller) error {
			return expect.Error(studio.App.Accounts.CreateServiceAccount(
				context.Background(), studio.Owner, grant.ServiceAccount{Name: "Robot", Roles: []string{"desk"}},
			))
		},
	}, func(b *testkit.Barrier, studio *testkit.Studio, give func(*testkit.Studio, tenant.Caller) error) {
		role(studio, "desk")
		ana := studio.AddMember("Ana")
		b.ReadCommitted = true
		var errs [2]error
		b.Run(func() { errs[0] = studio.App.Accounts.DeleteRole(context.Background(), studio.Owner, "desk", nil) },
			func() { errs[1] = give(studio, ana) })
		got := testkit.CountReasons(errs[:])
		test.EqOp(studio.T, 1, got[""])
		test.EqOp(studio.T, 1, got[fault.RoleInUse]+got[fault.RoleNotFound])
	})
}

// A caller with every RPC of these services, and few other permissions, tries all ways to get more.
func TestRoles_GrantNoPermissionThatTheCallerLacks(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	// The climber may call everything: what holds them back is what they lack.
	climber := studio.AddPerson("Clea", tenant.RoleCoach)
	role(
		studio, "climber", "role.read", "role.write", "role.assign", "account.manage", "member.write", "member.import",
		"access.check",
	)
	assign(studio, climber, "climber")
	role(studio, "cashier", "credit.grant")
	assign(studio, climber, "cashier")
	role(studio, "auditor", "audit.read")                                             // which the climber lacks
	owner := tenant.Caller{Member: newMember(studio, member.Member{Name: "Otto"}).ID} // who has never signed in
	assign(studio, owner, tenant.RoleOwner)
	retired := studio.AddPerson("Rita", tenant.RoleOwner)
	studio.Deactivate(retired)
	pawn := studio.AddMember("Pia")
	strong, _ := studio.AddAccount("Strong", tenant.RoleAdmin)

	assign := func(caller tenant.Caller, who tenant.MemberID, role string) func() error {
		return func() error { return expect.Error(studio.App.Accounts.AssignRole(t.Context(), caller, who, role)) }
	}
	revoke := func(who tenant.MemberID, role string) func() error {
		return func() error { return expect.Error(studio.App.Accounts.RevokeRole(t.Context(), climber, who, role)) }
	}
	define := func(name string, permissions ...string) func() error {
		return func() error {
			return expect.Error(studio.App.Accounts.CreateRole(
				t.Context(), climber, grant.Role{Name: name, Permissions: permissions},
			))
		}
	}
	redefine := func(name string, edit func(*grant.Role) error) func() error {
		return func() error {
			return expect.Error(studio.App.Accounts.UpdateRole(t.Context(), climber, name, nil, edit))
		}
	}
	update := func(who tenant.MemberID, edit func(*member.Member) error) func() error {
		return func() error {
			return expect.Error(studio.App.Accounts.UpdateMember(t.Context(), climber, who, nil, edit))
		}
	}
	account := func(name, role string) func() error {
		return func() error {
			return expect.Error(studio.App.Accounts.CreateServiceAccount(
				t.Context(), climber, grant.ServiceAccount{Name: name, Roles: []string{role}},
			))
		}
	}
	bind := func(m *member.Member) error { m.Subject = "clea-2"; return nil }
	redirect := func(m *member.Member) error { m.Email = "clea@example.com"; return nil }
	widen := func(r *grant.Role) error { r.Permissions = append(r.Permissions, "audit.read"); return nil }
	retitle := func(r *grant.Role) error { r.Title = "Auditor"; return nil }
	roleless, liar := climber, climber
	roleless.Member, liar.Subject = pawn.Member, "system"
	ghost := tenant.Caller{
		Tenant: studio.Tenant, Subject: "sa:" + testkit.NewID[tenant.ServiceAccountID]().String(), Roles: []string{"owner"},
	}

	before := studio.Count(`select count(*) from audit_entries where tenant_id = $1`, studio.Tenant)
	for name, c := range map[string]struct {
		call func() error
		lack string // the permission that the refusal names; "" where any will do
	}{
		"take the role of owner":    {assign(climber, climber.Member, "owner"), "tenant.update"},
		"take the role of admin":    {assign(climber, climber.Member, "admin"), "tenant.update"},
		"take a role of the tenant": {assign(climber, climber.Member, "auditor"), "audit.read"},
		"make a pawn an owner":      {assign(climber, pawn.Member, "owner"), ""},
		"dethrone an owner":         {revoke(studio.Owner.Member, "owner"), ""},
		"define a role with more":   {define("mine", "session.read", "audit.read"), "audit.read"},
		"widen a role they hold":    {redefine("climber", widen), "audit.read"},
		"narrow a role they lack":   {redefine("auditor", permits()), "audit.read"},
		"delete a role they lack": {
			func() error { return studio.App.Accounts.DeleteRole(t.Context(), climber, "auditor", nil) }, "audit.read",
		},
		"become an unbound owner": {update(owner.Member, bind), ""},
		"wake a retired owner": {func() error {
			return expect.Error(studio.App.Accounts.ReactivateMember(t.Context(), climber, retired.Member))
		}, ""},
		"redirect an owner's mail": {update(studio.Owner.Member, redirect), ""},
		"suspend an owner": {func() error {
			return expect.Error(studio.App.Accounts.DeactivateMember(t.Context(), climber, studio.Owner.Member))
		}, ""},
		"make a mighty account": {account("Mine", "admin"), ""},
		"take a mighty account's key": {func() error {
			return expect.Error(studio.App.Accounts.RotateServiceAccountKey(t.Context(), climber, strong.ID, 0))
		}, ""},
		"end a mighty account": {func() error {
			return expect.Error(studio.App.Accounts.RevokeServiceAccount(t.Context(), climber, strong.ID))
		}, ""},
		"act as a member without roles": {assign(roleless, pawn.Member, "climber"), ""},
		"do as an unknown account":      {assign(ghost, pawn.Member, "owner"), ""},
		"do as a member called system":  {assign(liar, pawn.Member, "owner"), ""},
	} {
		err := c.call()
		test.EqOp(t, fault.PermissionDeniedReason, fault.ReasonOf(err), test.Sprintf("%s: %v", name, err))
		test.NotEqOp(t, "", testkit.Meta(t, err, "permission"), test.Sprintf("%s: %v", name, err))
		test.True(t, c.lack == "" || testkit.Meta(t, err, "permission") == c.lack, test.Sprintf("%s: %v", name, err))
	}
	// What only looks like a way up: roles named in a member are not read, and a file's column of them is left out.
	made := expect.Value(studio.App.Accounts.CreateMember(
		t.Context(), climber, member.Member{Name: "Clea 2", Subject: "clea-2", Roles: []string{"owner"}},
	))(t)
	test.True(t, slices.Equal(made.Roles, []string{"member"}), test.Sprintf("made with roles %v", made.Roles))
	imported := studio.ImportMembers("name,subject,roles\nClea 3,clea-3,owner\n", false)
	test.SliceLen(t, 1, imported.Members, test.Sprintf("imported %+v", imported))
	test.EqOp(t, 1, studio.Count(`select count(*) from member_roles r join members m on m.id = r.member_id
		where m.subject = 'clea-3' and r.role = 'member'`), test.Sprintf("imported %+v", imported))
	// And what they have they may hand on.
	for name, call := range map[string]func() error{
		"assign":  assign(climber, pawn.Member, "cashier"),
		"revoke":  revoke(pawn.Member, "member"),
		"account": account("Mine", "climber"),
		"role":    define("mine", "role.write"),
		"title":   redefine("auditor", retitle),
	} {
		test.NoError(t, call(), test.Sprint(name))
	}
	test.EqOp(t, 3, studio.Count(
		`select count(*) from member_roles where tenant_id = $1 and role in ('owner', 'admin')`, studio.Tenant,
	), test.Sprint("hold owner or admin"))
	after := studio.Count(`select count(*) from audit_entries where tenant_id = $1`, studio.Tenant)
	test.EqOp(t, before+7, after, test.Sprintf("%d audit entries more, want those of what succeeded", after-before))
}

// An admin has all permissions that admins have, and still cannot act on owners and admins, themselves apart.
func TestRoles_LeaveOwnersAndAdminsToOwners(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	admin, other := studio.AddPerson("Ada", "admin"), studio.AddPerson("Ben", "admin")
	pawn, second := studio.AddPerson("Pia", "coach"), studio.AddPerson("Otto", "owner")
	account, _ := studio.AddAccount("Robot", "admin")
	robot := tenant.Caller{Tenant: studio.Tenant, Subject: "sa:" + account.ID.String(), Roles: account.Roles}
	app := studio.App.Accounts
	assign := func(by, to tenant.Caller, role string) func() error {
		return func() error { return expect.Error(app.AssignRole(t.Context(), by, to.Member, role)) }
	}
	revoke := func(by, from tenant.Caller, role string) func() error {
		return func() error { return expect.Error(app.RevokeRole(t.Context(), by, from.Member, role)) }
	}
	edit := func(by, who tenant.Caller, change func(*member.Member) error) func() error {
		return func() error { return expect.Error(app.UpdateMember(t.Context(), by, who.Member, nil, change)) }
	}
	deactivate := func(by, who tenant.Caller) func() error {
		return func() error { return expect.Error(app.DeactivateMember(t.Context(), by, who.Member)) }
	}
	rename := func(m *member.Member) error { m.Name = "Zoe"; return nil }
	redirect := func(m *member.Member) error { m.Email = "zoe@example.com"; return nil }
	newKey := func(by tenant.Caller) func() error {
		return func() error { return expect.Error(app.RotateServiceAccountKey(t.Context(), by, account.ID, 0)) }
	}
	newAccount := func(by tenant.Caller) func() error {
		return func() error {
			return expect.Error(app.CreateServiceAccount(
				t.Context(), by, grant.ServiceAccount{Name: "Mine", Roles: []string{"admin"}},
			))
		}
	}
	for name, call := range map[string]func() error{
		"makes themselves an owner":           assign(admin, admin, "owner"),
		"makes another an owner":              assign(admin, pawn, "owner"),
		"makes another an admin":              assign(admin, pawn, "admin"),
		"takes an owner's role":               revoke(admin, studio.Owner, "owner"),
		"takes an admin's role":               revoke(admin, other, "admin"),
		"gives an owner another role":         assign(admin, second, "coach"),
		"takes another role of an owner":      revoke(admin, second, "member"),
		"takes another role of an admin":      revoke(admin, other, "member"),
		"deactivates an owner":                deactivate(admin, studio.Owner),
		"deactivates an admin":                deactivate(admin, other),
		"renames an admin":                    edit(admin, other, rename),
		"redirects an owner's mail":           edit(admin, studio.Owner, redirect),
		"makes a service account an admin":    newAccount(admin),
		"gets the key of an admin":            newKey(admin),
		"as an account, makes an admin":       assign(robot, pawn, "admin"),
		"as an account, takes an owner's":     revoke(robot, second, "member"),
		"as an account, renames an admin":     edit(robot, other, rename),
		"as an account, rotates its own key":  newKey(robot),
		"as an owner, redirects another mail": edit(studio.Owner, second, redirect),
	} {
		test.EqOp(t, fault.PermissionDeniedReason, fault.ReasonOf(call()), test.Sprint(name))
	}
	for _, allowed := range []struct {
		name string
		call func() error
	}{
		{"changes their own mail", edit(admin, admin, redirect)},
		{"gives themselves a lesser role", assign(admin, admin, "coach")},
		{"as an owner, gives an owner another role", assign(studio.Owner, second, "coach")},
		{"renames a coach", edit(admin, pawn, rename)},
		{"makes a coach", assign(admin, studio.AddMember("Mia"), "coach")},
		{"as an owner, makes an admin", assign(second, pawn, "admin")},
		{"as an owner, makes an owner", assign(second, pawn, "owner")},
		{"as an owner, removes one", revoke(second, studio.Owner, "owner")},
		{"as an owner, rotates the key of an admin", newKey(second)},
		{"gives up their own role", revoke(admin, admin, "admin")},
	} {
		must.NoError(t, allowed.call(), must.Sprint(allowed.name))
	}
	expect.Reason(t, fault.PermissionDeniedReason)(assign(studio.Owner, studio.Owner, "owner")())
}

// The roles that count are those at the moment of the change, not those with which the caller was let in.
func TestRevokeRole_TakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	admin, pawn := studio.AddPerson("Ada", tenant.RoleAdmin), studio.AddMember("Pia")
	account, _ := studio.AddAccount("Robot", tenant.RoleAdmin)
	robot := tenant.Caller{Tenant: studio.Tenant, Subject: "sa:" + account.ID.String(), Roles: []string{tenant.RoleAdmin}}
	for _, caller := range []tenant.Caller{admin, robot} {
		expect.OK(t)(studio.App.Accounts.AssignRole(t.Context(), caller, pawn.Member, tenant.RoleCoach))
		expect.OK(t)(studio.App.Accounts.RevokeRole(t.Context(), caller, pawn.Member, tenant.RoleCoach))
	}
	expect.OK(t)(studio.App.Accounts.DeactivateMember(t.Context(), studio.Owner, admin.Member))
	expect.OK(t)(studio.App.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, account.ID))
	for _, caller := range []tenant.Caller{admin, robot} {
		expect.Reason(t, fault.PermissionDeniedReason)(
			studio.App.Accounts.AssignRole(t.Context(), caller, pawn.Member, tenant.RoleCoach),
		)
	}
	// Operators' commands have no member, and may do everything.
	expect.OK(t)(studio.App.Accounts.AssignRole(
		t.Context(), tenant.System(studio.Tenant), pawn.Member, tenant.RoleOwner,
	))
}
