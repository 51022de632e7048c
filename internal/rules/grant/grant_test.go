package grant_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// set draws a set of permissions that roles of a tenant's own can have.
func set(t *rapid.T, label string) []string {
	var names []string
	for _, p := range policy.Permissions() {
		if !policy.IsOwnerOnly(p.Name) {
			names = append(names, p.Name)
		}
	}
	return rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, label)
}

func power(names []string) grant.Permissions {
	p := make(grant.Permissions)
	for _, name := range names {
		p[name] = true
	}
	return p
}

// lacking returns the permission that an error says is missing, or "".
func lacking(t *rapid.T, err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	must.EqOp(t, fault.PermissionDeniedReason, f.Reason)
	return f.Metadata["permission"]
}

func TestCheckGrant_RejectsPermissionsThatEditorLacks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		has, changed := set(t, "has"), set(t, "changed")
		lacked := lacking(t, grant.NewRoleSet([]grant.Role{{Name: "r", Permissions: changed}}).CheckGrant(power(has), "r"))
		missing := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return slices.Contains(has, name) })
		must.EqOp(t, (len(missing) == 0), lacked == "", must.Sprintf("lacks %q, missing are %v", lacked, missing))
		must.True(t, lacked == "" || slices.Contains(missing, lacked),
			must.Sprintf("lacks %q, missing are %v", lacked, missing))
	})
}

func TestEditRole_ChecksPermissionsThatAreAddedOrRemoved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		has, before, after := set(t, "has"), set(t, "before"), set(t, "after")
		got, err := grant.EditRole(power(has),
			grant.Role{Name: "r", Permissions: before}, grant.Role{Name: "r", Permissions: after})
		allowed := true
		for _, name := range append(slices.Clone(before), after...) {
			if slices.Contains(before, name) != slices.Contains(after, name) && !slices.Contains(has, name) {
				allowed = false
			}
		}
		must.EqOp(t, allowed, (lacking(t, err) == ""), must.Sprintf("%v, want allowed", err))
		must.False(
			t, err == nil && !slices.Equal(got.Permissions, power(after).Names()),
			must.Sprintf("permissions %v are not in the order of the policy", got.Permissions),
		)
	})
}

func TestCheckEditMember_RejectsMembersWithMorePermissions(t *testing.T) {
	t.Parallel()
	roleSet := grant.NewRoleSet([]grant.Role{
		{Name: "desk", Permissions: []string{"member.write"}},
		{Name: "cashier", Permissions: []string{"credit.grant"}},
		{Name: "owner", Permissions: []string{"member.write"}}, // must not replace the built-in role
	})
	for _, c := range []struct {
		editor, person string
		allowed        bool
	}{
		{"desk", "member", true},
		{"desk", "desk", true},
		{"desk", "cashier", false},
		{"desk", "coach", false},
		{"coach", "member", true},
		{"coach", "coach", true},
		{"coach", "desk", true},
		{"coach", "cashier", false},
		{"coach", "admin", false},
		{"coach", "owner", false},
		{"admin", "coach", true},
		{"admin", "admin", false},
		{"admin", "owner", false},
		{"owner", "admin", true},
		{"owner", "owner", true},
		{"nobody", "member", true},
		{"nobody", "desk", false},
	} {
		err := roleSet.CheckEditMember(roleSet.Permissions(c.editor), []string{c.person})
		test.EqOp(t, c.allowed, err == nil, test.Sprintf("%s edits %s", c.editor, c.person))
	}
	test.EqOp(t, "PERMISSION_DENIED permission=member.write",
		faulttest.Text(roleSet.CheckEditMember(nil, []string{"desk"})))
}

// Admins have all permissions of admins, and still do not decide who the admins are.
func TestCheckGrant_LeavesOwnersAndAdminsToOwners(t *testing.T) {
	t.Parallel()
	roleSet := grant.NewRoleSet([]grant.Role{{Name: "desk", Permissions: []string{"member.write"}}})
	roles := []string{"owner", "admin", "coach", "member", "partner", "desk"}
	for editor, grants := range map[string][]string{
		"owner": roles, "admin": roles[2:], "coach": roles[2:],
		"member": {"member"}, "partner": {"partner"}, "desk": {"desk"},
	} {
		for _, role := range roles {
			err := roleSet.CheckGrant(roleSet.Permissions(editor), role)
			test.EqOp(t, slices.Contains(grants, role), err == nil, test.Sprintf("%s grants %s: %v", editor, role, err))
		}
	}
	test.EqOp(t, "PERMISSION_DENIED permission=admin.manage",
		faulttest.Text(roleSet.CheckGrant(roleSet.Permissions("admin"), "coach", "admin")))
}

func TestEditRole_RejectsBuiltInRoles(t *testing.T) {
	t.Parallel()
	for i, name := range grant.BuiltInNames() {
		role := grant.BuiltIn(grant.Role{Name: name, BuiltIn: true, Permissions: []string{"gone.away"}})
		test.EqOp(t, name, strings.ToLower(role.Title))
		test.NotEqOp(t, name, role.Title)
		test.EqOp(t, policy.Roles()[i].Description, role.Description)
		test.SliceNotContains(t, role.Permissions, "gone.away")
		test.NotEqOp(t, "", role.Title)
		test.NotEqOp(t, "", role.Description)
		test.NotEqOp(t, 0, len(role.Permissions))
		expect.Reason(t, fault.RoleBuiltIn, name)(grant.EditRole(grant.AllPermissions(), role, role))
	}
}

func TestCheckUnused_RejectsRolesThatAreHeld(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "")(grant.Role{}.CheckUnused())
	expect.Fault(t, "ROLE_IN_USE holders=1")(grant.Role{Holders: 1}.CheckUnused())
}

func TestNames_AreTakenOnce(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "ALREADY_EXISTS @name")(grant.RoleNameTaken())
	expect.Fault(t, "ALREADY_EXISTS @service_account.name")(grant.AccountNameTaken())
	expect.Fault(t, "PERMISSION_NOT_FOUND")(grant.NoPermission("x"))
}

func TestRoleNormalize_ReturnsStoredFormOrNamesTheInvalidField(t *testing.T) {
	t.Parallel()
	names := []string{"audit.read", "session.read", "audit.read"}
	for name, tt := range map[string]struct {
		role, want grant.Role
		err        string
	}{
		"plain": {grant.Role{Name: "r"}, grant.Role{Name: "r", Title: "r"}, ""},
		"spaces": {
			grant.Role{Name: "r", Title: " Desk ", Description: " a\r\n\tb "},
			grant.Role{Name: "r", Title: "Desk", Description: "a\r\n\tb"}, "",
		},
		"longest": {
			grant.Role{Title: strings.Repeat("é", 200), Description: strings.Repeat("é", 1000)},
			grant.Role{Title: strings.Repeat("é", 200), Description: strings.Repeat("é", 1000)}, "",
		},
		"permissions in the order of the policy, once": {
			grant.Role{Title: "r", Permissions: names},
			grant.Role{Title: "r", Permissions: []string{"session.read", "audit.read"}}, "",
		},
		"unknown permission": {
			role: grant.Role{Name: "r", Permissions: []string{"session.read", "world.rule"}},
			err:  "PERMISSION_NOT_FOUND @role.permissions permission=world.rule",
		},
		"power of owners": {
			role: grant.Role{Name: "r", Permissions: []string{"session.read", "admin.manage"}},
			err:  "INVALID_FIELD @role.permissions",
		},
		"long title":       {role: grant.Role{Title: strings.Repeat("é", 201)}, err: "INVALID_FIELD @role.title"},
		"control in title": {role: grant.Role{Title: "a\nb"}, err: "INVALID_FIELD @role.title"},
		"long description": {
			role: grant.Role{Name: "r", Description: strings.Repeat("x", 1001)}, err: "INVALID_FIELD @role.description",
		},
		"null": {role: grant.Role{Name: "r", Description: "a\x00"}, err: "INVALID_FIELD @role.description"},
	} {
		got, err := tt.role.Normalize()
		test.EqOp(t, tt.err, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			test.Eq(t, tt.want, got, test.Sprint(name), test.Cmp(cmpopts.EquateEmpty()))
		}
		_, edited := grant.EditRole(grant.AllPermissions(), grant.Role{}, tt.role)
		test.EqOp(t, tt.err, faulttest.Text(edited), test.Sprint(name))
	}
	test.Eq(t, []string{"audit.read", "session.read", "audit.read"}, names) // the caller's
}

// Clients have stored keys in this form.
func TestKeyText_KeepsItsForm(t *testing.T) {
	t.Parallel()
	in, key := tenant.TenantID{UUID: tenant.UUID{15: 61}}, tenant.KeyID{UUID: tenant.UUID{0: 1, 15: 1}}
	const text = "berth_01SZwviYzes2mjOamuMJWx" + "000000000000000000000Z" + "0000000000000000000000000000000000000000010"
	test.EqOp(t, text, grant.KeyText(in, key, grant.Secret{31: 62}))
	test.EqOp(t, text[:18], grant.Key{ID: key}.Prefix())
}

func TestParseKey_ReadsWhatKeyTextWrites(t *testing.T) {
	t.Parallel()
	bytes := func(t *rapid.T, n int, label string) []byte {
		return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := tenant.TenantID{UUID: tenant.UUID(append(bytes(t, 15, "tenant"), 1))} // no tenant has the id zero
		id := tenant.KeyID{UUID: tenant.UUID(bytes(t, 16, "key"))}
		secret := grant.Secret(bytes(t, 32, "secret"))
		text := grant.KeyText(in, id, secret)
		gotIn, gotID, gotSecret, err := grant.ParseKey(text)
		must.NoError(t, err, must.Sprintf("%s: %v", text, err))
		must.EqOp(t, in, gotIn, must.Sprintf("%s: %v", text, err))
		must.EqOp(t, id, gotID, must.Sprintf("%s: %v", text, err))
		must.EqOp(t, secret, gotSecret, must.Sprintf("%s: %v", text, err))
		prefix := (grant.Key{ID: id}).Prefix()
		must.StrHasPrefix(t, prefix, text, must.Sprintf("prefix %q of %q", prefix, text))
		must.EqOp(t, 18, len(prefix), must.Sprintf("prefix %q of %q", prefix, text))
		hash := secret.Hash()
		must.NoError(t, gotSecret.Check(hash[:]))
		expect.Fault(t, "KEY_INVALID", "no hash")(gotSecret.Check(nil))
		expect.Fault(t, "KEY_INVALID", "a part of its hash")(gotSecret.Check(hash[:31]))
		other := secret
		other[0]++
		expect.Fault(t, "KEY_INVALID", "the hash of another")(other.Check(hash[:]))
		expect.Fault(t, "", "its tenant is named")(grant.ParseKeyOf(in, text))
		expect.Fault(t, "", "no tenant is named")(grant.ParseKeyOf(tenant.TenantID{}, text))
		in.UUID[0]++
		expect.Fault(t, "KEY_INVALID", "another tenant is named")(grant.ParseKeyOf(in, text))
	})
}

func TestKeyCheck_RejectsExpiredAndRevokedKeys(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	for name, tt := range map[string]struct {
		key     grant.Key
		revoked bool
		want    string
	}{
		"without an end": {},
		"before its end": {key: grant.Key{ExpiresAt: now.Add(1)}},
		"at its end":     {key: grant.Key{ExpiresAt: now}, want: "KEY_INVALID"},
		"revoked":        {revoked: true, want: "KEY_INVALID"},
	} {
		expect.Fault(t, tt.want, name)(tt.key.Check(tt.revoked, now))
	}
}

func TestParseKey_RejectsOtherTexts(t *testing.T) {
	t.Parallel()
	good := grant.KeyText(tenant.TenantID{UUID: tenant.UUID{1}}, tenant.KeyID{UUID: tenant.UUID{2}}, grant.Secret{3})
	for name, text := range map[string]string{
		"empty":        "",
		"prefix":       "berth_",
		"other prefix": "perth_" + good[6:],
		"short":        good[:len(good)-1],
		"long":         good + "0",
		"plus":         "berth_+" + good[7:],
		"minus":        "berth_-" + good[7:],
		"not a digit":  good[:30] + "_" + good[31:],
		"not ASCII":    good[:len(good)-2] + "é",
		"beyond uuid":  "berth_" + strings.Repeat("Z", 87),
		"space":        good[:len(good)-1] + " ",
		"no tenant":    grant.KeyText(tenant.TenantID{}, tenant.KeyID{UUID: tenant.UUID{2}}, grant.Secret{3}),
	} {
		expect.Reason(t, fault.KeyInvalid, name)(grant.ParseKey(text))
	}
}

func TestExpireKeys_NeverExtendsKey(t *testing.T) {
	t.Parallel()
	at := func(hours int) time.Time { return time.Unix(0, 0).Add(time.Duration(hours) * time.Hour) }
	a := grant.ServiceAccount{Keys: []grant.Key{{}, {ExpiresAt: at(1)}, {ExpiresAt: at(9)}}}
	before := slices.Clone(a.Keys)
	b := a
	b.ExpireKeys(at(5))
	for i, want := range []int{5, 1, 5} {
		test.True(t, b.Keys[i].ExpiresAt.Equal(at(want)), test.Sprintf("key %d expires at %v", i, b.Keys[i].ExpiresAt))
	}
	test.SliceEqOp(t, before, a.Keys, test.Sprint("the original changed"))
	test.False(t, b.Keys[0].Valid(at(5)),
		test.Sprint("a key must be valid before its expiry, and always if it has none"))
	test.True(t, b.Keys[0].Valid(at(5).Add(-1)),
		test.Sprint("a key must be valid before its expiry, and always if it has none"))
	test.True(t, (grant.Key{}).Valid(at(1000)),
		test.Sprint("a key must be valid before its expiry, and always if it has none"))
}

func TestSort_ByRankThenName(t *testing.T) {
	t.Parallel()
	roles := []string{"zebra", "member", "desk", "owner", "partner"}
	grant.Sort(roles)
	test.SliceEqOp(t, []string{"owner", "member", "partner", "desk", "zebra"}, roles)
}

func TestRoleSet_ReturnsRolesAndTheirPermissions(t *testing.T) {
	t.Parallel()
	roleSet := grant.NewRoleSet([]grant.Role{
		{Name: "zed", Permissions: []string{"audit.read"}},
		{Name: "desk", Permissions: []string{"member.write", "gone.away"}},
	})
	test.Eq(t, []string{"owner", "admin", "zed"},
		roleSet.RolesWith("audit.read", []string{"zed", "admin", "desk", "owner"}))
	test.Eq(t, []string{"owner", "admin", "coach", "member", "partner", "desk", "zed"}, roleSet.Names())
	test.Eq(t, []string{"member.write"}, roleSet.Permissions("desk", "unknown").Names())
	test.NoError(t, roleSet.CheckExist("owner", "desk"))
	test.EqOp(t, "ROLE_NOT_FOUND", faulttest.Text(roleSet.CheckExist("owner", "ghost")))
	test.Eq(t, grant.NewRoleSet(nil).Permissions("owner"), grant.AllPermissions())
}

func TestServiceAccountNormalize_ReturnsStoredFormOrNamesTheInvalidField(t *testing.T) {
	t.Parallel()
	for account, want := range map[[2]string]string{
		{" Desk ", " two\nlines "}: "", {strings.Repeat("é", 200), strings.Repeat("é", 1000)}: "",
		{}: "INVALID_FIELD @service_account.name", {"  "}: "INVALID_FIELD @service_account.name",
		{"a\nb"}:                         "INVALID_FIELD @service_account.name",
		{strings.Repeat("é", 201)}:       "INVALID_FIELD @service_account.name",
		{"a", strings.Repeat("é", 1001)}: "INVALID_FIELD @service_account.description",
	} {
		got, err := grant.ServiceAccount{Name: account[0], Description: account[1]}.Normalize()
		test.EqOp(t, want, faulttest.Text(err), test.Sprintf("%q", account))
		if err == nil {
			test.EqOp(t, strings.TrimSpace(account[0]), got.Name)
			test.EqOp(t, strings.TrimSpace(account[1]), got.Description)
		}
	}
	_, err := grant.ServiceAccount{Name: "a", Roles: []string{"admin", "owner"}}.Normalize()
	test.EqOp(t, "INVALID_FIELD @service_account.roles", faulttest.Text(err))
}
