package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// role defines one of the tenant's own.
func role(h *testkit.Studio, name string, permissions ...string) grant.Role {
	h.T.Helper()
	r, err := h.App.Accounts.CreateRole(h.T.Context(), h.Owner, grant.Role{Name: name, Permissions: permissions})
	if err != nil {
		h.T.Fatal(err)
	}
	return r
}

// assign gives a member a role.
func assign(h *testkit.Studio, who tenant.Caller, role string) {
	h.T.Helper()
	if _, err := h.App.Accounts.AssignRole(h.T.Context(), h.Owner, who.Member, role); err != nil {
		h.T.Fatal(err)
	}
}

func permits(names ...string) func(*grant.Role) error {
	return func(r *grant.Role) error { r.Permissions = names; return nil }
}

func TestRoles_CreateEditAssignAndDelete(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	made, err := h.App.Accounts.CreateRole(
		t.Context(), h.Owner,
		grant.Role{Name: "front_desk", Permissions: []string{"booking.create", "session.read", "booking.create"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := grant.Role{
		Name: "front_desk", Title: "front_desk", Permissions: []string{"session.read", "booking.create"}, Version: 1,
		CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, reason := range map[string]fault.Reason{
		"front_desk": fault.AlreadyExistsReason, "owner": fault.AlreadyExistsReason,
	} {
		_, err := h.App.Accounts.CreateRole(t.Context(), h.Owner, grant.Role{Name: name})
		testkit.WantReason(t, err, reason)
	}
	_, err = h.App.Accounts.CreateRole(t.Context(), h.Owner, grant.Role{Name: "x", Permissions: []string{"world.rule"}})
	testkit.WantReason(t, err, fault.PermissionNotFound)

	after, err := h.App.Accounts.UpdateRole(
		t.Context(), h.Owner, "front_desk", new(1), func(r *grant.Role) error { r.Title = "Front desk"; return nil },
	)
	if err != nil || after.Title != "Front desk" || after.Version != 2 {
		t.Fatalf("%+v, %v", after, err)
	}
	_, err = h.App.Accounts.UpdateRole(t.Context(), h.Owner, "front_desk", new(1), permits())
	testkit.WantReason(t, err, fault.ETagMismatch)
	testkit.WantReason(t, h.App.Accounts.DeleteRole(t.Context(), h.Owner, "front_desk", new(1)), fault.ETagMismatch)
	_, err = h.App.Accounts.UpdateRole(t.Context(), h.Owner, "admin", nil, permits())
	testkit.WantReason(t, err, fault.RoleBuiltIn)
	testkit.WantReason(t, h.App.Accounts.DeleteRole(t.Context(), h.Owner, "member", nil), fault.RoleBuiltIn)
	_, err = h.App.Accounts.UpdateRole(t.Context(), h.Owner, "ghost", nil, permits())
	testkit.WantReason(t, err, fault.RoleNotFound)
	theirs := h.OtherTenant()
	role(theirs, "theirs")
	testkit.WantReason(t, h.App.Accounts.DeleteRole(t.Context(), h.Owner, "theirs", nil), fault.RoleNotFound)

	ana := h.AddMember("Ana")
	if roles, err := h.App.Accounts.AssignRole(t.Context(), h.Owner, ana.Member, "front_desk"); err != nil ||
		!slices.Equal(roles, []string{"member", "front_desk"}) {
		t.Fatalf("%v, %v", roles, err)
	}
	account, _ := h.AddAccount("Robot", "front_desk")
	err = h.App.Accounts.DeleteRole(t.Context(), h.Owner, "front_desk", nil)
	testkit.WantReason(t, err, fault.RoleInUse)
	if testkit.Meta(t, err, "holders") != "2" {
		t.Errorf("holders %q", testkit.Meta(t, err, "holders"))
	}
	if _, err := h.App.Accounts.RevokeRole(t.Context(), h.Owner, ana.Member, "front_desk"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.App.Accounts.RevokeServiceAccount(t.Context(), h.Owner, account.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.App.Accounts.DeleteRole(t.Context(), h.Owner, "front_desk", new(2)); err != nil {
		t.Error(err)
	}
	testkit.WantReason(t, h.App.Accounts.DeleteRole(t.Context(), h.Owner, "front_desk", nil), fault.RoleNotFound)

	for action, n := range map[string]int{
		"role.created": 1, "role.updated": 1, "role.deleted": 1, "role.assigned": 1, "role.revoked": 1, "account.created": 1,
		"account.revoked": 1,
	} {
		if got := h.Count(`select count(*) from audit_entries
			where tenant_id = $1 and action = $2 and actor = $3 and occurred_at >= $4`,
			h.Tenant, action, h.Owner.Member.String(), testkit.Noon); got != n {
			t.Errorf("%d audit entries %s", got, action)
		}
	}
	if got := h.Count(`select count(*) from events where tenant_id = $1 and type = 'roles.changed' and occurred_at >= $2`,
		h.Tenant, testkit.Noon); got != 7 {
		t.Errorf("%d events", got)
	}
}

func TestListRoles_SortsAndPages(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	role(h, "zebra")
	role(h, "apple", "session.read")
	role(h.OtherTenant(), "theirs")
	for _, size := range []int{1, 3, 50} {
		var names []string
		search := grant.RoleSearch{Limit: size}
		for {
			page, err := h.App.Accounts.ListRoles(t.Context(), h.Coach, search)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				names = append(names, fmt.Sprintf("%s %d %v", r.Name, r.Holders, r.BuiltIn))
				if r.BuiltIn && (r.Title == "" || len(r.Permissions) == 0) {
					t.Errorf("%+v", r)
				}
				search.After = r.Name
			}
			if len(page) < size {
				break
			}
		}
		want := "owner 1 true, admin 0 true, coach 1 true, member 1 true, partner 0 true, apple 0 false, zebra 0 false"
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("by %d: %s", size, got)
		}
	}
}

func TestAssignRole_RepeatingChangesNothing(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ana := h.AddMember("Ana")
	errs := testkit.ParallelErrors(4, func(int) error {
		roles, err := h.App.Accounts.AssignRole(t.Context(), h.Owner, ana.Member, tenant.RoleCoach)
		if err == nil && !slices.Equal(roles, []string{tenant.RoleCoach, tenant.RoleMember}) {
			return fmt.Errorf("roles %v", roles)
		}
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 4}, testkit.CountReasons(errs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range 2 {
		roles, err := h.App.Accounts.RevokeRole(t.Context(), h.Owner, ana.Member, tenant.RoleCoach)
		if err != nil || !slices.Equal(roles, []string{tenant.RoleMember}) {
			t.Errorf("%v, %v", roles, err)
		}
	}
	for _, action := range []string{"role.assigned", "role.revoked"} {
		if n := h.Count(`select count(*) from audit_entries where tenant_id = $1 and action = $2 and occurred_at >= $3`,
			h.Tenant, action, testkit.Noon); n != 1 {
			t.Errorf("%d audit entries %s", n, action)
		}
	}
	_, err := h.App.Accounts.AssignRole(t.Context(), h.Owner, ana.Member, "ghost")
	testkit.WantReason(t, err, fault.RoleNotFound)
	_, err = h.App.Accounts.RevokeRole(t.Context(), h.Owner, ana.Member, "ghost")
	testkit.WantReason(t, err, fault.RoleNotFound)
}

// A role that is deleted while it is given to somebody: one of the two happens, or the
// deletion comes first and the role is not there any more.
func TestDeleteRole_NeverLeavesHolders(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ana := h.AddMember("Ana")
	for round := range 12 {
		name := fmt.Sprint("role_", round)
		role(h, name)
		errs := testkit.ParallelErrors(3, func(i int) error {
			var err error
			switch i {
			case 0:
				return h.App.Accounts.DeleteRole(t.Context(), h.Owner, name, nil)
			case 1:
				_, err = h.App.Accounts.AssignRole(t.Context(), h.Owner, ana.Member, name)
			case 2:
				_, _, err = h.App.Accounts.CreateServiceAccount(
					t.Context(), h.Owner, grant.ServiceAccount{Name: name, Roles: []string{name}},
				)
			}
			return err
		})
		left := h.Count(`select count(*) from roles where tenant_id = $1 and name = $2`, h.Tenant, name)
		held := h.Count(`select count(*) from member_roles where tenant_id = $1 and role = $2`, h.Tenant, name) +
			h.Count(`select count(*) from service_account_roles where tenant_id = $1 and role = $2`, h.Tenant, name)
		got := testkit.CountReasons(errs)
		switch {
		case errs[0] == nil && left == 0 && held == 0 && got[fault.RoleNotFound] == 2:
		case fault.ReasonOf(errs[0]) == fault.RoleInUse && left == 1 && held == 2 && got[""] == 2:
		default:
			t.Fatalf("round %d: %v, %d left, %d held", round, errs, left, held)
		}
	}
}

func TestCreateRole_OnceAtTheSameTime(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	errs := testkit.ParallelErrors(4, func(int) error {
		_, err := h.App.Accounts.CreateRole(t.Context(), h.Owner, grant.Role{Name: "desk"})
		return err
	})
	if diff := cmp.Diff(
		map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 3}, testkit.CountReasons(errs),
	); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Somebody with every RPC of these services at hand, and little else, tries each way to more.
func TestRoles_GrantNoPermissionThatTheCallerLacks(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	// The climber may call everything: what holds them back is what they lack.
	climber := h.AddPerson("Clea", tenant.RoleCoach)
	role(
		h, "climber", "role.read", "role.write", "role.assign", "account.manage", "member.write", "member.import",
		"access.check",
	)
	assign(h, climber, "climber")
	role(h, "cashier", "credit.grant")
	assign(h, climber, "cashier")
	role(h, "auditor", "audit.read")                                             // which the climber lacks
	owner := tenant.Caller{Member: newMember(h, member.Member{Name: "Otto"}).ID} // who has never signed in
	assign(h, owner, tenant.RoleOwner)
	retired := h.AddPerson("Rita", tenant.RoleOwner)
	h.Deactivate(retired)
	pawn := h.AddMember("Pia")
	strong, _ := h.AddAccount("Strong", tenant.RoleAdmin)

	assign := func(caller tenant.Caller, who tenant.MemberID, role string) func() error {
		return func() error { _, err := h.App.Accounts.AssignRole(t.Context(), caller, who, role); return err }
	}
	revoke := func(who tenant.MemberID, role string) func() error {
		return func() error { _, err := h.App.Accounts.RevokeRole(t.Context(), climber, who, role); return err }
	}
	define := func(name string, permissions ...string) func() error {
		return func() error {
			_, err := h.App.Accounts.CreateRole(t.Context(), climber, grant.Role{Name: name, Permissions: permissions})
			return err
		}
	}
	redefine := func(name string, edit func(*grant.Role) error) func() error {
		return func() error { _, err := h.App.Accounts.UpdateRole(t.Context(), climber, name, nil, edit); return err }
	}
	update := func(who tenant.MemberID, edit func(*member.Member) error) func() error {
		return func() error { _, err := h.App.Accounts.UpdateMember(t.Context(), climber, who, nil, edit); return err }
	}
	account := func(name, role string) func() error {
		return func() error {
			_, _, err := h.App.Accounts.CreateServiceAccount(
				t.Context(), climber, grant.ServiceAccount{Name: name, Roles: []string{role}},
			)
			return err
		}
	}
	bind := func(m *member.Member) error { m.Subject = "clea-2"; return nil }
	redirect := func(m *member.Member) error { m.Email = "clea@example.com"; return nil }
	widen := func(r *grant.Role) error { r.Permissions = append(r.Permissions, "audit.read"); return nil }
	retitle := func(r *grant.Role) error { r.Title = "Auditor"; return nil }
	nobody, liar := climber, climber
	nobody.Member, liar.Subject = pawn.Member, "system"
	ghost := tenant.Caller{
		Tenant: h.Tenant, Subject: "sa:" + testkit.NewID[tenant.ServiceAccountID]().String(), Roles: []string{"owner"},
	}

	before := h.Count(`select count(*) from audit_entries where tenant_id = $1`, h.Tenant)
	for name, c := range map[string]struct {
		call func() error
		lack string // the permission that the refusal names; "" where any will do
	}{
		"take the role of owner":    {assign(climber, climber.Member, "owner"), "tenant.update"},
		"take the role of admin":    {assign(climber, climber.Member, "admin"), "tenant.update"},
		"take a role of the tenant": {assign(climber, climber.Member, "auditor"), "audit.read"},
		"make a pawn an owner":      {assign(climber, pawn.Member, "owner"), ""},
		"dethrone an owner":         {revoke(h.Owner.Member, "owner"), ""},
		"define a role with more":   {define("mine", "session.read", "audit.read"), "audit.read"},
		"widen a role they hold":    {redefine("climber", widen), "audit.read"},
		"narrow a role they lack":   {redefine("auditor", permits()), "audit.read"},
		"delete a role they lack": {
			func() error { return h.App.Accounts.DeleteRole(t.Context(), climber, "auditor", nil) }, "audit.read",
		},
		"become an unbound owner":  {update(owner.Member, bind), ""},
		"wake a retired owner":     {update(retired.Member, status(member.Active)), ""},
		"redirect an owner's mail": {update(h.Owner.Member, redirect), ""},
		"suspend an owner":         {update(h.Owner.Member, status(member.Inactive)), ""},
		"make a mighty account":    {account("Mine", "owner"), ""},
		"take a mighty account's key": {func() error {
			_, _, err := h.App.Accounts.RotateServiceAccountKey(t.Context(), climber, strong.ID, 0)
			return err
		}, ""},
		"end a mighty account": {func() error {
			_, err := h.App.Accounts.RevokeServiceAccount(t.Context(), climber, strong.ID)
			return err
		}, ""},
		"do as somebody without roles": {assign(nobody, pawn.Member, "climber"), ""},
		"do as an unknown account":     {assign(ghost, pawn.Member, "owner"), ""},
		"do as a member called system": {assign(liar, pawn.Member, "owner"), ""},
	} {
		err := c.call()
		if fault.ReasonOf(err) != fault.PermissionDeniedReason || testkit.Meta(t, err, "permission") == "" ||
			(c.lack != "" && testkit.Meta(t, err, "permission") != c.lack) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What only looks like a way up: roles named in a member are not read, and a file has no column for them.
	made, err := h.App.Accounts.CreateMember(
		t.Context(), climber, member.Member{Name: "Clea 2", Subject: "clea-2", Roles: []string{"owner"}},
	)
	if err != nil || !slices.Equal(made.Roles, []string{"member"}) {
		t.Errorf("made with roles %v, %v", made.Roles, err)
	}
	report, err := h.App.Accounts.ImportMembers(
		t.Context(), climber, []byte("name,subject,roles\nClea 3,clea-3,owner\n"), false, ignoreProgress,
	)
	if err != nil || report.Imported != 0 || report.Wrong != 1 {
		t.Errorf("imported %+v, %v", report, err)
	}
	// And what they have they may hand on.
	for name, call := range map[string]func() error{
		"assign":  assign(climber, pawn.Member, "cashier"),
		"revoke":  revoke(pawn.Member, "member"),
		"account": account("Mine", "climber"),
		"role":    define("mine", "role.write"),
		"title":   redefine("auditor", retitle),
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if owners := h.Count(
		`select count(*) from member_roles where tenant_id = $1 and role in ('owner', 'admin')`, h.Tenant,
	); owners != 3 {
		t.Errorf("%d hold owner or admin", owners)
	}
	if after := h.Count(`select count(*) from audit_entries where tenant_id = $1`, h.Tenant); after != before+6 {
		t.Errorf("%d audit entries more, want those of what succeeded", after-before)
	}
}

// The roles that count are those at the moment of the change, not those with which the caller was let in.
func TestRevokeRole_TakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	admin, pawn := h.AddPerson("Ada", tenant.RoleAdmin), h.AddMember("Pia")
	account, _ := h.AddAccount("Robot", tenant.RoleAdmin)
	robot := tenant.Caller{Tenant: h.Tenant, Subject: "sa:" + account.ID.String(), Roles: []string{tenant.RoleAdmin}}
	for _, caller := range []tenant.Caller{admin, robot} {
		if _, err := h.App.Accounts.AssignRole(t.Context(), caller, pawn.Member, tenant.RoleAdmin); err != nil {
			t.Fatal(err)
		}
		if _, err := h.App.Accounts.RevokeRole(t.Context(), caller, pawn.Member, tenant.RoleAdmin); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.App.Accounts.UpdateMember(
		t.Context(), h.Owner, admin.Member, nil, status(member.Inactive),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := h.App.Accounts.RevokeServiceAccount(t.Context(), h.Owner, account.ID); err != nil {
		t.Fatal(err)
	}
	for _, caller := range []tenant.Caller{admin, robot} {
		_, err := h.App.Accounts.AssignRole(t.Context(), caller, pawn.Member, tenant.RoleAdmin)
		testkit.WantReason(t, err, fault.PermissionDeniedReason)
	}
	// Operators' own commands are nobody's, and may do everything.
	if _, err := h.App.Accounts.AssignRole(
		t.Context(), tenant.System(h.Tenant), pawn.Member, tenant.RoleOwner,
	); err != nil {
		t.Error(err)
	}
}

func ignoreProgress(member.Progress) error { return nil }
