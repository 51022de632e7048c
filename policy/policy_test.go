package policy_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/policy"
)

var update = flag.Bool("update", false, "write testdata/matrix.golden")

const golden = "testdata/matrix.golden"

// The matrix has Casbin's decisions from the model and the policy lines,
// so the golden file shows a change of either.
func TestPolicy_MatchesGoldenMatrix(t *testing.T) {
	t.Parallel()
	const here = "018f5e6e-0000-7000-8000-000000000001"
	e := enforcer(t, here)

	var out bytes.Buffer
	fmt.Fprintf(&out, "%-26s", "")
	for _, role := range policy.Roles() {
		fmt.Fprintf(&out, " %-7s", role.Name)
	}
	for _, p := range policy.Permissions() {
		fmt.Fprintf(&out, "\n%-26s", p.Name)
		for _, role := range policy.Roles() {
			allowed := expect.Value(e.Enforce("someone:"+role.Name, here, p.Name))(t)
			mark := "-"
			if allowed {
				mark = "yes"
			}
			fmt.Fprintf(&out, " %-7s", mark)
		}
	}
	got := regexp.MustCompile(` +\n`).ReplaceAllString(out.String()+"\n", "\n")

	if *update {
		must.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want := expect.Value(os.ReadFile(golden))(t)
	test.Eq(t, string(want), got, test.Sprint("the matrix changed; if that is meant, run this test with -update"))
}

func TestModel_DeniesByDefault(t *testing.T) {
	t.Parallel()
	const here, there = "018f5e6e-0000-7000-8000-000000000001", "018f5e6e-0000-7000-8000-000000000002"
	e := enforcer(t, here)
	// A role with the same name and different permissions in each tenant, and a holder in each.
	for tenantID, permission := range map[string]string{here: "audit.read", there: "plan.read"} {
		expect.OK(t)(e.AddPolicy("helper", tenantID, permission))
	}
	expect.OK(t)(e.AddGroupingPolicy("someone:helper", "helper", there))
	allowed := expect.Value(e.Enforce("someone:helper", there, "plan.read"))(t)
	test.True(t, allowed, test.Sprint("a role of the tenant's own gives nothing"))
	for name, request := range map[string][3]string{
		"a role's other meaning":  {"someone:helper", there, "audit.read"},
		"a role not held here":    {"someone:helper", here, "audit.read"},
		"another tenant":          {"someone:owner", there, "tenant.read"},
		"no tenant":               {"someone:owner", "", "tenant.read"},
		"a pattern for tenants":   {"someone:owner", "*", "tenant.read"},
		"a tenant's prefix":       {"someone:owner", here[:35], "tenant.read"},
		"a tenant in upper case":  {"someone:owner", strings.ToUpper(here), "tenant.read"},
		"no permission":           {"someone:owner", here, ""},
		"a pattern of permission": {"someone:owner", here, "*"},
		"an unknown permission":   {"someone:owner", here, "tenant.destroy"},
		"a permission's prefix":   {"someone:owner", here, "tenant"},
		"a stranger":              {"nobody", here, "tenant.read"},
		"no subject":              {"", here, "tenant.read"},
	} {
		allowed := expect.Value(e.Enforce(request[0], request[1], request[2]))(t)
		test.False(t, allowed, test.Sprintf("%s: allowed %v", name, allowed))
	}
}

func TestPermissions_AreConsistent(t *testing.T) {
	t.Parallel()
	var roles []string
	for _, role := range policy.Roles() {
		roles = append(roles, role.Name)
		test.True(t, policy.IsBuiltIn(role.Name), test.Sprintf("%s is not built in", role.Name))
		sentence(t, role.Name, role.Description)
	}
	test.Eq(t, []string{
		tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, tenant.RolePartner,
	}, roles, test.Sprint("roles"))
	test.False(t, policy.IsBuiltIn("Owner"), test.Sprint("a role that is not listed is built in"))
	test.False(t, policy.IsBuiltIn(""), test.Sprint("a role that is not listed is built in"))

	name := regexp.MustCompile(`^[a-z]+\.[a-z]+(_[a-z]+)*$`)
	for i, p := range policy.Permissions() {
		test.True(t, name.MatchString(p.Name), test.Sprintf("%q is no name for a permission", p.Name))
		sentence(t, p.Name, p.Description)
		at, ok := policy.IndexOf(p.Name)
		test.True(t, ok, test.Sprintf("%s stands at %d, %v; want %d", p.Name, at, ok, i))
		test.EqOp(t, i, at, test.Sprintf("%s stands at %d, %v; want %d", p.Name, at, ok, i))
		ofOwners := p.Name == "admin.manage" || p.Name == "notification.senders"
		test.EqOp(t, ofOwners, policy.IsOwnerOnly(p.Name), test.Sprint(p.Name))
		test.EqOp(t, tenant.RoleOwner, p.Roles[0],
			test.Sprintf("%s is withheld from owners or admins: %v", p.Name, p.Roles))
		test.True(t, ofOwners || p.Roles[1] == tenant.RoleAdmin,
			test.Sprintf("%s is withheld from owners or admins: %v", p.Name, p.Roles))
	}
	test.False(t, policy.IsOwnerOnly("tenant.destroy"))
	_, ok := policy.IndexOf("tenant.destroy")
	test.False(t, ok, test.Sprint("an unknown permission has an index"))
}

func TestPermissions_ReturnsCopies(t *testing.T) {
	t.Parallel()
	policy.Permissions()[0].Roles[0] = "intruder"
	policy.Permissions()[0].Name = "intruder"
	policy.Roles()[0].Name = "intruder"
	p := policy.Permissions()[0]
	test.NotEqOp(t, "intruder", p.Name, test.Sprint("it did"))
	test.NotEqOp(t, "intruder", p.Roles[0], test.Sprint("it did"))
	test.False(t, policy.IsBuiltIn("intruder"), test.Sprint("it did"))
}

func enforcer(t *testing.T, tenantID string) *casbin.Enforcer {
	t.Helper()
	e := expect.Value(casbin.NewEnforcer(expect.Value(model.NewModelFromString(policy.Model))(t)))(t)
	for _, p := range policy.Permissions() {
		for _, role := range p.Roles {
			expect.OK(t)(e.AddPolicy(role, tenantID, p.Name))
		}
	}
	for _, role := range policy.Roles() {
		expect.OK(t)(e.AddGroupingPolicy("someone:"+role.Name, role.Name, tenantID))
	}
	return e
}

func sentence(t *testing.T, name, text string) {
	t.Helper()
	test.True(t, regexp.MustCompile(`^[A-Z][^.\n]*\.$`).MatchString(text),
		test.Sprintf("%s: %q is not one sentence", name, text))
}
