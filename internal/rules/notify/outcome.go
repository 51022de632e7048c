package notify

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Attempt is the result of sending one message of a notice: a receipt, or an error.
type Attempt struct {
	Receipt delivery.Receipt
	Err     *delivery.Error // nil: sent
}

// Outcome says what happens to a notice after an attempt.
type Outcome struct {
	Done bool
	// ChannelFailed: do not try the channel again.
	ChannelFailed bool
	// Unknown: it is unknown whether the message was sent. A report of the provider may tell. Without one the message is
	// sent again, and the delivery log shows the earlier attempt as POSSIBLY_SENT.
	Unknown bool
	// NextAt is when to continue with the notice, if it is not done.
	NextAt time.Time
	Reason Reason
}

// NotSent reports whether the message certainly reached no device. It then does not count toward the frequency cap.
func (o Outcome) NotSent() bool { return !o.Done && !o.Unknown }

const (
	// reportTimeout is how long to wait for a report if the provider's answer was lost.
	reportTimeout = time.Minute
	// misconfiguredRetry is the pause after an error that an operator must fix in the sender's account or settings.
	misconfiguredRetry = 10 * time.Minute
	// maxUnknownResults limits the attempts with an unknown result: each of them may have arrived.
	maxUnknownResults = 3
)

// retryPolicy limits the attempts while a provider cannot take messages. By chance attempts can follow each other
// closely, and attempts that the breaker blocks count too. So on the last channel the limit is high enough to survive
// an outage of an hour, or of half a minute for an offer, because the next person waits for it to end.
type retryPolicy struct {
	delivery.Backoff
	attempts     int // if the recipient has another channel
	lastAttempts int // on the last channel
}

// retryPolicies are the policies for offers, which are urgent (true), and for all other topics (false).
var retryPolicies = map[bool]retryPolicy{
	false: {delivery.Backoff{Base: 20 * time.Second, Max: 10 * time.Minute}, 6, 24},
	true:  {delivery.Backoff{Base: 3 * time.Second, Max: 20 * time.Second}, 2, 6},
}

// AfterAttempt decides what happens to a notice after an attempt over a channel, to one or several devices. The notice
// already counts the attempt. Random is in [0, 1).
func AfterAttempt(n Notice, c delivery.Channel, attempts []Attempt, now time.Time, random float64) Outcome {
	failures := map[delivery.FailureKind]*delivery.Error{}
	for _, a := range attempts {
		if a.Err == nil {
			return Outcome{Done: true}
		}
		failures[a.Err.Kind] = a.Err
	}
	last := n.LastChannel || !slices.ContainsFunc(n.Topic.Channels(n.Lane), func(other delivery.Channel) bool {
		return other != c && !slices.Contains(n.FailedChannels, other)
	})
	if failures[delivery.Unknown] != nil {
		return Outcome{Unknown: true, NextAt: now.Add(reportTimeout), Reason: PossiblySent}
	}
	policy := retryPolicies[n.Topic.IsOffer()]
	limit := policy.attempts
	if last {
		limit = policy.lastAttempts
	}
	if failed := failures[delivery.Transient]; failed != nil && n.Attempts < limit {
		if at, ok := policy.Next(now, n.Attempts, random, failed.RetryAfter, n.ExpiresAt); ok {
			return Outcome{NextAt: at, Reason: ProviderUnavailable}
		}
	}
	if failures[delivery.Misconfigured] != nil && last && now.Add(misconfiguredRetry).Before(n.ExpiresAt) {
		return Outcome{NextAt: now.Add(misconfiguredRetry), Reason: Misconfigured}
	}
	return Outcome{ChannelFailed: true, NextAt: now, Reason: WhyFailed(failures)}
}

// WhyFailed returns the reason of the most informative failure.
func WhyFailed(failures map[delivery.FailureKind]*delivery.Error) Reason {
	for _, k := range []struct {
		kind   delivery.FailureKind
		reason Reason
	}{
		{delivery.Permanent, ProviderRefused},
		{delivery.OptedOut, OptedOut},
		{delivery.Unregistered, Unregistered},
		{delivery.Misconfigured, Misconfigured},
		{delivery.Transient, ProviderUnavailable},
		{delivery.Unknown, PossiblySent},
	} {
		if failures[k.kind] != nil {
			return k.reason
		}
	}
	return ""
}

// StopReason returns why an address or device must not be used again after a failure, or "".
func StopReason(failure *delivery.Error) Reason {
	switch {
	case failure == nil:
		return ""
	case failure.Kind == delivery.OptedOut:
		return OptedOut
	case failure.Kind == delivery.Unregistered:
		return Bounced
	}
	return ""
}
