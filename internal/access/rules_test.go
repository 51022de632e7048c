package access

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/policy"
)

func newTenant() tenant.TenantID { return tenant.New[tenant.TenantID](time.Now()) }

func TestEnforcer_SeparatesTenants(t *testing.T) {
	t.Parallel()
	a, b := newTenant(), newTenant()
	ofA := []Role{{Name: "greeter", Permissions: []string{"checkin.staff"}}}
	ofB := []Role{{Name: "greeter", Permissions: []string{"plan.write"}}} // another role with that name
	// The guard never puts two tenants into one enforcer. Here only the model keeps them apart.
	e := expect.Value(newEnforcer(parsedModel,
		newGrant(a, ofA, []string{"owner", "greeter"}),
		newGrant(b, ofB, []string{"member", "greeter"}),
	))(t)
	for _, tt := range []struct {
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
		got, err := decide(e, tt.in, tt.permission)
		test.NoError(t, err,
			test.Sprintf("%s in %s: through %q (%v), want %q", tt.permission, tt.in, got, err, tt.want))
		test.EqOp(t, tt.want, got,
			test.Sprintf("%s in %s: through %q (%v), want %q", tt.permission, tt.in, got, err, tt.want))
	}
}

func TestEnforcer_RoleNamedLikeNodeIsNotThatNode(t *testing.T) {
	t.Parallel()
	here := newTenant()
	e := expect.Value(newEnforcer(parsedModel, grant{
		tenant: here,
		roles:  []string{"member"},
		lines:  [][2]string{{holderNode, "audit.read"}, {"role:member", "plan.write"}},
	}))(t)
	for _, permission := range []string{"audit.read", "plan.write"} {
		role := expect.Value(decide(e, here, permission))(t)
		test.EqOp(t, "", role, test.Sprintf("%s through %q", permission, role))
	}
}

func TestEvaluate_BuiltInRolesMatchCatalog(t *testing.T) {
	t.Parallel()
	r := newRules(newTenant(), nil)
	for _, role := range policy.Roles() {
		v := expect.Value(r.evaluate([]string{role.Name}))(t)
		for i, p := range policy.Permissions() {
			want := false
			for _, holder := range p.Roles {
				want = want || holder == role.Name
			}
			test.EqOp(t, want, v.grantedBy[i] != denied, test.Sprintf("%s for %s", p.Name, role.Name))
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
	for name, tc := range map[string]struct {
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
		v, err := r.evaluate(tc.roles)
		must.NoError(t, err, must.Sprint(name))
		got := ""
		index, _ := policy.IndexOf(tc.permission)
		if i := v.grantedBy[index]; i != denied {
			got = v.roles[i]
		}
		test.EqOp(t, tc.want, got, test.Sprintf("%s: through", name))
	}
}

func TestSortByRank_SortsAndDeduplicates(t *testing.T) {
	t.Parallel()
	given := []string{"zebra", "partner", "coach", "ant", "owner", "coach"}
	test.Eq(t, []string{"owner", "coach", "partner", "ant", "zebra"}, sortByRank(given))
	test.EqOp(t, "zebra", given[0], test.Sprint("the caller's slice was sorted"))
}

func TestCache_IsBounded(t *testing.T) {
	t.Parallel()
	dropped := 0
	c := newCache[int](shards*4, func(int) { dropped++ })
	for i := range 10_000 {
		c.update(i, func(int, bool) int { return i })
		v, ok := c.get(i)
		must.True(t, ok, must.Sprintf("%d was not cached", i))
		must.EqOp(t, i, v, must.Sprintf("%d was not cached", i))
	}
	n := 0
	c.updateAll(func(v int) int { n++; return -v })
	test.EqOp(t, shards*4, n, test.Sprintf("%d entries are cached, want %d", n, shards*4))
	test.EqOp(t, 10_000-n, dropped, test.Sprintf("%d entries were reported as dropped, want %d", dropped, 10_000-n))
}
