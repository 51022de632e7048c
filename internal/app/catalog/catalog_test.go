package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestUpdateTenant_EditsAndAudits(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	other := h.OtherTenant()
	h.Clock.Set(testkit.Noon.Add(time.Hour))
	want := catalog.Tenant{
		ID: h.Tenant, Name: "Quay Golf", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "CHF", TakesPayments: true,
		Brand:   brand.Brand{LogoURL: "https://cdn.example.com/quay.svg", Accent: "#2F5d3a"},
		Version: 2, CreatedAt: testkit.Founded, UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	got, err := h.App.Accounts.UpdateTenant(t.Context(), h.Owner, new(1), func(to *catalog.Tenant) {
		to.Name, to.TimeZone, to.Locale = want.Name, want.TimeZone, want.Locale
		to.Currency, to.TakesPayments = want.Currency, true
		to.Brand = want.Brand
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	if read, err := h.App.Accounts.GetTenant(t.Context(), h.Owner); err != nil || cmp.Diff(want, read) != "" {
		t.Error(err, cmp.Diff(want, read))
	}
	if read, err := h.App.Accounts.GetTenant(t.Context(), other.Owner); err != nil || read.Name != "Harbour Yoga" ||
		read.Version != 1 {
		t.Error("another tenant changed as well:", read, err)
	}
	_, err = h.App.Accounts.UpdateTenant(t.Context(), h.Owner, new(1), func(to *catalog.Tenant) { to.Name = "Stale" })
	testkit.WantReason(t, err, fault.ETagMismatch)
	_, err = h.App.Accounts.UpdateTenant(t.Context(), h.Owner, nil, func(to *catalog.Tenant) { to.Currency = "QQQ" })
	testkit.WantReason(t, err, fault.InvalidField)
	_, err = h.App.Accounts.UpdateTenant(
		t.Context(), h.Owner, nil, func(to *catalog.Tenant) { to.Brand.LogoURL = "https://192.168.0.1/logo.png" },
	)
	testkit.WantReason(t, err, fault.InvalidField)
	// The same look in other words is none that anybody has to hear of.
	_, err = h.App.Accounts.UpdateTenant(t.Context(), h.Owner, nil, func(to *catalog.Tenant) { to.Brand = want.Brand })
	if err != nil {
		t.Error(err)
	}

	nobody := tenant.Caller{Tenant: testkit.NewID[tenant.TenantID](), Subject: "x"}
	_, err = h.App.Accounts.GetTenant(t.Context(), nobody)
	testkit.WantReason(t, err, fault.TenantNotFound)
	_, err = h.App.Accounts.UpdateTenant(t.Context(), nobody, nil, func(*catalog.Tenant) {})
	testkit.WantReason(t, err, fault.TenantNotFound)
	_, err = h.App.Catalog.CreateLocation(t.Context(), nobody, catalog.Location{Name: "Nowhere"})
	testkit.WantReason(t, err, fault.TenantNotFound)
	if diff := cmp.Diff([]string{"tenant.updated"}, h.Audited()); diff != "" {
		t.Error(diff)
	}
}

// Whatever forgets to look: the database keeps no look that could not be shown.
func TestBrand_DatabaseRejectsInvalidColors(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	for _, set := range []string{
		`logo_url = 'http://cdn.example.com/logo.svg'`, `logo_url = 'https://cdn.example.com/my logo.svg'`,
		`logo_url = 'https://cdn.example.com/"x'`, `logo_url = 'https://cdn.example.com/' || repeat('x', 477)`,
		`logo_url = null`,
		`accent_color = 'green'`, `accent_color = '#fff'`, `accent_color = '#00ff00ff'`, `accent_color = null`,
	} {
		if _, err := h.DB.Owner.Exec(t.Context(), `update tenants set `+set); err == nil {
			t.Errorf("%s was kept", set)
		}
	}
	h.Exec(`update tenants set logo_url = 'https://cdn.example.com/' || repeat('x', 476), accent_color = '#00Ff00'`)
}

func TestResources_CreateEditAndList(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	quay, err := h.App.Catalog.CreateLocation(t.Context(), h.Owner, catalog.Location{Name: "Quay"})
	if err != nil {
		t.Fatal(err)
	}
	create := func(at tenant.LocationID, name string) (catalog.Resource, error) {
		return h.App.Catalog.CreateResource(
			context.Background(), h.Owner, catalog.Resource{Location: at, Name: name, Kind: "court"},
		)
	}
	court, err := create(h.Location, "Court 1")
	want := catalog.Resource{
		ID: court.ID, Location: h.Location, Name: "Court 1", Kind: "court", Active: true, Version: 1, CreatedAt: testkit.Noon,
		UpdatedAt: testkit.Noon,
	}
	if diff := cmp.Diff(want, court); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	_, err = create(h.Location, "court 1")
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
	if _, err = create(quay.ID, "Court 1"); err != nil {
		t.Error("a name is one location's alone:", err)
	}
	errs := testkit.ParallelErrors(6, func(int) error {
		_, err := create(quay.ID, "Court 2")
		return err
	})
	if diff := cmp.Diff(
		map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs),
	); diff != "" {
		t.Error(diff)
	}
	_, err = h.App.Catalog.CreateResource(t.Context(), h.Owner, catalog.Resource{Location: quay.ID})
	testkit.WantReason(t, err, fault.InvalidField)

	edited, err := h.App.Catalog.UpdateResource(
		t.Context(), h.Owner, court.ID, new(1), func(r *catalog.Resource) { r.Kind, r.Active = "", false },
	)
	if err != nil || edited.Version != 2 || edited.Kind != "" || edited.Active || edited.Location != h.Location {
		t.Error(edited, err)
	}
	_, err = h.App.Catalog.UpdateResource(
		t.Context(), h.Owner, court.ID, new(1), func(r *catalog.Resource) { r.Name = "Stale" },
	)
	testkit.WantReason(t, err, fault.ETagMismatch)

	list := func(q appcatalog.ResourceQuery) (names []string) {
		t.Helper()
		q.Limit = 2
		for {
			page, err := h.App.Catalog.ListResources(t.Context(), h.Owner, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				names = append(names, r.Name)
			}
			if len(page) < q.Limit {
				return names
			}
			q.AfterName, q.AfterID = page[1].Name, page[1].ID
		}
	}
	if diff := cmp.Diff([]string{"Court 1", "Court 2"}, list(appcatalog.ResourceQuery{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(
		[]string{"Court 1", "Court 1", "Court 2"}, list(appcatalog.ResourceQuery{Inactive: true}),
	); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string(nil), list(appcatalog.ResourceQuery{Location: h.Location})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Court 1", "Court 2"}, list(appcatalog.ResourceQuery{Location: quay.ID})); diff != "" {
		t.Error(diff)
	}
}

func TestServices_CreateEditAndList(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	made, err := h.App.Catalog.CreateService(t.Context(), h.Owner, catalog.Service{
		Name: "18 holes", Description: "A round.", Category: "Golf", Duration: 4*time.Hour + 30*time.Minute,
		DefaultCapacity: new(4), DefaultWaitlistCapacity: 8, MaxParty: 4, Color: "#00aa00",
	})
	want := catalog.Service{
		ID: made.ID, Name: "18 holes", Description: "A round.", Category: "Golf", Duration: 4*time.Hour + 30*time.Minute,
		DefaultCapacity: new(4), DefaultWaitlistCapacity: 8, MinParty: 1, MaxParty: 4, Delivery: catalog.InPerson,
		Color:  "#00aa00",
		Active: true, Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	if diff := cmp.Diff(want, made); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	if read, err := h.App.Catalog.GetService(t.Context(), h.Owner, made.ID); err != nil || cmp.Diff(want, read) != "" {
		t.Error(err, cmp.Diff(want, read))
	}
	_, err = h.App.Catalog.CreateService(t.Context(), h.Owner, catalog.Service{Name: "VINYASA", Duration: time.Hour})
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
	errs := testkit.ParallelErrors(6, func(int) error {
		_, err := h.App.Catalog.CreateService(
			t.Context(), h.Owner, catalog.Service{Name: "9 holes", Duration: time.Hour, Category: "Golf"},
		)
		return err
	})
	if diff := cmp.Diff(
		map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs),
	); diff != "" {
		t.Error(diff)
	}

	edit := func(expect *int, f func(*catalog.Service)) (catalog.Service, error) {
		return h.App.Catalog.UpdateService(context.Background(), h.Owner, made.ID, expect, f)
	}
	edited, err := edit(
		new(1), func(s *catalog.Service) { s.DefaultCapacity, s.MaxParty, s.Delivery = nil, 0, catalog.Feed },
	)
	if err != nil || edited.DefaultCapacity != nil || edited.MaxParty != 1 || edited.Delivery != catalog.Feed ||
		edited.Version != 2 {
		t.Error(edited, err)
	}
	_, err = edit(nil, func(s *catalog.Service) { s.MinParty = 2 })
	testkit.WantReason(t, err, fault.InvalidField)
	_, err = edit(new(1), func(s *catalog.Service) { s.Name = "Stale" })
	testkit.WantReason(t, err, fault.ETagMismatch)
	_, err = edit(nil, func(s *catalog.Service) { s.Name = "9 Holes" })
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
	if _, err = edit(nil, func(s *catalog.Service) { s.Active = false }); err != nil {
		t.Error(err)
	}

	list := func(q appcatalog.ServiceQuery) (names []string) {
		t.Helper()
		q.Limit = 2
		for {
			page, err := h.App.Catalog.ListServices(t.Context(), h.Owner, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page {
				names = append(names, s.Name)
			}
			if len(page) < q.Limit {
				return names
			}
			q.AfterName, q.AfterID = page[1].Name, page[1].ID
		}
	}
	if diff := cmp.Diff([]string{"9 holes", "Vinyasa"}, list(appcatalog.ServiceQuery{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(
		[]string{"18 holes", "9 holes", "Vinyasa"}, list(appcatalog.ServiceQuery{Inactive: true}),
	); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"9 holes"}, list(appcatalog.ServiceQuery{Category: "Golf"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string(nil), list(appcatalog.ServiceQuery{Category: "golf"})); diff != "" {
		t.Error(diff)
	}
}

// What another tenant has and what nobody has look the same, to the letter.
func TestCatalog_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	other := h.OtherTenant()
	court, err := h.App.Catalog.CreateResource(
		t.Context(), other.Owner, catalog.Resource{Location: other.Location, Name: "Court"},
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(l tenant.LocationID, r tenant.ResourceID, s tenant.ServiceID) error{
		"GetLocation": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Catalog.GetLocation(t.Context(), h.Owner, l)
			return err
		},
		"UpdateLocation": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Catalog.UpdateLocation(
				t.Context(), h.Owner, l, new(7), func(l *catalog.Location) { l.Name = "Mine" },
			)
			return err
		},
		"SetChannels": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Catalog.SetChannels(t.Context(), h.Owner, l, nil, nil)
			return err
		},
		"CreateResource": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Catalog.CreateResource(t.Context(), h.Owner, catalog.Resource{Location: l, Name: "Court"})
			return err
		},
		"UpdateResource": func(_ tenant.LocationID, r tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Catalog.UpdateResource(
				t.Context(), h.Owner, r, new(7), func(r *catalog.Resource) { r.Name = "Mine" },
			)
			return err
		},
		"ListResources": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Catalog.ListResources(t.Context(), h.Owner, appcatalog.ResourceQuery{Location: l, Limit: 5})
			return err
		},
		"GetService": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			_, err := h.App.Catalog.GetService(t.Context(), h.Owner, s)
			return err
		},
		"UpdateService": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			_, err := h.App.Catalog.UpdateService(t.Context(), h.Owner, s, new(7), func(s *catalog.Service) { s.Name = "Mine" })
			return err
		},
		"GetPolicy of a location": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Settings.GetPolicy(t.Context(), h.Owner, settings.PolicyTarget{Location: l, Service: h.Service})
			return err
		},
		"GetPolicy of a service": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			_, err := h.App.Settings.GetPolicy(t.Context(), h.Owner, settings.PolicyTarget{Location: h.Location, Service: s})
			return err
		},
		"UpdatePolicy of a location": func(l tenant.LocationID, _ tenant.ResourceID, _ tenant.ServiceID) error {
			_, err := h.App.Settings.UpdatePolicy(
				t.Context(), h.Owner, settings.PolicyTarget{Location: l}, new(7), func(*catalog.Policy) {},
			)
			return err
		},
		"UpdatePolicy of a service": func(_ tenant.LocationID, _ tenant.ResourceID, s tenant.ServiceID) error {
			_, err := h.App.Settings.UpdatePolicy(
				t.Context(), h.Owner, settings.PolicyTarget{Service: s}, new(7), func(*catalog.Policy) {},
			)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs := ask(other.Location, court.ID, other.Service)
			absent := ask(
				testkit.NewID[tenant.LocationID](), testkit.NewID[tenant.ResourceID](), testkit.NewID[tenant.ServiceID](),
			)
			if theirs == nil || absent == nil {
				t.Fatalf("theirs: %v; absent: %v", theirs, absent)
			}
			if diff := cmp.Diff(absent.Error(), theirs.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
