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

// PolicyLayer is what one level sets of the booking policy. Nil inherits.
type PolicyLayer struct {
	Level Level
	Scope tenant.UUID // the tenant's, location's or service's id

	AdvanceWindow         *time.Duration // how far ahead members book
	BookingClosesBefore   *time.Duration // before the start
	CancellationWindow    *time.Duration // notice without penalty, before the start
	AllowLateCancellation *bool          // after that: cancel without a refund, instead of being refused
	AllowReschedule       *bool          // after that: reschedule all the same
	HoldTTL               *time.Duration // how long a hold lasts
	CheckInOpensBefore    *time.Duration // before the start
	CheckInClosesAfterEnd *time.Duration // after the end
	GPSMaxMeters          *float64
	CheckInRequiresQR     *bool // a position alone is not enough
	WaitlistEnabled       *bool // set by the waitlist rules of the level
	AutoNoShow            *bool
	AutoNoShowAfter       *time.Duration         // after the end
	AutoNoShowAfterStart  *time.Duration         // after the start instead; 0: not before the end
	TierCancellations     *map[string]TierPolicy // other windows for some tiers

	Version   int
	UpdatedAt time.Time
}

// TierPolicy overrides the policy for members of a tier. Nil overrides nothing.
type TierPolicy struct {
	CancellationWindow *time.Duration
	AllowReschedule    *bool
}

// BookingPolicy is the policy in force for bookings of a service at a location. Every value is set.
type BookingPolicy struct {
	AdvanceWindow         time.Duration
	BookingClosesBefore   time.Duration
	CancellationWindow    time.Duration
	AllowLateCancellation bool
	AllowReschedule       bool
	HoldTTL               time.Duration
	CheckInOpensBefore    time.Duration
	CheckInClosesAfterEnd time.Duration
	GPSMaxMeters          float64
	CheckInRequiresQR     bool
	WaitlistEnabled       bool
	AutoNoShow            bool
	AutoNoShowAfter       time.Duration
	AutoNoShowAfterStart  time.Duration
	TierCancellations     map[string]TierPolicy
}

const day = 24 * time.Hour

// PolicyFields are the settings of a policy, in the order in which they are validated.
var PolicyFields = settings.Table[PolicyLayer, BookingPolicy]{
	settings.New("advance_window",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.AdvanceWindow, &p.AdvanceWindow
		}).
		Default(30 * day).Check(settings.Span(0, 730*day)).In("advance_window_seconds"),
	settings.New("booking_closes_before",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.BookingClosesBefore, &p.BookingClosesBefore
		}).
		Check(settings.Span(0, 30*day)).In("booking_closes_before_seconds"),
	settings.New("cancellation_window",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.CancellationWindow, &p.CancellationWindow
		}).
		Default(day).Check(settings.Span(0, 30*day)).In("cancellation_window_seconds"),
	settings.New("allow_late_cancellation",
		func(l *PolicyLayer, p *BookingPolicy) (**bool, *bool) {
			return &l.AllowLateCancellation, &p.AllowLateCancellation
		}).
		In("allow_late_cancellation"),
	settings.New("allow_reschedule",
		func(l *PolicyLayer, p *BookingPolicy) (**bool, *bool) { return &l.AllowReschedule, &p.AllowReschedule }).
		In("allow_reschedule"),
	settings.New("hold_ttl",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.HoldTTL, &p.HoldTTL
		}).
		Default(10 * time.Minute).Check(settings.Span(time.Minute, day)).In("hold_ttl_seconds"),
	settings.New("check_in_opens_before",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.CheckInOpensBefore, &p.CheckInOpensBefore
		}).
		Default(time.Hour).Check(settings.Span(0, day)).In("check_in_opens_before_seconds"),
	settings.New("check_in_closes_after_end",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.CheckInClosesAfterEnd, &p.CheckInClosesAfterEnd
		}).
		Default(30 * time.Minute).Check(settings.Span(0, day)).In("check_in_closes_after_end_seconds"),
	settings.New("auto_no_show",
		func(l *PolicyLayer, p *BookingPolicy) (**bool, *bool) {
			return &l.AutoNoShow, &p.AutoNoShow
		}).
		In("auto_no_show"),
	settings.New("auto_no_show_after",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.AutoNoShowAfter, &p.AutoNoShowAfter
		}).
		Default(30 * time.Minute).Check(settings.Span(0, MaxNoShowDelay)).In("auto_no_show_after_seconds"),
	settings.New("auto_no_show_after_start",
		func(l *PolicyLayer, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &l.AutoNoShowAfterStart, &p.AutoNoShowAfterStart
		}).
		Check(offOrSpan(leastNoShowDelay, day)).In("auto_no_show_after_start_seconds"),
	settings.New("tier_cancellations",
		func(l *PolicyLayer, p *BookingPolicy) (**map[string]TierPolicy, *map[string]TierPolicy) {
			return &l.TierCancellations, &p.TierCancellations
		}).
		Check(tiers).In("tier_cancellations"),
	settings.New("gps_max_meters",
		func(l *PolicyLayer, p *BookingPolicy) (**float64, *float64) { return &l.GPSMaxMeters, &p.GPSMaxMeters }).
		Default(200).Check(meters).In("gps_max_meters"),
	settings.New("check_in_requires_qr",
		func(l *PolicyLayer, p *BookingPolicy) (**bool, *bool) {
			return &l.CheckInRequiresQR, &p.CheckInRequiresQR
		}).
		In("check_in_requires_qr"),
}

// AllPolicyFields are PolicyFields, and the waitlist rule that every booking of a full session needs.
var AllPolicyFields = append(slices.Clone(PolicyFields),
	settings.New("waitlist_enabled",
		func(l *PolicyLayer, p *BookingPolicy) (**bool, *bool) { return &l.WaitlistEnabled, &p.WaitlistEnabled }).
		Default(true).In("waitlist_enabled"))

// TierFields are the settings that a tier can have of its own.
var TierFields = settings.Table[TierPolicy, BookingPolicy]{
	settings.New("cancellation_window",
		func(t *TierPolicy, p *BookingPolicy) (**time.Duration, *time.Duration) {
			return &t.CancellationWindow, &p.CancellationWindow
		}).
		Check(settings.Span(0, 30*day)),
	settings.New("allow_reschedule",
		func(t *TierPolicy, p *BookingPolicy) (**bool, *bool) { return &t.AllowReschedule, &p.AllowReschedule }),
}

var defaults = AllPolicyFields.Defaults()

// Defaults returns the policy of a tenant that sets nothing.
func Defaults() BookingPolicy { return defaults }

// Layer returns a layer that sets every field and inherits none.
func (p BookingPolicy) Layer() PolicyLayer {
	if p.TierCancellations == nil {
		p.TierCancellations = map[string]TierPolicy{}
	}
	return AllPolicyFields.Explicit(p)
}

// Validate returns an error if a value is out of bounds: INVALID_FIELD.
func (l PolicyLayer) Validate() error { return PolicyFields.Validate(&l, "policy.") }

// offOrSpan is settings.Span, and also accepts 0, which turns the setting off.
func offOrSpan(least, most time.Duration) func(string, time.Duration) error {
	check := settings.Span(least, most)
	return func(field string, value time.Duration) error {
		if value == 0 {
			return nil
		}
		return check(field, value)
	}
}

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

// EffectivePolicy is a policy in force, and where its values come from.
type EffectivePolicy struct {
	Policy BookingPolicy
	// Origins has, for each field of Policy, the level that its value comes from.
	Origins map[string]Level
	Layers  []PolicyLayer // what each level sets, the default first
}

// ResolveLayers applies layers to the defaults, in the given order: tenant, location, service.
func ResolveLayers(layers ...PolicyLayer) EffectivePolicy {
	builtIn := Defaults().Layer()
	builtIn.Level = Default
	e := EffectivePolicy{Layers: append([]PolicyLayer{builtIn}, layers...)}
	e.Policy, e.Origins = settings.Resolve(AllPolicyFields, Default, layers,
		func(l *PolicyLayer) (Level, *PolicyLayer) { return l.Level, l })
	return e
}

// Scope returns the id of the location or service of a level. It is zero for the tenant and for
// levels that set nothing.
func (e EffectivePolicy) Scope(at Level) tenant.UUID {
	for _, layer := range e.Layers {
		if layer.Level == at && (at == LocationLevel || at == ServiceLevel) {
			return layer.Scope
		}
	}
	return tenant.UUID{}
}

// A CompiledPolicy is a layer that is compiled once and then resolved for every booking.
type CompiledPolicy struct {
	alone BookingPolicy // effective if no other level sets anything
	apply func(*BookingPolicy)
}

// Compile compiles the layer.
func (l PolicyLayer) Compile() *CompiledPolicy {
	c := &CompiledPolicy{Defaults(), AllPolicyFields.Layer(&l)}
	c.apply(&c.alone)
	return c
}

// Resolve returns the policy in force. Layers are in the order of ResolveLayers; a nil layer sets nothing. It runs
// for every booking, and allocates only if two levels set something.
func Resolve(layers ...*CompiledPolicy) BookingPolicy {
	layers = slices.DeleteFunc(layers, func(c *CompiledPolicy) bool { return c == nil })
	switch len(layers) {
	case 0:
		return Defaults()
	case 1:
		return layers[0].alone
	}
	p := layers[0].alone
	for _, c := range layers[1:] {
		c.apply(&p)
	}
	return p
}

// For returns the policy for members of a tier. It runs for every booking, so it applies TierFields by hand, which is
// faster.
func (p BookingPolicy) For(tier string) BookingPolicy {
	t := p.TierCancellations[tier]
	set(&p.CancellationWindow, t.CancellationWindow)
	set(&p.AllowReschedule, t.AllowReschedule)
	return p
}

func set[T any](into *T, says *T) {
	if says != nil {
		*into = *says
	}
}
