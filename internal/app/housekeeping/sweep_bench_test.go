package housekeeping_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/testkit"
)

// A sweep of a tenant in which nothing is due, as most are at most times.
func BenchmarkSweepOfNothing(b *testing.B) {
	h := testkit.NewHouse(b)
	h.Session(testkit.Slot{Starts: testkit.Class})
	for b.Loop() {
		if _, err := h.App.Housekeeping.SweepTenant(context.Background(), h.Tenant); err != nil {
			b.Fatal(err)
		}
	}
}
