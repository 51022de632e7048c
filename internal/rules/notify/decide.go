package notify

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// Reason is why a message was not sent, or not yet. The values are those of the contract.
type Reason string

// The reasons.
const (
	OptedOut            Reason = "OPTED_OUT"
	Unsubscribed        Reason = "UNSUBSCRIBED"
	Bounced             Reason = "BOUNCED"
	Unreachable         Reason = "UNREACHABLE"
	QuietHoursReason    Reason = "QUIET_HOURS"
	FrequencyCap        Reason = "FREQUENCY_CAP"
	SendingQuotaReason  Reason = "SENDING_QUOTA"
	NotBooked           Reason = "NOT_BOOKED"
	OfferClosed         Reason = "OFFER_CLOSED"
	Moved               Reason = "MOVED"
	TooLate             Reason = "TOO_LATE"
	Superseded          Reason = "SUPERSEDED"
	ProviderUnavailable Reason = "PROVIDER_UNAVAILABLE"
	ProviderRefused     Reason = "PROVIDER_REFUSED"
	Unregistered        Reason = "UNREGISTERED"
	Misconfigured       Reason = "MISCONFIGURED"
	PossiblySent        Reason = "POSSIBLY_SENT"
	BadTemplate         Reason = "TEMPLATE"
)

// Recipient is the current state of the recipient of a notice.
type Recipient struct {
	Member      tenant.MemberID
	Known       bool // an active member, or the guest of a booking
	Name        string
	Phone       string
	Email       string
	Locale      string
	Zone        *time.Location
	Quiet       *QuietHours // the member's own; nil: those of the settings
	Preferences Preferences
	Stopped     map[delivery.Channel]Reason // for the current number and address
	Devices     []Device
	// Sent has the times of the messages of the last day, sorted. A message to several devices counts once.
	Sent map[delivery.Channel][]time.Time
	// Full has the channels whose sending quota is used up for this recipient, and when there is room again.
	Full map[delivery.Channel]time.Time
	// NoCodes has the channels whose sending quota is used up several times over, so that they send no codes.
	NoCodes map[delivery.Channel]bool
}

// Device is a device with push notifications.
type Device struct {
	ID    tenant.DeviceID
	Token string
}

// Facts is the current state of what a notice is about.
type Facts struct {
	Booked      bool // the booking is confirmed
	Attended    bool // the party has checked in
	Cancelled   bool // the booking is cancelled
	Waiting     bool // the entry is waiting, or has an offer
	SessionGone bool // the session is cancelled or deleted
	StartsAt    time.Time
	Offer       *Offer
	Balance     int  // credits of the subscription
	CodeOpen    bool // the code of the notice can still be used
}

// Offer is an offer of the waitlist to the recipient.
type Offer struct {
	Live        bool
	ExpiresAt   time.Time // zero: its window has not begun, because it was not sent yet
	EvenInQuiet bool      // the waitlist rules ignore quiet hours
	NoSMS       bool      // the waitlist rules reserve SMS for entries of a higher priority
}

// ActionKind is what to do with a notice.
type ActionKind string

// The actions.
const (
	Send  ActionKind = "SEND"
	Defer ActionKind = "DEFER"
	Drop  ActionKind = "DROP"
	Close ActionKind = "CLOSE" // the recipient has it
)

// Action is what to do with a notice, and why.
type Action struct {
	Kind    ActionKind
	Channel delivery.Channel // for Send; also the channel whose sending quota is used up
	Until   time.Time        // for Defer: when to judge again
	Reason  Reason           // why it is not sent, or not yet
}

// Decide applies the guardrails to a notice that is due: freshness, consent, quiet hours, the frequency cap and the
// sending quota. Call it right before sending, with the current state.
func Decide(n Notice, s Settings, r Recipient, f Facts, now time.Time) Action {
	if !n.Topic.IsOffer() {
		f.Offer = nil // only messages about the offer itself have its privileges, not those about the booking
	}
	if why := staleReason(n, s, r, f, now); why != "" {
		return Action{Kind: Drop, Reason: why}
	}
	usable, why := usableChannels(n, r, f)
	if len(usable) == 0 {
		return Action{Kind: Drop, Reason: why}
	}
	best := Action{Kind: Drop, Reason: TooLate}
	for _, c := range usable {
		if c == delivery.Email && best.Kind == Defer && best.Reason == QuietHoursReason {
			break // mail is sent at night instead of another channel only if the morning is too late
		}
		until, why := heldUntil(n.Topic, c, s, r, f, now)
		if why == "" {
			return Action{Kind: Send, Channel: c}
		}
		held := Action{Kind: Drop, Reason: why}
		if why == SendingQuotaReason {
			held.Channel = c
		}
		if until.Before(n.ExpiresAt) {
			held.Kind, held.Until = Defer, until
		}
		if best.Kind != Defer || held.Kind == Defer && until.Before(best.Until) {
			best = held
		}
	}
	return best
}

// usableChannels returns the channels of the notice's lane that the recipient allows and that reach them, or why there
// are none.
func usableChannels(n Notice, r Recipient, f Facts) ([]delivery.Channel, Reason) {
	why := Unsubscribed
	var usable []delivery.Channel
	for _, c := range n.Topic.Channels(n.Lane) {
		switch {
		case !r.Preferences.Allow(n.Topic, c):
		case c == delivery.SMS && f.Offer != nil && f.Offer.NoSMS:
		case !r.Reachable(c):
			if why == Unsubscribed {
				why = Unreachable
			}
		case r.Stopped[c] == Unsubscribed && (n.Topic.Fixed() || n.Topic.Mandatory(c)): // they asked, or must know
			usable = append(usable, c)
		case r.Stopped[c] != "":
			why = r.Stopped[c]
		case slices.Contains(n.FailedChannels, c):
			why = ProviderRefused
		default:
			usable = append(usable, c)
		}
	}
	return usable, why
}

// IsOnlyChannel reports whether a channel is the only usable one of the notice's lane.
func (n Notice) IsOnlyChannel(c delivery.Channel, r Recipient, f Facts) bool {
	usable, _ := usableChannels(n, r, f)
	return len(usable) == 1 && usable[0] == c
}

// OmitFromLog reports whether a dropped notice is left out of the log: an alert to a member without a device, if a mail
// is sent as well.
func (n Notice) OmitFromLog(why Reason) bool {
	return why == Unreachable && n.Lane == Alert && len(n.Topic.Lanes()) > 1
}

// Reachable reports whether the recipient has a mobile number, an address or a device.
func (r Recipient) Reachable(c delivery.Channel) bool {
	switch c {
	case delivery.SMS:
		return member.Mobile(r.Phone)
	case delivery.Push:
		return len(r.Devices) > 0
	default:
		return r.Email != ""
	}
}

// CheckReachable rejects a channel over which the recipient cannot get a message, or has stopped them:
// RECIPIENT_UNREACHABLE.
func (r Recipient) CheckReachable(c delivery.Channel) error {
	if !r.Reachable(c) || r.Stopped[c] != "" {
		return fault.New(fault.FailedPrecondition, fault.RecipientUnreachable,
			"You have no number, address or device for that channel, or have stopped it.").WithMetadata("channel", string(c))
	}
	return nil
}

// heldUntil returns until when a channel must not be used, and why. The reason is "" if it can be used now.
func heldUntil(t Topic, c delivery.Channel, s Settings, r Recipient, f Facts, now time.Time) (time.Time, Reason) {
	loud := c != delivery.Email && !t.Fixed() && !t.Mandatory(c) && (f.Offer == nil || !f.Offer.EvenInQuiet)
	if until, quiet := r.quietHours(s).Until(now, r.Zone); quiet && loud {
		return until, QuietHoursReason
	}
	if until, reached := r.capReached(c, s, now); reached && t.Counted() {
		return until, FrequencyCap
	}
	if until := r.Full[c]; !until.IsZero() && t.CanWait() {
		return until, SendingQuotaReason
	}
	if t == ContactCode && r.NoCodes[c] { // it was asked for while others were on their way
		return now.Add(sendingHours * time.Hour), SendingQuotaReason
	}
	return time.Time{}, ""
}

func (r Recipient) quietHours(s Settings) QuietHours {
	if r.Quiet != nil {
		return *r.Quiet
	}
	return s.QuietHours
}

// capReached reports whether the recipient has reached the cap of a channel, and until when.
func (r Recipient) capReached(c delivery.Channel, s Settings, now time.Time) (time.Time, bool) {
	limit, sent := s.PerDay[c], r.Sent[c]
	since := now.Add(-capWindow)
	at, _ := slices.BinarySearchFunc(sent, since, func(t, since time.Time) int {
		if t.After(since) {
			return 1
		}
		return -1
	})
	if sent = sent[at:]; len(sent) < limit {
		return time.Time{}, false
	}
	return sent[len(sent)-limit].Add(capWindow), true
}
