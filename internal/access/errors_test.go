package access

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/casbin/casbin/v2/model"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/policy"
)

// broken are models with which nothing can be decided.
var broken = map[string]func() (model.Model, error){
	"unreadable":         func() (model.Model, error) { return nil, errors.New("no model") },
	"without policies":   edited("[policy_definition]\np = role, tenant, permission", ""),
	"without roles":      edited("[role_definition]\ng = _, _, _", ""),
	"with longer roles":  edited("g = _, _, _", "g = _, _, _, _"),
	"with a bad matcher": edited("r.tenant == p.tenant", "r.tenant.x > 1"),
}

func edited(old, text string) func() (model.Model, error) {
	return func() (model.Model, error) {
		return model.NewModelFromString(strings.Replace(policy.Model, old, text, 1))
	}
}

// Without a decision there is an error, never an answer.
func TestEvaluate_FailsWithoutDecisions(t *testing.T) {
	t.Parallel()
	for name, parsed := range broken {
		r := newRules(newTenant(), nil)
		r.model = parsed
		v, err := r.evaluate([]string{"owner"})
		test.Error(t, err, test.Sprint(name))
		test.Nil(t, v, test.Sprint(name))
		roles, err := r.rolesWith(0, []string{"owner"})
		test.Error(t, err, test.Sprint(name))
		test.Nil(t, roles, test.Sprint(name))
	}
}

func TestGuard_ReturnsErrorsOfDecisionsAndReads(t *testing.T) {
	t.Parallel()
	for name, parsed := range broken {
		g, id := New(&sameRoles{"owner"}), newTenant()
		expect.OK(t)(g.Explain(t.Context(), id, "ann", "audit.read"))
		g.snapshot(id).rules.Load().model = parsed
		clear(g.snapshot(id).rules.Load().sets)
		_, err := g.Explain(t.Context(), id, "ann", "audit.read")
		test.Error(t, err, test.Sprint(name))
		for subject, check := range map[string]func(context.Context, tenant.TenantID, string) error{
			"tom": func(ctx context.Context, id tenant.TenantID, subject string) error {
				_, err := g.Decide(ctx, id, subject, "audit.read")
				return err
			},
			"sam": func(ctx context.Context, id tenant.TenantID, subject string) error {
				_, err := g.Holder(ctx, id, subject)
				return err
			},
			"kim": func(ctx context.Context, id tenant.TenantID, subject string) error {
				_, err := g.Explain(ctx, id, subject, "audit.read")
				return err
			},
		} {
			test.Error(t, check(t.Context(), id, subject), test.Sprintf("%s: %s", name, subject))
		}
	}
	g, id := New(stranger{}), newTenant()
	expect.OK(t)(g.Explain(t.Context(), id, "tom", "audit.read"))
	g.snapshot(id).rules.Load().model = broken["unreadable"]
	clear(g.snapshot(id).rules.Load().sets)
	_, err := g.Explain(t.Context(), id, "tom", "audit.read")
	test.Error(t, err) // nothing is evaluated for the subject, but for all roles
}

// stranger is a source without subjects.
type stranger struct{}

func (stranger) Roles(context.Context, tenant.TenantID) ([]Role, error) { return nil, nil }

func (stranger) Holder(context.Context, tenant.TenantID, string) (Holder, error) {
	return Holder{}, nil
}

// A set of roles is evaluated once, and never mistaken for another. The cache of sets is bounded.
func TestEvaluate_CachesSets(t *testing.T) {
	t.Parallel()
	r := newRules(newTenant(), []Role{{Name: "a"}, {Name: "b"}, {Name: "ab", Permissions: []string{"audit.read"}}})
	two := expect.Value(r.evaluate([]string{"a", "b"}))(t)
	test.Eq(t, []string{"ab"}, expect.Value(r.evaluate([]string{"ab"}))(t).roles)
	test.True(t, two == expect.Value(r.evaluate([]string{"b", "a"}))(t))
	for i := len(r.sets); i < maxSets; i++ {
		r.sets[fmt.Sprint(i)] = nil
	}
	expect.OK(t)(r.evaluate([]string{"a", "b"}))
	test.MapLen(t, maxSets, r.sets)
	expect.OK(t)(r.evaluate([]string{"owner"}))
	test.MapLen(t, 1, r.sets)
}

// Strangers are cached apart, so that they cannot evict members. Rules that did not change are kept.
func TestGuard_KeepsStrangersApartAndRulesThatStay(t *testing.T) {
	t.Parallel()
	g, id := New(&sameRoles{"owner"}), newTenant()
	g.Invalidate(id)
	_, known := g.tenants.get(id)
	test.False(t, known)
	expect.OK(t)(g.Decide(t.Context(), id, "ann", "audit.read"))
	_, asMember := g.holders.get(holderKey{id, "ann"})
	_, asStranger := g.strangers.get(holderKey{id, "ann"})
	test.True(t, asMember)
	test.False(t, asStranger)
	before := g.snapshot(id).rules.Load()
	for range 2 { // the second replaces a snapshot that was not read
		g.Invalidate(id)
		g.Invalidate(id)
		expect.OK(t)(g.Decide(t.Context(), id, "ann", "audit.read"))
		test.True(t, before == g.snapshot(id).rules.Load())
	}
	g = New(stranger{})
	first := expect.Value(g.holder(t.Context(), id, "tom"))(t)
	_, asMember = g.holders.get(holderKey{id, "tom"})
	test.False(t, asMember)
	test.True(t, first == expect.Value(g.holder(t.Context(), id, "tom"))(t))
}

func TestCache_HoldsOneEntryPerShardAtLeast(t *testing.T) {
	t.Parallel()
	c := newCache[int](shards, func(int) {})
	for i := range 5000 {
		c.update(i, func(int, bool) int { return i })
	}
	n := 0
	c.updateAll(func(v int) int { n++; return v })
	test.EqOp(t, shards, n)
}
