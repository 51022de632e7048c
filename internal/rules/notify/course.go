package notify

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Standing is where a notice stands between two looks at it.
type Standing struct {
	ID tenant.NoticeID
	// Attempt is the one that it follows, by its number, after so many Channels had failed; where something else has come of
	// that meanwhile, such as a report, it is past. 0: none.
	Attempt  int
	Channels int
	DueAt    time.Time // when it is looked at next
	Sending  bool      // an attempt was begun of which nobody has written what became of it
	Tried    []Channel
	Attempts int
	Unsure   int
	Done     bool
}

// lease is when an attempt whose outcome nobody has written counts as lost. Senders give up well before.
const lease = 2 * time.Minute

// Begun is where a notice stands while an attempt is under way that it counts already.
func (n Notice) Begun(now time.Time) Standing {
	s := n.Waiting(now.Add(lease))
	s.Sending = true
	return s
}

// Waiting is where a notice stands that is looked at later.
func (n Notice) Waiting(until time.Time) Standing {
	return Standing{ID: n.ID, DueAt: until, Tried: n.Tried, Attempts: n.Attempts, Unsure: n.Unsure}
}

// Closed is where a notice stands of which nothing more comes.
func (n Notice) Closed(now time.Time) Standing {
	s := n.Waiting(now)
	s.Done = true
	return s
}

// Concluded is where a notice stands after an attempt over a channel.
func (n Notice) Concluded(c Channel, end Conclusion, now time.Time) Standing {
	s := n.Waiting(end.LookAt)
	if end.Done {
		s = n.Closed(now)
	}
	s.Attempt, s.Channels, s.Sending = n.Attempts, len(n.Tried), end.Unsure
	if end.Tried {
		s.Tried, s.Attempts = append(slices.Clone(n.Tried), c), 0
	}
	return s
}

// Resumed gives a notice whose last attempt was lost, as it is judged again. It is over where the attempt has arrived after all, by what
// the provider has reported since; and, with a reason, where too many may have.
func (n Notice) Resumed(was DeliveryStatus) (again Notice, over bool, why Reason) {
	if was.Taken() {
		return n, true, ""
	}
	if n.Unsure++; n.Unsure >= mostUnsure {
		return n, true, MaybeSent
	}
	return n, false, ""
}

// Announces reports whether a reminder has just fallen due, and the booking is what it was. That is an event of its own, whoever wants a message
// about it.
func (n Notice) Announces(m Matter) bool {
	first := n.Attempts == 0 && n.DueAt.Equal(n.StartsAt.Add(-n.Details.Lead))
	return n.Topic == Reminder && first && m.Booked && !m.SessionGone && m.StartsAt.Equal(n.StartsAt)
}

// Silent reports whether dropping a notice is no line of the log worth: somebody without a device misses nothing
// where a mail goes out.
func (n Notice) Silent(why Reason) bool {
	return why == Unreachable && n.Lane == Alert && len(n.Topic.Lanes()) > 1
}

// Warning gives the notice that warns of an offer's end, for an offer that is told now; or false where none is to follow.
func (n Notice) Warning(now, ends time.Time) (Notice, bool) {
	at, ok := expiringAt(now, ends)
	if n.Topic != Offered || !ok {
		return Notice{}, false
	}
	n.ID, n.Topic, n.Lane, n.DueAt, n.ExpiresAt = tenant.NoticeID{}, OfferExpiring, Alert, at, ends
	n.Tried, n.Attempts, n.Unsure = nil, 0, 0
	return n, true
}

// expiringAt says when to warn that an offer is about to end: in the last quarter of its window, or
// false where the window is too short for a second message.
func expiringAt(told, expires time.Time) (time.Time, bool) {
	window := expires.Sub(told)
	if window < 10*time.Minute {
		return time.Time{}, false
	}
	return expires.Add(-window / 4), true
}

// Stopping says why an address or device is not to be used again after a failure, or nothing.
func (e *SendError) Stopping() Reason {
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

// Lost reports whether a status says that the message did not arrive.
func (s DeliveryStatus) Lost() bool { return s == Failed || s == Undelivered || s == Bounced }
