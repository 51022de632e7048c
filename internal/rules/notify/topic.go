package notify

import (
	"slices"

	"github.com/berthhq/berth/internal/rules/delivery"
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
	channels []delivery.Channel
}

// topicDefaults has all topics about which members have a choice, in the order of the contract.
var topicDefaults = []topicDefault{
	{BookingConfirmed, true, true, []delivery.Channel{delivery.Push, delivery.Email}},
	{Waitlisted, true, true, []delivery.Channel{delivery.Email}},
	{Promoted, true, false, []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}},
	{Offered, true, false, []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}},
	{OfferExpiring, false, false, []delivery.Channel{delivery.Push, delivery.SMS}},
	{BookingCancelled, true, false, []delivery.Channel{delivery.Email}},
	{SessionCancelled, true, false, []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}},
	{Rescheduled, true, false, []delivery.Channel{delivery.Push, delivery.Email}},
	{Reminder, false, true, []delivery.Channel{delivery.Push, delivery.Email}},
	{CheckInOpen, false, true, []delivery.Channel{delivery.Push}},
	{CreditsLow, true, true, []delivery.Channel{delivery.Email}},
	{StaffNote, true, true, []delivery.Channel{delivery.Push, delivery.Email}},
	{AccessChanged, true, false, []delivery.Channel{delivery.Push, delivery.Email}},
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

// Default reports whether a topic uses a channel by default.
func (t Topic) Default(c delivery.Channel) bool { return slices.Contains(t.defaults().channels, c) }

// Mandatory reports whether recipients cannot turn off a channel of the topic. Who takes over an owner's account could
// otherwise first turn off the messages that tell of it.
func (t Topic) Mandatory(c delivery.Channel) bool { return t == AccessChanged && c == delivery.Email }

// CanWait reports whether messages of the topic wait while a sending quota is used up. The others are always sent: they
// say that a place is gone, moved, won or open, or have limits of their own.
func (t Topic) CanWait() bool { return t.defaults().canWait }

// Counted reports whether messages of the topic count toward the frequency cap. Codes have limits of their own.
func (t Topic) Counted() bool { return t != ContactCode }

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
func (t Topic) Channels(lane Lane) []delivery.Channel {
	switch {
	case lane == Mail:
		return []delivery.Channel{delivery.Email}
	case t.Fixed():
		return []delivery.Channel{delivery.SMS}
	case t.defaults().mailLane:
		return []delivery.Channel{delivery.Push, delivery.SMS}
	}
	return []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}
}

// AboutSession reports whether messages of the topic are about a session.
func (t Topic) AboutSession() bool { return t != CreditsLow && t != AccessChanged && !t.Fixed() }
