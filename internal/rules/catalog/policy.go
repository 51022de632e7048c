package catalog

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Level is where a policy is written down. Later levels win over earlier ones.
type Level string

// The levels, in the order in which they win.
const (
	Default       Level = "DEFAULT"
	TenantLevel   Level = "TENANT"
	LocationLevel Level = "LOCATION"
	ServiceLevel  Level = "SERVICE"
)

// Policy is what one level says for itself. Nil inherits.
type Policy struct {
	Level Level
	Scope tenant.UUID // the tenant's, location's or service's id

	Advance               *time.Duration // how far ahead members book
	BookingCloses         *time.Duration // before the start
	Cancellation          *time.Duration // notice without penalty, before the start
	AllowLateCancellation *bool          // past that: cancel without refund instead of being refused
	AllowReschedule       *bool          // past that: reschedule all the same
	HoldTTL               *time.Duration // how long a hold lasts
	CheckInOpens          *time.Duration // before the start
	CheckInCloses         *time.Duration // after the end
	GPSMaxMeters          *float64
	WaitlistEnabled       *bool // said by the waitlist rules of the level
	AutoNoShow            *bool
	AutoNoShowAfter       *time.Duration        // after the end
	Tiers                 map[string]TierPolicy // other windows for some tiers; empty is not nil

	Version   int
	UpdatedAt time.Time
}

// TierPolicy is what holds for members of a tier instead. Nil leaves it as it is for everyone.
type TierPolicy struct {
	Cancellation    *time.Duration
	AllowReschedule *bool
}

// Rules is the policy in force for one service at one location, every value known.
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
	WaitlistEnabled       bool
	AutoNoShow            bool
	AutoNoShowAfter       time.Duration
	Tiers                 map[string]TierPolicy
}

const day = 24 * time.Hour

// Defaults are the rules of a tenant that wrote nothing down.
func Defaults() Rules {
	return Rules{
		Advance:         30 * day,
		Cancellation:    day,
		HoldTTL:         10 * time.Minute,
		CheckInOpens:    time.Hour,
		CheckInCloses:   30 * time.Minute,
		GPSMaxMeters:    200,
		WaitlistEnabled: true,
		AutoNoShowAfter: 30 * time.Minute,
	}
}

// Policy writes rules down as a layer that leaves nothing open.
func (r Rules) Policy() Policy {
	tiers := r.Tiers
	if tiers == nil {
		tiers = map[string]TierPolicy{}
	}
	return Policy{
		Advance: &r.Advance, BookingCloses: &r.BookingCloses, Cancellation: &r.Cancellation,
		AllowLateCancellation: &r.AllowLateCancellation, AllowReschedule: &r.AllowReschedule, HoldTTL: &r.HoldTTL,
		CheckInOpens: &r.CheckInOpens, CheckInCloses: &r.CheckInCloses, GPSMaxMeters: &r.GPSMaxMeters,
		WaitlistEnabled: &r.WaitlistEnabled, AutoNoShow: &r.AutoNoShow, AutoNoShowAfter: &r.AutoNoShowAfter, Tiers: tiers,
	}
}

// Origins tells for each of the rules the level that it comes from.
type Origins struct {
	Advance               Level
	BookingCloses         Level
	Cancellation          Level
	AllowLateCancellation Level
	AllowReschedule       Level
	HoldTTL               Level
	CheckInOpens          Level
	CheckInCloses         Level
	GPSMaxMeters          Level
	WaitlistEnabled       Level
	AutoNoShow            Level
	AutoNoShowAfter       Level
	Tiers                 Level
}

// Effective is the policy in force somewhere, and why.
type Effective struct {
	Rules   Rules
	Origins Origins
	Layers  []Policy // what each level says for itself, the default first
}

// EffectivePolicy lays layers over the defaults, in the order given: tenant, location, service.
func EffectivePolicy(layers ...Policy) Effective {
	rules, origins := resolve(layers)
	builtIn := Defaults().Policy()
	builtIn.Level = Default
	return Effective{Rules: rules, Origins: origins, Layers: append([]Policy{builtIn}, layers...)}
}

// Scope gives the location or service that speaks at a level; zero where it is the tenant or nobody.
func (e Effective) Scope(at Level) tenant.UUID {
	for _, layer := range e.Layers {
		if layer.Level == at && (at == LocationLevel || at == ServiceLevel) {
			return layer.Scope
		}
	}
	return tenant.UUID{}
}

// Resolve is EffectivePolicy for whoever need not know why.
func Resolve(layers ...Policy) Rules {
	rules, _ := resolve(layers)
	return rules
}

func resolve(layers []Policy) (Rules, Origins) {
	r := Defaults()
	o := Origins{
		Advance: Default, BookingCloses: Default, Cancellation: Default, AllowLateCancellation: Default, AllowReschedule: Default,
		HoldTTL: Default, CheckInOpens: Default, CheckInCloses: Default, GPSMaxMeters: Default, WaitlistEnabled: Default,
		AutoNoShow: Default, AutoNoShowAfter: Default, Tiers: Default,
	}
	for _, p := range layers {
		lay(&r.Advance, &o.Advance, p.Advance, p.Level)
		lay(&r.BookingCloses, &o.BookingCloses, p.BookingCloses, p.Level)
		lay(&r.Cancellation, &o.Cancellation, p.Cancellation, p.Level)
		lay(&r.AllowLateCancellation, &o.AllowLateCancellation, p.AllowLateCancellation, p.Level)
		lay(&r.AllowReschedule, &o.AllowReschedule, p.AllowReschedule, p.Level)
		lay(&r.HoldTTL, &o.HoldTTL, p.HoldTTL, p.Level)
		lay(&r.CheckInOpens, &o.CheckInOpens, p.CheckInOpens, p.Level)
		lay(&r.CheckInCloses, &o.CheckInCloses, p.CheckInCloses, p.Level)
		lay(&r.GPSMaxMeters, &o.GPSMaxMeters, p.GPSMaxMeters, p.Level)
		lay(&r.WaitlistEnabled, &o.WaitlistEnabled, p.WaitlistEnabled, p.Level)
		lay(&r.AutoNoShow, &o.AutoNoShow, p.AutoNoShow, p.Level)
		lay(&r.AutoNoShowAfter, &o.AutoNoShowAfter, p.AutoNoShowAfter, p.Level)
		// A list of tiers replaces the one before as a whole: laid over each other, no
		// level could take away what another had said.
		if p.Tiers != nil {
			r.Tiers, o.Tiers = p.Tiers, p.Level
		}
	}
	return r, o
}

func lay[T any](rule *T, origin *Level, says *T, level Level) {
	if says != nil {
		*rule, *origin = *says, level
	}
}

// For gives the rules for members of a tier.
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
