package catalog_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCreateLocation_StoresAndValidates(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made := expect.Value(studio.App.Catalog.CreateLocation(t.Context(), studio.Owner, catalog.Location{
		Name: "Pier 2", Address: "Kai 2\nBerlin", Point: &catalog.Point{Latitude: 52.5, Longitude: -13.4},
		Active: true,
	}))(t)
	want := catalog.Location{
		ID: made.ID, Name: "Pier 2", TimeZone: "Europe/Berlin", Address: "Kai 2\nBerlin",
		Point: &catalog.Point{Latitude: 52.5, Longitude: -13.4}, Channels: catalog.Channels(), Active: true,
		Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	test.Eq(t, want, made)
	read, err := studio.App.Catalog.GetLocation(t.Context(), studio.Owner, made.ID)
	diff := cmp.Diff(want, read)
	test.EqOp(t, "", diff)
	test.NoError(t, err)
	test.Eq(t, []string{"location.created"}, studio.Audited())
	test.EqOp(t, 1, studio.CatalogEvents(), test.Sprint("no event"))

	some := expect.Value(studio.App.Catalog.CreateLocation(t.Context(), studio.Owner, catalog.Location{
		Name: "Pier 9", Channels: []catalog.Channel{catalog.Phone},
	}))(t)
	test.Eq(t, []catalog.Channel{catalog.Phone}, some.Channels)
	test.False(t, some.Active)

	taken := expect.Reason(t, fault.AlreadyExistsReason)(
		studio.App.Catalog.CreateLocation(t.Context(), studio.Owner, catalog.Location{Name: "PIER 2"}),
	)
	test.EqOp(t, "location.name", taken.Field)
	test.EqOp(t, fault.AlreadyExists, taken.Kind)
	expect.Reason(t, fault.InvalidField)(studio.App.Catalog.CreateLocation(
		t.Context(), studio.Owner, catalog.Location{Name: "Pier 3", TimeZone: "Europe/Atlantis"},
	))
	expect.OK(t)(studio.App.Catalog.CreateLocation(
		t.Context(), studio.OtherTenant().Owner, catalog.Location{Name: "Pier 2"},
	))
	test.Eq(t, []string{"location.created", "location.created"}, studio.Audited())
}

func TestCreateLocation_ConcurrentCallsTakeANameOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	errs := testkit.ParallelErrors(8, func(int) error {
		return expect.Error(studio.App.Catalog.CreateLocation(t.Context(), studio.Owner, catalog.Location{Name: "Pier 2"}))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 7}, testkit.CountReasons(errs))
	must.SliceLen(t, 1, studio.Audited(), must.Sprint("what was refused left traces"))
	test.EqOp(t, 1, studio.CatalogEvents(), test.Sprint("what was refused left traces"))
}

func TestUpdateLocation_EditsAndValidates(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Clock.Set(testkit.Noon.Add(time.Hour))
	rename := func(name string) func(*catalog.Location) {
		return func(l *catalog.Location) { l.Name = name }
	}
	l := expect.Value(studio.App.Catalog.UpdateLocation(t.Context(), studio.Owner, studio.Location, new(1),
		func(l *catalog.Location) {
			l.Name, l.Point, l.Active, l.TimeZone = "Quay", nil, false, "Asia/Kathmandu"
		}))(t)
	want := catalog.Location{
		ID: studio.Location, Name: "Quay", TimeZone: "Asia/Kathmandu", Channels: catalog.Channels(),
		Version: 2, CreatedAt: testkit.Founded, UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	test.Eq(t, want, l)
	read := expect.Value(studio.App.Catalog.GetLocation(t.Context(), studio.Owner, studio.Location))(t)
	test.EqOp(t, "", cmp.Diff(want, read), test.Sprint(cmp.Diff(want, read)))

	expect.Reason(t, fault.ETagMismatch)(
		studio.App.Catalog.UpdateLocation(t.Context(), studio.Owner, studio.Location, new(1), rename("Stale")),
	)
	same := expect.Value(studio.App.Catalog.UpdateLocation(
		t.Context(), studio.Owner, studio.Location, new(2), rename("Quay"),
	))(t)
	test.EqOp(t, 2, same.Version, test.Sprint("an edit that changes nothing is none:", same.Version))
	forced := expect.Value(studio.App.Catalog.UpdateLocation(
		t.Context(), studio.Owner, studio.Location, nil, rename("Dock"),
	))(t)
	test.EqOp(t, 3, forced.Version, test.Sprint(forced.Version))
	expect.Reason(t, fault.InvalidField)(
		studio.App.Catalog.UpdateLocation(t.Context(), studio.Owner, studio.Location, nil, rename(" ")),
	)
	expect.OK(t)(studio.App.Catalog.CreateLocation(
		t.Context(), studio.Owner, catalog.Location{Name: "Wharf"},
	))
	expect.Reason(t, fault.AlreadyExistsReason)(
		studio.App.Catalog.UpdateLocation(t.Context(), studio.Owner, studio.Location, nil, rename("wharf")),
	)
	test.Eq(t, []string{"location.updated", "location.updated", "location.created"}, studio.Audited())
}

// Of two who read the same version, one writes.
func TestUpdateLocation_RejectsTheSecondOfTwoEdits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	errs := testkit.ParallelErrors(6, func(i int) error {
		return expect.Error(studio.App.Catalog.UpdateLocation(
			t.Context(), studio.Owner, studio.Location, new(1), func(l *catalog.Location) { l.Address = fmt.Sprint("Kai ", i) },
		))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs))
	// Edits without an etag do not lose what others wrote at the same time.
	errs = testkit.ParallelErrors(3, func(i int) error {
		return expect.Error(studio.App.Catalog.UpdateLocation(t.Context(), studio.Owner, studio.Location, nil,
			func(l *catalog.Location) {
				switch i {
				case 0:
					l.Name = "Quay"
				case 1:
					l.Active = false
				default:
					l.Point = nil
				}
			}))
	})
	l := expect.Value(studio.App.Catalog.GetLocation(t.Context(), studio.Owner, studio.Location))(t)
	test.EqOp(t, 3, testkit.CountReasons(errs)[""])
	test.EqOp(t, "Quay", l.Name)
	test.False(t, l.Active, test.Sprint(errs, l))
	must.Nil(t, l.Point)
	test.EqOp(t, 5, l.Version)
}

func TestUpdateLocation_KeepsZoneOfLocationWithSessions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	session := studio.AddSession(testkit.Session{State: catalog.Draft})
	move := func(l *catalog.Location) { l.TimeZone = "Asia/Tokyo" }
	expect.Reason(t, fault.SessionState)(
		studio.App.Catalog.UpdateLocation(t.Context(), studio.Owner, studio.Location, nil, move),
	)
	expect.OK(t)(studio.App.Catalog.UpdateLocation(
		t.Context(), studio.Owner, studio.Location, nil, func(l *catalog.Location) { l.Name = "Quay" },
	))
	studio.DeleteSession(session)
	expect.OK(t)(studio.App.Catalog.UpdateLocation(t.Context(), studio.Owner, studio.Location, nil, move))
}

// However a new zone and a new session race, the session's day is that of the zone.
func TestUpdateLocation_ZoneChangeConflictsWithNewSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	starts := time.Date(2026, 3, 20, 23, 30, 0, 0, time.UTC) // the 21st in Berlin and Tokyo, the 20th in Lisbon
	for range 6 {
		made := studio.AddLocation(catalog.Location{Name: testkit.NewID[tenant.LocationID]().String()})
		errs := testkit.ParallelErrors(2, func(i int) error {
			if i == 0 {
				return expect.Error(studio.App.Catalog.UpdateLocation(
					t.Context(), studio.Owner, made, nil, func(l *catalog.Location) { l.TimeZone = "Europe/Lisbon" },
				))
			}
			return expect.Error(studio.App.Schedules.CreateSession(t.Context(), studio.Owner, session.Input{
				Service: studio.Service, Location: made, StartsAt: starts,
			}, false))
		})
		got := testkit.CountReasons(errs)
		must.EqOp(t, 2, got[""]+got[fault.SessionState])
		must.NoError(t, errs[1])
		must.EqOp(t, 0, studio.Count(`select count(*) from sessions s join locations l on l.tenant_id = s.tenant_id
			and l.id = s.location_id
where s.tenant_id = $1 and s.local_date <> (s.starts_at at time zone l.time_zone)::date`, studio.Tenant),
			must.Sprint("a session is on another day than its location's clocks say"))
	}
}

func TestUpdateLocation_ReplacesChannels(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	set := func(id tenant.LocationID, expect *int, channels ...catalog.Channel) (catalog.Location, error) {
		return studio.App.Catalog.UpdateLocation(
			t.Context(), studio.Owner, id, expect, func(l *catalog.Location) { l.Channels = channels },
		)
	}
	l, err := set(studio.Location, new(1), catalog.WalkIn)
	must.NoError(t, err)
	must.EqOp(t, 2, l.Version)
	must.True(t, slices.Equal(l.Channels, []catalog.Channel{catalog.WalkIn}), must.Sprint(l, err))
	expect.Reason(t, fault.ChannelClosed)(studio.Book(studio.AddMember("Mia"), studio.AddSession(testkit.Session{})))
	l = expect.Value(set(studio.Location, nil, []catalog.Channel{}...))(t)
	test.SliceEmpty(t, l.Channels)
	expect.Reason(t, fault.ETagMismatch)(set(studio.Location, new(1)))
	expect.Reason(t, fault.LocationNotFound)(set(testkit.NewID[tenant.LocationID](), nil))
}
