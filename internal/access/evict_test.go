package access

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/tenant"

	"github.com/shoenig/test/must"
)

// Invalidate cannot reach an evicted tenant, so its cached subjects must not be used any more.
func TestInvalidate_CoversEvictedTenants(t *testing.T) {
	t.Parallel()
	roles := sameRoles{"owner"}
	g := New(&roles)
	g.tenants = newCache[tenant.TenantID](shards, (*snapshot).retire)
	ids := make([]tenant.TenantID, 100)
	ask := func(want bool) {
		t.Helper()
		for _, id := range ids {
			d, err := g.Decide(t.Context(), id, "ann", "audit.read")
			must.NoError(t, err, must.Sprintf("allowed %v (%v), want %v", d.Allowed, err, want))
			must.EqOp(t, want, d.Allowed, must.Sprintf("allowed %v (%v), want %v", d.Allowed, err, want))
		}
	}
	for i := range ids {
		ids[i] = newTenant()
	}
	ask(true)
	roles[0] = "member"
	for _, id := range ids {
		g.Invalidate(id)
	}
	ask(false)
}

type sameRoles []string

func (sameRoles) Roles(context.Context, tenant.TenantID) ([]Role, error) { return nil, nil }

func (s *sameRoles) Holder(context.Context, tenant.TenantID, string) (Holder, error) {
	return Holder{Roles: []string{(*s)[0]}, Active: true}, nil
}
