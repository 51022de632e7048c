package catalog

import (
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/rules/settings"
)

// AuditFields are the editable fields of an entity for the audit log, by the names of the contract. An absent value is
// nil.
type AuditFields map[string]any

// AuditFields returns the editable fields.
func (t Tenant) AuditFields() AuditFields {
	return AuditFields{
		"name": t.Name, "time_zone": t.TimeZone, "locale": t.Locale, "currency": t.Currency,
		"takes_payments": t.TakesPayments, "audit_member_reads": t.AuditMemberReads,
		"brand.logo_url": t.Brand.LogoURL, "brand.accent_color": t.Brand.Accent,
		"step_up.max_age": elapsed(t.StepUp.MaxAge), "step_up.acr_values": append([]string{}, t.StepUp.ACRValues...),
	}
}

// AuditFields returns the editable fields.
func (l Location) AuditFields() AuditFields {
	channels := make([]string, len(l.Channels))
	for i, c := range l.Channels {
		channels[i] = string(c)
	}
	slices.Sort(channels)
	fields := AuditFields{
		"name": l.Name, "time_zone": l.TimeZone, "address": l.Address, "geo": nil, "channels": channels,
		"active": l.Active,
	}
	if l.Point != nil {
		fields["geo"] = map[string]float64{"latitude": l.Point.Latitude, "longitude": l.Point.Longitude}
	}
	return fields
}

// AuditFields returns the editable fields and the location.
func (r Resource) AuditFields() AuditFields {
	return AuditFields{"location_id": r.Location.String(), "name": r.Name, "kind": r.Kind, "active": r.Active}
}

// AuditFields returns the editable fields.
func (s Service) AuditFields() AuditFields {
	return AuditFields{
		"name": s.Name, "description": s.Description, "category": s.Category, "duration": elapsed(s.Duration),
		"default_capacity": plain(s.DefaultCapacity), "default_waitlist_capacity": s.DefaultWaitlistCapacity,
		"min_party": s.MinParty, "max_party": s.MaxParty, "delivery": string(s.Delivery), "color": s.Color,
		"active": s.Active,
	}
}

// AuditFields returns what the policy sets; what it inherits is nil.
func (l PolicyLayer) AuditFields() AuditFields { return settingFields(PolicyFields, &l) }

func settingFields[S any](rows settings.Table[S, BookingPolicy], s *S) map[string]any {
	fields := rows.Values(s)
	for name, value := range fields {
		switch v := value.(type) {
		case time.Duration:
			fields[name] = elapsed(v)
		case map[string]TierPolicy:
			tiers := make(map[string]any, len(v))
			for tier, policy := range v {
				tiers[tier] = settingFields(TierFields, &policy)
			}
			fields[name] = tiers
		}
	}
	return fields
}

// AuditChanges returns the fields that differ, with their values "before" and "after". It returns nil if none differs.
// A new entity has no values before.
func AuditChanges(before, after AuditFields) map[string]any {
	if before == nil {
		return map[string]any{"after": after}
	}
	oldValues, newValues := make(AuditFields), make(AuditFields)
	for name, value := range after {
		if !reflect.DeepEqual(before[name], value) {
			oldValues[name], newValues[name] = before[name], value
		}
	}
	if len(newValues) == 0 {
		return nil
	}
	return map[string]any{"before": oldValues, "after": newValues}
}

// elapsed formats a duration like the contract's JSON.
func elapsed(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

func plain[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}
