package demo_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/server/demo"
)

// The first sweep of a node finds no due work from the demo's past weeks, so the metrics start at zero.
func TestSeed_LeavesNoDueWork(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 18, 10, 0, 0, 0, time.UTC)
	tenants, err := demo.Seed(t.Context(), db.DB, claims, now, func(string) {})
	if err != nil || len(tenants) != 3 {
		t.Fatal(tenants, err)
	}
	var counted waitlists.Stats
	node := app.New(app.Config{
		DB: db.DB, Claims: claims, Now: func() time.Time { return now.Add(time.Second) },
		Stats: func(one waitlists.Stats) { counted = one },
	})
	for _, one := range tenants {
		done, err := node.Housekeeping.SweepTenant(t.Context(), one.ID)
		if err != nil || done != (housekeeping.SweepResult{}) {
			t.Errorf("%s: %+v, %v", one.Name, done, err)
		}
	}
	if len(counted.Entries)+len(counted.Offers)+len(counted.Repaired) > 0 {
		t.Errorf("%+v", counted)
	}
	// But there is a live offer to see.
	if club := tenants[1]; club.Offer.IsZero() {
		t.Error("the club has no offer for its member")
	}
}
