package engine

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/tenant"
)

func TestContention_LastsFiveSecondsForItsTenantOnly(t *testing.T) {
	t.Parallel()
	var c contention
	noon := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	busy, quiet := tenant.TenantID{UUID: tenant.UUID{1}}, tenant.TenantID{UUID: tenant.UUID{2}}
	test.False(t, c.active(busy, noon), test.Sprint("contended before any conflict"))
	c.mark(busy, noon)
	for _, want := range []struct {
		id   tenant.TenantID
		now  time.Time
		does bool
	}{
		{busy, noon, true},
		{quiet, noon, false},
		{busy, noon.Add(5*time.Second - 1), true},
		{busy, noon.Add(5 * time.Second), false},
	} {
		test.EqOp(
			t, want.does, c.active(want.id, want.now), test.Sprintf("%s at %s", want.id, want.now.Format(time.TimeOnly)),
		)
	}
}
