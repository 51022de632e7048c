package catalog_test

import (
	"testing"

	"github.com/berthhq/berth/internal/rules/booking"
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
