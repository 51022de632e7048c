package catalog_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// layer draws what one level may say; each value is as likely to be left open as not.
func layer(level catalog.Level) *rapid.Generator[catalog.Policy] {
	spans := rapid.Ptr(
		rapid.Map(rapid.IntRange(0, 90_000), func(n int) time.Duration { return time.Duration(n) * time.Second }), true,
	)
	flags := rapid.Ptr(rapid.Bool(), true)
	return rapid.Custom(func(t *rapid.T) catalog.Policy {
		p := catalog.Policy{
			Level: level, Scope: tenant.UUID{15: byte(len(level))},
			Advance: spans.Draw(t, "advance"), BookingCloses: spans.Draw(t, "closes"),
			Cancellation:          spans.Draw(t, "cancellation"),
			AllowLateCancellation: flags.Draw(t, "late"), AllowReschedule: flags.Draw(t, "reschedule"),
			HoldTTL:      spans.Draw(t, "hold"),
			CheckInOpens: spans.Draw(t, "opens"), CheckInCloses: spans.Draw(t, "shuts"),
			WaitlistEnabled: flags.Draw(t, "waitlist"),
			AutoNoShow:      flags.Draw(t, "no show"), AutoNoShowAfter: spans.Draw(t, "no show after"),
			GPSMaxMeters: rapid.Ptr(rapid.Float64Range(10, 1000), true).Draw(t, "meters"),
		}
		if rapid.Bool().Draw(t, "has tiers") {
			p.Tiers = new(rapid.MapOf(rapid.SampledFrom([]string{"member", "visitor", "guest"}),
				rapid.Custom(func(t *rapid.T) catalog.TierPolicy {
					return catalog.TierPolicy{Cancellation: spans.Draw(t, "window"), AllowReschedule: flags.Draw(t, "may")}
				})).Draw(t, "tiers"))
		}
		return p
	})
}

// layers draws a way through the levels.
func layers(t *rapid.T) []catalog.Policy {
	way := []catalog.Policy{layer(catalog.TenantLevel).Draw(t, "tenant")}
	if rapid.Bool().Draw(t, "at a location") {
		way = append(way, layer(catalog.LocationLevel).Draw(t, "location"))
	}
	if rapid.Bool().Draw(t, "for a service") {
		way = append(way, layer(catalog.ServiceLevel).Draw(t, "service"))
	}
	return way
}

// resolve gives the rules that bookings are held to.
func resolve(way ...catalog.Policy) catalog.Rules {
	layers := make([]*catalog.Layer, len(way))
	for i, p := range way {
		layers[i] = p.Layer()
	}
	return catalog.Resolve(layers...)
}

// field reads a value by name: of a layer, nil where it is left open.
func field(of any, name string) any {
	v := reflect.ValueOf(of).FieldByName(name)
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil() {
		return nil
	}
	return reflect.Indirect(v).Interface()
}

// The value in force is that of the last layer that says something, whole; its origin is that layer. This is told by
// name, so that a value which is added to the policy and forgotten in one of its parts is found.
func TestEffectivePolicy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		way := layers(t)
		e := catalog.EffectivePolicy(way...)
		for of := range reflect.TypeFor[catalog.Rules]().Fields() {
			name := of.Name
			want, origin := field(catalog.Defaults(), name), catalog.Default
			for _, p := range way {
				if says := field(p, name); says != nil {
					want, origin = says, p.Level
				}
			}
			if diff := cmp.Diff(want, field(e.Rules, name)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if got := e.Origins[name]; got != origin {
				t.Errorf("%s comes from %s, want %s", name, got, origin)
			}
		}
		if diff := cmp.Diff(resolve(way...), e.Rules); diff != "" {
			t.Errorf("Resolve says otherwise: %s", diff)
		}
		if diff := cmp.Diff(way, e.Layers[1:]); diff != "" || e.Layers[0].Level != catalog.Default {
			t.Errorf("layers: %s", diff)
		}
	})
}

// Rules that are written down as a layer leave nothing open, and are what they were.
func TestRulesAsPolicy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := resolve(layers(t)...)
		if want.Tiers == nil {
			want.Tiers = map[string]catalog.TierPolicy{}
		}
		over := want.Policy()
		over.Level = catalog.ServiceLevel
		e := catalog.EffectivePolicy(append(layers(t), over)...)
		if diff := cmp.Diff(want, e.Rules); diff != "" {
			t.Error(diff)
		}
		for of := range reflect.TypeFor[catalog.Rules]().Fields() {
			if origin := e.Origins[of.Name]; origin != catalog.ServiceLevel {
				t.Errorf("%s comes from %s", of.Name, origin)
			}
		}
	})
}

// Each field of Rules has one row, which sets it from the policy's field of the same name.
func TestPoliciesAndRulesAreAlike(t *testing.T) {
	t.Parallel()
	rules := reflect.TypeFor[catalog.Rules]()
	if rules.NumField() != len(catalog.RuleFields) {
		t.Errorf("%d rules and %d rows", rules.NumField(), len(catalog.RuleFields))
	}
	columns := make(map[string]bool)
	for _, row := range catalog.RuleFields {
		var p catalog.Policy
		rule, found := rules.FieldByName(row.Field())
		pointer := reflect.ValueOf(&p).Elem().FieldByName(row.Field()).Addr().Interface()
		if !found || row.Pointer(&p) != pointer ||
			reflect.TypeOf(pointer) != reflect.PointerTo(reflect.PointerTo(rule.Type)) {
			t.Errorf("%s: rule %s, policy %T", row.Name(), rule.Type, pointer)
		}
		if columns[row.Column()] || row.Column() == "" {
			t.Errorf("%s is in column %q", row.Name(), row.Column())
		}
		columns[row.Column()] = true
	}
}

// For has the settings of tiers written out. It does what their rows say.
func TestForATier(t *testing.T) {
	t.Parallel()
	if fields := reflect.TypeFor[catalog.TierPolicy]().NumField(); fields != len(catalog.TierFields) {
		t.Errorf("%d fields and %d rows", fields, len(catalog.TierFields))
	}
	rapid.Check(t, func(t *rapid.T) {
		r := resolve(layers(t)...)
		for tier, says := range r.Tiers {
			want := r
			catalog.TierFields.Apply(&says, &want)
			if diff := cmp.Diff(want, r.For(tier)); diff != "" {
				t.Fatalf("%s: %s", tier, diff)
			}
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	tenant := catalog.Policy{Cancellation: new(12 * time.Hour), HoldTTL: new(time.Hour)}.Layer()
	service := catalog.Policy{BookingCloses: new(time.Hour), AllowReschedule: new(true)}.Layer()
	all := catalog.Defaults().Policy().Layer()
	for name, way := range map[string][]*catalog.Layer{
		"nothing set": {nil, nil, nil}, "by the tenant": {tenant, nil, nil}, "by two levels": {tenant, nil, service},
		"all by all": {all, all, all},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if catalog.Resolve(way[0], way[1], way[2]).Advance == 0 {
					b.Fatal("nothing can be booked")
				}
			}
		})
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	location, service := tenant.UUID{1}, tenant.UUID{2}
	e := catalog.EffectivePolicy(
		catalog.Policy{Level: catalog.TenantLevel, Scope: tenant.UUID{9}},
		catalog.Policy{Level: catalog.LocationLevel, Scope: location},
		catalog.Policy{Level: catalog.ServiceLevel, Scope: service},
	)
	for level, want := range map[catalog.Level]tenant.UUID{
		catalog.Default: {}, catalog.TenantLevel: {}, catalog.LocationLevel: location, catalog.ServiceLevel: service,
	} {
		if got := e.Scope(level); got != want {
			t.Errorf("%s: %s, want %s", level, got, want)
		}
	}
}

func TestTiers(t *testing.T) {
	t.Parallel()
	hours := func(n int) *time.Duration { return new(time.Duration(n) * time.Hour) }
	home := catalog.Policy{Level: catalog.TenantLevel, Tiers: &map[string]catalog.TierPolicy{
		"member": {Cancellation: hours(4), AllowReschedule: new(true)}, "visitor": {Cancellation: hours(48)},
	}}
	r := resolve(home)
	for tier, want := range map[string]struct {
		window     time.Duration
		reschedule bool
	}{
		"": {24 * time.Hour, false}, "member": {4 * time.Hour, true}, "visitor": {48 * time.Hour, false},
		"Member": {24 * time.Hour, false},
	} {
		if got := r.For(tier); got.Cancellation != want.window || got.AllowReschedule != want.reschedule {
			t.Errorf("%q: %s, %t", tier, got.Cancellation, got.AllowReschedule)
		}
	}
	none := catalog.Policy{Level: catalog.LocationLevel, Tiers: &map[string]catalog.TierPolicy{}}
	if got := resolve(home, none).For("member").Cancellation; got != 24*time.Hour {
		t.Errorf("an empty list left %s", got)
	}
	other := catalog.Policy{
		Level: catalog.ServiceLevel, Tiers: &map[string]catalog.TierPolicy{"guest": {Cancellation: hours(1)}},
	}
	if got := resolve(home, other).For("visitor").Cancellation; got != 24*time.Hour {
		t.Errorf("another list left %s", got)
	}
}
