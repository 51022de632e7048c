package notify

import (
	"slices"
	"time"
)

// Attempt is what a sender gave for one message of a notice: a receipt, or an error.
type Attempt struct {
	Receipt Receipt
	Err     *SendError // nil: it was sent
}

// Conclusion is where a notice stands after an attempt.
type Conclusion struct {
	Done bool
	// Tried: nothing more is to be hoped for from the channel.
	Tried bool
	// Unsure: nobody knows whether it was sent. A report may still tell; without one it is sent once more, and said so.
	Unsure bool
	// LookAt is when to look at the notice again, where it is not done.
	LookAt time.Time
	Reason Reason
}

// Unsent reports whether surely nobody has the message, on no device: it does not count.
func (c Conclusion) Unsent() bool { return !c.Done && !c.Unsure }

const (
	// reportWithin is how long the report of a provider is waited for whose answer was lost.
	reportWithin = time.Minute
	// Whoever runs the account has to mend it.
	mendWithin = 10 * time.Minute
	// mostUnsure is how many attempts may have arrived without anybody knowing.
	mostUnsure = 3
)

// patience is how long it is tried while a provider cannot take messages. Attempts may follow each other closely by chance,
// and those that its breaker did not let through count as well: so where nothing else is left, there are enough to outlive an outage
// of an hour, or of half a minute where somebody waits for an offer to end.
type patience struct {
	Backoff
	attempts, onLast int // where another channel is left, and where none is
}

var patient = map[bool]patience{
	false: {Backoff{Base: 20 * time.Second, Most: 10 * time.Minute}, 6, 24},
	true:  {Backoff{Base: 3 * time.Second, Most: 20 * time.Second}, 2, 6}, // offers have no time
}

// Conclude says what follows from an attempt over a channel, to one device or several; the notice counts it already.
// Random is in [0, 1).
func Conclude(n Notice, c Channel, attempts []Attempt, now time.Time, random float64) Conclusion {
	worst := map[FailureKind]*SendError{}
	for _, a := range attempts {
		if a.Err == nil {
			return Conclusion{Done: true}
		}
		worst[a.Err.Kind] = a.Err
	}
	last := n.Last || !slices.ContainsFunc(n.Topic.Route(n.Lane), func(other Channel) bool {
		return other != c && !slices.Contains(n.Tried, other)
	})
	if worst[Unknown] != nil {
		return Conclusion{Unsure: true, LookAt: now.Add(reportWithin), Reason: MaybeSent}
	}
	patience := patient[n.Topic.OfOffer()]
	most := patience.attempts
	if last {
		most = patience.onLast
	}
	if failed := worst[Transient]; failed != nil && n.Attempts < most {
		if at, ok := patience.Next(now, n.Attempts, random, failed.RetryAfter, n.ExpiresAt); ok {
			return Conclusion{LookAt: at, Reason: ProviderUnavailable}
		}
	}
	if worst[Misconfigured] != nil && last && now.Add(mendWithin).Before(n.ExpiresAt) {
		return Conclusion{LookAt: now.Add(mendWithin), Reason: MisconfiguredSender}
	}
	return Conclusion{Tried: true, LookAt: now, Reason: WhyFailed(worst)}
}

// WhyFailed gives the reason of the failure that tells most.
func WhyFailed(failures map[FailureKind]*SendError) Reason {
	for _, k := range []struct {
		kind FailureKind
		why  Reason
	}{
		{Permanent, ProviderRefused}, {OptedOut, OptedOutReason}, {Unregistered, NotRegistered}, {Misconfigured, MisconfiguredSender},
		{Transient, ProviderUnavailable}, {Unknown, MaybeSent},
	} {
		if failures[k.kind] != nil {
			return k.why
		}
	}
	return ""
}
