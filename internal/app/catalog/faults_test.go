package catalog_test

import (
	"testing"

	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	app, ctx, owner := s.App.Catalog, t.Context(), s.Owner
	links := booking.BenefitProvider{
		Code: "LINKS", Name: "Links", Pattern: `^[0-9]{5}$`, Verification: booking.VerifyByList, Active: true,
	}
	s.WantErrors(
		func() error { return expect.Error(app.GetLocation(ctx, owner, s.Location)) },
		func() error { return expect.Error(app.ListLocations(ctx, owner, appcatalog.LocationQuery{Limit: 9})) },
		func() error {
			return expect.Error(app.UpdateLocation(ctx, owner, s.Location, nil, func(l *catalog.Location) {
				l.TimeZone = "Asia/Tokyo"
			}))
		},
		func() error { return expect.Error(app.GetService(ctx, owner, s.Service)) },
		func() error { return expect.Error(app.ListServices(ctx, owner, appcatalog.ServiceQuery{Limit: 9})) },
		func() error { return expect.Error(app.ListResources(ctx, owner, appcatalog.ResourceQuery{Limit: 9})) },
		func() error { return expect.Error(app.ListItems(ctx, owner, appcatalog.ItemQuery{Limit: 9})) },
		func() error { return expect.Error(app.ListPlans(ctx, owner, appcatalog.PlanQuery{Limit: 9})) },
		func() error { return expect.Error(app.CreateBenefitProvider(ctx, owner, links)) },
		func() error {
			return expect.Error(app.UpdateBenefitProvider(ctx, owner, "LINKS", nil, func(p *booking.BenefitProvider) error {
				p.Percent = 20
				return nil
			}))
		},
		func() error {
			return expect.Error(app.UpdateBenefitNumbers(ctx, owner, "LINKS", appcatalog.BenefitNumbers{
				Add: []string{"12345"},
			}))
		},
		func() error { return expect.Error(app.ListBenefitProviders(ctx, owner)) },
		func() error {
			return expect.Error(app.ListBenefitMemberships(ctx, owner, appcatalog.MembershipQuery{
				Provider: "LINKS", Limit: 9,
			}))
		},
	)
}
