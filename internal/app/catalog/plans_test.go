package catalog_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestPlansAndItems_ReturnEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app, ctx, owner := studio.App.Catalog, t.Context(), studio.Owner
	plan := studio.AddPlan(credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10})
	item := studio.AddItem("Cart", 2, nil)
	for want, call := range map[string]func() error{
		"INVALID_FIELD @plan.name": func() error { return expect.Error(app.CreatePlan(ctx, owner, credit.Plan{})) },
		"INVALID_FIELD @plan.kind": func() error {
			return expect.Error(app.UpdatePlan(ctx, owner, plan.ID, nil, func(p *credit.Plan) error {
				p.Kind = credit.Unlimited
				return nil
			}))
		},
		"INVALID_FIELD @update_mask": func() error {
			return expect.Error(app.UpdatePlan(ctx, owner, plan.ID, nil, func(*credit.Plan) error {
				return fault.Invalid("update_mask", "A plan has no such field.")
			}))
		},
		"ALREADY_EXISTS @plan.name": func() error {
			return expect.Error(app.CreatePlan(ctx, owner, credit.Plan{Name: "ten", Kind: credit.Credits, Credits: 10}))
		},
		"INVALID_FIELD @item.name": func() error { return expect.Error(app.CreateItem(ctx, owner, booking.Item{})) },
		"LOCATION_NOT_FOUND": func() error {
			lost := item
			lost.Name, lost.Location = "Trolley", testkit.NewID[tenant.LocationID]()
			return expect.Error(app.CreateItem(ctx, owner, lost))
		},
		"ALREADY_EXISTS @item.name": func() error { return expect.Error(app.CreateItem(ctx, owner, item)) },
		"ETAG_MISMATCH @etag": func() error {
			return expect.Error(app.UpdateItem(ctx, owner, item.ID, new(7), func(*booking.Item) error { return nil }))
		},
	} {
		expect.Fault(t, want)(call())
	}
}

// A limit that a plan gets counts what was booked before of days that are not over, also where it is still yesterday by
// the clock of UTC. That matters where a week ends.
func TestUpdatePlan_CountsTheDaysThatAreNotOver(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Clock.Set(testkit.UTC("2026-03-23T03:00:00Z")) // Sunday evening in Los Angeles
	coast := studio.AddLocation(catalog.Location{Name: "Coast", TimeZone: "America/Los_Angeles"})
	at := func(minutes int) tenant.SessionID {
		return studio.AddSession(testkit.Session{
			Location: coast, Starts: studio.Clock.Now().Add(time.Duration(minutes) * time.Minute), Minutes: 30,
		})
	}
	mia, plan := studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited})
	studio.Subscribe(mia, plan)
	studio.MustBook(mia, at(60))
	expect.OK(t)(studio.App.Catalog.UpdatePlan(t.Context(), studio.Owner, plan.ID, nil, func(p *credit.Plan) error {
		p.DailyLimit, p.WeeklyLimit = new(1), new(5)
		return nil
	}))
	expect.Reason(t, fault.DailyLimit)(studio.Book(mia, at(120)))
}
