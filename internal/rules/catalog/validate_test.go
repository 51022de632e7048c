package catalog_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// invalidField returns the rejected field, or "" if there is none.
func invalidField(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Reason != fault.InvalidField || f.Kind != fault.InvalidArgument {
		t.Errorf("got %v, want INVALID_FIELD", err)
		return "?"
	}
	return f.Field
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
			if diff := cmp.Diff(c.want, invalidField(t, edited.Validate())); diff != "" {
				t.Error(diff)
			}
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
		"long address":     {func(l *catalog.Location) { l.Address = strings.Repeat("x", 501) }, "location.address"},
		"no name":          {func(l *catalog.Location) { l.Name = "" }, "location.name"},
		"unknown zone":     {func(l *catalog.Location) { l.TimeZone = "Mars/Olympus" }, "location.time_zone"},
		"pole":             {func(l *catalog.Location) { l.Point = &catalog.Point{Latitude: -90, Longitude: 180} }, ""},
		"beyond the pole":  {func(l *catalog.Location) { l.Point = &catalog.Point{Latitude: 90.1} }, "location.geo"},
		"around the world": {func(l *catalog.Location) { l.Point = &catalog.Point{Longitude: -180.1} }, "location.geo"},
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
			if diff := cmp.Diff(c.want, invalidField(t, edited.Validate())); diff != "" {
				t.Error(diff)
			}
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
		"good":           {func(*catalog.Service) {}, ""},
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
		"negative party":       {func(s *catalog.Service) { s.MinParty = -1 }, "service.min_party"},
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
			if diff := cmp.Diff(c.want, invalidField(t, edited.Validate())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServiceWithDefaults_FillsInPartySizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ min, max, wantMin, wantMax int }{
		{0, 0, 1, 1}, {3, 0, 3, 3}, {0, 4, 1, 4}, {2, 4, 2, 4},
	} {
		got := catalog.Service{MinParty: c.min, MaxParty: c.max}.WithDefaults()
		if got.MinParty != c.wantMin || got.MaxParty != c.wantMax || got.Delivery != catalog.InPerson {
			t.Errorf("%+v gives %d to %d, %s", c, got.MinParty, got.MaxParty, got.Delivery)
		}
	}
}

func TestResourceValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]catalog.Resource{
		"":              {Name: "Court 1", Kind: "court"},
		"resource.name": {Kind: "court"},
		"resource.kind": {Name: "Court 1", Kind: strings.Repeat("x", 51)},
	} {
		if diff := cmp.Diff(want, invalidField(t, r.Validate())); diff != "" {
			t.Error(diff)
		}
	}
}

func TestPolicyValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	tier := func(name string, window time.Duration) map[string]catalog.TierPolicy {
		return map[string]catalog.TierPolicy{name: {Cancellation: &window}}
	}
	many := make(map[string]catalog.TierPolicy)
	for i := range 51 {
		many[strings.Repeat("t", i+1)] = catalog.TierPolicy{}
	}
	for name, c := range map[string]struct {
		policy catalog.Policy
		want   string
	}{
		"nothing said":      {catalog.Policy{}, ""},
		"the defaults":      {catalog.Defaults().Policy(), ""},
		"two years ahead":   {catalog.Policy{Advance: new(730 * day)}, ""},
		"farther ahead":     {catalog.Policy{Advance: new(730*day + time.Second)}, "advance_window"},
		"backwards":         {catalog.Policy{BookingCloses: new(-time.Second)}, "booking_closes_before"},
		"fraction":          {catalog.Policy{Cancellation: new(time.Millisecond)}, "cancellation_window"},
		"short hold":        {catalog.Policy{HoldTTL: new(59 * time.Second)}, "hold_ttl"},
		"long hold":         {catalog.Policy{HoldTTL: new(day + time.Second)}, "hold_ttl"},
		"check-in too soon": {catalog.Policy{CheckInOpens: new(2 * day)}, "checkin_opens_before"},
		"check-in too late": {catalog.Policy{CheckInCloses: new(2 * day)}, "checkin_closes_after_end"},
		"too near":          {catalog.Policy{GPSMaxMeters: new(9.0)}, "gps_max_meters"},
		"no distance":       {catalog.Policy{GPSMaxMeters: new(math.NaN())}, "gps_max_meters"},
		"no-show too late":  {catalog.Policy{AutoNoShowAfter: new(8 * day)}, "auto_no_show_after"},
		"no tiers":          {catalog.Policy{Tiers: new(map[string]catalog.TierPolicy{})}, ""},
		"a tier":            {catalog.Policy{Tiers: new(tier("member", 4*time.Hour))}, ""},
		"nameless tier":     {catalog.Policy{Tiers: new(tier("", 4*time.Hour))}, "tier_cancellations"},
		"long tier":         {catalog.Policy{Tiers: new(tier(strings.Repeat("x", 51), 0))}, "tier_cancellations"},
		"tier's window":     {catalog.Policy{Tiers: new(tier("member", 31*day))}, "tier_cancellations"},
		"many tiers":        {catalog.Policy{Tiers: new(many)}, "tier_cancellations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.TrimPrefix(invalidField(t, c.policy.Validate()), "layer.policy.")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
