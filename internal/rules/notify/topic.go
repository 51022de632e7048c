package notify

import (
	"slices"

	"github.com/berthhq/berth/internal/fault"
)

// Topic is what a message is about.
type Topic string

// The topics.
const (
	BookingConfirmed Topic = "BOOKING_CONFIRMED"
	Waitlisted       Topic = "WAITLISTED"
	Promoted         Topic = "PROMOTED"
	Offered          Topic = "OFFER"
	OfferExpiring    Topic = "OFFER_EXPIRING"
	BookingCancelled Topic = "BOOKING_CANCELLED"
	SessionCancelled Topic = "SESSION_CANCELLED"
	Rescheduled      Topic = "RESCHEDULED"
	Reminder         Topic = "REMINDER"
	CheckInOpen      Topic = "CHECK_IN_OPEN"
	CreditsLow       Topic = "CREDITS_LOW"
	StaffNote        Topic = "STAFF_NOTE"
	AccessChanged    Topic = "ACCESS_CHANGED"

	// ContactCode and ContactChanged are about a contact of a member, and sent to that contact only.
	ContactCode    Topic = "CONTACT_CODE"
	ContactChanged Topic = "CONTACT_CHANGED"
	// DomainLapsed tells owners that the tenant's sending domain has lapsed.
	DomainLapsed Topic = "SENDING_DOMAIN"
)

// Fixed reports whether members have no choice about the topic, tenants do not word it, and quiet hours do not hold it
// back.
func (t Topic) Fixed() bool { return t == ContactCode || t == ContactChanged || t == DomainLapsed }

// Lane is a sequence of channels for a notice. A topic has one or two lanes. Each gets a notice of its own, which is
// sent over the first channel of the lane that works.
type Lane string

// The lanes.
const (
	// Alert gets the recipient's attention: push, else SMS, else email, unless the topic always sends a mail.
	Alert Lane = "ALERT"
	// Mail is email, whatever the result of the alert. It has the calendar file, and recipients keep it.
	Mail Lane = "MAIL"
)

// topicDefault says how a topic is sent to members without preferences.
type topicDefault struct {
	topic    Topic
	mailLane bool // the topic has the Mail lane
	canWait  bool // messages wait while a sending quota is used up; people act on the others at once
	channels []Channel
}

// topicDefaults has all topics about which members have a choice, in the order of the contract.
var topicDefaults = []topicDefault{
	{BookingConfirmed, true, true, []Channel{Push, Email}},
	{Waitlisted, true, true, []Channel{Email}},
	{Promoted, true, false, []Channel{Push, SMS, Email}},
	{Offered, true, false, []Channel{Push, SMS, Email}},
	{OfferExpiring, false, false, []Channel{Push, SMS}},
	{BookingCancelled, true, false, []Channel{Email}},
	{SessionCancelled, true, false, []Channel{Push, SMS, Email}},
	{Rescheduled, true, false, []Channel{Push, Email}},
	{Reminder, false, true, []Channel{Push, Email}},
	{CheckInOpen, false, true, []Channel{Push}},
	{CreditsLow, true, true, []Channel{Email}},
	{StaffNote, true, true, []Channel{Push, Email}},
	{AccessChanged, true, false, []Channel{Push, Email}},
}

func (t Topic) defaults() topicDefault {
	at := slices.IndexFunc(topicDefaults, func(d topicDefault) bool { return d.topic == t })
	if at < 0 {
		return topicDefault{topic: t}
	}
	return topicDefaults[at]
}

// Topics returns all topics about which members have a choice, in the order of the contract.
func Topics() []Topic {
	topics := make([]Topic, len(topicDefaults))
	for i, d := range topicDefaults {
		topics[i] = d.topic
	}
	return topics
}

// Channels returns all channels, in the order of the contract.
func Channels() []Channel { return []Channel{SMS, Push, Email} }

// Default reports whether a topic uses a channel by default.
func (t Topic) Default(c Channel) bool { return slices.Contains(t.defaults().channels, c) }

// Mandatory reports whether recipients cannot turn off a channel of the topic. Who takes over an owner's account could
// otherwise first turn off the messages that tell of it.
func (t Topic) Mandatory(c Channel) bool { return t == AccessChanged && c == Email }

// CanWait reports whether messages of the topic wait while a sending quota is used up. The others are always sent: they
// say that a place is gone, moved, won or open, or have limits of their own.
func (t Topic) CanWait() bool { return t.defaults().canWait }

// IsOffer reports whether the topic is about an open offer.
func (t Topic) IsOffer() bool { return t == Offered || t == OfferExpiring }

// Lanes returns the lanes of the topic.
func (t Topic) Lanes() []Lane {
	if t.defaults().mailLane {
		return []Lane{Alert, Mail}
	}
	return []Lane{Alert}
}

// Channels returns the channels of a lane, in the order in which they are tried.
func (t Topic) Channels(lane Lane) []Channel {
	switch {
	case lane == Mail:
		return []Channel{Email}
	case t.Fixed():
		return []Channel{SMS}
	case t.defaults().mailLane:
		return []Channel{Push, SMS}
	}
	return []Channel{Push, SMS, Email}
}

// PreferenceKey is a topic on a channel.
type PreferenceKey struct {
	Topic   Topic
	Channel Channel
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
func ParsePreferences(choices []Preference) (Preferences, error) {
	p := make(Preferences, len(choices))
	for _, c := range choices {
		if _, twice := p[c.PreferenceKey]; twice {
			return nil, fault.Invalid("preferences.preferences", "%s by %s is named twice.", c.Topic, c.Channel)
		}
		if c.Topic.Mandatory(c.Channel) && !c.Enabled {
			return nil, fault.Invalid("preferences.preferences", "%s by %s cannot be turned off.", c.Topic, c.Channel)
		}
		p[c.PreferenceKey] = c.Enabled
	}
	return p, nil
}

// All returns the preferences for every topic and channel.
func (p Preferences) All() []Preference {
	var all []Preference
	for _, t := range Topics() {
		for _, c := range Channels() {
			_, chosen := p[PreferenceKey{t, c}]
			all = append(all, Preference{PreferenceKey{t, c}, p.Allow(t, c), !chosen})
		}
	}
	return all
}

// Allow reports whether a topic may use a channel.
func (p Preferences) Allow(t Topic, c Channel) bool {
	if t.Fixed() || t.Mandatory(c) {
		return true
	}
	if on, chosen := p[PreferenceKey{t, c}]; chosen {
		return on
	}
	return t.Default(c)
}

// AnyOn reports whether the member has turned on any topic for a channel.
func (p Preferences) AnyOn(c Channel) bool {
	for choice, on := range p {
		if on && choice.Channel == c {
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
		return !slices.ContainsFunc(t.Channels(lane), func(c Channel) bool { return p.Allow(t, c) })
	})
	if len(wanted) == 0 {
		return all[:1]
	}
	return wanted
}
