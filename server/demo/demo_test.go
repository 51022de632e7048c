package demo_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/server/demo"
)

// The first sweep of a node finds no due work from the demo's past weeks, so the metrics start at zero.
func TestSeed_LeavesNoDueWork(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	claims := expect.Value(waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes")))(t)
	seals := expect.Value(seal.NewKeys([]byte("another key for tests of 32 bytes")))(t)
	now := time.Date(2026, 3, 18, 10, 0, 0, 0, time.UTC)
	tenants := expect.Value(demo.Seed(t.Context(), db.DB, claims, seals, now, func(string) {}))(t)
	must.EqOp(t, 3, len(tenants), must.Sprint(tenants))
	var counted waitlists.Stats
	node := app.New(app.Config{
		DB: db.DB, Claims: claims, Now: func() time.Time { return now.Add(time.Second) },
		Stats: func(one waitlists.Stats) { counted = one },
	})
	for _, one := range tenants {
		done := expect.Value(node.Housekeeping.SweepTenant(t.Context(), one.ID))(t)
		test.EqOp(t, (housekeeping.SweepResult{}), done, test.Sprintf("%s: %+v", one.Name, done))
	}
	test.True(t, len(counted.Entries)+len(counted.Offers)+len(counted.Repaired) <= 0, test.Sprintf("%+v", counted))
	// But there is a live offer to see.
	test.False(t, tenants[1].Offer.IsZero(), test.Sprint("the club has no offer for its member"))
}
