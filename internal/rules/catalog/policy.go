package catalog

import (
	"maps"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/settings"
	"github.com/berthhq/berth/internal/tenant"
)

// Level is the level that sets a policy. Later levels override earlier ones.
type Level string

// The levels, from the first to the one that overrides all others.
const (
	Default       Level = "DEFAULT"
	TenantLevel   Level = "TENANT"
	LocationLevel Level = "LOCATION"
	ServiceLevel  Level = "SERVICE"
)

// Policy is what one level sets. Nil inherits.
type Policy struct {
	Level Level
	Scope tenant.UUID // the tenant's, location's or service's id

	Advance               *time.Duration // how far ahead members book
	BookingCloses         *time.Duration // before the start
	Cancellation          *time.Duration // notice without penalty, before the start
	AllowLateCancellation *bool          // after that: cancel without a refund, instead of being refused
	AllowReschedule       *bool          // after that: reschedule all the same
	HoldTTL               *time.Duration // how long a hold lasts
	CheckInOpens          *time.Duration // before the start
	CheckInCloses         *time.Duration // after the end
	GPSMaxMeters          *float64
	CheckInRequiresQR     *bool // a position alone is not enough
	WaitlistEnabled       *bool // set by the waitlist rules of the level
	AutoNoShow            *bool
	AutoNoShowAfter       *time.Duration         // after the end
	Tiers                 *map[string]TierPolicy // other windows for some tiers

	Version   int
	UpdatedAt time.Time
}

// TierPolicy overrides the policy for members of a tier. Nil overrides nothing.
type TierPolicy struct {
	Cancellation    *time.Duration
	AllowReschedule *bool
}

// Rules is the effective policy of a service at a location. Every value is set.
type Rules struct {
	Advance               time.Duration
	BookingCloses         time.Duration
	Cancellation          time.Duration
	AllowLateCancellation bool
	AllowReschedule       bool
	HoldTTL               time.Duration
	CheckInOpens          time.Duration
	CheckInCloses         time.Duration
	GPSMaxMeters          float64
	CheckInRequiresQR     bool
	WaitlistEnabled       bool
	AutoNoShow            bool
	AutoNoShowAfter       time.Duration
	Tiers                 map[string]TierPolicy
}

const day = 24 * time.Hour

// PolicyFields are the settings of a policy, in the order in which they are validated.
var PolicyFields = settings.Table[Policy, Rules]{
	settings.New("advance_window",
		func(p *Policy, r *Rules) (**time.Duration, *time.Duration) { return &p.Advance, &r.Advance }).
		Default(30 * day).Check(settings.Span(0, 730*day)).In("advance_seconds"),
	settings.New("booking_closes_before",
		func(p *Policy, r *Rules) (**time.Duration, *time.Duration) { return &p.BookingCloses, &r.BookingCloses }).
		Check(settings.Span(0, 30*day)).In("booking_closes_seconds"),
	settings.New("cancellation_window",
		func(p *Policy, r *Rules) (**time.Duration, *time.Duration) { return &p.Cancellation, &r.Cancellation }).
		Default(day).Check(settings.Span(0, 30*day)).In("cancellation_seconds"),
	settings.New("allow_late_cancellation",
		func(p *Policy, r *Rules) (**bool, *bool) { return &p.AllowLateCancellation, &r.AllowLateCancellation }).
		In("allow_late_cancellation"),
	settings.New("allow_reschedule",
		func(p *Policy, r *Rules) (**bool, *bool) { return &p.AllowReschedule, &r.AllowReschedule }).
		In("allow_reschedule"),
	settings.New("hold_ttl",
		func(p *Policy, r *Rules) (**time.Duration, *time.Duration) { return &p.HoldTTL, &r.HoldTTL }).
		Default(10 * time.Minute).Check(settings.Span(time.Minute, day)).In("hold_ttl_seconds"),
	settings.New("checkin_opens_before",
		func(p *Policy, r *Rules) (**time.Duration, *time.Duration) { return &p.CheckInOpens, &r.CheckInOpens }).
		Default(time.Hour).Check(settings.Span(0, day)).In("check_in_opens_seconds"),
	settings.New("checkin_closes_after_end",
		func(p *Policy, r *Rules) (**time.Duration, *time.Duration) { return &p.CheckInCloses, &r.CheckInCloses }).
		Default(30 * time.Minute).Check(settings.Span(0, day)).In("check_in_closes_seconds"),
	settings.New("auto_no_show", func(p *Policy, r *Rules) (**bool, *bool) { return &p.AutoNoShow, &r.AutoNoShow }).
		In("auto_no_show"),
	settings.New("auto_no_show_after",
		func(p *Policy, r *Rules) (**time.Duration, *time.Duration) {
			return &p.AutoNoShowAfter, &r.AutoNoShowAfter
		}).
		Default(30 * time.Minute).Check(settings.Span(0, MaxNoShowDelay)).In("auto_no_show_seconds"),
	settings.New("tier_cancellations",
		func(p *Policy, r *Rules) (**map[string]TierPolicy, *map[string]TierPolicy) { return &p.Tiers, &r.Tiers }).
		Check(tiers).In("tiers"),
	settings.New("gps_max_meters",
		func(p *Policy, r *Rules) (**float64, *float64) { return &p.GPSMaxMeters, &r.GPSMaxMeters }).
		Default(200).Check(meters).In("gps_max_meters"),
	settings.New("checkin_requires_qr",
		func(p *Policy, r *Rules) (**bool, *bool) { return &p.CheckInRequiresQR, &r.CheckInRequiresQR }).
		In("check_in_requires_qr"),
}

// RuleFields are PolicyFields, and the waitlist rule that every booking of a full session needs.
var RuleFields = append(slices.Clone(PolicyFields),
	settings.New("waitlist_enabled",
		func(p *Policy, r *Rules) (**bool, *bool) { return &p.WaitlistEnabled, &r.WaitlistEnabled }).
		Default(true).In("waitlist_enabled"))

// TierFields are the settings that a tier can have of its own.
var TierFields = settings.Table[TierPolicy, Rules]{
	settings.New("cancellation_window",
		func(t *TierPolicy, r *Rules) (**time.Duration, *time.Duration) {
			return &t.Cancellation, &r.Cancellation
		}).
		Check(settings.Span(0, 30*day)),
	settings.New("allow_reschedule",
		func(t *TierPolicy, r *Rules) (**bool, *bool) { return &t.AllowReschedule, &r.AllowReschedule }),
}

var defaults = RuleFields.Defaults()

// Defaults returns the rules of a tenant that sets nothing.
func Defaults() Rules { return defaults }

// Policy returns a policy that sets every rule and inherits none.
func (r Rules) Policy() Policy {
	if r.Tiers == nil {
		r.Tiers = map[string]TierPolicy{}
	}
	return RuleFields.Explicit(r)
}

// Validate returns an error if a value is out of bounds: INVALID_FIELD.
func (p Policy) Validate() error { return PolicyFields.Validate(&p, "layer.policy.") }

func meters(field string, value float64) error {
	if !(value >= minGPSMeters && value <= maxGPSMeters) { // rejects NaN, too
		return fault.Invalid(field, "gps_max_meters is %d to %d.", minGPSMeters, maxGPSMeters)
	}
	return nil
}

func tiers(field string, tiers map[string]TierPolicy) error {
	if len(tiers) > maxTiers {
		return fault.Invalid(field, "At most %d tiers can have a window of their own.", maxTiers)
	}
	for _, tier := range slices.Sorted(maps.Keys(tiers)) {
		if tier == "" {
			return fault.Invalid(field, "A tier has a name.")
		}
		if err := text(field, tier, maxTier); err != nil {
			return err
		}
		policy := tiers[tier]
		for _, row := range TierFields {
			if err := row.Validate(&policy, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// Effective is an effective policy, and where its values come from.
type Effective struct {
	Rules Rules
	// Origins has, for each field of Rules, the level that its value comes from.
	Origins map[string]Level
	Layers  []Policy // what each level sets, the default first
}

// EffectivePolicy applies layers to the defaults, in the given order: tenant, location, service.
func EffectivePolicy(layers ...Policy) Effective {
	builtIn := Defaults().Policy()
	builtIn.Level = Default
	e := Effective{Layers: append([]Policy{builtIn}, layers...)}
	e.Rules, e.Origins = settings.Resolve(RuleFields, Default, layers,
		func(p *Policy) (Level, *Policy) { return p.Level, p })
	return e
}

// Scope returns the id of the location or service that sets the policy of a level. It is zero for the tenant and for
// levels that set nothing.
func (e Effective) Scope(at Level) tenant.UUID {
	for _, layer := range e.Layers {
		if layer.Level == at && (at == LocationLevel || at == ServiceLevel) {
			return layer.Scope
		}
	}
	return tenant.UUID{}
}

// A Layer is a policy that is compiled once and then resolved for every booking.
type Layer struct {
	alone Rules // effective if no other level sets anything
	apply func(*Rules)
}

// Layer compiles the policy.
func (p Policy) Layer() *Layer {
	l := &Layer{Defaults(), RuleFields.Layer(&p)}
	l.apply(&l.alone)
	return l
}

// Resolve returns the effective rules. Layers are in the order of EffectivePolicy; a nil layer sets nothing. It runs
// for every booking, and allocates only if two levels set something.
func Resolve(layers ...*Layer) Rules {
	layers = slices.DeleteFunc(layers, func(l *Layer) bool { return l == nil })
	switch len(layers) {
	case 0:
		return Defaults()
	case 1:
		return layers[0].alone
	}
	r := layers[0].alone
	for _, l := range layers[1:] {
		l.apply(&r)
	}
	return r
}

// For returns the rules for members of a tier. It runs for every booking, so it applies TierFields by hand, which is
// faster.
func (r Rules) For(tier string) Rules {
	t := r.Tiers[tier]
	set(&r.Cancellation, t.Cancellation)
	set(&r.AllowReschedule, t.AllowReschedule)
	return r
}

func set[T any](into *T, says *T) {
	if says != nil {
		*into = *says
	}
}
