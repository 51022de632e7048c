package grant_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// set draws a set of permissions.
func set(t *rapid.T, label string) []string {
	var names []string
	for _, p := range policy.Permissions() {
		names = append(names, p.Name)
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
	if f.Reason != fault.PermissionDeniedReason {
		t.Fatalf("reason %s", f.Reason)
	}
	return f.Metadata["permission"]
}

func TestCheckGrant_RejectsPermissionsThatEditorLacks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		has, changed := set(t, "has"), set(t, "changed")
		lacked := lacking(t, power(has).CheckGrant(power(changed)))
		missing := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return slices.Contains(has, name) })
		if lacked == "" != (len(missing) == 0) || (lacked != "" && !slices.Contains(missing, lacked)) {
			t.Fatalf("lacks %q, missing are %v", lacked, missing)
		}
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
		if (lacking(t, err) == "") != allowed {
			t.Fatalf("%v, want allowed %v", err, allowed)
		}
		if err == nil && !slices.Equal(got.Permissions, power(after).Names()) {
			t.Fatalf("permissions %v are not in the order of the policy", got.Permissions)
		}
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
		{"admin", "owner", true},
		{"owner", "owner", true},
		{"nobody", "member", true},
		{"nobody", "desk", false},
	} {
		err := roleSet.CheckEditMember(roleSet.Permissions(c.editor), []string{c.person})
		if (err == nil) != c.allowed {
			t.Errorf("%s edits %s: %v", c.editor, c.person, err)
		}
	}
}

func TestEditRole_RejectsBuiltInRoles(t *testing.T) {
	t.Parallel()
	for _, name := range grant.BuiltInNames() {
		role := grant.BuiltIn(grant.Role{Name: name, BuiltIn: true})
		if role.Title == "" || role.Description == "" || len(role.Permissions) == 0 {
			t.Errorf("%+v", role)
		}
		if _, err := grant.EditRole(grant.AllPermissions(), role, role); fault.ReasonOf(err) != fault.RoleBuiltIn {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRoleNormalize_RejectsInvalidFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role grant.Role
		want fault.Reason
	}{
		"plain": {grant.Role{Name: "r"}, ""},
		"unknown permission": {
			grant.Role{Name: "r", Permissions: []string{"session.read", "world.rule"}}, fault.PermissionNotFound,
		},
		"long title":       {grant.Role{Name: "r", Title: strings.Repeat("é", 201)}, fault.InvalidField},
		"longest title":    {grant.Role{Name: "r", Title: strings.Repeat("é", 200)}, ""},
		"control in title": {grant.Role{Name: "r", Title: "a\x00"}, fault.InvalidField},
		"long description": {grant.Role{Name: "r", Description: strings.Repeat("x", 1001)}, fault.InvalidField},
		"null":             {grant.Role{Name: "r", Description: "a\x00"}, fault.InvalidField},
		"lines":            {grant.Role{Name: "r", Description: "a\nb"}, ""},
	} {
		got, err := c.role.Normalize()
		if fault.ReasonOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && got.Title == "" {
			t.Errorf("%s: no title", name)
		}
	}
}

func TestParseKey_ReadsWhatKeyTextWrites(t *testing.T) {
	t.Parallel()
	bytes := func(t *rapid.T, n int, label string) []byte {
		return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := tenant.TenantID{UUID: tenant.UUID(bytes(t, 16, "tenant"))}
		id := tenant.KeyID{UUID: tenant.UUID(bytes(t, 16, "key"))}
		secret := grant.Secret(bytes(t, 32, "secret"))
		text := grant.KeyText(in, id, secret)
		gotIn, gotID, gotSecret, err := grant.ParseKey(text)
		if err != nil || gotIn != in || gotID != id || gotSecret != secret {
			t.Fatalf("%s: %v", text, err)
		}
		if prefix := (grant.Key{ID: id}).Prefix(); !strings.HasPrefix(text, prefix) || len(prefix) != 18 {
			t.Fatalf("prefix %q of %q", prefix, text)
		}
		hash := secret.Hash()
		if !gotSecret.Matches(hash[:]) || gotSecret.Matches(nil) || gotSecret.Matches(hash[:31]) {
			t.Fatal("the secret does not match its hash alone")
		}
		other := secret
		other[0]++
		if other.Matches(hash[:]) {
			t.Fatal("another secret matches the hash")
		}
	})
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
	} {
		if _, _, _, err := grant.ParseKey(text); fault.ReasonOf(err) != fault.KeyInvalid {
			t.Errorf("%s: %v", name, err)
		}
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
		if !b.Keys[i].ExpiresAt.Equal(at(want)) {
			t.Errorf("key %d expires at %v", i, b.Keys[i].ExpiresAt)
		}
	}
	if !slices.Equal(a.Keys, before) {
		t.Error("the original changed")
	}
	if b.Keys[0].Valid(at(5)) || !b.Keys[0].Valid(at(5).Add(-1)) || !(grant.Key{}).Valid(at(1000)) {
		t.Error("a key must be valid before its expiry, and always if it has none")
	}
}

func TestSort_ByRankThenName(t *testing.T) {
	t.Parallel()
	roles := []string{"zebra", "member", "desk", "owner", "partner"}
	grant.Sort(roles)
	if want := []string{"owner", "member", "partner", "desk", "zebra"}; !slices.Equal(roles, want) {
		t.Errorf("%v", roles)
	}
}

func TestRoleSet_ReturnsRolesAndTheirPermissions(t *testing.T) {
	t.Parallel()
	roleSet := grant.NewRoleSet([]grant.Role{
		{Name: "zed", Permissions: []string{"audit.read"}},
		{Name: "desk", Permissions: []string{"member.write", "gone.away"}},
	})
	if got, want := roleSet.RolesWith(
		"audit.read", roleSet.Names(),
	), []string{"owner", "admin", "zed"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := roleSet.Permissions("desk", "nobody").Names(); !slices.Equal(got, []string{"member.write"}) {
		t.Errorf("%v", got)
	}
	if err := roleSet.CheckExist("owner", "desk"); err != nil {
		t.Error(err)
	}
	if err := roleSet.CheckExist("owner", "ghost"); fault.ReasonOf(err) != fault.RoleNotFound {
		t.Error(err)
	}
}

func TestServiceAccountNormalize_RejectsInvalidFields(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"Desk": true, "": false, "  ": false, "a\nb": false, strings.Repeat("é", 200): true, strings.Repeat("é", 201): false,
	} {
		if _, err := (grant.ServiceAccount{Name: name}).Normalize(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	long := grant.ServiceAccount{Name: "a", Description: strings.Repeat("x", 1001)}
	if _, err := long.Normalize(); fault.ReasonOf(err) != fault.InvalidField {
		t.Error(err)
	}
}
