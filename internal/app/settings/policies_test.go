package settings_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestGetPolicy_HasAllLevels(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	both := settings.PolicyTarget{Location: studio.Location, Service: studio.Service}
	untouched := expect.Value(studio.App.Settings.GetPolicy(t.Context(), studio.Owner, both))(t)
	test.Eq(t, catalog.Defaults(), untouched.Policy)
	want := []catalog.PolicyLayer{
		{Level: catalog.TenantLevel, Scope: studio.Tenant.UUID},
		{Level: catalog.LocationLevel, Scope: studio.Location.UUID},
		{Level: catalog.ServiceLevel, Scope: studio.Service.UUID},
	}
	test.Eq(t, want, untouched.Layers[1:])
	for target, levels := range map[settings.PolicyTarget]int{
		{}: 2, {Location: studio.Location}: 3, {Service: studio.Service}: 3, both: 4,
	} {
		e := expect.Value(studio.App.Settings.GetPolicy(t.Context(), studio.Owner, target))(t)
		test.EqOp(t, levels, len(e.Layers), test.Sprintf("%+v has %d layers, want %d", target, len(e.Layers), levels))
	}
}

func TestUpdatePolicy_EditsOneLevel(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.OtherTenant()
	studio.Clock.Set(testkit.Noon.Add(time.Hour))
	here := settings.PolicyTarget{Location: studio.Location}
	set := func(p *catalog.PolicyLayer) {
		p.CancellationWindow, p.GPSMaxMeters = new(4*time.Hour), new(500.0)
		p.TierCancellations = &map[string]catalog.TierPolicy{
			"visitor": {CancellationWindow: new(48 * time.Hour), AllowReschedule: new(true)},
		}
	}
	e := expect.Value(studio.App.Settings.UpdatePolicy(t.Context(), studio.Owner, here, new(0), set))(t)
	want := catalog.PolicyLayer{
		Level: catalog.LocationLevel, Scope: studio.Location.UUID, Version: 1, UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	set(&want)
	test.Eq(t, want, e.Layers[2])
	test.EqOp(t, 4*time.Hour, e.Policy.CancellationWindow)
	test.EqOp(t, catalog.LocationLevel, e.Origins["CancellationWindow"])
	test.EqOp(t, catalog.Default, e.Origins["HoldTTL"])
	test.Eq(t, e, expect.Value(studio.App.Settings.GetPolicy(t.Context(), studio.Owner, here))(t))
	theirs := expect.Value(studio.App.Settings.GetPolicy(
		t.Context(), other.Owner, settings.PolicyTarget{Location: other.Location},
	))(t)
	test.EqOp(
		t, 24*time.Hour, theirs.Policy.CancellationWindow, test.Sprint("another tenant's policy changed:", theirs.Policy),
	)

	expect.Reason(t, fault.ETagMismatch)(studio.App.Settings.UpdatePolicy(t.Context(), studio.Owner, here, new(0), set))
	same := expect.Value(studio.App.Settings.UpdatePolicy(t.Context(), studio.Owner, here, new(1), set))(t)
	test.EqOp(t, 1, same.Layers[2].Version, test.Sprint("an edit that changes nothing is none:", same.Layers))
	expect.Reason(t, fault.InvalidField)(studio.App.Settings.UpdatePolicy(
		t.Context(), studio.Owner, here, nil, func(p *catalog.PolicyLayer) { p.HoldTTL = new(time.Second) },
	))

	// An empty list says that there are no tiers; no list says nothing.
	e = expect.Value(studio.App.Settings.UpdatePolicy(
		t.Context(), studio.Owner, here, new(1), func(p *catalog.PolicyLayer) {
			p.CancellationWindow, p.GPSMaxMeters, p.TierCancellations = nil, nil, &map[string]catalog.TierPolicy{}
		}))(t)
	test.EqOp(t, catalog.Default, e.Origins["CancellationWindow"])
	test.EqOp(t, catalog.LocationLevel, e.Origins["TierCancellations"])
	read := expect.Value(studio.App.Settings.GetPolicy(t.Context(), studio.Owner, here))(t)
	test.EqOp(t, catalog.LocationLevel, read.Origins["TierCancellations"], test.Sprint("an empty list was lost"))
	e = expect.Value(studio.App.Settings.UpdatePolicy(
		t.Context(), studio.Owner, here, new(2), func(p *catalog.PolicyLayer) { p.TierCancellations = nil },
	))(t)
	test.EqOp(t, catalog.Default, e.Origins["TierCancellations"])
	test.EqOp(t, 3, e.Layers[2].Version)
	test.Eq(t, []string{"policy.updated", "policy.updated", "policy.updated"}, studio.Audited())
	test.EqOp(t, 3, studio.CatalogEvents(), test.Sprint("events:"))
}

// Of two who found that nothing was said yet, one is the first to say something.
func TestUpdatePolicy_ConcurrentEditsConflict(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	errs := testkit.ParallelErrors(6, func(i int) error {
		return expect.Error(studio.App.Settings.UpdatePolicy(
			t.Context(), studio.Owner, settings.PolicyTarget{Service: studio.Service}, new(0),
			func(p *catalog.PolicyLayer) { p.CancellationWindow = new(time.Duration(i+1) * time.Hour) },
		))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs))
}

// What staff are told to be in force is what a booking is held to, however the levels are set.
func TestPolicy_AppliesToBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	session := studio.AddSession(testkit.Session{})
	spans := rapid.Ptr(
		rapid.Map(rapid.IntRange(60, 86_400), func(n int) time.Duration { return time.Duration(n) * time.Second }), true,
	)
	flags := rapid.Ptr(rapid.Bool(), true)
	rapid.Check(t, func(r *rapid.T) {
		for _, target := range []settings.PolicyTarget{{}, {Location: studio.Location}, {Service: studio.Service}} {
			says := catalog.PolicyLayer{
				AdvanceWindow: spans.Draw(r, "advance"), BookingClosesBefore: spans.Draw(r, "closes"),
				CancellationWindow:    spans.Draw(r, "cancellation"),
				AllowLateCancellation: flags.Draw(r, "late"), AllowReschedule: flags.Draw(r, "reschedule"),
				HoldTTL:            spans.Draw(r, "hold"),
				CheckInOpensBefore: spans.Draw(r, "opens"), CheckInClosesAfterEnd: spans.Draw(r, "shuts"),
				WaitlistEnabled: flags.Draw(r, "waitlist"),
				AutoNoShow:      flags.Draw(r, "no show"), AutoNoShowAfter: spans.Draw(r, "no show after"),
				GPSMaxMeters: rapid.Ptr(rapid.Float64Range(10, 1000), true).Draw(r, "meters"),
			}
			if rapid.Bool().Draw(r, "has tiers") {
				says.TierCancellations = new(rapid.MapOfN(rapid.SampledFrom([]string{"member", "visitor"}),
					rapid.Custom(func(r *rapid.T) catalog.TierPolicy {
						return catalog.TierPolicy{CancellationWindow: spans.Draw(r, "window"), AllowReschedule: flags.Draw(r, "may")}
					}), 0, 2).Draw(r, "tiers"))
			}
			expect.OK(r)(studio.App.Settings.UpdatePolicy(t.Context(), studio.Owner, target, nil, func(p *catalog.PolicyLayer) {
				says.Level, says.Scope, says.Version = p.Level, p.Scope, p.Version
				*p = says
			}))
		}
		told := expect.Value(studio.App.Settings.GetPolicy(
			t.Context(), studio.Owner, settings.PolicyTarget{Location: studio.Location, Service: studio.Service},
		))(r)
		var held *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, studio.Tenant, session, &held)
		must.NoError(r, studio.DB.ReadBatch(t.Context(), pg.Scope{Tenant: studio.Tenant}, &batch))
		test.Eq(r, told.Policy, held.Policy)
	})
}
