package catalog_test

import (
	"testing"

	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	app, ctx, owner := s.App.Catalog, t.Context(), s.Owner
	cart, pack := s.AddItem("Cart", 2, nil), s.AddPlan(credit.Plan{Kind: credit.Unlimited})
	court := s.AddResource(catalog.Resource{Name: "Court"})
	links := booking.BenefitProvider{
		Code: "LINKS", Name: "Links", Pattern: `^[0-9]{5}$`, Verification: booking.VerifyByList, Active: true,
	}
	s.WantErrors(
		func() error {
			return expect.Error(app.CreateLocation(ctx, owner, catalog.Location{Name: "Quay", TimeZone: "UTC"}))
		},
		func() error {
			return expect.Error(app.UpdateLocation(ctx, owner, s.Location, nil, func(l *catalog.Location) {
				l.Name, l.TimeZone = "Pier", "UTC"
			}))
		},
		func() error {
			return expect.Error(app.SetChannels(ctx, owner, s.Location, nil, []catalog.Channel{catalog.Online}))
		},
		func() error { return expect.Error(app.GetLocation(ctx, owner, s.Location)) },
		func() error { return expect.Error(app.ListLocations(ctx, owner, appcatalog.LocationQuery{Limit: 9})) },
		func() error {
			svc := catalog.Service{Name: "Rowing", Duration: 3600e9, MaxParty: 2}
			return expect.Error(app.CreateService(ctx, owner, svc))
		},
		func() error {
			return expect.Error(app.UpdateService(ctx, owner, s.Service, nil, func(v *catalog.Service) { v.Name = "Flow" }))
		},
		func() error { return expect.Error(app.GetService(ctx, owner, s.Service)) },
		func() error { return expect.Error(app.ListServices(ctx, owner, appcatalog.ServiceQuery{Limit: 9})) },
		func() error {
			return expect.Error(app.CreateResource(ctx, owner, catalog.Resource{Location: s.Location, Name: "Pool"}))
		},
		func() error {
			return expect.Error(app.UpdateResource(ctx, owner, court, nil, func(r *catalog.Resource) { r.Name = "Hall" }))
		},
		func() error { return expect.Error(app.ListResources(ctx, owner, appcatalog.ResourceQuery{Limit: 9})) },
		func() error {
			other := cart
			other.Name = "Board"
			return expect.Error(app.CreateItem(ctx, owner, other))
		},
		func() error {
			return expect.Error(app.UpdateItem(ctx, owner, cart.ID, nil, func(i *booking.Item) error {
				i.Stock = 3
				return nil
			}))
		},
		func() error { return expect.Error(app.ListItems(ctx, owner, appcatalog.ItemQuery{Limit: 9})) },
		func() error {
			return expect.Error(app.CreatePlan(ctx, owner, credit.Plan{Name: "Course", Kind: credit.Course}))
		},
		func() error {
			return expect.Error(app.UpdatePlan(ctx, owner, pack.ID, nil, func(p *credit.Plan) error {
				p.Name, p.DailyLimit = "All you can", new(1)
				return nil
			}))
		},
		func() error { return expect.Error(app.ListPlans(ctx, owner, true, "", tenant.PlanID{}, 9)) },
		func() error { return expect.Error(app.PutBenefitProvider(ctx, owner, links, new(0))) },
		func() error {
			change := appcatalog.BenefitNumbers{Add: []string{"12345"}}
			return expect.Error(app.UpdateBenefitNumbers(ctx, owner, "LINKS", change))
		},
		func() error { return expect.Error(app.ListBenefitProviders(ctx, owner)) },
		func() error {
			q := appcatalog.MembershipQuery{Provider: "LINKS", Limit: 9}
			return expect.Error(app.ListBenefitMemberships(ctx, owner, q))
		},
	)
}
