package housekeeping_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/testkit"
)

// A sweep of a tenant in which nothing is due, as most are at most times.
func BenchmarkSweepOfNothing(b *testing.B) {
	h := testkit.New(b)
	h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	for b.Loop() {
		if _, err := h.App.Housekeeping.SweepTenant(context.Background(), h.Tenant); err != nil {
			b.Fatal(err)
		}
	}
}
