package app

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// A conflict makes the transactions of its own tenant stand in line, for a while.
func TestCrowdsAreOfATenant(t *testing.T) {
	t.Parallel()
	var c crowds
	noon := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	busy, quiet := tenant.TenantID{UUID: tenant.UUID{1}}, tenant.TenantID{UUID: tenant.UUID{2}}
	if c.at(busy, noon) {
		t.Error("a crowd before anything happened")
	}
	c.begin(busy, noon.Add(crowdedFor))
	for _, want := range []struct {
		id   tenant.TenantID
		now  time.Time
		does bool
	}{
		{busy, noon, true},
		{quiet, noon, false},
		{busy, noon.Add(crowdedFor - 1), true},
		{busy, noon.Add(crowdedFor), false},
		{busy, noon, false}, // it is over
	} {
		if got := c.at(want.id, want.now); got != want.does {
			t.Errorf("%s at %s: %t", want.id, want.now.Format(time.TimeOnly), got)
		}
	}
	if len(c.until) != 0 {
		t.Error("what is over is kept")
	}
}
