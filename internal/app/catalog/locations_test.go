package catalog_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestCreateLocation_StoresAndValidates(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	made, err := h.App.Catalog.CreateLocation(t.Context(), h.Owner, catalog.Location{
		Name: "Pier 2", Address: "Kai 2\nBerlin", Point: &catalog.Point{Latitude: 52.5, Longitude: -13.4},
		Channels: []catalog.Channel{catalog.Phone}, // SetChannels is for that
	})
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Location{
		ID: made.ID, Name: "Pier 2", TimeZone: "Europe/Berlin", Address: "Kai 2\nBerlin",
		Point: &catalog.Point{Latitude: 52.5, Longitude: -13.4}, Channels: catalog.Channels(), Active: true,
		Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	read, err := h.App.Catalog.GetLocation(t.Context(), h.Owner, made.ID)
	if diff := cmp.Diff(want, read); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if diff := cmp.Diff([]string{"location.created"}, h.Audited()); diff != "" {
		t.Error(diff)
	}
	if h.CatalogEvents() != 1 {
		t.Error("no event")
	}

	_, err = h.App.Catalog.CreateLocation(t.Context(), h.Owner, catalog.Location{Name: "PIER 2"})
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
	var f *fault.Error
	if errors.As(err, &f); f.Field != "location.name" || f.Kind != fault.AlreadyExists {
		t.Errorf("field %q, kind %v", f.Field, f.Kind)
	}
	_, err = h.App.Catalog.CreateLocation(
		t.Context(), h.Owner, catalog.Location{Name: "Pier 3", TimeZone: "Europe/Atlantis"},
	)
	testkit.WantReason(t, err, fault.InvalidField)
	if _, err := h.App.Catalog.CreateLocation(
		t.Context(), h.OtherTenant().Owner, catalog.Location{Name: "Pier 2"},
	); err != nil {
		t.Error("a name is taken by another tenant:", err)
	}
	if diff := cmp.Diff([]string{"location.created"}, h.Audited()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateLocation_ConcurrentCallsTakeANameOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	errs := testkit.ParallelErrors(8, func(int) error {
		_, err := h.App.Catalog.CreateLocation(t.Context(), h.Owner, catalog.Location{Name: "Pier 2"})
		return err
	})
	if diff := cmp.Diff(
		map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 7}, testkit.CountReasons(errs),
	); diff != "" {
		t.Error(diff)
	}
	if len(h.Audited()) != 1 || h.CatalogEvents() != 1 {
		t.Error("what was refused left traces")
	}
}

func TestUpdateLocation_EditsAndValidates(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.Clock.Set(testkit.Noon.Add(time.Hour))
	rename := func(name string) func(*catalog.Location) {
		return func(l *catalog.Location) { l.Name = name }
	}
	l, err := h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, new(1), func(l *catalog.Location) {
		l.Name, l.Point, l.Active, l.TimeZone = "Quay", nil, false, "Asia/Kathmandu"
	})
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Location{
		ID: h.Location, Name: "Quay", TimeZone: "Asia/Kathmandu", Channels: catalog.Channels(),
		Version: 2, CreatedAt: testkit.Founded, UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Error(diff)
	}
	if read, err := h.App.Catalog.GetLocation(t.Context(), h.Owner, h.Location); err != nil || cmp.Diff(want, read) != "" {
		t.Error(err, cmp.Diff(want, read))
	}

	_, err = h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, new(1), rename("Stale"))
	testkit.WantReason(t, err, fault.ETagMismatch)
	if same, err := h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, new(2), rename("Quay")); err != nil ||
		same.Version != 2 {
		t.Error("an edit that changes nothing is none:", same.Version, err)
	}
	if forced, err := h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, nil, rename("Dock")); err != nil ||
		forced.Version != 3 {
		t.Error(forced.Version, err)
	}
	_, err = h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, nil, rename(" "))
	testkit.WantReason(t, err, fault.InvalidField)
	if _, err := h.App.Catalog.CreateLocation(t.Context(), h.Owner, catalog.Location{Name: "Wharf"}); err != nil {
		t.Fatal(err)
	}
	_, err = h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, nil, rename("wharf"))
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
	if diff := cmp.Diff([]string{"location.updated", "location.updated", "location.created"}, h.Audited()); diff != "" {
		t.Error(diff)
	}
}

// Of two who read the same version, one writes.
func TestUpdateLocation_RejectsTheSecondOfTwoEdits(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	errs := testkit.ParallelErrors(6, func(i int) error {
		_, err := h.App.Catalog.UpdateLocation(
			t.Context(), h.Owner, h.Location, new(1), func(l *catalog.Location) { l.Address = fmt.Sprint("Kai ", i) },
		)
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs)); diff != "" {
		t.Error(diff)
	}
	// Who does not say what they read still loses nothing that others wrote meanwhile.
	errs = testkit.ParallelErrors(3, func(i int) error {
		_, err := h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, nil, func(l *catalog.Location) {
			switch i {
			case 0:
				l.Name = "Quay"
			case 1:
				l.Active = false
			default:
				l.Point = nil
			}
		})
		return err
	})
	l, err := h.App.Catalog.GetLocation(t.Context(), h.Owner, h.Location)
	if err != nil || testkit.CountReasons(errs)[""] != 3 || l.Name != "Quay" || l.Active || l.Point != nil ||
		l.Version != 5 {
		t.Error(err, errs, l)
	}
}

func TestUpdateLocation_KeepsZoneOfLocationWithSessions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	session := h.AddSession(testkit.Session{State: catalog.Draft})
	move := func(l *catalog.Location) { l.TimeZone = "Asia/Tokyo" }
	_, err := h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, nil, move)
	testkit.WantReason(t, err, fault.SessionState)
	if _, err := h.App.Catalog.UpdateLocation(
		t.Context(), h.Owner, h.Location, nil, func(l *catalog.Location) { l.Name = "Quay" },
	); err != nil {
		t.Error("its zone stays, its name need not:", err)
	}
	h.DeleteSession(session)
	if _, err := h.App.Catalog.UpdateLocation(t.Context(), h.Owner, h.Location, nil, move); err != nil {
		t.Error(err)
	}
}

// However a new zone and a new session race, the session's day is that of the zone.
func TestUpdateLocation_ZoneChangeConflictsWithNewSession(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	starts := time.Date(2026, 3, 20, 23, 30, 0, 0, time.UTC) // the 21st in Berlin and Tokyo, the 20th in Lisbon
	for range 6 {
		made := h.AddLocation(catalog.Location{Name: testkit.NewID[tenant.LocationID]().String()})
		errs := testkit.ParallelErrors(2, func(i int) error {
			if i == 0 {
				_, err := h.App.Catalog.UpdateLocation(t.Context(), h.Owner, made, nil, func(l *catalog.Location) {
					l.TimeZone = "Europe/Lisbon"
				})
				return err
			}
			_, err := h.App.Schedules.CreateSession(t.Context(), h.Owner, session.Input{
				Service: h.Service, Location: made, StartsAt: starts,
			}, false)
			return err
		})
		if got := testkit.CountReasons(errs); got[""]+got[fault.SessionState] != 2 || errs[1] != nil {
			t.Fatal(errs)
		}
		if wrong := h.Count(`select count(*) from sessions s join locations l on l.tenant_id = s.tenant_id
			and l.id = s.location_id
where s.tenant_id = $1 and s.local_date <> (s.starts_at at time zone l.time_zone)::date`, h.Tenant); wrong != 0 {
			t.Fatal("a session is on another day than its location's clocks say")
		}
	}
}

func TestSetChannels_ReplacesThem(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	l, err := h.App.Catalog.SetChannels(t.Context(), h.Owner, h.Location, new(1), []catalog.Channel{catalog.WalkIn})
	if err != nil || l.Version != 2 || !slices.Equal(l.Channels, []catalog.Channel{catalog.WalkIn}) {
		t.Fatal(l, err)
	}
	_, err = h.Book(h.AddMember("Mia"), h.AddSession(testkit.Session{}))
	testkit.WantReason(t, err, fault.ChannelClosed)
	if l, err = h.App.Catalog.SetChannels(t.Context(), h.Owner, h.Location, nil, []catalog.Channel{}); err != nil ||
		len(l.Channels) != 0 {
		t.Error(l, err)
	}
	_, err = h.App.Catalog.SetChannels(t.Context(), h.Owner, h.Location, new(1), nil)
	testkit.WantReason(t, err, fault.ETagMismatch)
	_, err = h.App.Catalog.SetChannels(t.Context(), h.Owner, testkit.NewID[tenant.LocationID](), nil, nil)
	testkit.WantReason(t, err, fault.LocationNotFound)
}

func TestListLocations_SortsAndPages(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.OtherTenant()
	for _, name := range []string{"quay", "Dock", "Zoo", "Basin", "Øst", "alster"} {
		if _, err := h.App.Catalog.CreateLocation(t.Context(), h.Owner, catalog.Location{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.App.Catalog.UpdateLocation(
		t.Context(), h.Owner, h.Location, nil, func(l *catalog.Location) { l.Active = false },
	); err != nil {
		t.Fatal(err)
	}
	names := func(inactive bool, size int) []string {
		t.Helper()
		var names []string
		q := appcatalog.LocationQuery{Inactive: inactive, Limit: size}
		for {
			page, err := h.App.Catalog.ListLocations(t.Context(), h.Owner, q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				return names
			}
			for _, l := range page {
				names = append(names, l.Name)
			}
			q.AfterName, q.AfterID = page[len(page)-1].Name, page[len(page)-1].ID
			if len(names) == 2 { // what comes in behind the reader shifts nothing
				if _, err := h.App.Catalog.CreateLocation(t.Context(), h.Owner, catalog.Location{Name: "Aare"}); err != nil &&
					fault.ReasonOf(err) != fault.AlreadyExistsReason {
					t.Fatal(err)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"alster", "Basin", "Dock", "quay", "Zoo", "Øst"}, names(false, 2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(
		[]string{"Aare", "alster", "Basin", "Dock", "Pier 1", "quay", "Zoo", "Øst"}, names(true, 100),
	); diff != "" {
		t.Error(diff)
	}
}
