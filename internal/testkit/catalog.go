package testkit

import (
	"cmp"
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// AddLocation creates a location with all channels: in Berlin, unless it says otherwise.
func (s *Studio) AddLocation(l catalog.Location) tenant.LocationID {
	s.T.Helper()
	l.TimeZone, l.Active = cmp.Or(l.TimeZone, "Europe/Berlin"), true
	return expect.Value(s.App.Catalog.CreateLocation(context.Background(), s.Owner, l))(s.T).ID
}

// EditLocation edits a location.
func (s *Studio) EditLocation(id tenant.LocationID, edit func(*catalog.Location)) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Catalog.UpdateLocation(context.Background(), s.Owner, id, nil, edit))
}

// AddService creates a service: an hour long, unless it says otherwise.
func (s *Studio) AddService(svc catalog.Service) tenant.ServiceID {
	s.T.Helper()
	svc.Duration, svc.Active = cmp.Or(svc.Duration, time.Hour), true
	return expect.Value(s.App.Catalog.CreateService(context.Background(), s.Owner, svc))(s.T).ID
}

// EditService edits a service.
func (s *Studio) EditService(id tenant.ServiceID, edit func(*catalog.Service)) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Catalog.UpdateService(context.Background(), s.Owner, id, nil, edit))
}

// AddResource creates a resource at the studio's location, unless it says otherwise.
func (s *Studio) AddResource(r catalog.Resource) tenant.ResourceID {
	s.T.Helper()
	if r.Location.IsZero() {
		r.Location = s.Location
	}
	r.Active = true
	return expect.Value(s.App.Catalog.CreateResource(context.Background(), s.Owner, r))(s.T).ID
}

// SetResourceActive opens or closes a resource.
func (s *Studio) SetResourceActive(id tenant.ResourceID, active bool) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Catalog.UpdateResource(context.Background(), s.Owner, id, nil, func(r *catalog.Resource) {
		r.Active = active
	}))
}

// AddItem creates an item. Out is how long a booking uses it; nil is as long as the session.
func (s *Studio) AddItem(name string, stock int, out *time.Duration) booking.Item {
	s.T.Helper()
	return expect.Value(s.App.Catalog.CreateItem(context.Background(), s.Owner, booking.Item{
		Location: s.Location, Name: name, Kind: "cart", Stock: stock, UseDuration: out, Active: true,
		Price: credit.Money{Currency: "EUR", Units: 20},
	}))(s.T)
}

// EditTenant edits the tenant.
func (s *Studio) EditTenant(edit func(*catalog.Tenant)) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Accounts.UpdateTenant(context.Background(), s.Owner, nil, edit))
}

// TakePayments lets only members with an active plan book.
func (s *Studio) TakePayments() {
	s.T.Helper()
	s.EditTenant(func(t *catalog.Tenant) { t.TakesPayments = true })
}

// SetPolicy edits the policy of the tenant.
func (s *Studio) SetPolicy(edit func(*catalog.PolicyLayer)) {
	s.T.Helper()
	s.SetPolicyOf(settings.PolicyTarget{}, edit)
}

// SetPolicyOf edits the policy of a location, or of a service.
func (s *Studio) SetPolicyOf(target settings.PolicyTarget, edit func(*catalog.PolicyLayer)) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Settings.UpdatePolicy(context.Background(), s.Owner, target, nil, edit))
}
