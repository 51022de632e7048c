package seats_test

import (
	"context"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// An operation that changes two sessions takes the locks of both, also if the booking is not found.
func TestLocate_LocksTheOtherSession(t *testing.T) {
	t.Parallel()
	to := seats.Locator{ID: tenant.BookingID{UUID: tenant.UUID{1}}, Also: tenant.SessionID{UUID: tenant.UUID{2}}}
	none := func(context.Context, *pg.Batch) error { return nil }
	_, locks, err := to.Locate(t.Context(), tenant.TenantID{UUID: tenant.UUID{3}}, none)
	must.NoError(t, err)
	test.Eq(t, engine.Locks{Single: []engine.Key{to.ID.UUID}, Together: []engine.Key{to.Also.UUID}}, locks)
}
