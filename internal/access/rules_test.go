package access

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

func newTenant() tenant.TenantID { return tenant.New[tenant.TenantID](time.Now()) }

func TestEnforcer_SeparatesTenants(t *testing.T) {
	t.Parallel()
	a, b := newTenant(), newTenant()
	ofA := []Role{{Name: "greeter", Permissions: []string{"checkin.staff"}}}
	ofB := []Role{{Name: "greeter", Permissions: []string{"plan.write"}}} // another role with that name
	// The guard never puts two tenants into one enforcer. Here only the model keeps them apart.
	e, err := newEnforcer(
		newGrant(a, ofA, []string{"owner", "greeter"}),
		newGrant(b, ofB, []string{"member", "greeter"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		in         tenant.TenantID
		permission string
		want       string
	}{
		{a, "audit.read", "owner"},
		{a, "session.read", "owner"},
		{b, "audit.read", ""},
		{b, "session.read", "member"},
		{b, "checkin.staff", ""},
		{b, "plan.write", "greeter"},
		{newTenant(), "session.read", ""},
	} {
		got, err := decide(e, test.in, test.permission)
		if err != nil || got != test.want {
			t.Errorf("%s in %s: through %q (%v), want %q", test.permission, test.in, got, err, test.want)
		}
	}
}

func TestEnforcer_RoleNamedLikeNodeIsNotThatNode(t *testing.T) {
	t.Parallel()
	here := newTenant()
	e, err := newEnforcer(grant{
		tenant: here,
		roles:  []string{"member"},
		lines:  [][2]string{{holderNode, "audit.read"}, {"role:member", "plan.write"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, permission := range []string{"audit.read", "plan.write"} {
		if role, err := decide(e, here, permission); role != "" || err != nil {
			t.Errorf("%s through %q (%v)", permission, role, err)
		}
	}
}

func TestEvaluate_BuiltInRolesMatchCatalog(t *testing.T) {
	t.Parallel()
	r := newRules(newTenant(), nil)
	for _, role := range policy.Roles() {
		v, err := r.evaluate([]string{role.Name})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range policy.Permissions() {
			want := false
			for _, holder := range p.Roles {
				want = want || holder == role.Name
			}
			if got := v.grantedBy[i] != denied; got != want {
				t.Errorf("%s for %s: %v, want %v", p.Name, role.Name, got, want)
			}
		}
	}
}

func TestEvaluate_CustomRoles(t *testing.T) {
	t.Parallel()
	own := []Role{
		{Name: "greeter", Permissions: []string{"checkin.staff", "booking.roster", "no.such"}},
		{Name: "member", Permissions: []string{"audit.read"}}, // named like a built-in role
		{Name: "role:owner", Permissions: []string{"plan.read"}},
		{Name: holderNode, Permissions: []string{"plan.read"}},
		{Name: "idle"},
	}
	r := newRules(newTenant(), own)
	for name, test := range map[string]struct {
		roles      []string
		permission string
		want       string
	}{
		"its own permission":                  {[]string{"greeter"}, "booking.roster", "greeter"},
		"nothing else":                        {[]string{"greeter"}, "session.read", ""},
		"the highest rank is named":           {[]string{"greeter", "coach"}, "booking.roster", "coach"},
		"rank goes before the order given":    {[]string{"member", "owner", "coach"}, "session.read", "owner"},
		"one of several":                      {[]string{"member", "greeter"}, "checkin.staff", "greeter"},
		"a built-in role is not widened":      {[]string{"member"}, "audit.read", ""},
		"a built-in role is not narrowed":     {[]string{"member"}, "session.read", "member"},
		"a role named like an owner's node":   {[]string{"role:owner"}, "audit.read", ""},
		"a role named like the holder's node": {[]string{holderNode}, "audit.read", ""},
		"no permissions":                      {[]string{"idle"}, "plan.read", ""},
		"no roles":                            {nil, "session.read", ""},
		"a role that was deleted":             {[]string{"gone"}, "session.read", ""},
		"the empty role":                      {[]string{""}, "session.read", ""},
		"another case":                        {[]string{"Owner"}, "session.read", ""},
	} {
		v, err := r.evaluate(test.roles)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		index, _ := policy.IndexOf(test.permission)
		if i := v.grantedBy[index]; i != denied {
			got = v.roles[i]
		}
		if got != test.want {
			t.Errorf("%s: through %q, want %q", name, got, test.want)
		}
	}
}

func TestSortByRank_SortsAndDeduplicates(t *testing.T) {
	t.Parallel()
	given := []string{"zebra", "partner", "coach", "ant", "owner", "coach"}
	got := sortByRank(given)
	if diff := cmp.Diff([]string{"owner", "coach", "partner", "ant", "zebra"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if given[0] != "zebra" {
		t.Error("the caller's slice was sorted")
	}
}

func TestCache_IsBounded(t *testing.T) {
	t.Parallel()
	dropped := 0
	c := newCache[int](shards*4, func(int) { dropped++ })
	for i := range 10_000 {
		c.update(i, func(int, bool) int { return i })
		if v, ok := c.get(i); !ok || v != i {
			t.Fatalf("%d was not cached", i)
		}
	}
	n := 0
	c.updateAll(func(v int) int { n++; return -v })
	if n != shards*4 {
		t.Errorf("%d entries are cached, want %d", n, shards*4)
	}
	if dropped != 10_000-n {
		t.Errorf("%d entries were reported as dropped, want %d", dropped, 10_000-n)
	}
}
