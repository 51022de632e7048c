package notify

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Reason is why a message was not sent, or not yet. The words are the contract's.
type Reason string

// The reasons.
const (
	OptedOutReason      Reason = "OPTED_OUT"
	Unsubscribed        Reason = "UNSUBSCRIBED"
	BouncedReason       Reason = "BOUNCED"
	Unreachable         Reason = "UNREACHABLE"
	InQuietHours        Reason = "QUIET_HOURS"
	FrequencyCap        Reason = "FREQUENCY_CAP"
	NotBooked           Reason = "NOT_BOOKED"
	OfferClosed         Reason = "OFFER_CLOSED"
	Moved               Reason = "MOVED"
	TooLate             Reason = "TOO_LATE"
	Superseded          Reason = "SUPERSEDED"
	ProviderUnavailable Reason = "PROVIDER_UNAVAILABLE"
	ProviderRefused     Reason = "PROVIDER_REFUSED"
	NotRegistered       Reason = "UNREGISTERED"
	MisconfiguredSender Reason = "MISCONFIGURED"
	MaybeSent           Reason = "POSSIBLY_SENT"
	BadTemplate         Reason = "TEMPLATE"
)

// Recipient is who is to hear, as they are now.
type Recipient struct {
	Member  tenant.MemberID
	Known   bool // an active member, or the guest of a booking
	Name    string
	Phone   string
	Email   string
	Locale  string
	Zone    *time.Location
	Quiet   *QuietHours // the member's own; nil takes the settings'
	Chosen  Preferences
	Stopped map[Channel]Reason // for the present number and address
	Devices []Device
	// Sent are the times of what was sent over the last day, in order of time. Messages to several
	// devices count once.
	Sent map[Channel][]time.Time
}

// Device is where push reaches a recipient.
type Device struct {
	ID    tenant.DeviceID
	Token string
}

// Matter is what a notice is about, as it is now.
type Matter struct {
	Booked      bool // the booking is confirmed
	Attended    bool // the party is there already
	Cancelled   bool // the booking is cancelled
	Waits       bool // the entry waits, or has an offer
	SessionGone bool
	StartsAt    time.Time
	Offer       *Offer
	Balance     int // credits of the subscription
}

// Offer is a freed place kept for one recipient.
type Offer struct {
	Live        bool
	ExpiresAt   time.Time // zero: its window has not begun, because it was not sent
	EvenInQuiet bool      // rules say that it must not wait
	NoSMS       bool      // rules keep SMS for those of a higher priority
}

// Action is what becomes of a notice.
type Action string

// The actions.
const (
	Send  Action = "SEND"
	Defer Action = "DEFER"
	Drop  Action = "DROP"
)

// Verdict is what becomes of a notice, and why.
type Verdict struct {
	Action  Action
	Channel Channel   // to send over
	Until   time.Time // when to look again
	Reason  Reason    // why it is not sent, or not yet
}

// Judge passes a notice that is due through the four guardrails: freshness, consent, quiet hours and the frequency cap. It is
// asked right before sending, with the facts of that moment.
func Judge(n Notice, s Settings, r Recipient, m Matter, now time.Time) Verdict {
	if !n.Topic.OfOffer() {
		m.Offer = nil // a booking that came of one has no privileges
	}
	if why := stale(n, s, r, m, now); why != "" {
		return Verdict{Action: Drop, Reason: why}
	}
	usable, why := consented(n, r, m)
	if len(usable) == 0 {
		return Verdict{Action: Drop, Reason: why}
	}
	first := Verdict{Action: Drop, Reason: TooLate}
	for _, c := range usable {
		until, why := held(c, s, r, m, now)
		if why == "" {
			return Verdict{Action: Send, Channel: c}
		}
		if until.Before(n.ExpiresAt) {
			if first.Action != Defer || until.Before(first.Until) {
				first = Verdict{Action: Defer, Until: until, Reason: why}
			}
		} else if first.Action == Drop {
			first.Reason = why
		}
	}
	return first
}

// stale says why a notice is no longer worth sending, or nothing.
func stale(n Notice, s Settings, r Recipient, m Matter, now time.Time) Reason {
	if !r.Known {
		return Superseded
	}
	moved := !n.StartsAt.IsZero() && !m.StartsAt.Equal(n.StartsAt)
	switch n.Topic {
	case BookingConfirmed, Promoted, Rescheduled, Reminder, CheckInOpen:
		switch {
		case m.Attended:
			return Superseded
		case !m.Booked || m.SessionGone:
			return NotBooked
		case moved:
			return Moved
		}
	case Waitlisted:
		switch {
		case !m.Waits || m.SessionGone:
			return Superseded
		case moved:
			return Moved
		}
	case BookingCancelled:
		if !n.Booking.IsZero() && !m.Cancelled {
			return Superseded
		}
	case Offered, OfferExpiring:
		switch {
		case m.Offer == nil || !m.Offer.Live || m.SessionGone:
			return OfferClosed
		case !m.Offer.ExpiresAt.IsZero() && !now.Before(m.Offer.ExpiresAt):
			return OfferClosed
		case moved:
			return Moved
		}
	case CreditsLow:
		if m.Balance > s.CreditsLowAt {
			return Superseded
		}
	case SessionCancelled, StaffNote:
	}
	if !now.Before(n.ExpiresAt) {
		return TooLate
	}
	return ""
}

// consented gives the channels of the notice's lane that may be used and reach somebody, or why there is none.
func consented(n Notice, r Recipient, m Matter) ([]Channel, Reason) {
	why := Unsubscribed
	var usable []Channel
	for _, c := range n.Topic.Route(n.Lane) {
		switch {
		case !r.Chosen.Allow(n.Topic, c):
		case c == SMS && m.Offer != nil && m.Offer.NoSMS:
		case !r.Reachable(c):
			if why == Unsubscribed {
				why = Unreachable
			}
		case r.Stopped[c] != "":
			why = r.Stopped[c]
		case slices.Contains(n.Tried, c):
			why = ProviderRefused
		default:
			usable = append(usable, c)
		}
	}
	return usable, why
}

// Only reports whether a channel is the only one of the notice's lane by which the recipient may be told.
func (n Notice) Only(c Channel, r Recipient, m Matter) bool {
	usable, _ := consented(n, r, m)
	return len(usable) == 1 && usable[0] == c
}

// Reachable reports whether the recipient has a number, an address or a device.
func (r Recipient) Reachable(c Channel) bool {
	switch c {
	case SMS:
		return r.Phone != ""
	case Push:
		return len(r.Devices) > 0
	default:
		return r.Email != ""
	}
}

// held says until when a channel must keep still, and why.
func held(c Channel, s Settings, r Recipient, m Matter, now time.Time) (time.Time, Reason) {
	exempt := c == Email && s.EmailInQuiet || m.Offer != nil && m.Offer.EvenInQuiet
	if until, quiet := r.quiet(s).Until(now, r.Zone); quiet && !exempt {
		return until, InQuietHours
	}
	if until, full := r.full(c, s, now); full {
		return until, FrequencyCap
	}
	return time.Time{}, ""
}

func (r Recipient) quiet(s Settings) QuietHours {
	if r.Quiet != nil {
		return *r.Quiet
	}
	return s.Quiet
}

// full says when the channel has room again for the recipient, if it has none.
func (r Recipient) full(c Channel, s Settings, now time.Time) (time.Time, bool) {
	most, sent := s.PerDay[c], r.Sent[c]
	since := now.Add(-capSpan)
	at, _ := slices.BinarySearchFunc(sent, since, func(t, since time.Time) int {
		if t.After(since) {
			return 1
		}
		return -1
	})
	if sent = sent[at:]; len(sent) < most {
		return time.Time{}, false
	}
	return sent[len(sent)-most].Add(capSpan), true
}
