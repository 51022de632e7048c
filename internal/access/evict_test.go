package access

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/tenant"
)

// A tenant that made room for others is out of the reach of Invalidate, so what
// was kept for it must not count any more.
func TestATenantThatMadeRoomIsForgotten(t *testing.T) {
	t.Parallel()
	roles := sameForAll{"owner"}
	g := New(&roles)
	g.tenants = newCache[tenant.TenantID](shards, (*snapshot).retire)
	ids := make([]tenant.TenantID, 100)
	ask := func(want bool) {
		t.Helper()
		for _, id := range ids {
			if d, err := g.Decide(t.Context(), id, "ann", "audit.read"); err != nil || d.Allowed != want {
				t.Fatalf("allowed %v (%v), want %v", d.Allowed, err, want)
			}
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

type sameForAll []string

func (sameForAll) Roles(context.Context, tenant.TenantID) ([]Role, error) { return nil, nil }

func (s *sameForAll) Holder(context.Context, tenant.TenantID, string) (Holder, error) {
	return Holder{Roles: []string{(*s)[0]}, Active: true}, nil
}
