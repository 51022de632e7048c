package notify

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// NoticeState is the stored state of a notice between two steps.
type NoticeState struct {
	ID tenant.NoticeID
	// Attempt and Channels identify the attempt that led to this state: the number of the attempt, and how many
	// channels had failed before. If the stored notice is no longer at that attempt, for example because of a report,
	// this state is outdated and must not be stored. Attempt 0: not after an attempt.
	Attempt  int
	Channels int
	DueAt    time.Time // of the next step
	Sending  bool      // an attempt has begun, and its result is not stored
	Tried    []Channel
	Attempts int
	Unsure   int
	Done     bool
}

// lease is after how long an attempt without a stored result counts as lost. Senders time out well before.
const lease = 2 * time.Minute

// Started returns the state during an attempt, which the notice already counts.
func (n Notice) Started(now time.Time) NoticeState {
	s := n.Waiting(now.Add(lease))
	s.Sending = true
	return s
}

// Waiting returns the state of a notice that continues later.
func (n Notice) Waiting(until time.Time) NoticeState {
	return NoticeState{ID: n.ID, DueAt: until, Tried: n.FailedChannels, Attempts: n.Attempts, Unsure: n.UnknownResults}
}

// Closed returns the final state of a notice.
func (n Notice) Closed(now time.Time) NoticeState {
	s := n.Waiting(now)
	s.Done = true
	return s
}

// AfterAttempt returns the state after an attempt over a channel.
func (n Notice) AfterAttempt(c Channel, end Outcome, now time.Time) NoticeState {
	s := n.Waiting(end.NextAt)
	if end.Done {
		s = n.Closed(now)
	}
	s.Attempt, s.Channels, s.Sending = n.Attempts, len(n.FailedChannels), end.Unknown
	if end.ChannelFailed {
		s.Tried, s.Attempts = append(slices.Clone(n.FailedChannels), c), 0
	}
	return s
}

// Resume returns a notice whose last attempt was lost, ready for another attempt. The notice is closed if the provider
// has reported since that it accepted the message. It is also closed, with a reason, if too many attempts have an
// unknown result.
func (n Notice) Resume(status DeliveryStatus) (resumed Notice, closed bool, reason Reason) {
	if status.Accepted() {
		return n, true, ""
	}
	if n.UnknownResults++; n.UnknownResults >= maxUnsure {
		return n, true, PossiblySentReason
	}
	return n, false, ""
}

// ReminderDue reports whether a reminder is due for the first time and its booking has not changed. This is also an
// event, even for members who get no reminders.
func (n Notice) ReminderDue(m Facts) bool {
	first := n.Attempts == 0 && n.DueAt.Equal(n.StartsAt.Add(-n.Details.Lead))
	return n.Topic == Reminder && first && m.Booked && !m.SessionGone && m.StartsAt.Equal(n.StartsAt)
}

// OmitFromLog reports whether a dropped notice is left out of the log: an alert to a member without a device, if a mail
// is sent as well.
func (n Notice) OmitFromLog(why Reason) bool {
	return why == Unreachable && n.Lane == Alert && len(n.Topic.Lanes()) > 1
}

// ExpiryWarning returns the notice that warns that an offer ends soon, for an offer that is sent now. It returns false
// if there is none.
func (n Notice) ExpiryWarning(now, ends time.Time) (Notice, bool) {
	at, ok := expiringAt(now, ends)
	if n.Topic != Offered || !ok {
		return Notice{}, false
	}
	n.ID, n.Topic, n.Lane, n.DueAt, n.ExpiresAt = tenant.NoticeID{}, OfferExpiring, Alert, at, ends
	n.FailedChannels, n.Attempts, n.UnknownResults = nil, 0, 0
	return n, true
}

// expiringAt returns when to warn that an offer ends soon: at the start of the last quarter of its window. It returns
// false if the window is too short for a second message.
func expiringAt(sent, expires time.Time) (time.Time, bool) {
	window := expires.Sub(sent)
	if window < 10*time.Minute {
		return time.Time{}, false
	}
	return expires.Add(-window / 4), true
}

// StopReason returns why an address or device must not be used again after a failure, or "".
func (e *SendError) StopReason() Reason {
	switch {
	case e == nil:
		return ""
	case e.Kind == OptedOut:
		return OptedOutReason
	case e.Kind == Unregistered:
		return BouncedReason
	}
	return ""
}

// OfProvider reports whether the provider or its account was at fault, and the message certainly was not sent.
func (e *SendError) OfProvider() bool {
	return e != nil && (e.Kind == Transient || e.Kind == Misconfigured)
}

// NotDelivered reports whether the message did not arrive.
func (s DeliveryStatus) NotDelivered() bool { return s == Failed || s == Undelivered || s == Bounced }
