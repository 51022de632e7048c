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
)

// Lane is a way through which one notice goes by itself. A topic uses one or two of them.
type Lane string

// The lanes.
const (
	// Alert makes itself heard: push, and only where that reaches nothing SMS, and after that email, unless
	// the topic sends a mail in any case.
	Alert Lane = "ALERT"
	// Mail is email, whatever became of the alert: it carries the calendar file, and is kept.
	Mail Lane = "MAIL"
)

// use is how a topic is told where nobody has chosen otherwise.
type use struct {
	topic Topic
	mail  bool // email has a lane of its own
	on    []Channel
}

// uses are all topics, in the order of the contract.
var uses = []use{
	{BookingConfirmed, true, []Channel{Push, Email}},
	{Waitlisted, true, []Channel{Email}},
	{Promoted, true, []Channel{Push, SMS, Email}},
	{Offered, true, []Channel{Push, SMS, Email}},
	{OfferExpiring, false, []Channel{Push, SMS}},
	{BookingCancelled, true, []Channel{Email}},
	{SessionCancelled, true, []Channel{Push, SMS, Email}},
	{Rescheduled, true, []Channel{Push, Email}},
	{Reminder, false, []Channel{Push, Email}},
	{CheckInOpen, false, []Channel{Push}},
	{CreditsLow, true, []Channel{Email}},
	{StaffNote, true, []Channel{Push, Email}},
}

func (t Topic) use() use {
	at := slices.IndexFunc(uses, func(u use) bool { return u.topic == t })
	if at < 0 {
		return use{topic: t}
	}
	return uses[at]
}

// Topics are all of them, in the order of the contract.
func Topics() []Topic {
	topics := make([]Topic, len(uses))
	for i, u := range uses {
		topics[i] = u.topic
	}
	return topics
}

// Channels are all of them, in the order of the contract.
func Channels() []Channel { return []Channel{SMS, Push, Email} }

// Default reports whether a topic uses a channel where nobody has chosen otherwise.
func (t Topic) Default(c Channel) bool { return slices.Contains(t.use().on, c) }

// OfOffer reports whether the topic is about an offer while it may be answered.
func (t Topic) OfOffer() bool { return t == Offered || t == OfferExpiring }

// Lanes are those of the topic.
func (t Topic) Lanes() []Lane {
	if t.use().mail {
		return []Lane{Alert, Mail}
	}
	return []Lane{Alert}
}

// Route gives the channels of a lane, the one to be tried first at the front.
func (t Topic) Route(lane Lane) []Channel {
	switch {
	case lane == Mail:
		return []Channel{Email}
	case t.use().mail:
		return []Channel{Push, SMS}
	}
	return []Channel{Push, SMS, Email}
}

// Choice is one channel for one topic.
type Choice struct {
	Topic   Topic
	Channel Channel
}

// Preferences are a member's own choices. What is not in them is as the topic has it.
type Preferences map[Choice]bool

// Allow reports whether a channel may carry a topic.
func (p Preferences) Allow(t Topic, c Channel) bool {
	if on, chosen := p[Choice{t, c}]; chosen {
		return on
	}
	return t.Default(c)
}

// Wants reports whether any of the choices is for a channel.
func (p Preferences) Wants(c Channel) bool {
	for choice, on := range p {
		if on && choice.Channel == c {
			return true
		}
	}
	return false
}

// lanes gives those of a topic's lanes in which anything may be used. Where somebody wants to hear nothing at
// all, one of them is left, so that the log tells why they heard nothing.
func (p Preferences) lanes(t Topic) []Lane {
	all := t.Lanes()
	wanted := slices.DeleteFunc(slices.Clone(all), func(lane Lane) bool {
		return !slices.ContainsFunc(t.Route(lane), func(c Channel) bool { return p.Allow(t, c) })
	})
	if len(wanted) == 0 {
		return all[:1]
	}
	return wanted
}

// CheckChoices refuses choices of which two are about the same: INVALID_FIELD.
func CheckChoices(choices []Choice) error {
	seen := make(map[Choice]bool, len(choices))
	for _, c := range choices {
		if seen[c] {
			return fault.Invalid("preferences.preferences", "%s by %s is named twice.", c.Topic, c.Channel)
		}
		seen[c] = true
	}
	return nil
}
