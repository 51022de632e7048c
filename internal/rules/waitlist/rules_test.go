package waitlist_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestDefaults_AreValid(t *testing.T) {
	t.Parallel()
	want := waitlist.Rules{
		Enabled: true, Mode: waitlist.OfferInTurn, MaxQueueSize: 50, OfferWindow: 30 * time.Minute,
		MinOfferWindow:  5 * time.Minute,
		TimeFlexibility: time.Hour, MaxOffersPerEntry: 3, MaxTriesPerSlot: 10, AfterExpiry: waitlist.ReturnEntry,
		AfterDecline: waitlist.ReturnEntry,
		AutoCascade:  true, StaleAfter: 24 * time.Hour, AllowDownFitting: true, Order: waitlist.ByJoining, BaseScore: 100,
		EarlyBirdMaxPoints: 50,
		QuietHours:         waitlist.QuietHours{From: clock("21:00"), Until: clock("08:00")}, PromotionGrace: time.Hour,
		FillAfterStartSingle: 15 * time.Minute,
	}
	test.Eq(t, want, waitlist.Defaults())
	test.NoError(t, waitlist.Defaults().Settings().Validate())
}

// Resolve applies settings to rules field by field. Each field has a row with its JSON name.
func TestFields_HaveOneRowPerSetting(t *testing.T) {
	t.Parallel()
	settings, rules := reflect.TypeFor[waitlist.Settings](), reflect.TypeFor[waitlist.Rules]()
	must.EqOp(t, rules.NumField(), settings.NumField())
	must.EqOp(t, rules.NumField(), len(waitlist.Fields))
	seen := make(map[string]bool)
	for i := range rules.NumField() {
		s, r := settings.Field(i), rules.Field(i)
		test.EqOp(t, r.Name, s.Name,
			test.Sprintf("field %d: setting %s %s, rule %s %s", i, s.Name, s.Type, r.Name, r.Type))
		test.True(t, s.Type == reflect.PointerTo(r.Type),
			test.Sprintf("field %d: setting %s %s, rule %s %s", i, s.Name, s.Type, r.Name, r.Type))
		name, options, _ := strings.Cut(s.Tag.Get("json"), ",")
		test.False(t, seen[name], test.Sprintf("%s is written as %q", s.Name, s.Tag.Get("json")))
		test.NotEqOp(t, "", name, test.Sprintf("%s is written as %q", s.Name, s.Tag.Get("json")))
		test.True(t, name == "-" || options == "omitempty",
			test.Sprintf("%s is written as %q", s.Name, s.Tag.Get("json")))
		seen[name] = true
		row := waitlist.Fields[i]
		var of waitlist.Settings
		pointer := reflect.ValueOf(&of).Elem().Field(i).Addr().Interface()
		test.EqOp(t, r.Name, row.Field(),
			test.Sprintf("row %d is %s of %s, want %s of %s", i, row.Name(), row.Field(), name, r.Name))
		test.True(t, row.Pointer(&of) == pointer,
			test.Sprintf("row %d is %s of %s, want %s of %s", i, row.Name(), row.Field(), name, r.Name))
		test.EqOp(t, name, row.Name(),
			test.Sprintf("row %d is %s of %s, want %s of %s", i, row.Name(), row.Field(), name, r.Name))
	}
}

// anySettings sets some fields and leaves others open.
func anySettings(t *rapid.T) waitlist.Settings {
	full := anyRules(t).Settings()
	for _, set := range reflect.ValueOf(&full).Elem().Fields() {
		if rapid.Bool().Draw(t, "open") {
			set.SetZero()
		}
	}
	return full
}

func TestResolve_LastLayerThatSetsWins(t *testing.T) {
	t.Parallel()
	levels := []catalog.Level{catalog.TenantLevel, catalog.LocationLevel, catalog.ServiceLevel}
	rapid.Check(t, func(t *rapid.T) {
		var layers []waitlist.Layer
		for _, level := range levels {
			if rapid.IntRange(0, 4).Draw(t, "silent") > 0 {
				layers = append(
					layers, waitlist.Layer{Level: level, Settings: anySettings(t), Version: rapid.IntRange(0, 9).Draw(t, "version")},
				)
			}
		}
		e := waitlist.Resolve(layers...)

		got, version := reflect.ValueOf(e.Rules), 0
		for i := range got.NumField() {
			name := got.Type().Field(i).Name
			want, origin := reflect.ValueOf(waitlist.Defaults()).Field(i).Interface(), catalog.Default
			for _, layer := range layers { // the last layer that sets it
				if set := reflect.ValueOf(layer.Settings).Field(i); !set.IsNil() {
					want, origin = set.Elem().Interface(), layer.Level
				}
			}
			must.Eq(t, want, got.Field(i).Interface(), must.Sprint(name))
			must.EqOp(t, origin, e.Origins[name], must.Sprint(name))
		}
		for _, layer := range layers {
			version = max(version, layer.Version)
		}
		must.EqOp(t, version, e.Version)
		must.EqOp(t, got.NumField(), len(e.Origins))
		must.EqOp(t, len(layers), len(e.Layers))
	})
}

func TestSettings_SetEveryField(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := anyRules(t)
		full := waitlist.Resolve(waitlist.Layer{Level: catalog.TenantLevel, Settings: r.Settings(), Version: 3})
		must.Eq(t, r, full.Rules, must.Sprint("round trip"))
		// A reset sets nothing.
		must.Eq(t, waitlist.Defaults(), waitlist.Resolve(waitlist.Layer{Level: catalog.TenantLevel, Version: 4}).Rules,
			must.Sprint("after a reset"))
		set := anySettings(t)
		text := expect.Value(json.Marshal(set))(t)
		var read waitlist.Settings
		must.NoError(t, json.Unmarshal(text, &read))
		read.Enabled = set.Enabled // in a column of its own
		must.Eq(t, set, read, must.Sprint("kept as JSON"))
	})
}

func TestValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	const second, hour, day = time.Second, time.Hour, 24 * time.Hour
	quiet := func(from, until string) set {
		return set{"QuietHours": waitlist.QuietHours{From: clock(from), Until: clock(until)}}
	}
	bonus := func(tier string, points int) set { return set{"TierBonuses": map[string]int{tier: points}} }
	tiers := make(map[string]int)
	for i := range 50 {
		tiers[strings.Repeat("x", i+1)] = 1
	}
	many := maps.Clone(tiers)
	many["one more"] = 1
	expect.InvalidField(t, waitlist.Settings{}, map[string][]set{
		"": {
			nil, {"Mode": waitlist.FirstToClaim}, {"MaxQueueSize": 1}, {"MaxQueueSize": 10_000}, {"OfferWindow": time.Minute},
			{"OfferWindow": 7 * day}, {"OfferWindow": hour, "MinOfferWindow": hour}, {"MinOfferWindow": day},
			{"MinOfferWindow": time.Minute}, {"OfferWindow": time.Minute, "MinOfferWindow": time.Minute},
			{"TimeFlexibility": 0}, {"TimeFlexibility": 12 * hour}, {"MaxOffersPerEntry": 0}, {"MaxOffersPerEntry": 100},
			{"MaxTriesPerSlot": 0}, {"MaxTriesPerSlot": 1_000}, {"StaleAfter": hour}, {"StaleAfter": 365 * day},
			{"BaseScore": 0}, {"BaseScore": 10_000}, {"TierBonuses": tiers}, bonus("gold", 50), bonus("gold", 0),
			{"TierBonuses": map[string]int(nil)}, bonus(strings.Repeat("é", 50), 1), {"EarlyBirdPointsPerDay": 0},
			{"EarlyBirdPointsPerDay": 100}, {"EarlyBirdMaxPoints": 0}, {"EarlyBirdMaxPoints": 1_000}, quiet("20:00", "09:00"),
			quiet("09:00", "09:00"), quiet("09:00", "08:00"), {"AutoPromoteCutoff": 0}, {"AutoPromoteCutoff": 30 * day},
			{"PromotionGrace": 0}, {"PromotionGrace": 7 * day}, {"FillAfterStart": 0}, {"FillAfterStart": day},
			{"SMSMinScore": 0}, {"SMSMinScore": waitlist.MaxScore},
			{"EligibilityExpression": "true", "PriorityExpression": "1"},
			{"EligibilityExpression": "", "PriorityExpression": ""}, // taken away
		},
		"rules.mode": {{"Mode": waitlist.Mode("LOTTERY")}}, "rules.order": {{"Order": waitlist.Order("")}},
		"rules.after_expiry":   {{"AfterExpiry": waitlist.After("x")}},
		"rules.after_decline":  {{"AfterDecline": waitlist.After("x")}},
		"rules.max_queue_size": {{"MaxQueueSize": 0}, {"MaxQueueSize": 10_001}},
		"rules.offer_window": {
			{"OfferWindow": 59 * second}, {"OfferWindow": 7*day + second}, {"OfferWindow": hour + time.Millisecond},
		},
		"rules.min_offer_window": {
			{"OfferWindow": hour, "MinOfferWindow": hour + second}, {"MinOfferWindow": day + second}, {"MinOfferWindow": 0},
			{"MinOfferWindow": day + second, "OfferWindow": 7 * day}, {"MinOfferWindow": 59 * second},
		},
		"rules.time_flexibility":     {{"TimeFlexibility": 12*hour + second}, {"TimeFlexibility": -second}},
		"rules.max_offers_per_entry": {{"MaxOffersPerEntry": 101}, {"MaxOffersPerEntry": -1}},
		"rules.max_tries_per_slot":   {{"MaxTriesPerSlot": 1_001}, {"MaxTriesPerSlot": -1}},
		"rules.stale_after":          {{"StaleAfter": hour - second}, {"StaleAfter": 365*day + second}},
		"rules.base_score":           {{"BaseScore": -1}, {"BaseScore": 10_001}},
		"rules.tier_bonuses": {
			bonus("gold", 51), bonus("gold", -1), bonus("", 1), bonus("\xff", 1), bonus(strings.Repeat("é", 51), 1),
			{"TierBonuses": many},
		},
		"rules.early_bird_points_per_day": {{"EarlyBirdPointsPerDay": 101}, {"EarlyBirdPointsPerDay": -1}},
		"rules.early_bird_max_points":     {{"EarlyBirdMaxPoints": 1_001}, {"EarlyBirdMaxPoints": -1}},
		"rules.quiet_hours": {
			quiet("09:00", "08:59"), {"QuietHours": waitlist.QuietHours{Until: civil.TimeOfDay{Hour: 24}}},
			{"QuietHours": waitlist.QuietHours{From: civil.TimeOfDay{Minute: 60}}}, quiet("09:00", "08:01"),
		},
		"rules.auto_promote_cutoff": {{"AutoPromoteCutoff": -second}, {"AutoPromoteCutoff": 30*day + second}},
		"rules.promotion_grace":     {{"PromotionGrace": 7*day + second}, {"PromotionGrace": -second}},
		"rules.fill_after_start":    {{"FillAfterStart": day + second}, {"FillAfterStart": -second}},
		"rules.fill_after_start_single": {
			{"FillAfterStartSingle": day + second}, {"FillAfterStartSingle": -second},
		},
		"rules.sms_min_score": {{"SMSMinScore": -1}, {"SMSMinScore": waitlist.MaxScore + 1}},
	})
	for _, bad := range []waitlist.Settings{{EligibilityExpression: new("nobody")}, {PriorityExpression: new("true")}} {
		expect.Reason(t, fault.RulesInvalid)(bad.Validate())
	}
}

// Every field that validation rejects for its size or length has a bound.
func TestValidate_BoundsEveryNumber(t *testing.T) {
	t.Parallel()
	settings := reflect.TypeFor[waitlist.Settings]()
	for i := range settings.NumField() {
		var s waitlist.Settings
		field := reflect.ValueOf(&s).Elem().Field(i)
		value := reflect.New(field.Type().Elem())
		switch value.Elem().Kind() {
		case reflect.Int, reflect.Int64:
			value.Elem().SetInt(1 << 61 / int64(time.Second) * int64(time.Second))
		default:
			continue
		}
		field.Set(value)
		expect.Reason(t, fault.InvalidField)(s.Validate())
	}
}

func TestAuditFields_ListsSettings(t *testing.T) {
	t.Parallel()
	fields := waitlist.Settings{Enabled: new(false), MaxQueueSize: new(7)}.AuditFields()
	test.MapLen(t, reflect.TypeFor[waitlist.Settings]().NumField(), fields)
	test.Eq[any](t, false, fields["enabled"])
	test.Eq[any](t, 7, fields["max_queue_size"])
	test.Nil(t, fields["mode"])
}
