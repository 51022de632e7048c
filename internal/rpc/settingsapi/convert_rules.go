package settingsapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// editRules returns an edit that applies the fields named by an update mask. A field that is not set is inherited.
func editRules(m *v1.WaitlistRules, paths []string) func(*waitlist.Settings) {
	return func(s *waitlist.Settings) { readSettings(waitlist.Fields.Only(paths), m, s) }
}

func rulesMessage(s waitlist.Settings) *v1.WaitlistRules {
	return writeSettings(waitlist.Fields, &s, &v1.WaitlistRules{})
}

func effectiveRulesMessage(e waitlist.EffectiveRules) *v1.EffectiveWaitlistRules {
	m := &v1.EffectiveWaitlistRules{
		Rules: rulesMessage(e.Rules.Settings()), Version: convert.VersionMessage(e.Version),
		Layers: []*v1.WaitlistRulesLayer{
			{Level: policyLevelMessage(catalog.Default), Rules: rulesMessage(waitlist.Defaults().Settings())},
		},
	}
	target := func(at catalog.Level) string {
		for _, l := range e.Layers {
			if l.Level == at && at != catalog.TenantLevel {
				return l.Scope.String()
			}
		}
		return ""
	}
	m.Origins = originMessages(waitlist.Fields, m.Rules, e.Origins, target)
	for _, l := range e.Layers {
		m.Layers = append(m.Layers, &v1.WaitlistRulesLayer{
			Level: policyLevelMessage(l.Level), TargetId: target(l.Level), Rules: rulesMessage(l.Settings),
			Etag: convert.Etag(l.Version), Version: convert.VersionMessage(l.Version),
		})
	}
	return m
}

func rulesVersionMessage(v waitlists.RulesVersion) *v1.WaitlistRulesVersion {
	m := &v1.WaitlistRulesVersion{
		Version: int32(v.Version), Level: policyLevelMessage(v.Level), Rules: rulesMessage(v.Settings), WasReset: v.Reset,
		Actor:  convert.Actor(v.Actor, v.ActorName),
		Reason: v.Reason, CreateTime: convert.Timestamp(v.At),
	}
	if v.Level != catalog.TenantLevel {
		m.TargetId = v.Scope.String()
	}
	return m
}
