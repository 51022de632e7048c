package engine

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

func TestContention_LastsFiveSecondsForItsTenantOnly(t *testing.T) {
	t.Parallel()
	var c contention
	noon := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	busy, quiet := tenant.TenantID{UUID: tenant.UUID{1}}, tenant.TenantID{UUID: tenant.UUID{2}}
	if c.active(busy, noon) {
		t.Error("contended before any conflict")
	}
	c.mark(busy, noon.Add(contentionLasts))
	for _, want := range []struct {
		id   tenant.TenantID
		now  time.Time
		does bool
	}{
		{busy, noon, true},
		{quiet, noon, false},
		{busy, noon.Add(contentionLasts - 1), true},
		{busy, noon.Add(contentionLasts), false},
		{busy, noon, false}, // expired
	} {
		if got := c.active(want.id, want.now); got != want.does {
			t.Errorf("%s at %s: %t", want.id, want.now.Format(time.TimeOnly), got)
		}
	}
	if len(c.until) != 0 {
		t.Error("an expired entry is kept")
	}
}
