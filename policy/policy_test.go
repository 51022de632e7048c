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
	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/tenant"
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
			allowed, err := e.Enforce("someone:"+role.Name, here, p.Name)
			if err != nil {
				t.Fatal(err)
			}
			mark := "-"
			if allowed {
				mark = "yes"
			}
			fmt.Fprintf(&out, " %-7s", mark)
		}
	}
	got := regexp.MustCompile(` +\n`).ReplaceAllString(out.String()+"\n", "\n")

	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the matrix changed; if that is meant, run this test with -update (-want +got):\n%s", diff)
	}
}

func TestModel_DeniesByDefault(t *testing.T) {
	t.Parallel()
	const here, there = "018f5e6e-0000-7000-8000-000000000001", "018f5e6e-0000-7000-8000-000000000002"
	e := enforcer(t, here)
	// A role with the same name and different permissions in each tenant, and a holder in each.
	for tenantID, permission := range map[string]string{here: "audit.read", there: "plan.read"} {
		if _, err := e.AddPolicy("helper", tenantID, permission); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.AddGroupingPolicy("someone:helper", "helper", there); err != nil {
		t.Fatal(err)
	}
	if allowed, err := e.Enforce("someone:helper", there, "plan.read"); !allowed || err != nil {
		t.Errorf("a role of the tenant's own gives nothing (%v)", err)
	}
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
		if allowed, err := e.Enforce(request[0], request[1], request[2]); allowed || err != nil {
			t.Errorf("%s: allowed %v (%v)", name, allowed, err)
		}
	}
}

func TestPermissions_AreConsistent(t *testing.T) {
	t.Parallel()
	var roles []string
	for _, role := range policy.Roles() {
		roles = append(roles, role.Name)
		if !policy.IsBuiltIn(role.Name) {
			t.Errorf("%s is not built in", role.Name)
		}
		sentence(t, role.Name, role.Description)
	}
	if diff := cmp.Diff([]string{
		tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, tenant.RolePartner,
	}, roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	if policy.IsBuiltIn("Owner") || policy.IsBuiltIn("") {
		t.Error("a role that is not listed is built in")
	}

	name := regexp.MustCompile(`^[a-z]+\.[a-z]+(_[a-z]+)*$`)
	for i, p := range policy.Permissions() {
		if !name.MatchString(p.Name) {
			t.Errorf("%q is no name for a permission", p.Name)
		}
		sentence(t, p.Name, p.Description)
		if at, ok := policy.IndexOf(p.Name); !ok || at != i {
			t.Errorf("%s stands at %d, %v; want %d", p.Name, at, ok, i)
		}
		if len(p.Roles) < 2 || p.Roles[0] != tenant.RoleOwner || p.Roles[1] != tenant.RoleAdmin {
			t.Errorf("%s is withheld from owners or admins: %v", p.Name, p.Roles)
		}
	}
	if _, ok := policy.IndexOf("tenant.destroy"); ok {
		t.Error("an unknown permission has an index")
	}
}

func TestPermissions_ReturnsCopies(t *testing.T) {
	t.Parallel()
	policy.Permissions()[0].Roles[0] = "intruder"
	policy.Permissions()[0].Name = "intruder"
	policy.Roles()[0].Name = "intruder"
	if p := policy.Permissions()[0]; p.Name == "intruder" || p.Roles[0] == "intruder" || policy.IsBuiltIn("intruder") {
		t.Error("it did")
	}
}

func enforcer(t *testing.T, tenantID string) *casbin.Enforcer {
	t.Helper()
	m, err := model.NewModelFromString(policy.Model)
	if err != nil {
		t.Fatal(err)
	}
	e, err := casbin.NewEnforcer(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range policy.Permissions() {
		for _, role := range p.Roles {
			if _, err := e.AddPolicy(role, tenantID, p.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, role := range policy.Roles() {
		if _, err := e.AddGroupingPolicy("someone:"+role.Name, role.Name, tenantID); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func sentence(t *testing.T, name, text string) {
	t.Helper()
	if !regexp.MustCompile(`^[A-Z][^.\n]*\.$`).MatchString(text) {
		t.Errorf("%s: %q is not one sentence", name, text)
	}
}
