package catalogapi

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.Add(&l, locationMessage, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} })
	converttest.AddBack(&l, func(m *v1.LocationInput) catalog.Location {
		var edited catalog.Location
		editLocation(m, []string{"name", "time_zone", "geo", "address", "channels", "active"})(&edited)
		return edited
	})
	converttest.AddBack(&l, locationValue)
	converttest.Add(&l, resourceMessage)
	converttest.AddBack(&l, resourceValue)
	converttest.AddBack(&l, func(m *v1.ResourceInput) catalog.Resource {
		var edited catalog.Resource
		editResource(m, []string{"name", "kind", "active"})(&edited)
		return edited
	})
	converttest.Add(&l, serviceMessage, func(s *catalog.Service) { s.Delivery = catalog.Feed })
	converttest.AddBack(&l, serviceValue)
	converttest.AddBack(&l, func(m *v1.ServiceInput) catalog.Service {
		var edited catalog.Service
		editService(m, []string{
			"name", "description", "category", "duration", "default_capacity", "default_waitlist_capacity", "min_party",
			"max_party", "delivery", "color", "active",
		})(&edited)
		return edited
	})
	converttest.Add(&l, planMessage, func(p *credit.Plan) { p.Kind = credit.Course })
	converttest.AddBack(&l, planValue)
	converttest.Add(&l, itemMessage)
	converttest.AddBack(&l, itemValue)
	converttest.Add(&l, providerMessage, func(p *booking.BenefitProvider) { p.Verification = booking.VerifyByList })
	converttest.AddBack(&l, providerValue)
	converttest.AddBack(&l, membershipQueryValue)
	converttest.Add(&l, membershipMessage)
	l.Check(t, "testdata/fields.txt")
}

func TestPlanLength_IsInDays(t *testing.T) {
	t.Parallel()
	month := &v1.PlanLength{Length: &v1.PlanLength_Days{Days: 30}}
	test.Nil(t, lengthValue(nil))
	test.Nil(t, lengthMessage(nil))
	test.EqOp(t, 720*time.Hour, *lengthValue(month))
	test.EqOp(t, 30, lengthMessage(lengthValue(month)).GetDays())
}
