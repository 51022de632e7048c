package catalog_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// Some machines have these files in the folder of their time zones.
func TestMain(m *testing.M) {
	if err := os.Setenv("ZONEINFO", "testdata/zoneinfo"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

type set = vary.Fields

// Rows have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []catalog.Channel{"ONLINE", "PHONE", "WALK_IN"}, catalog.Channels())
	test.Eq(t, []catalog.Delivery{"IN_PERSON", "FEED"}, []catalog.Delivery{catalog.InPerson, catalog.Feed})
	test.Eq(t, []catalog.SessionState{"DRAFT", "PUBLISHED", "CANCELLED"},
		[]catalog.SessionState{catalog.Draft, catalog.Published, catalog.Cancelled})
	test.Eq(t, []catalog.Level{"DEFAULT", "TENANT", "LOCATION", "SERVICE"},
		[]catalog.Level{catalog.Default, catalog.TenantLevel, catalog.LocationLevel, catalog.ServiceLevel})
}

func TestChannel_IsOpenToMembersIfOnline(t *testing.T) {
	t.Parallel()
	may := tenant.Permissions{catalog.CreateForOthers: true}
	all := catalog.Location{Channels: []catalog.Channel{catalog.Phone}}
	for _, c := range catalog.Channels() {
		want := "PERMISSION_DENIED @channel channel=" + string(c) + " permission=booking.hold_for_others"
		if c == catalog.Online {
			want = ""
		}
		expect.Fault(t, want)(c.CheckStaff(catalog.HoldForOthers, may))
		test.NoError(t, c.CheckStaff(catalog.CreateForOthers, may))
		test.EqOp(t, c == catalog.Phone, all.Accepts(c))
	}
}

func TestMaxDays_IsALeapYear(t *testing.T) {
	t.Parallel()
	test.EqOp(t, time.Date(2028, 12, 31, 0, 0, 0, 0, time.UTC).YearDay(), catalog.MaxDays)
}

func TestTenantValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	good := catalog.Tenant{Name: "Harbour", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR"}
	expect.InvalidField(t, good, map[string][]set{
		"": {
			nil,
			{"Name": strings.Repeat("é", 200)},
			{"TimeZone": "UTC"},
			{"TimeZone": "America/Argentina/Buenos_Aires"},
			{"Locale": "zh-Hant-TW"},
			{"Brand.LogoURL": "https://cdn.example.com/logo.svg"},
			{"Brand.Accent": "#0b6e4f"},
		},
		"tenant.name": {
			{"Name": strings.Repeat("é", 201)}, {"Name": ""}, {"Name": "  "}, {"Name": "Harbour "}, {"Name": "Har\nbour"},
			{"Name": "Har\x00bour"}, {"Name": "Har\xffbour"}, {"Name": "Har\u202ebour"}, {"Name": "Bank <pay@bank.example>"},
		},
		"tenant.time_zone": {
			{"TimeZone": ""}, {"TimeZone": "Local"}, {"TimeZone": "Europe/Atlantis"}, {"TimeZone": "right/Europe/Lisbon"},
			{"TimeZone": "../zoneinfo/UTC"}, {"TimeZone": "localtime"}, {"TimeZone": "posixrules"}, {"TimeZone": "Factory"},
			{"TimeZone": "posix/UTC"}, {"TimeZone": "right/UTC"}, {"TimeZone": "+01:00"},
		},
		"tenant.locale":   {{"Locale": ""}, {"Locale": "xqx"}, {"Locale": "pt-JJ"}, {"Locale": "und"}},
		"tenant.currency": {{"Currency": ""}, {"Currency": "eur"}, {"Currency": "QQQ"}},
		"tenant.brand.logo_url": {
			{"Brand.LogoURL": "http://cdn.example.com/logo.svg"},
		},
		"tenant.brand.accent_color": {{"Brand.Accent": "green"}},
	})
}

func TestLocationValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	good := catalog.Location{Name: "Pier 1", TimeZone: "Europe/Lisbon", Channels: catalog.Channels()}
	expect.InvalidField(t, good, map[string][]set{
		"": {
			nil, {"Address": "Cais 1\nLisboa"}, {"Address": strings.Repeat("é", 500)},
			{"Point": &catalog.Point{Latitude: -90, Longitude: 180}},
			{"Point": &catalog.Point{Latitude: 90, Longitude: -180}}, {"Channels": nil},
			{"Channels": []catalog.Channel{catalog.WalkIn}},
		},
		"location.address":   {{"Address": strings.Repeat("x", 501)}},
		"location.name":      {{"Name": ""}},
		"location.time_zone": {{"TimeZone": "Mars/Olympus"}},
		"location.geo": {
			{"Point": &catalog.Point{Latitude: 90.1}}, {"Point": &catalog.Point{Latitude: -90.1}},
			{"Point": &catalog.Point{Longitude: -180.1}}, {"Point": &catalog.Point{Longitude: 180.1}},
			{"Point": &catalog.Point{Latitude: math.NaN()}},
		},
		"location.channels": {
			{"Channels": []catalog.Channel{"FAX"}}, {"Channels": []catalog.Channel{catalog.Phone, catalog.Phone}},
		},
	})
}

func TestServiceValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	good := catalog.Service{Name: "Vinyasa", Duration: time.Hour}.WithDefaults()
	expect.InvalidField(t, good, map[string][]set{
		"": {
			nil,
			{
				"Description": strings.Repeat("é", 4000), "Category": strings.Repeat("é", 100), "Duration": 7 * 24 * time.Hour,
				"DefaultCapacity": 100_000, "DefaultWaitlistCapacity": 10_000, "MinParty": 1000, "MaxParty": 1000,
			},
			{"Description": "Calm.\n\tBreathe."}, {"Duration": time.Minute}, {"DefaultCapacity": 0}, {"Color": "#00aAfF"},
		},
		"service.name":        {{"Name": ""}},
		"service.description": {{"Description": strings.Repeat("x", 4001)}, {"Description": "\a"}},
		"service.category":    {{"Category": strings.Repeat("x", 101)}},
		"service.duration": {
			{"Duration": 59 * time.Second}, {"Duration": 7*24*time.Hour + time.Second},
			{"Duration": time.Hour + time.Second/2},
		},
		"service.default_capacity":          {{"DefaultCapacity": -1}, {"DefaultCapacity": 100_001}},
		"service.default_waitlist_capacity": {{"DefaultWaitlistCapacity": 10_001}, {"DefaultWaitlistCapacity": -1}},
		"service.min_party":                 {{"MinParty": 0}, {"MinParty": 1001, "MaxParty": 1001}},
		"service.max_party":                 {{"MaxParty": 1_001}, {"MinParty": 3, "MaxParty": 2}},
		"service.delivery":                  {{"Delivery": "POST"}},
		"service.color":                     {{"Color": "teal"}, {"Color": "#00aaff\n"}},
	})
}

func TestServiceWithDefaults_FillsInPartySizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ min, max, wantMin, wantMax int }{
		{0, 0, 1, 1}, {3, 0, 3, 3}, {0, 4, 1, 4}, {2, 4, 2, 4},
	} {
		got := catalog.Service{MinParty: c.min, MaxParty: c.max}.WithDefaults()
		test.Eq(t, catalog.Service{MinParty: c.wantMin, MaxParty: c.wantMax, Delivery: catalog.InPerson}, got)
	}
	test.EqOp(t, catalog.Feed, catalog.Service{Delivery: catalog.Feed}.WithDefaults().Delivery)
}

func TestResourceValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	expect.InvalidField(t, catalog.Resource{Name: "Court 1"}, map[string][]set{
		"": {{"Kind": strings.Repeat("é", 50)}}, "resource.name": {{"Name": ""}},
		"resource.kind": {{"Kind": strings.Repeat("x", 51)}},
	})
}

func TestPolicyValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	tier := func(name string, window time.Duration) map[string]catalog.TierPolicy {
		return map[string]catalog.TierPolicy{name: {CancellationWindow: &window}}
	}
	most := make(map[string]catalog.TierPolicy)
	for i := range 50 {
		most[fmt.Sprint(i)] = catalog.TierPolicy{}
	}
	many := maps.Clone(most)
	many["one more"] = catalog.TierPolicy{}
	expect.InvalidField(t, catalog.PolicyLayer{}, map[string][]set{
		"": {
			nil, {"TierCancellations": map[string]catalog.TierPolicy{}}, {"TierCancellations": tier("member", 0)},
			{"TierCancellations": most},
			{"TierCancellations": tier("member", 4*time.Hour)}, {"TierCancellations": tier(strings.Repeat("é", 50), 30*day)},
		},
		"policy.cancellation_window": {{"CancellationWindow": time.Millisecond}},
		"policy.gps_max_meters":      {{"GPSMaxMeters": math.NaN()}},
		"policy.tier_cancellations": {
			{"TierCancellations": tier("", 4*time.Hour)}, {"TierCancellations": tier(strings.Repeat("x", 51), 0)},
			{"TierCancellations": tier("member", 31*day)},
			{"TierCancellations": many},
		},
	})
	test.NoError(t, catalog.Defaults().Layer().Validate())
}

// The names are those of the contract and of the audit log. Spans are whole seconds, distances are meters.
func TestPolicyFields_HaveNamesDefaultsAndBounds(t *testing.T) {
	t.Parallel()
	const day, second, invalid = 24 * time.Hour, time.Second, "INVALID_FIELD @policy."
	bounds := map[string]struct{ initial, least, most, unit time.Duration }{
		"advance_window":            {30 * day, 0, 730 * day, second},
		"booking_closes_before":     {0, 0, 30 * day, second},
		"cancellation_window":       {day, 0, 30 * day, second},
		"hold_ttl":                  {10 * time.Minute, time.Minute, day, second},
		"check_in_opens_before":     {time.Hour, 0, day, second},
		"check_in_closes_after_end": {30 * time.Minute, 0, day, second},
		"auto_no_show_after":        {30 * time.Minute, 0, 7 * day, second},
		"auto_no_show_after_start":  {0, 5 * time.Minute, day, second},
		"gps_max_meters":            {200, 10, 100_000, 1},
	}
	others := map[string]any{
		"allow_late_cancellation": false, "allow_reschedule": false, "auto_no_show": false, "waitlist_enabled": true,
		"check_in_requires_qr": false,
		"tier_cancellations":   map[string]catalog.TierPolicy{},
	}
	defaults := catalog.Defaults().Layer()
	test.EqOp(t, len(bounds)+len(others), len(catalog.AllPolicyFields))
	for _, row := range catalog.AllPolicyFields {
		name := row.Name()
		b, has := bounds[name]
		if !has {
			test.Eq(t, others[name], row.Value(&defaults), test.Sprint(name))
			continue
		}
		for value, want := range map[time.Duration]string{
			b.least: "", b.most: "", b.least - b.unit: invalid + name, b.most + b.unit: invalid + name,
		} {
			var p catalog.PolicyLayer
			row.Set(&p, value)
			expect.Fault(t, want, name, value)(p.Validate())
		}
		var initial catalog.PolicyLayer
		row.Set(&initial, b.initial)
		test.Eq(t, row.Value(&initial), row.Value(&defaults), test.Sprint(name))
	}
}
