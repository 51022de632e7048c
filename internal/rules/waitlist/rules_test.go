package waitlist_test

import (
	"encoding/json"
	"errors"
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
		Enabled: true, Mode: waitlist.AutoPromote, MaxQueueSize: 50, OfferWindow: 30 * time.Minute,
		MinOfferWindow:  5 * time.Minute,
		TimeFlexibility: time.Hour, MaxOffersPerEntry: 3, MaxTriesPerSlot: 10, AfterExpiry: waitlist.ReturnEntry,
		AfterDecline: waitlist.ReturnEntry,
		AutoCascade:  true, StaleAfter: 24 * time.Hour, AllowDownFitting: true, Order: waitlist.ByJoining, BaseScore: 100,
		EarlyBirdMax: 50,
		QuietHours:   waitlist.QuietHours{From: clock("21:00"), Until: clock("08:00")}, PromotionGrace: time.Hour,
	}
	test.Eq(t, want, waitlist.Defaults())
	test.NoError(t, waitlist.Defaults().Settings().Validate())
}

// Resolve applies settings to rules field by field. Each field has a row with its JSON name.
func TestFields_HaveOneRowPerSetting(t *testing.T) {
	t.Parallel()
	settings, rules := reflect.TypeFor[waitlist.Settings](), reflect.TypeFor[waitlist.Rules]()
	must.True(
		t, settings.NumField() == rules.NumField() && settings.NumField() == len(waitlist.Fields),
		must.Sprintf("%d settings, %d rules and %d rows", settings.NumField(), rules.NumField(), len(waitlist.Fields)),
	)
	seen := make(map[string]bool)
	for i := range rules.NumField() {
		s, r := settings.Field(i), rules.Field(i)
		test.True(
			t, s.Name == r.Name && s.Type == reflect.PointerTo(r.Type),
			test.Sprintf("field %d: setting %s %s, rule %s %s", i, s.Name, s.Type, r.Name, r.Type),
		)
		name, options, _ := strings.Cut(s.Tag.Get("json"), ",")
		test.True(
			t, !seen[name] && name != "" && (name == "-" || options == "omitempty"),
			test.Sprintf("%s is written as %q", s.Name, s.Tag.Get("json")),
		)
		seen[name] = true
		row := waitlist.Fields[i]
		var of waitlist.Settings
		pointer := reflect.ValueOf(&of).Elem().Field(i).Addr().Interface()
		test.True(
			t, row.Field() == r.Name && row.Pointer(&of) == pointer && row.Name() == name,
			test.Sprintf("row %d is %s of %s, want %s of %s", i, row.Name(), row.Field(), name, r.Name),
		)
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
			must.True(
				t, reflect.DeepEqual(got.Field(i).Interface(), want) && e.Origins[name] == origin,
				must.Sprintf("%s is %v by %s, want %v by %s", name, got.Field(i), e.Origins[name], want, origin),
			)
		}
		for _, layer := range layers {
			version = max(version, layer.Version)
		}
		must.True(
			t, e.Version == version && len(e.Origins) == got.NumField() && len(e.Layers) == len(layers),
			must.Sprintf("version %d of %d origins and %d layers", e.Version, len(e.Origins), len(e.Layers)),
		)
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
	span := func(d time.Duration) *time.Duration { return &d }
	bonus := func(m map[string]int) *map[string]int { return &m }
	tiers := make(map[string]int)
	for i := range 51 {
		tiers[strings.Repeat("x", i+1)] = 1
	}
	const hour, day = time.Hour, 24 * time.Hour
	tests := map[string]struct {
		settings waitlist.Settings
		field    string // empty if valid
	}{
		"nothing set":                        {},
		"any mode there is":                  {waitlist.Settings{Mode: new(waitlist.FirstToClaim)}, ""},
		"a mode there is not":                {waitlist.Settings{Mode: new(waitlist.Mode("LOTTERY"))}, "mode"},
		"an order there is not":              {waitlist.Settings{Order: new(waitlist.Order(""))}, "order"},
		"after expiry, what there is not":    {waitlist.Settings{AfterExpiry: new(waitlist.After("x"))}, "after_expiry"},
		"after a decline, what there is not": {waitlist.Settings{AfterDecline: new(waitlist.After("x"))}, "after_decline"},
		"no queue at all":                    {waitlist.Settings{MaxQueueSize: new(0)}, "max_queue_size"},
		"the shortest queue":                 {waitlist.Settings{MaxQueueSize: new(1)}, ""},
		"the longest queue":                  {waitlist.Settings{MaxQueueSize: new(10_000)}, ""},
		"too long a queue":                   {waitlist.Settings{MaxQueueSize: new(10_001)}, "max_queue_size"},
		"the shortest offer":                 {waitlist.Settings{OfferWindow: span(time.Minute)}, ""},
		"too short an offer":                 {waitlist.Settings{OfferWindow: span(59 * time.Second)}, "offer_window"},
		"the longest offer":                  {waitlist.Settings{OfferWindow: span(7 * day)}, ""},
		"too long an offer":                  {waitlist.Settings{OfferWindow: span(7*day + time.Second)}, "offer_window"},
		"part of a second": {
			waitlist.Settings{OfferWindow: span(hour + time.Millisecond)}, "offer_window",
		},
		"as short as long": {waitlist.Settings{OfferWindow: span(hour), MinOfferWindow: span(hour)}, ""},
		"at least longer than at most": {
			waitlist.Settings{OfferWindow: span(hour), MinOfferWindow: span(hour + time.Second)}, "min_offer_window",
		},
		"the longest least offer": {waitlist.Settings{MinOfferWindow: span(day)}, ""},
		"too long a least offer": {
			waitlist.Settings{MinOfferWindow: span(day + time.Second)}, "min_offer_window",
		},
		"too long a least of a long offer": {
			waitlist.Settings{MinOfferWindow: span(day + time.Second), OfferWindow: span(7 * day)}, "min_offer_window",
		},
		"no least offer":         {waitlist.Settings{MinOfferWindow: span(0)}, "min_offer_window"},
		"not flexible":           {waitlist.Settings{TimeFlexibility: span(0)}, ""},
		"flexible beyond reason": {waitlist.Settings{TimeFlexibility: span(13 * hour)}, "time_flexibility"},
		"any number of offers":   {waitlist.Settings{MaxOffersPerEntry: new(0)}, ""},
		"too many offers":        {waitlist.Settings{MaxOffersPerEntry: new(101)}, "max_offers_per_entry"},
		"any number of tries":    {waitlist.Settings{MaxTriesPerSlot: new(0)}, ""},
		"too many tries":         {waitlist.Settings{MaxTriesPerSlot: new(1_001)}, "max_tries_per_slot"},
		"stale at once":          {waitlist.Settings{StaleAfter: span(time.Minute)}, "stale_after"},
		"stale next year":        {waitlist.Settings{StaleAfter: span(366 * day)}, "stale_after"},
		"a base of 0":            {waitlist.Settings{BaseScore: new(0)}, ""},
		"a base below 0":         {waitlist.Settings{BaseScore: new(-1)}, "base_score"},
		"a base without bound":   {waitlist.Settings{BaseScore: new(10_001)}, "base_score"},
		"bonuses of 0 and 50": {
			waitlist.Settings{TierBonus: bonus(map[string]int{"gold": 50, "none": 0})}, "",
		},
		"no bonuses": {waitlist.Settings{TierBonus: bonus(nil)}, ""},
		"a bonus above 50": {
			waitlist.Settings{TierBonus: bonus(map[string]int{"gold": 51})}, "tier_bonuses",
		},
		"a bonus below 0": {
			waitlist.Settings{TierBonus: bonus(map[string]int{"gold": -1})}, "tier_bonuses",
		},
		"a bonus for no tier": {waitlist.Settings{TierBonus: bonus(map[string]int{"": 1})}, "tier_bonuses"},
		"a bonus for what is no text": {
			waitlist.Settings{TierBonus: bonus(map[string]int{"\xff": 1})}, "tier_bonuses",
		},
		"a bonus for a tier with a long name": {
			waitlist.Settings{TierBonus: bonus(map[string]int{strings.Repeat("é", 51): 1})}, "tier_bonuses",
		},
		"bonuses for too many tiers": {waitlist.Settings{TierBonus: bonus(tiers)}, "tier_bonuses"},
		"points a day":               {waitlist.Settings{EarlyBirdPerDay: new(101)}, "early_bird_points_per_day"},
		"no points for days":         {waitlist.Settings{EarlyBirdMax: new(0), EarlyBirdPerDay: new(0)}, ""},
		"points in all":              {waitlist.Settings{EarlyBirdMax: new(1_001)}, "early_bird_max_points"},
		"quiet at night": {
			waitlist.Settings{QuietHours: &waitlist.QuietHours{From: clock("20:00"), Until: clock("09:00")}}, "",
		},
		"never quiet": {
			waitlist.Settings{QuietHours: &waitlist.QuietHours{From: clock("09:00"), Until: clock("09:00")}}, "",
		},
		"always quiet": {
			waitlist.Settings{QuietHours: &waitlist.QuietHours{From: clock("09:00"), Until: clock("08:59")}}, "quiet_hours",
		},
		"quiet until there is no such time": {
			waitlist.Settings{QuietHours: &waitlist.QuietHours{Until: civil.TimeOfDay{Hour: 24}}}, "quiet_hours",
		},
		"a cutoff below 0": {
			waitlist.Settings{AutoPromoteCutoff: span(-time.Second)}, "auto_promote_cutoff",
		},
		"a grace of a month":                 {waitlist.Settings{PromotionGrace: span(30 * day)}, "promotion_grace"},
		"filled for days":                    {waitlist.Settings{FillAfterStart: span(25 * hour)}, "fill_after_start"},
		"a score for text messages":          {waitlist.Settings{SMSMinScore: new(150)}, ""},
		"a score for text messages, below 0": {waitlist.Settings{SMSMinScore: new(-1)}, "sms_min_score"},
		"expressions": {
			waitlist.Settings{EligibilityExpression: new("true"), PriorityExpression: new("1")}, "",
		},
		"expressions that are taken away": {
			waitlist.Settings{EligibilityExpression: new(""), PriorityExpression: new("")}, "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switch err := tt.settings.Validate(); {
			case tt.field == "" && err != nil:
				t.Error(err)
			case tt.field != "":
				f, ok := errors.AsType[*fault.Error](err)
				test.True(
					t, ok && f.Reason == fault.InvalidField && f.Field == "rules."+tt.field,
					test.Sprintf("%v, want rules.%s refused", err, tt.field),
				)
			}
		})
	}
	for _, bad := range []waitlist.Settings{{EligibilityExpression: new("nobody")}, {PriorityExpression: new("true")}} {
		err := bad.Validate()
		test.EqOp(t, fault.RulesInvalid, fault.ReasonOf(err), test.Sprint(err))
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
