package notify

import (
	"slices"
	"time"

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
	WaitlistEnded    Topic = "WAITLIST_ENDED"

	// ContactCode and ContactChanged are about a contact of a member, and sent to that contact only.
	ContactCode    Topic = "CONTACT_CODE"
	ContactChanged Topic = "CONTACT_CHANGED"
	// DomainLapsed tells owners that the tenant's sending domain has lapsed.
	DomainLapsed Topic = "SENDING_DOMAIN"
	// QuotaReached tells owners that the tenant has sent so many messages that it sends no codes.
	QuotaReached Topic = "SENDING_QUOTA"
)

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

// topicRow says what is special about the messages of a topic, and how it is sent to members without preferences.
type topicRow struct {
	topic Topic
	// fixed: members have no choice about it, tenants do not word it, and quiet hours do not hold it back.
	fixed        bool
	aboutSession bool
	mailLane     bool // it has the Mail lane
	canWait      bool // messages wait while a sending quota is used up; people act on the others at once
	urgent       bool // messages wake a sleeping device
	calendar     CalendarChange
	channels     []delivery.Channel
	// outdated returns why a notice is no longer true, or "". nil: it stays true.
	outdated func(n Notice, s Settings, m Facts, now time.Time) Reason
}

// CalendarChange is what the mail of a notice about a booking does to the recipient's calendar.
type CalendarChange int

// The changes.
const (
	NoCalendarChange CalendarChange = iota
	PutCalendarEntry
	RemoveCalendarEntry
)

// topics has a row for each topic: first those about which members have a choice, in the order of the contract.
var topics = []topicRow{
	{
		topic: BookingConfirmed, aboutSession: true, mailLane: true, canWait: true, calendar: PutCalendarEntry,
		channels: []delivery.Channel{delivery.Push, delivery.Email}, outdated: bookingOutdated,
	},
	{
		topic: Waitlisted, aboutSession: true, mailLane: true, canWait: true,
		channels: []delivery.Channel{delivery.Email}, outdated: entryOutdated,
	},
	{
		topic: Promoted, aboutSession: true, mailLane: true, urgent: true, calendar: PutCalendarEntry,
		channels: []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}, outdated: bookingOutdated,
	},
	{
		topic: Offered, aboutSession: true, mailLane: true, urgent: true,
		channels: []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}, outdated: offerOutdated,
	},
	{
		topic: OfferExpiring, aboutSession: true, urgent: true,
		channels: []delivery.Channel{delivery.Push, delivery.SMS}, outdated: offerOutdated,
	},
	{
		topic: BookingCancelled, aboutSession: true, mailLane: true, calendar: RemoveCalendarEntry,
		channels: []delivery.Channel{delivery.Email}, outdated: cancellationOutdated,
	},
	{
		topic: SessionCancelled, aboutSession: true, mailLane: true, urgent: true, calendar: RemoveCalendarEntry,
		channels: []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email},
	},
	{
		topic: Rescheduled, aboutSession: true, mailLane: true, calendar: PutCalendarEntry,
		channels: []delivery.Channel{delivery.Push, delivery.Email}, outdated: bookingOutdated,
	},
	{
		topic: Reminder, aboutSession: true, canWait: true, urgent: true,
		channels: []delivery.Channel{delivery.Push, delivery.Email}, outdated: bookingOutdated,
	},
	{
		topic: CheckInOpen, aboutSession: true, canWait: true,
		channels: []delivery.Channel{delivery.Push}, outdated: bookingOutdated,
	},
	{
		topic: CreditsLow, mailLane: true, canWait: true,
		channels: []delivery.Channel{delivery.Email}, outdated: balanceOutdated,
	},
	{
		topic: StaffNote, aboutSession: true, mailLane: true, canWait: true,
		channels: []delivery.Channel{delivery.Push, delivery.Email},
	},
	{topic: AccessChanged, mailLane: true, channels: []delivery.Channel{delivery.Push, delivery.Email}},
	{
		topic: WaitlistEnded, aboutSession: true, mailLane: true, canWait: true,
		channels: []delivery.Channel{delivery.Push, delivery.Email},
	},
	{topic: ContactCode, fixed: true, outdated: codeOutdated},
	{topic: ContactChanged, fixed: true},
	{topic: DomainLapsed, fixed: true},
	{topic: QuotaReached, fixed: true},
}

func (t Topic) row() topicRow {
	at := slices.IndexFunc(topics, func(r topicRow) bool { return r.topic == t })
	if at < 0 {
		return topicRow{topic: t}
	}
	return topics[at]
}

// Topics returns all topics about which members have a choice, in the order of the contract.
func Topics() []Topic {
	var all []Topic
	for _, r := range topics {
		if !r.fixed {
			all = append(all, r.topic)
		}
	}
	return all
}

// Fixed reports whether members have no choice about the topic, tenants do not word it, and quiet hours do not hold it
// back.
func (t Topic) Fixed() bool { return t.row().fixed }

// AboutSession reports whether messages of the topic are about a session.
func (t Topic) AboutSession() bool { return t.row().aboutSession }

// Default reports whether a topic uses a channel by default.
func (t Topic) Default(c delivery.Channel) bool { return slices.Contains(t.row().channels, c) }

// Mandatory reports whether recipients cannot turn off a channel of the topic. Who takes over an owner's account could
// otherwise first turn off the messages that tell of it.
func (t Topic) Mandatory(c delivery.Channel) bool { return t == AccessChanged && c == delivery.Email }

// CanWait reports whether messages of the topic wait while a sending quota is used up. The others are always sent: they
// say that a seat is gone, moved, won or open, or have limits of their own.
func (t Topic) CanWait() bool { return t.row().canWait }

// Urgent reports whether messages of the topic wake a sleeping device.
func (t Topic) Urgent() bool { return t.row().urgent }

// Calendar returns what a mail about a booking does to the recipient's calendar.
func (t Topic) Calendar() CalendarChange { return t.row().calendar }

// Counted reports whether messages of the topic count toward the frequency cap. Codes have limits of their own.
func (t Topic) Counted() bool { return t != ContactCode }

// IsOffer reports whether the topic is about an open offer.
func (t Topic) IsOffer() bool { return t == Offered || t == OfferExpiring }

// Lanes returns the lanes of the topic.
func (t Topic) Lanes() []Lane {
	if t.row().mailLane {
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
	case t.row().mailLane:
		return []delivery.Channel{delivery.Push, delivery.SMS}
	}
	return []delivery.Channel{delivery.Push, delivery.SMS, delivery.Email}
}
