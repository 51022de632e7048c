package notify

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// NoticeState is the stored state of a notice between two steps.
type NoticeState struct {
	ID tenant.NoticeID
	// AfterAttempt and AfterChannels identify the attempt that led to this state: its number, and how many channels had
	// failed before. If the stored notice is no longer at that attempt, for example because of a report, this state is
	// outdated and must not be stored. AfterAttempt 0: not after an attempt.
	AfterAttempt   int
	AfterChannels  int
	DueAt          time.Time // of the next step
	Sending        bool      // an attempt has begun, and its result is not stored
	FailedChannels []delivery.Channel
	Attempts       int
	UnknownResults int
	Done           bool
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
	return NoticeState{
		ID: n.ID, DueAt: until, FailedChannels: n.FailedChannels, Attempts: n.Attempts, UnknownResults: n.UnknownResults,
	}
}

// Closed returns the final state of a notice.
func (n Notice) Closed(now time.Time) NoticeState {
	s := n.Waiting(now)
	s.Done = true
	return s
}

// AfterAttempt returns the state after an attempt over a channel.
func (n Notice) AfterAttempt(c delivery.Channel, end Outcome, now time.Time) NoticeState {
	s := n.Waiting(end.NextAt)
	if end.Done {
		s = n.Closed(now)
	}
	s.AfterAttempt, s.AfterChannels, s.Sending = n.Attempts, len(n.FailedChannels), end.Unknown
	if end.ChannelFailed {
		s.FailedChannels, s.Attempts = append(slices.Clone(n.FailedChannels), c), 0
	}
	return s
}

// Resume returns a notice whose last attempt was lost, ready for another attempt. The notice is closed if the provider
// has reported since that it accepted the message. It is also closed, with a reason, if too many attempts have an
// unknown result.
func (n Notice) Resume(status delivery.Status) (resumed Notice, closed bool, reason Reason) {
	if status.Accepted() {
		return n, true, ""
	}
	if n.UnknownResults++; n.UnknownResults >= maxUnknownResults {
		return n, true, PossiblySent
	}
	return n, false, ""
}
