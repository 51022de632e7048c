package settingsapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

const policyLevelPrefix = "SETTING_LEVEL_"

func policyLevelMessage(l catalog.Level) v1.SettingLevel {
	return convert.Enum[v1.SettingLevel](v1.SettingLevel_value, policyLevelPrefix, l)
}

// policyTargetValue returns the target of a level. The contract's rules have checked that the two match.
func policyTargetValue(level v1.SettingLevel, id string) settings.PolicyTarget {
	switch level {
	case v1.SettingLevel_SETTING_LEVEL_LOCATION:
		return settings.PolicyTarget{Location: convert.ID[tenant.LocationID](id)}
	case v1.SettingLevel_SETTING_LEVEL_SERVICE:
		return settings.PolicyTarget{Service: convert.ID[tenant.ServiceID](id)}
	default:
		return settings.PolicyTarget{}
	}
}

func effectiveMessage(e catalog.EffectivePolicy) *v1.EffectivePolicy {
	target := func(at catalog.Level) string { return convert.UUIDText(e.Scope(at)) }
	m := &v1.EffectivePolicy{Policy: policyMessage(e.Policy.Layer())}
	m.Origins = originMessages(catalog.PolicyFields, m.Policy, e.Origins, target)
	for _, layer := range e.Layers {
		out := &v1.PolicyLayer{
			Level: policyLevelMessage(layer.Level), TargetId: target(layer.Level), Policy: policyMessage(layer),
			UpdateTime: convert.Timestamp(layer.UpdatedAt),
		}
		if layer.Level != catalog.Default {
			out.Etag = convert.Etag(layer.Version)
		}
		m.Layers = append(m.Layers, out)
	}
	return m
}

func policyMessage(p catalog.PolicyLayer) *v1.Policy {
	return writeSettings(catalog.PolicyFields, &p, &v1.Policy{})
}

// editPolicy returns an edit that applies the fields named by an update mask. A field that is not set is inherited.
func editPolicy(m *v1.Policy, paths []string) func(*catalog.PolicyLayer) {
	return func(p *catalog.PolicyLayer) { readSettings(catalog.PolicyFields.Only(paths), m, p) }
}
