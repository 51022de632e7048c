package settings_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit"
)

func TestGetPolicy_HasAllLevels(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	both := settings.PolicyTarget{Location: h.Location, Service: h.Service}
	untouched, err := h.App.Settings.GetPolicy(t.Context(), h.Owner, both)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(catalog.Defaults(), untouched.Rules); diff != "" {
		t.Error(diff)
	}
	want := []catalog.Policy{
		{Level: catalog.TenantLevel, Scope: h.Tenant.UUID},
		{Level: catalog.LocationLevel, Scope: h.Location.UUID},
		{Level: catalog.ServiceLevel, Scope: h.Service.UUID},
	}
	if diff := cmp.Diff(want, untouched.Layers[1:]); diff != "" {
		t.Error(diff)
	}
	for target, levels := range map[settings.PolicyTarget]int{
		{}: 2, {Location: h.Location}: 3, {Service: h.Service}: 3, both: 4,
	} {
		if e, err := h.App.Settings.GetPolicy(t.Context(), h.Owner, target); err != nil || len(e.Layers) != levels {
			t.Errorf("%+v has %d layers, want %d (%v)", target, len(e.Layers), levels, err)
		}
	}
}

func TestUpdatePolicy_EditsOneLevel(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	other := h.OtherTenant()
	h.Clock.Set(testkit.Noon.Add(time.Hour))
	here := settings.PolicyTarget{Location: h.Location}
	set := func(p *catalog.Policy) {
		p.Cancellation, p.GPSMaxMeters = new(4*time.Hour), new(500.0)
		p.Tiers = &map[string]catalog.TierPolicy{"visitor": {Cancellation: new(48 * time.Hour), AllowReschedule: new(true)}}
	}
	e, err := h.App.Settings.UpdatePolicy(t.Context(), h.Owner, here, new(0), set)
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Policy{
		Level: catalog.LocationLevel, Scope: h.Location.UUID, Version: 1, UpdatedAt: testkit.Noon.Add(time.Hour),
	}
	set(&want)
	if diff := cmp.Diff(want, e.Layers[2]); diff != "" {
		t.Error(diff)
	}
	if e.Rules.Cancellation != 4*time.Hour || e.Origins["Cancellation"] != catalog.LocationLevel ||
		e.Origins["HoldTTL"] != catalog.Default {
		t.Errorf("%+v", e)
	}
	read, err := h.App.Settings.GetPolicy(t.Context(), h.Owner, here)
	if diff := cmp.Diff(e, read); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if theirs, err := h.App.Settings.GetPolicy(
		t.Context(), other.Owner, settings.PolicyTarget{Location: other.Location},
	); err != nil || theirs.Rules.Cancellation != 24*time.Hour {
		t.Error("another tenant's policy changed:", theirs.Rules, err)
	}

	_, err = h.App.Settings.UpdatePolicy(t.Context(), h.Owner, here, new(0), set)
	testkit.WantReason(t, err, fault.ETagMismatch)
	if same, err := h.App.Settings.UpdatePolicy(t.Context(), h.Owner, here, new(1), set); err != nil ||
		same.Layers[2].Version != 1 {
		t.Error("an edit that changes nothing is none:", same.Layers, err)
	}
	_, err = h.App.Settings.UpdatePolicy(
		t.Context(), h.Owner, here, nil, func(p *catalog.Policy) { p.HoldTTL = new(time.Second) },
	)
	testkit.WantReason(t, err, fault.InvalidField)

	// An empty list says that there are no tiers; no list says nothing.
	e, err = h.App.Settings.UpdatePolicy(t.Context(), h.Owner, here, new(1), func(p *catalog.Policy) {
		p.Cancellation, p.GPSMaxMeters, p.Tiers = nil, nil, &map[string]catalog.TierPolicy{}
	})
	if err != nil || e.Origins["Cancellation"] != catalog.Default || e.Origins["Tiers"] != catalog.LocationLevel {
		t.Errorf("%+v %v", e, err)
	}
	if read, err = h.App.Settings.GetPolicy(t.Context(), h.Owner, here); err != nil ||
		read.Origins["Tiers"] != catalog.LocationLevel {
		t.Error("an empty list was lost:", read.Origins, err)
	}
	e, err = h.App.Settings.UpdatePolicy(t.Context(), h.Owner, here, new(2), func(p *catalog.Policy) { p.Tiers = nil })
	if err != nil || e.Origins["Tiers"] != catalog.Default || e.Layers[2].Version != 3 {
		t.Errorf("%+v %v", e, err)
	}
	if diff := cmp.Diff([]string{"policy.updated", "policy.updated", "policy.updated"}, h.Audited()); diff != "" {
		t.Error(diff)
	}
	if h.CatalogEvents() != 3 {
		t.Error("events:", h.CatalogEvents())
	}
}

// Of two who found that nothing was said yet, one is the first to say something.
func TestUpdatePolicy_ConcurrentEditsConflict(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	errs := testkit.ParallelErrors(6, func(i int) error {
		_, err := h.App.Settings.UpdatePolicy(t.Context(), h.Owner, settings.PolicyTarget{Service: h.Service}, new(0),
			func(p *catalog.Policy) {
				p.Cancellation = new(time.Duration(i+1) * time.Hour)
			})
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs)); diff != "" {
		t.Error(diff)
	}
}

// What staff are told to be in force is what a booking is held to, however the levels are set.
func TestPolicy_AppliesToBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	session := h.AddSession(testkit.Session{})
	spans := rapid.Ptr(
		rapid.Map(rapid.IntRange(60, 86_400), func(n int) time.Duration { return time.Duration(n) * time.Second }), true,
	)
	flags := rapid.Ptr(rapid.Bool(), true)
	rapid.Check(t, func(r *rapid.T) {
		for _, target := range []settings.PolicyTarget{{}, {Location: h.Location}, {Service: h.Service}} {
			says := catalog.Policy{
				Advance: spans.Draw(r, "advance"), BookingCloses: spans.Draw(r, "closes"),
				Cancellation:          spans.Draw(r, "cancellation"),
				AllowLateCancellation: flags.Draw(r, "late"), AllowReschedule: flags.Draw(r, "reschedule"),
				HoldTTL:      spans.Draw(r, "hold"),
				CheckInOpens: spans.Draw(r, "opens"), CheckInCloses: spans.Draw(r, "shuts"),
				WaitlistEnabled: flags.Draw(r, "waitlist"),
				AutoNoShow:      flags.Draw(r, "no show"), AutoNoShowAfter: spans.Draw(r, "no show after"),
				GPSMaxMeters: rapid.Ptr(rapid.Float64Range(10, 1000), true).Draw(r, "meters"),
			}
			if rapid.Bool().Draw(r, "has tiers") {
				says.Tiers = new(rapid.MapOfN(rapid.SampledFrom([]string{"member", "visitor"}),
					rapid.Custom(func(r *rapid.T) catalog.TierPolicy {
						return catalog.TierPolicy{Cancellation: spans.Draw(r, "window"), AllowReschedule: flags.Draw(r, "may")}
					}), 0, 2).Draw(r, "tiers"))
			}
			_, err := h.App.Settings.UpdatePolicy(t.Context(), h.Owner, target, nil, func(p *catalog.Policy) {
				says.Level, says.Scope, says.Version = p.Level, p.Scope, p.Version
				*p = says
			})
			if err != nil {
				r.Fatal(err)
			}
		}
		told, err := h.App.Settings.GetPolicy(
			t.Context(), h.Owner, settings.PolicyTarget{Location: h.Location, Service: h.Service},
		)
		if err != nil {
			r.Fatal(err)
		}
		var held *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, h.Tenant, session, &held)
		if err := h.DB.ReadBatch(t.Context(), pg.Scope{Tenant: h.Tenant}, &batch); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(told.Rules, held.Rules); diff != "" {
			r.Error(diff)
		}
	})
}
