package app_test

import (
	"context"
	"testing"
)

// A sweep of a tenant in which nothing is due, as most are at most times.
func BenchmarkSweepOfNothing(b *testing.B) {
	h := newHouse(b)
	h.session(slot{Starts: class})
	for b.Loop() {
		if _, err := h.app.SweepTenant(context.Background(), h.Tenant); err != nil {
			b.Fatal(err)
		}
	}
}
