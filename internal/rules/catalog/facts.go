package catalog

import (
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/rules/settings"
)

// Facts are what somebody wrote down about a thing, by the contract's names and in plain
// values, for the record of who changed what. Absent values are nil.
type Facts map[string]any

// Facts gives what can be edited.
func (t Tenant) Facts() Facts {
	return Facts{
		"name": t.Name, "time_zone": t.TimeZone, "locale": t.Locale, "currency": t.Currency, "takes_payments": t.TakesPayments,
		"brand.logo_url": t.Brand.LogoURL, "brand.accent_color": t.Brand.Accent,
	}
}

// Facts gives what can be edited.
func (l Location) Facts() Facts {
	channels := make([]string, len(l.Channels))
	for i, c := range l.Channels {
		channels[i] = string(c)
	}
	slices.Sort(channels)
	facts := Facts{
		"name": l.Name, "time_zone": l.TimeZone, "address": l.Address, "geo": nil, "channels": channels, "active": l.Active,
	}
	if l.Point != nil {
		facts["geo"] = map[string]float64{"latitude": l.Point.Latitude, "longitude": l.Point.Longitude}
	}
	return facts
}

// Facts gives what can be edited, and where it is.
func (r Resource) Facts() Facts {
	return Facts{"location_id": r.Location.String(), "name": r.Name, "kind": r.Kind, "active": r.Active}
}

// Facts gives what can be edited.
func (s Service) Facts() Facts {
	return Facts{
		"name": s.Name, "description": s.Description, "category": s.Category, "duration": elapsed(s.Duration),
		"default_capacity": plain(s.DefaultCapacity), "default_waitlist_capacity": s.DefaultWaitlistCapacity,
		"min_party": s.MinParty, "max_party": s.MaxParty, "delivery": string(s.Delivery), "color": s.Color, "active": s.Active,
	}
}

// Facts returns what the policy sets; what it inherits is nil.
func (p Policy) Facts() Facts { return settingFacts(PolicyFields, &p) }

func settingFacts[S any](fields settings.Table[S, Rules], s *S) map[string]any {
	facts := fields.Values(s)
	for name, value := range facts {
		switch v := value.(type) {
		case time.Duration:
			facts[name] = elapsed(v)
		case map[string]TierPolicy:
			tiers := make(map[string]any, len(v))
			for tier, policy := range v {
				tiers[tier] = settingFacts(TierFields, &policy)
			}
			facts[name] = tiers
		}
	}
	return facts
}

// Changes gives the facts that differ, as they were "before" and are "after"; nil where none does.
// What has just been made has no facts before.
func Changes(before, after Facts) map[string]any {
	was, is := make(Facts), make(Facts)
	for name, fact := range after {
		if before == nil {
			is[name] = fact
		} else if !reflect.DeepEqual(before[name], fact) {
			was[name], is[name] = before[name], fact
		}
	}
	switch {
	case before == nil:
		return map[string]any{"after": is}
	case len(is) == 0:
		return nil
	}
	return map[string]any{"before": was, "after": is}
}

// elapsed writes a span as the contract's JSON does.
func elapsed(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

func plain[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}
