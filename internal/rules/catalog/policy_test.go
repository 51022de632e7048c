package catalog_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// layer draws the policy of a level. Each field is set or inherited with equal probability.
func layer(level catalog.Level) *rapid.Generator[catalog.PolicyLayer] {
	spans := rapid.Ptr(
		rapid.Map(rapid.IntRange(0, 90_000), func(n int) time.Duration { return time.Duration(n) * time.Second }), true,
	)
	flags := rapid.Ptr(rapid.Bool(), true)
	return rapid.Custom(func(t *rapid.T) catalog.PolicyLayer {
		p := catalog.PolicyLayer{
			Level: level, Scope: tenant.UUID{15: byte(len(level))},
			AdvanceWindow: spans.Draw(t, "advance"), BookingClosesBefore: spans.Draw(t, "closes"),
			CancellationWindow:    spans.Draw(t, "cancellation"),
			AllowLateCancellation: flags.Draw(t, "late"), AllowReschedule: flags.Draw(t, "reschedule"),
			HoldTTL:            spans.Draw(t, "hold"),
			CheckInOpensBefore: spans.Draw(t, "opens"), CheckInClosesAfterEnd: spans.Draw(t, "shuts"),
			WaitlistEnabled: flags.Draw(t, "waitlist"),
			AutoNoShow:      flags.Draw(t, "no show"), AutoNoShowAfter: spans.Draw(t, "no show after"),
			GPSMaxMeters: rapid.Ptr(rapid.Float64Range(10, 1000), true).Draw(t, "meters"),
		}
		if rapid.Bool().Draw(t, "has tiers") {
			p.TierCancellations = new(rapid.MapOf(rapid.SampledFrom([]string{"member", "visitor", "guest"}),
				rapid.Custom(func(t *rapid.T) catalog.TierPolicy {
					return catalog.TierPolicy{CancellationWindow: spans.Draw(t, "window"), AllowReschedule: flags.Draw(t, "may")}
				})).Draw(t, "tiers"))
		}
		return p
	})
}

// layers draws the policies of one to three levels.
func layers(t *rapid.T) []catalog.PolicyLayer {
	levels := []catalog.PolicyLayer{layer(catalog.TenantLevel).Draw(t, "tenant")}
	if rapid.Bool().Draw(t, "at a location") {
		levels = append(levels, layer(catalog.LocationLevel).Draw(t, "location"))
	}
	if rapid.Bool().Draw(t, "for a service") {
		levels = append(levels, layer(catalog.ServiceLevel).Draw(t, "service"))
	}
	return levels
}

// resolve returns the effective rules. Between the levels are some that set nothing.
func resolve(levels ...catalog.PolicyLayer) catalog.BookingPolicy {
	layers := make([]*catalog.CompiledPolicy, 2*len(levels)+1)
	for i, p := range levels {
		layers[2*i+1] = p.Compile()
	}
	return catalog.Resolve(layers...)
}

// field returns a field by name, or nil if the layer inherits it.
func field(of any, name string) any {
	v := reflect.ValueOf(of).FieldByName(name)
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil() {
		return nil
	}
	return reflect.Indirect(v).Interface()
}

// The effective value is that of the last layer that sets it, as a whole, and its origin is that layer. Fields are
// compared by name, so a field that one part of the policy forgets is found.
func TestEffectivePolicy_TakesLastLayerThatSetsField(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		levels := layers(t)
		e := catalog.ResolveLayers(levels...)
		for of := range reflect.TypeFor[catalog.BookingPolicy]().Fields() {
			name := of.Name
			want, origin := field(catalog.Defaults(), name), catalog.Default
			for _, p := range levels {
				if set := field(p, name); set != nil {
					want, origin = set, p.Level
				}
			}
			test.Eq(t, want, field(e.Policy, name), test.Sprint(name))
			test.EqOp(t, origin, e.Origins[name], test.Sprintf("%s comes from", name))
		}
		test.Eq(t, resolve(levels...), e.Policy, test.Sprint("Resolve differs"))
		test.Eq(t, levels, e.Layers[1:])
		test.EqOp(t, catalog.Default, e.Layers[0].Level)
	})
}

// The policy of rules inherits nothing, and resolves to the same rules.
func TestPolicy_SetsEveryRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := resolve(layers(t)...)
		if want.TierCancellations == nil {
			want.TierCancellations = map[string]catalog.TierPolicy{}
		}
		over := want.Layer()
		over.Level = catalog.ServiceLevel
		e := catalog.ResolveLayers(append(layers(t), over)...)
		test.Eq(t, want, e.Policy)
		for of := range reflect.TypeFor[catalog.BookingPolicy]().Fields() {
			test.EqOp(t, catalog.ServiceLevel, e.Origins[of.Name], test.Sprintf("%s comes from", of.Name))
		}
	})
}

// Each field of BookingPolicy has one row, which sets it from the layer's field of the same name.
func TestPolicyFields_HaveOneRowPerSetting(t *testing.T) {
	t.Parallel()
	rules := reflect.TypeFor[catalog.BookingPolicy]()
	test.EqOp(t, len(catalog.AllPolicyFields), rules.NumField(),
		test.Sprintf("%d rules and %d rows", rules.NumField(), len(catalog.AllPolicyFields)))
	columns := make(map[string]bool)
	for _, row := range catalog.AllPolicyFields {
		var p catalog.PolicyLayer
		rule, found := rules.FieldByName(row.Field())
		pointer := reflect.ValueOf(&p).Elem().FieldByName(row.Field()).Addr().Interface()
		test.True(t, found, test.Sprintf("%s: rule %s, policy %T", row.Name(), rule.Type, pointer))
		test.True(t, row.Pointer(&p) == pointer, test.Sprintf("%s: rule %s, policy %T", row.Name(), rule.Type, pointer))
		test.True(t, reflect.TypeOf(pointer) == reflect.PointerTo(reflect.PointerTo(rule.Type)),
			test.Sprintf("%s: rule %s, policy %T", row.Name(), rule.Type, pointer))
		test.False(t, columns[row.Column()], test.Sprintf("%s is in column %q", row.Name(), row.Column()))
		test.NotEqOp(t, "", row.Column(), test.Sprintf("%s is in column %q", row.Name(), row.Column()))
		columns[row.Column()] = true
		test.EqOp(t, row.Name(), strings.TrimSuffix(row.Column(), "_seconds"), test.Sprint("the column is named otherwise"))
		test.StrEqFold(t, strings.ReplaceAll(row.Name(), "_", ""), row.Field(), test.Sprint("the field is named otherwise"))
	}
}

// For applies the settings of a tier by hand. The result is the same as applying their rows.
func TestFor_AppliesEveryFieldOfTier(t *testing.T) {
	t.Parallel()
	test.EqOp(t, len(catalog.TierFields), reflect.TypeFor[catalog.TierPolicy]().NumField(),
		test.Sprintf("fields and %d rows", len(catalog.TierFields)))
	rapid.Check(t, func(t *rapid.T) {
		r := resolve(layers(t)...)
		for tier, set := range r.TierCancellations {
			want := r
			catalog.TierFields.Apply(&set, &want)
			must.Eq(t, want, r.For(tier), must.Sprint(tier))
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	tenant := catalog.PolicyLayer{CancellationWindow: new(12 * time.Hour), HoldTTL: new(time.Hour)}.Compile()
	service := catalog.PolicyLayer{BookingClosesBefore: new(time.Hour), AllowReschedule: new(true)}.Compile()
	all := catalog.Defaults().Layer().Compile()
	for name, levels := range map[string][]*catalog.CompiledPolicy{
		"nothing set": {nil, nil, nil}, "by the tenant": {tenant, nil, nil}, "by two levels": {tenant, nil, service},
		"all by all": {all, all, all},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resolved := catalog.Resolve(levels[0], levels[1], levels[2])
				must.NotEqOp(b, 0, resolved.AdvanceWindow, must.Sprint("the booking window is 0"))
			}
		})
	}
}

func TestScope_ReturnsIDOfLevel(t *testing.T) {
	t.Parallel()
	location, service := tenant.UUID{1}, tenant.UUID{2}
	e := catalog.ResolveLayers(
		catalog.PolicyLayer{Level: catalog.TenantLevel, Scope: tenant.UUID{9}},
		catalog.PolicyLayer{Level: catalog.LocationLevel, Scope: location},
		catalog.PolicyLayer{Level: catalog.ServiceLevel, Scope: service},
	)
	for level, want := range map[catalog.Level]tenant.UUID{
		catalog.Default: {}, catalog.TenantLevel: {}, catalog.LocationLevel: location, catalog.ServiceLevel: service,
	} {
		test.EqOp(t, want, e.Scope(level), test.Sprintf("%s", level))
	}
}

func TestFor_TakesSettingsOfTier(t *testing.T) {
	t.Parallel()
	hours := func(n int) *time.Duration { return new(time.Duration(n) * time.Hour) }
	tenantPolicy := catalog.PolicyLayer{Level: catalog.TenantLevel, TierCancellations: &map[string]catalog.TierPolicy{
		"member": {CancellationWindow: hours(4), AllowReschedule: new(true)}, "visitor": {CancellationWindow: hours(48)},
	}}
	none := catalog.PolicyLayer{Level: catalog.LocationLevel, TierCancellations: &map[string]catalog.TierPolicy{}}
	other := catalog.PolicyLayer{
		Level:             catalog.ServiceLevel,
		TierCancellations: &map[string]catalog.TierPolicy{"guest": {CancellationWindow: hours(1)}},
	}
	for _, tt := range []struct {
		levels     []catalog.PolicyLayer
		tier       string
		hours      int
		reschedule bool
	}{
		{[]catalog.PolicyLayer{tenantPolicy}, "", 24, false}, {[]catalog.PolicyLayer{tenantPolicy}, "member", 4, true},
		{[]catalog.PolicyLayer{tenantPolicy}, "visitor", 48, false},
		{[]catalog.PolicyLayer{tenantPolicy}, "Member", 24, false},
		// A list replaces that of the level before as a whole.
		{[]catalog.PolicyLayer{tenantPolicy, none}, "member", 24, false},
		{[]catalog.PolicyLayer{tenantPolicy, other}, "visitor", 24, false},
	} {
		got := resolve(tt.levels...).For(tt.tier)
		test.EqOp(t, *hours(tt.hours), got.CancellationWindow, test.Sprintf("%+v", tt))
		test.EqOp(t, tt.reschedule, got.AllowReschedule, test.Sprintf("%+v", tt))
	}
}
