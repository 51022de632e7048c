package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestUpdateTenant_EditsAndAudits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.OtherTenant()
	studio.Clock.Set(testkit.Noon.Add(time.Hour))
	want := catalog.Tenant{
		ID: studio.Tenant, Name: "Quay Golf", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "CHF",
		TakesPayments: true,
		Brand:         brand.Brand{LogoURL: "https://cdn.example.com/quay.svg", Accent: "#2F5d3a"},
		Version:       2, CreatedAt: testkit.Founded, UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	got, err := studio.App.Accounts.UpdateTenant(t.Context(), studio.Owner, new(1), func(to *catalog.Tenant) {
		to.Name, to.TimeZone, to.Locale = want.Name, want.TimeZone, want.Locale
		to.Currency, to.TakesPayments = want.Currency, true
		to.Brand = want.Brand
	})
	diff := cmp.Diff(want, got, cmpopts.EquateEmpty())
	must.EqOp(t, "", diff)
	must.NoError(t, err)
	read := expect.Value(studio.App.Accounts.GetTenant(t.Context(), studio.Owner))(t)
	test.EqOp(t, "", cmp.Diff(want, read, cmpopts.EquateEmpty()))
	read = expect.Value(studio.App.Accounts.GetTenant(t.Context(), other.Owner))(t)
	test.EqOp(t, "Harbour Yoga", read.Name, test.Sprint("another tenant changed as well:", read))
	test.EqOp(t, 1, read.Version, test.Sprint("another tenant changed as well:", read))
	expect.Reason(t, fault.ETagMismatch)(studio.App.Accounts.UpdateTenant(
		t.Context(), studio.Owner, new(1), func(to *catalog.Tenant) { to.Name = "Stale" },
	))
	expect.Reason(t, fault.InvalidField)(studio.App.Accounts.UpdateTenant(
		t.Context(), studio.Owner, nil, func(to *catalog.Tenant) { to.Currency = "QQQ" },
	))
	expect.Reason(t, fault.InvalidField)(studio.App.Accounts.UpdateTenant(
		t.Context(), studio.Owner, nil, func(to *catalog.Tenant) { to.Brand.LogoURL = "https://192.168.0.1/logo.png" },
	))
	// The same brand in another notation is no change, so there is no event.
	expect.OK(t)(studio.App.Accounts.UpdateTenant(
		t.Context(), studio.Owner, nil, func(to *catalog.Tenant) { to.Brand = want.Brand },
	))

	unknown := tenant.Caller{Tenant: testkit.NewID[tenant.TenantID](), Subject: "x"}
	expect.Reason(t, fault.TenantNotFound)(studio.App.Accounts.GetTenant(t.Context(), unknown))
	expect.Reason(t, fault.TenantNotFound)(
		studio.App.Accounts.UpdateTenant(t.Context(), unknown, nil, func(*catalog.Tenant) {}),
	)
	expect.Reason(t, fault.TenantNotFound)(
		studio.App.Catalog.CreateLocation(t.Context(), unknown, catalog.Location{Name: "Nowhere"}),
	)
	test.Eq(t, []string{"tenant.updated"}, studio.Audited())
}

// Whatever forgets to look: the database keeps no look that could not be shown.
func TestBrand_DatabaseRejectsInvalidColors(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	for _, set := range []string{
		`logo_url = 'http://cdn.example.com/logo.svg'`, `logo_url = 'https://cdn.example.com/my logo.svg'`,
		`logo_url = 'https://cdn.example.com/"x'`, `logo_url = 'https://cdn.example.com/' || repeat('x', 477)`,
		`logo_url = null`,
		`accent_color = 'green'`, `accent_color = '#fff'`, `accent_color = '#00ff00ff'`, `accent_color = null`,
	} {
		_, err := studio.DB.Owner.Exec(t.Context(), `update tenants set `+set)
		test.Error(t, err, test.Sprintf("%s was kept", set))
	}
	studio.Exec(`update tenants set logo_url = 'https://cdn.example.com/' || repeat('x', 476), accent_color = '#00Ff00'`)
}

func TestResources_CreateAndEdit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	quay := expect.Value(studio.App.Catalog.CreateLocation(
		t.Context(), studio.Owner, catalog.Location{Name: "Quay", Active: true},
	))(t)
	create := func(at tenant.LocationID, name string) (catalog.Resource, error) {
		return studio.App.Catalog.CreateResource(
			context.Background(), studio.Owner, catalog.Resource{Location: at, Name: name, Kind: "court", Active: true},
		)
	}
	court, err := create(studio.Location, "Court 1")
	want := catalog.Resource{
		ID: court.ID, Location: studio.Location, Name: "Court 1", Kind: "court", Active: true, Version: 1,
		CreatedAt: testkit.Noon,
		UpdatedAt: testkit.Noon,
	}
	diff := cmp.Diff(want, court)
	must.EqOp(t, "", diff)
	must.NoError(t, err)
	expect.Reason(t, fault.AlreadyExistsReason)(create(studio.Location, "court 1"))
	expect.OK(t)(create(quay.ID, "Court 1")) // a name is one location's alone
	errs := testkit.ParallelErrors(6, func(int) error {
		return expect.Error(create(quay.ID, "Court 2"))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs))
	expect.Reason(t, fault.InvalidField)(
		studio.App.Catalog.CreateResource(t.Context(), studio.Owner, catalog.Resource{Location: quay.ID}),
	)

	edited := expect.Value(studio.App.Catalog.UpdateResource(
		t.Context(), studio.Owner, court.ID, new(1), func(r *catalog.Resource) { r.Kind, r.Active = "", false },
	))(t)
	test.EqOp(t, 2, edited.Version)
	test.EqOp(t, "", edited.Kind)
	test.False(t, edited.Active, test.Sprint(edited))
	test.EqOp(t, studio.Location, edited.Location)
	expect.Reason(t, fault.ETagMismatch)(studio.App.Catalog.UpdateResource(
		t.Context(), studio.Owner, court.ID, new(1), func(r *catalog.Resource) { r.Name = "Stale" },
	))
}

func TestServices_CreateAndEdit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made, err := studio.App.Catalog.CreateService(t.Context(), studio.Owner, catalog.Service{
		Name: "18 holes", Description: "A round.", Category: "Golf", Duration: 4*time.Hour + 30*time.Minute,
		DefaultCapacity: new(4), DefaultWaitlistCapacity: 8, MaxParty: 4, Color: "#00aa00", Active: true,
	})
	want := catalog.Service{
		ID: made.ID, Name: "18 holes", Description: "A round.", Category: "Golf", Duration: 4*time.Hour + 30*time.Minute,
		DefaultCapacity: new(4), DefaultWaitlistCapacity: 8, MinParty: 1, MaxParty: 4, Delivery: catalog.InPerson,
		Color:  "#00aa00",
		Active: true, Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	diff := cmp.Diff(want, made)
	must.EqOp(t, "", diff)
	must.NoError(t, err)
	read := expect.Value(studio.App.Catalog.GetService(t.Context(), studio.Owner, made.ID))(t)
	test.EqOp(t, "", cmp.Diff(want, read), test.Sprint(cmp.Diff(want, read)))
	expect.Reason(t, fault.AlreadyExistsReason)(studio.App.Catalog.CreateService(
		t.Context(), studio.Owner, catalog.Service{Name: "VINYASA", Duration: time.Hour},
	))
	errs := testkit.ParallelErrors(6, func(int) error {
		return expect.Error(studio.App.Catalog.CreateService(
			t.Context(), studio.Owner, catalog.Service{Name: "9 holes", Duration: time.Hour, Category: "Golf"},
		))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs))

	edit := func(expect *int, f func(*catalog.Service)) (catalog.Service, error) {
		return studio.App.Catalog.UpdateService(context.Background(), studio.Owner, made.ID, expect, f)
	}
	edited := expect.Value(edit(
		new(1), func(s *catalog.Service) { s.DefaultCapacity, s.MaxParty, s.Delivery = nil, 0, catalog.Feed },
	))(t)
	must.Nil(t, edited.DefaultCapacity)
	test.EqOp(t, 1, edited.MaxParty)
	test.EqOp(t, catalog.Feed, edited.Delivery)
	test.EqOp(t, 2, edited.Version)
	expect.Reason(t, fault.InvalidField)(edit(nil, func(s *catalog.Service) { s.MinParty = 2 }))
	expect.Reason(t, fault.ETagMismatch)(edit(new(1), func(s *catalog.Service) { s.Name = "Stale" }))
	expect.Reason(t, fault.AlreadyExistsReason)(edit(nil, func(s *catalog.Service) { s.Name = "9 Holes" }))
	expect.OK(t)(edit(nil, func(s *catalog.Service) { s.Active = false }))
}

// What another tenant has and what does not exist give the same error, to the letter.
func TestCatalog_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.OtherTenant()
	court := expect.Value(studio.App.Catalog.CreateResource(
		t.Context(), other.Owner, catalog.Resource{Location: other.Location, Name: "Court", Active: true},
	))(t)
	for name, ask := range map[string]func(l tenant.LocationID, r tenant.ResourceID, s tenant.ServiceID) error{
		"GetLocation": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			return expect.Error(studio.App.Catalog.GetLocation(t.Context(), studio.Owner, l))
		},
		"UpdateLocation": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			return expect.Error(studio.App.Catalog.UpdateLocation(
				t.Context(), studio.Owner, l, new(7), func(l *catalog.Location) { l.Name = "Mine" },
			))
		},
		"CreateResource": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			return expect.Error(studio.App.Catalog.CreateResource(
				t.Context(), studio.Owner, catalog.Resource{Location: l, Name: "Court"},
			))
		},
		"UpdateResource": func(_ tenant.LocationID, r tenant.ResourceID, _ tenant.ServiceID) error {
			return expect.Error(studio.App.Catalog.UpdateResource(
				t.Context(), studio.Owner, r, new(7), func(r *catalog.Resource) { r.Name = "Mine" },
			))
		},
		"ListResources": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			return expect.Error(studio.App.Catalog.ListResources(
				t.Context(), studio.Owner, appcatalog.ResourceQuery{Location: l, Limit: 5},
			))
		},
		"GetService": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			return expect.Error(studio.App.Catalog.GetService(t.Context(), studio.Owner, s))
		},
		"UpdateService": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			return expect.Error(studio.App.Catalog.UpdateService(
				t.Context(), studio.Owner, s, new(7), func(s *catalog.Service) { s.Name = "Mine" },
			))
		},
		"GetPolicy of a location": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			return expect.Error(studio.App.Settings.GetPolicy(
				t.Context(), studio.Owner, settings.PolicyTarget{Location: l, Service: studio.Service},
			))
		},
		"GetPolicy of a service": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			return expect.Error(studio.App.Settings.GetPolicy(
				t.Context(), studio.Owner, settings.PolicyTarget{Location: studio.Location, Service: s},
			))
		},
		"UpdatePolicy of a location": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			return expect.Error(studio.App.Settings.UpdatePolicy(
				t.Context(), studio.Owner, settings.PolicyTarget{Location: l}, new(7), func(*catalog.PolicyLayer) {},
			))
		},
		"UpdatePolicy of a service": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			return expect.Error(studio.App.Settings.UpdatePolicy(
				t.Context(), studio.Owner, settings.PolicyTarget{Service: s}, new(7), func(*catalog.PolicyLayer) {},
			))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs := ask(other.Location, court.ID, other.Service)
			absent := ask(
				testkit.NewID[tenant.LocationID](), testkit.NewID[tenant.ResourceID](), testkit.NewID[tenant.ServiceID](),
			)
			must.Error(t, theirs, must.Sprintf("theirs: %v; absent: %v", theirs, absent))
			must.Error(t, absent, must.Sprintf("theirs: %v; absent: %v", theirs, absent))
			test.Eq(t, absent.Error(), theirs.Error())
		})
	}
}
