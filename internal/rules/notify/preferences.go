package notify

import (
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/delivery"
)

// PreferenceKey is a topic on a channel.
type PreferenceKey struct {
	Topic   Topic
	Channel delivery.Channel
}

// Preferences are a member's choices. For everything else the defaults of the topic apply.
type Preferences map[PreferenceKey]bool

// Preference says whether a topic may use a channel, by the member's choice or by default.
type Preference struct {
	PreferenceKey
	Enabled, IsDefault bool
}

// ParsePreferences returns the choices of a request. It rejects two for the same topic and channel, and what cannot be
// turned off.
func ParsePreferences(all []Preference) (Preferences, error) {
	p := make(Preferences, len(all))
	for _, one := range all {
		if _, twice := p[one.PreferenceKey]; twice {
			return nil, fault.Invalid("preferences.preferences", "%s by %s is named twice.", one.Topic, one.Channel)
		}
		if one.Topic.Mandatory(one.Channel) && !one.Enabled {
			return nil, fault.Invalid("preferences.preferences", "%s by %s cannot be turned off.", one.Topic, one.Channel)
		}
		p[one.PreferenceKey] = one.Enabled
	}
	return p, nil
}

// All returns the preferences for every topic and channel.
func (p Preferences) All() []Preference {
	var all []Preference
	for _, t := range Topics() {
		for _, c := range delivery.Channels() {
			_, chosen := p[PreferenceKey{t, c}]
			all = append(all, Preference{PreferenceKey{t, c}, p.Allow(t, c), !chosen})
		}
	}
	return all
}

// Allow reports whether a topic may use a channel.
func (p Preferences) Allow(t Topic, c delivery.Channel) bool {
	if t.Fixed() || t.Mandatory(c) {
		return true
	}
	if on, chosen := p[PreferenceKey{t, c}]; chosen {
		return on
	}
	return t.Default(c)
}

// AnyOn reports whether the member has turned on any topic for a channel.
func (p Preferences) AnyOn(c delivery.Channel) bool {
	for key, on := range p {
		if on && key.Channel == c {
			return true
		}
	}
	return false
}

// lanes returns the topic's lanes with at least one allowed channel. If there are none, it returns the first lane, so
// that the delivery log shows why nothing was sent.
func (p Preferences) lanes(t Topic) []Lane {
	all := t.Lanes()
	wanted := slices.DeleteFunc(slices.Clone(all), func(lane Lane) bool {
		return !slices.ContainsFunc(t.Channels(lane), func(c delivery.Channel) bool { return p.Allow(t, c) })
	})
	if len(wanted) == 0 {
		return all[:1]
	}
	return wanted
}
