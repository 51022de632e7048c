package housekeeping_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A sweep of a tenant in which nothing is due, as most are at most times.
func BenchmarkSweepOfNothing(b *testing.B) {
	studio := testkit.New(b)
	studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	for b.Loop() {
		expect.OK(b)(studio.App.Housekeeping.SweepTenant(context.Background(), studio.Tenant))
	}
}
