package rpc

import (
	"maps"
	"slices"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

const policyLevelPrefix = "POLICY_LEVEL_"

func policyLevel(l catalog.Level) v1.PolicyLevel {
	return enum[v1.PolicyLevel](v1.PolicyLevel_value, policyLevelPrefix, l)
}

// policyTarget gives that of a layer. The contract has checked that its level and its target go together.
func policyTarget(m *v1.PolicyLayer) app.PolicyTarget {
	switch m.GetLevel() {
	case v1.PolicyLevel_POLICY_LEVEL_LOCATION:
		return app.PolicyTarget{Location: id[tenant.LocationID](m.GetTargetId())}
	case v1.PolicyLevel_POLICY_LEVEL_SERVICE:
		return app.PolicyTarget{Service: id[tenant.ServiceID](m.GetTargetId())}
	default:
		return app.PolicyTarget{}
	}
}

func effectiveMessage(e catalog.Effective) *v1.EffectivePolicy {
	m := &v1.EffectivePolicy{Policy: policyMessage(e.Rules.Policy()), Layers: make([]*v1.PolicyLayer, 0, len(e.Layers))}
	o := e.Origins
	for _, origin := range []struct {
		field string
		level catalog.Level
	}{
		{"advance_window", o.Advance},
		{"booking_closes_before", o.BookingCloses},
		{"cancellation_window", o.Cancellation},
		{"allow_late_cancellation", o.AllowLateCancellation},
		{"allow_reschedule", o.AllowReschedule},
		{"tier_cancellations", o.Tiers},
		{"hold_ttl", o.HoldTTL},
		{"checkin_opens_before", o.CheckInOpens},
		{"checkin_closes_after_end", o.CheckInCloses},
		{"gps_max_meters", o.GPSMaxMeters},
		{"auto_no_show", o.AutoNoShow},
		{"auto_no_show_after", o.AutoNoShowAfter},
	} {
		m.Origins = append(m.Origins, &v1.PolicyOrigin{
			Field: origin.field, Level: policyLevel(origin.level), TargetId: targetText(e.Scope(origin.level)),
		})
	}
	for _, layer := range e.Layers {
		out := &v1.PolicyLayer{
			Level: policyLevel(layer.Level), TargetId: targetText(e.Scope(layer.Level)), Policy: policyMessage(layer),
			UpdateTime: timestamp(layer.UpdatedAt),
		}
		if layer.Level != catalog.Default {
			out.Etag = etag(layer.Version)
		}
		m.Layers = append(m.Layers, out)
	}
	return m
}

func targetText(target tenant.UUID) string {
	if target.IsZero() {
		return ""
	}
	return target.String()
}

func policyMessage(p catalog.Policy) *v1.Policy {
	m := &v1.Policy{
		AdvanceWindow:         optionalDuration(p.Advance),
		BookingClosesBefore:   optionalDuration(p.BookingCloses),
		CancellationWindow:    optionalDuration(p.Cancellation),
		AllowLateCancellation: p.AllowLateCancellation,
		AllowReschedule:       p.AllowReschedule,
		HoldTtl:               optionalDuration(p.HoldTTL),
		CheckinOpensBefore:    optionalDuration(p.CheckInOpens),
		CheckinClosesAfterEnd: optionalDuration(p.CheckInCloses),
		AutoNoShow:            p.AutoNoShow,
		AutoNoShowAfter:       optionalDuration(p.AutoNoShowAfter),
	}
	if p.GPSMaxMeters != nil {
		m.GpsMaxMeters = new(int32(*p.GPSMaxMeters))
	}
	if p.Tiers != nil {
		m.TierCancellations = &v1.TierCancellations{}
		for _, tier := range slices.Sorted(maps.Keys(p.Tiers)) {
			m.TierCancellations.Overrides = append(m.TierCancellations.Overrides, &v1.TierCancellation{
				Tier: tier, CancellationWindow: optionalDuration(p.Tiers[tier].Cancellation), AllowReschedule: p.Tiers[tier].AllowReschedule,
			})
		}
	}
	return m
}

func tiersValue(m *v1.TierCancellations) map[string]catalog.TierPolicy {
	if m == nil {
		return nil
	}
	tiers := make(map[string]catalog.TierPolicy, len(m.GetOverrides()))
	for _, o := range m.GetOverrides() {
		tiers[o.GetTier()] = catalog.TierPolicy{Cancellation: optionalSpan(o.GetCancellationWindow()), AllowReschedule: o.AllowReschedule}
	}
	return tiers
}

// editPolicy applies what an update mask names; what is not set is inherited again.
func editPolicy(m *v1.Policy, paths []string) func(*catalog.Policy) {
	if m == nil {
		m = &v1.Policy{} // then nothing is set
	}
	return func(p *catalog.Policy) {
		for _, path := range paths {
			switch path {
			case "advance_window":
				p.Advance = optionalSpan(m.GetAdvanceWindow())
			case "booking_closes_before":
				p.BookingCloses = optionalSpan(m.GetBookingClosesBefore())
			case "cancellation_window":
				p.Cancellation = optionalSpan(m.GetCancellationWindow())
			case "allow_late_cancellation":
				p.AllowLateCancellation = m.AllowLateCancellation
			case "allow_reschedule":
				p.AllowReschedule = m.AllowReschedule
			case "tier_cancellations":
				p.Tiers = tiersValue(m.GetTierCancellations())
			case "hold_ttl":
				p.HoldTTL = optionalSpan(m.GetHoldTtl())
			case "checkin_opens_before":
				p.CheckInOpens = optionalSpan(m.GetCheckinOpensBefore())
			case "checkin_closes_after_end":
				p.CheckInCloses = optionalSpan(m.GetCheckinClosesAfterEnd())
			case "gps_max_meters":
				p.GPSMaxMeters = nil
				if m.GpsMaxMeters != nil {
					p.GPSMaxMeters = new(float64(m.GetGpsMaxMeters()))
				}
			case "auto_no_show":
				p.AutoNoShow = m.AutoNoShow
			case "auto_no_show_after":
				p.AutoNoShowAfter = optionalSpan(m.GetAutoNoShowAfter())
			}
		}
	}
}
