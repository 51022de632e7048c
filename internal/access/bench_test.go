package access_test

import (
	"fmt"
	"testing"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func BenchmarkDecide(b *testing.B) {
	source := newMemorySource()
	g := access.New(source)
	ids := make([]tenant.TenantID, 10_000)
	for i := range ids {
		ids[i] = newTenant()
		source.assign(ids[i], "ann", access.Holder{Roles: []string{"member"}, Active: true})
	}
	decide := func(b *testing.B, id tenant.TenantID, subject, permission string) {
		b.Helper()
		expect.OK(b)(g.Decide(b.Context(), id, subject, permission))
	}
	for _, tenants := range []int{1, len(ids)} {
		for _, id := range ids[:tenants] {
			decide(b, id, "ann", "booking.create")
		}
		b.Run(fmt.Sprintf("cached/tenants=%d", tenants), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				decide(b, ids[i%tenants], "ann", "booking.create")
			}
		})
	}
	b.Run("cached/parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				decide(b, ids[0], "ann", "booking.create")
			}
		})
	})
	b.Run("denied", func(b *testing.B) {
		for b.Loop() {
			decide(b, ids[0], "ann", "audit.read")
		}
	})
	b.Run("after an invalidation", func(b *testing.B) {
		for b.Loop() {
			g.Invalidate(ids[0])
			decide(b, ids[0], "ann", "booking.create")
		}
	})
	b.Run("first of a tenant", func(b *testing.B) {
		for b.Loop() {
			id := newTenant()
			source.assign(id, "ann", access.Holder{Roles: []string{"member"}, Active: true})
			decide(b, id, "ann", "booking.create")
		}
	})
}
