package catalog_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// Some machines have these files in the folder of their time zones.
func TestMain(m *testing.M) {
	if err := os.Setenv("ZONEINFO", "testdata/zoneinfo"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// invalid returns the text of the error about a field; "" for no field.
func invalid(field string) string {
	if field == "" {
		return ""
	}
	return "INVALID_FIELD @" + field
}

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
	all := catalog.Location{Channels: []catalog.Channel{catalog.Phone}}
	for _, c := range catalog.Channels() {
		test.EqOp(t, c != catalog.Online, c.StaffOnly())
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
	for name, c := range map[string]struct {
		edit func(*catalog.Tenant)
		want string
	}{
		"good":                  {func(*catalog.Tenant) {}, ""},
		"name of 200":           {func(t *catalog.Tenant) { t.Name = strings.Repeat("é", 200) }, ""},
		"name of 201":           {func(t *catalog.Tenant) { t.Name = strings.Repeat("é", 201) }, "tenant.name"},
		"no name":               {func(t *catalog.Tenant) { t.Name = "" }, "tenant.name"},
		"blank name":            {func(t *catalog.Tenant) { t.Name = "  " }, "tenant.name"},
		"space at the end":      {func(t *catalog.Tenant) { t.Name = "Harbour " }, "tenant.name"},
		"two lines":             {func(t *catalog.Tenant) { t.Name = "Har\nbour" }, "tenant.name"},
		"NUL":                   {func(t *catalog.Tenant) { t.Name = "Har\x00bour" }, "tenant.name"},
		"not UTF-8":             {func(t *catalog.Tenant) { t.Name = "Har\xffbour" }, "tenant.name"},
		"UTC":                   {func(t *catalog.Tenant) { t.TimeZone = "UTC" }, ""},
		"three parts":           {func(t *catalog.Tenant) { t.TimeZone = "America/Argentina/Buenos_Aires" }, ""},
		"no zone":               {func(t *catalog.Tenant) { t.TimeZone = "" }, "tenant.time_zone"},
		"this machine's zone":   {func(t *catalog.Tenant) { t.TimeZone = "Local" }, "tenant.time_zone"},
		"unknown zone":          {func(t *catalog.Tenant) { t.TimeZone = "Europe/Atlantis" }, "tenant.time_zone"},
		"zone of leap seconds":  {func(t *catalog.Tenant) { t.TimeZone = "right/Europe/Lisbon" }, "tenant.time_zone"},
		"path out of the zones": {func(t *catalog.Tenant) { t.TimeZone = "../zoneinfo/UTC" }, "tenant.time_zone"},
		"the default zone":      {func(t *catalog.Tenant) { t.TimeZone = "localtime" }, "tenant.time_zone"},
		"old rules":             {func(t *catalog.Tenant) { t.TimeZone = "posixrules" }, "tenant.time_zone"},
		"an unset zone":         {func(t *catalog.Tenant) { t.TimeZone = "Factory" }, "tenant.time_zone"},
		"copy of a zone":        {func(t *catalog.Tenant) { t.TimeZone = "posix/UTC" }, "tenant.time_zone"},
		"copy with leaps":       {func(t *catalog.Tenant) { t.TimeZone = "right/UTC" }, "tenant.time_zone"},
		"offset":                {func(t *catalog.Tenant) { t.TimeZone = "+01:00" }, "tenant.time_zone"},
		"script and region":     {func(t *catalog.Tenant) { t.Locale = "zh-Hant-TW" }, ""},
		"no locale":             {func(t *catalog.Tenant) { t.Locale = "" }, "tenant.locale"},
		"unknown language":      {func(t *catalog.Tenant) { t.Locale = "xqx" }, "tenant.locale"},
		"unknown region":        {func(t *catalog.Tenant) { t.Locale = "pt-JJ" }, "tenant.locale"},
		"undetermined language": {func(t *catalog.Tenant) { t.Locale = "und" }, "tenant.locale"},
		"no currency":           {func(t *catalog.Tenant) { t.Currency = "" }, "tenant.currency"},
		"lower case currency":   {func(t *catalog.Tenant) { t.Currency = "eur" }, "tenant.currency"},
		"unknown currency":      {func(t *catalog.Tenant) { t.Currency = "QQQ" }, "tenant.currency"},
		"logo":                  {func(t *catalog.Tenant) { t.Brand.LogoURL = "https://cdn.example.com/logo.svg" }, ""},
		"logo over http": {
			func(t *catalog.Tenant) { t.Brand.LogoURL = "http://cdn.example.com/logo.svg" }, "tenant.brand.logo_url",
		},
		"accent color": {func(t *catalog.Tenant) { t.Brand.Accent = "#0b6e4f" }, ""},
		"not a color":  {func(t *catalog.Tenant) { t.Brand.Accent = "green" }, "tenant.brand.accent_color"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edited := good
			c.edit(&edited)
			test.EqOp(t, invalid(c.want), faulttest.Text(edited.Validate()))
		})
	}
}

func TestLocationValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	good := catalog.Location{Name: "Pier 1", TimeZone: "Europe/Lisbon", Channels: catalog.Channels()}
	for name, c := range map[string]struct {
		edit func(*catalog.Location)
		want string
	}{
		"good":             {func(*catalog.Location) {}, ""},
		"two-line address": {func(l *catalog.Location) { l.Address = "Cais 1\nLisboa" }, ""},
		"full address":     {func(l *catalog.Location) { l.Address = strings.Repeat("é", 500) }, ""},
		"long address":     {func(l *catalog.Location) { l.Address = strings.Repeat("x", 501) }, "location.address"},
		"no name":          {func(l *catalog.Location) { l.Name = "" }, "location.name"},
		"unknown zone":     {func(l *catalog.Location) { l.TimeZone = "Mars/Olympus" }, "location.time_zone"},
		"south pole":       {func(l *catalog.Location) { l.Point = &catalog.Point{Latitude: -90, Longitude: 180} }, ""},
		"north pole":       {func(l *catalog.Location) { l.Point = &catalog.Point{Latitude: 90, Longitude: -180} }, ""},
		"beyond the north": {func(l *catalog.Location) { l.Point = &catalog.Point{Latitude: 90.1} }, "location.geo"},
		"beyond the south": {func(l *catalog.Location) { l.Point = &catalog.Point{Latitude: -90.1} }, "location.geo"},
		"too far west":     {func(l *catalog.Location) { l.Point = &catalog.Point{Longitude: -180.1} }, "location.geo"},
		"too far east":     {func(l *catalog.Location) { l.Point = &catalog.Point{Longitude: 180.1} }, "location.geo"},
		"not a number":     {func(l *catalog.Location) { l.Point = &catalog.Point{Latitude: math.NaN()} }, "location.geo"},
		"no channels":      {func(l *catalog.Location) { l.Channels = nil }, ""},
		"unknown channel":  {func(l *catalog.Location) { l.Channels = []catalog.Channel{"FAX"} }, "location.channels"},
		"repeated channel": {
			func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone, catalog.Phone} },
			"location.channels",
		},
		"one channel": {func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.WalkIn} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edited := good
			c.edit(&edited)
			test.EqOp(t, invalid(c.want), faulttest.Text(edited.Validate()))
		})
	}
}

func TestServiceValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	good := catalog.Service{Name: "Vinyasa", Duration: time.Hour}.WithDefaults()
	for name, c := range map[string]struct {
		edit func(*catalog.Service)
		want string
	}{
		"good": {func(*catalog.Service) {}, ""},
		"most": {func(s *catalog.Service) {
			s.Description, s.Category, s.Duration = strings.Repeat("é", 4000), strings.Repeat("é", 100), 7*24*time.Hour
			s.DefaultCapacity, s.DefaultWaitlistCapacity, s.MinParty, s.MaxParty = new(100_000), 10_000, 1000, 1000
		}, ""},
		"no name":        {func(s *catalog.Service) { s.Name = "" }, "service.name"},
		"text in lines":  {func(s *catalog.Service) { s.Description = "Calm.\n\tBreathe." }, ""},
		"long text":      {func(s *catalog.Service) { s.Description = strings.Repeat("x", 4001) }, "service.description"},
		"bell":           {func(s *catalog.Service) { s.Description = "\a" }, "service.description"},
		"long category":  {func(s *catalog.Service) { s.Category = strings.Repeat("x", 101) }, "service.category"},
		"a minute":       {func(s *catalog.Service) { s.Duration = time.Minute }, ""},
		"under a minute": {func(s *catalog.Service) { s.Duration = 59 * time.Second }, "service.duration"},
		"over a week":    {func(s *catalog.Service) { s.Duration = 7*24*time.Hour + time.Second }, "service.duration"},
		"half a second":  {func(s *catalog.Service) { s.Duration = time.Hour + time.Second/2 }, "service.duration"},
		"no seats":       {func(s *catalog.Service) { s.DefaultCapacity = new(0) }, ""},
		"negative seats": {func(s *catalog.Service) { s.DefaultCapacity = new(-1) }, "service.default_capacity"},
		"a stadium":      {func(s *catalog.Service) { s.DefaultCapacity = new(100_001) }, "service.default_capacity"},
		"long waitlist": {
			func(s *catalog.Service) { s.DefaultWaitlistCapacity = 10_001 }, "service.default_waitlist_capacity",
		},
		"negative waitlist": {
			func(s *catalog.Service) { s.DefaultWaitlistCapacity = -1 }, "service.default_waitlist_capacity",
		},
		"an empty party":       {func(s *catalog.Service) { s.MinParty = 0 }, "service.min_party"},
		"a crowd at least":     {func(s *catalog.Service) { s.MinParty, s.MaxParty = 1001, 1001 }, "service.min_party"},
		"crowd":                {func(s *catalog.Service) { s.MaxParty = 1_001 }, "service.max_party"},
		"upside down":          {func(s *catalog.Service) { s.MinParty, s.MaxParty = 3, 2 }, "service.max_party"},
		"by post":              {func(s *catalog.Service) { s.Delivery = "POST" }, "service.delivery"},
		"color":                {func(s *catalog.Service) { s.Color = "#00aAfF" }, ""},
		"color by name":        {func(s *catalog.Service) { s.Color = "teal" }, "service.color"},
		"color with something": {func(s *catalog.Service) { s.Color = "#00aaff\n" }, "service.color"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edited := good
			c.edit(&edited)
			test.EqOp(t, invalid(c.want), faulttest.Text(edited.Validate()))
		})
	}
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
	for want, r := range map[string]catalog.Resource{
		"":              {Name: "Court 1", Kind: strings.Repeat("é", 50)},
		"resource.name": {Kind: "court"},
		"resource.kind": {Name: "Court 1", Kind: strings.Repeat("x", 51)},
	} {
		test.EqOp(t, invalid(want), faulttest.Text(r.Validate()))
	}
}

func TestPolicyValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	tier := func(name string, window time.Duration) map[string]catalog.TierPolicy {
		return map[string]catalog.TierPolicy{name: {Cancellation: &window}}
	}
	most, many := make(map[string]catalog.TierPolicy), make(map[string]catalog.TierPolicy)
	for i := range 50 {
		most[fmt.Sprint(i)], many[fmt.Sprint(i)] = catalog.TierPolicy{}, catalog.TierPolicy{}
	}
	many["one more"] = catalog.TierPolicy{}
	for name, c := range map[string]struct {
		policy catalog.Policy
		want   string
	}{
		"nothing said":   {catalog.Policy{}, ""},
		"the defaults":   {catalog.Defaults().Policy(), ""},
		"fraction":       {catalog.Policy{Cancellation: new(time.Millisecond)}, "cancellation_window"},
		"no distance":    {catalog.Policy{GPSMaxMeters: new(math.NaN())}, "gps_max_meters"},
		"no tiers":       {catalog.Policy{Tiers: new(map[string]catalog.TierPolicy{})}, ""},
		"no window":      {catalog.Policy{Tiers: new(tier("member", 0))}, ""},
		"a tier":         {catalog.Policy{Tiers: new(tier("member", 4*time.Hour))}, ""},
		"nameless tier":  {catalog.Policy{Tiers: new(tier("", 4*time.Hour))}, "tier_cancellations"},
		"long tier":      {catalog.Policy{Tiers: new(tier(strings.Repeat("x", 51), 0))}, "tier_cancellations"},
		"tier's window":  {catalog.Policy{Tiers: new(tier("member", 31*day))}, "tier_cancellations"},
		"the most tiers": {catalog.Policy{Tiers: new(most)}, ""},
		"long name":      {catalog.Policy{Tiers: new(tier(strings.Repeat("é", 50), 30*day))}, ""},
		"many tiers":     {catalog.Policy{Tiers: new(many)}, "tier_cancellations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.want != "" {
				c.want = "layer.policy." + c.want
			}
			test.EqOp(t, invalid(c.want), faulttest.Text(c.policy.Validate()))
		})
	}
}

// The names are those of the contract and of the audit log. Spans are whole seconds, distances are meters.
func TestPolicyFields_HaveNamesDefaultsAndBounds(t *testing.T) {
	t.Parallel()
	const day, second = 24 * time.Hour, time.Second
	bounds := map[string]struct{ initial, least, most, unit time.Duration }{
		"advance_window":           {30 * day, 0, 730 * day, second},
		"booking_closes_before":    {0, 0, 30 * day, second},
		"cancellation_window":      {day, 0, 30 * day, second},
		"hold_ttl":                 {10 * time.Minute, time.Minute, day, second},
		"checkin_opens_before":     {time.Hour, 0, day, second},
		"checkin_closes_after_end": {30 * time.Minute, 0, day, second},
		"auto_no_show_after":       {30 * time.Minute, 0, 7 * day, second},
		"gps_max_meters":           {200, 10, 100_000, 1},
	}
	others := map[string]any{
		"allow_late_cancellation": false, "allow_reschedule": false, "auto_no_show": false, "waitlist_enabled": true,
		"checkin_requires_qr": false,
		"tier_cancellations":  map[string]catalog.TierPolicy{},
	}
	defaults := catalog.Defaults().Policy()
	test.EqOp(t, len(bounds)+len(others), len(catalog.RuleFields))
	for _, row := range catalog.RuleFields {
		name := row.Name()
		b, has := bounds[name]
		if !has {
			test.Eq(t, others[name], row.Value(&defaults), test.Sprint(name))
			continue
		}
		for value, want := range map[time.Duration]string{
			b.least: "", b.most: "", b.least - b.unit: name, b.most + b.unit: name,
		} {
			var p catalog.Policy
			row.Set(&p, value)
			got := strings.TrimPrefix(faulttest.Text(p.Validate()), invalid("layer.policy."))
			test.EqOp(t, want, got, test.Sprintf("%s of %d", name, value))
		}
		var initial catalog.Policy
		row.Set(&initial, b.initial)
		test.Eq(t, row.Value(&initial), row.Value(&defaults), test.Sprint(name))
	}
}
