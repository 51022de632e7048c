package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/rules/notify"
)

// The configuration of a provider's circuit breaker.
const (
	failureLimit = 5
	breakerPause = 5 * time.Second
)

// provider is a provider of one channel. It fails at times.
type provider struct {
	breaker     notify.Breaker
	badFrom     time.Time
	badUntil    time.Time
	failureKind notify.FailureKind // while it fails
	breakerModel
}

// breakerModel computes independently how long a provider must not be called.
type breakerModel struct {
	failures int           // consecutive
	wait     time.Duration // the last wait
	until    time.Time     // zero: calls are allowed
	closedAt time.Time     // when the breaker closed again
	probe    time.Time     // when the probe was sent
}

// callTooEarly returns how much too early a provider is called.
func (p *breakerModel) callTooEarly(now time.Time) time.Duration {
	if p.until.IsZero() || now.Before(p.until) {
		return max(p.until.Sub(now), 0)
	}
	p.probe, p.until = now, now.Add(p.wait)
	return 0
}

// record takes in the result of a call that began at a time.
func (p *breakerModel) record(began, now time.Time, failure *notify.SendError) {
	bad := failure != nil && (failure.Kind == notify.Transient || failure.Kind == notify.Unknown)
	leave := func(wait time.Duration) {
		p.wait, p.until, p.probe = wait, now.Add(max(wait, failure.RetryAfter)), time.Time{}
	}
	switch closed := p.until.IsZero(); {
	case closed && began.Before(p.closedAt), !closed && !began.Equal(p.probe):
	case !bad:
		if p.failures = 0; !closed {
			p.until, p.closedAt = time.Time{}, now
		}
	case !closed:
		leave(min(2*p.wait, 2*time.Minute))
	default:
		if p.failures++; p.failures == failureLimit {
			leave(breakerPause)
		}
	}
}

// startFailing makes the provider fail for a while: it does not respond, is overloaded, or its account is
// misconfigured.
func (c *provider) startFailing(p *dispatcher) {
	c.badFrom = p.now
	length := p.randomDuration(time.Hour)
	if p.chance(0.1) {
		length = p.randomDuration(12 * time.Hour)
	}
	c.badUntil = p.now.Add(length)
	c.failureKind = []notify.FailureKind{
		notify.Transient, notify.Transient, notify.Unknown, notify.Misconfigured,
	}[p.rng.IntN(4)]
}

// sendAll sends the messages of one attempt. Responses come one by one, and the last one settles the attempt. A node
// that crashes settles nothing.
func (c *provider) sendAll(p *dispatcher, n *notice, attempt notify.Notice, lines []*delivery, died bool) {
	attempts := make([]notify.Attempt, len(lines))
	left := len(lines)
	for i, d := range lines {
		permit, retryAt, ok := c.breaker.Allow(p.now)
		if !ok && p.bug != ignoreBreaker {
			attempts[i].Err = &notify.SendError{Kind: notify.Transient, Code: "BREAKER_OPEN", RetryAfter: retryAt.Sub(p.now)}
			p.checker.attemptFailed(n, d, attempts[i].Err)
			if left--; left == 0 && !died {
				p.settleAttempt(n, attempt, lines, attempts)
			}
			continue
		}
		began := p.now
		if early := c.callTooEarly(began); early > 0 {
			p.mustSucceed(p.fail("an unresponsive provider is called %s too early", early))
		}
		receipt, failure, arrived := c.respond(p, n.to, d)
		wait := p.randomDuration(3 * time.Second)
		if failure != nil && failure.Kind == notify.Unknown {
			wait = 30 * time.Second
		}
		if arrived {
			p.checker.providerAccepted(n, d)
			c.scheduleReports(p, n, d)
		}
		p.schedule(p.now.Add(wait.Truncate(time.Millisecond)), func() {
			var err error
			if failure != nil {
				err = failure
				p.checker.attemptFailed(n, d, failure)
			}
			c.breaker.Done(permit, p.now, err)
			c.record(began, p.now, failure)
			attempts[i] = notify.Attempt{Receipt: receipt, Err: failure}
			if left--; left == 0 && !died {
				p.settleAttempt(n, attempt, lines, attempts)
			}
		})
	}
	if died {
		p.checker.resultLost(n, lines[0].channel)
		if p.bug == loseAttempt {
			n.done = true
		}
	}
}

// respond returns the provider's response, and whether it accepted the message.
func (c *provider) respond(p *dispatcher, to *recipient, d *delivery) (notify.Receipt, *notify.SendError, bool) {
	failed := func(kind notify.FailureKind, after time.Duration) (notify.Receipt, *notify.SendError, bool) {
		return notify.Receipt{}, &notify.SendError{Kind: kind, RetryAfter: after}, false
	}
	dead := d.channel == notify.SMS && to.deadPhone || d.channel == notify.Email && to.deadEmail
	switch {
	case p.now.Before(c.badUntil) && c.failureKind == notify.Unknown, p.chance(0.004):
		_, failure, _ := failed(notify.Unknown, 0)
		return notify.Receipt{}, failure, !dead && p.chance(0.5)
	case p.now.Before(c.badUntil):
		return failed(c.failureKind, p.randomDuration(time.Minute))
	case dead && d.channel == notify.SMS:
		return failed(notify.Permanent, 0)
	case dead, d.channel == notify.Push && p.chance(0.01):
		return failed(notify.Unregistered, 0)
	case p.chance(0.01):
		return failed(notify.Transient, p.randomDuration(time.Second))
	case d.channel == notify.SMS && p.chance(0.005):
		return failed(notify.OptedOut, 0)
	}
	return notify.Receipt{ProviderID: d.id.String(), Status: notify.Queued}, nil, true
}

// scheduleReports schedules the status reports of an accepted message. They come in any order, some of them twice, and
// some before the attempt is settled.
func (c *provider) scheduleReports(p *dispatcher, n *notice, d *delivery) {
	if d.channel == notify.Push {
		return
	}
	soon := time.Minute
	if p.chance(0.1) {
		soon = 500 * time.Millisecond
	}
	report := func(status notify.DeliveryStatus, failure *notify.SendError) {
		for range 1 + p.rng.IntN(2) {
			p.whenRunning(
				p.now.Add(p.randomDuration(soon).Truncate(time.Millisecond)), func() { p.applyReport(n, d, status, failure) },
			)
		}
	}
	report(notify.Sent, nil)
	if p.chance(0.03) {
		lost, failure := notify.Undelivered, (*notify.SendError)(nil)
		if d.channel == notify.Email {
			lost, failure = notify.Bounced, &notify.SendError{Kind: notify.Unregistered}
		}
		report(lost, failure)
		p.checker.checkFinalStatus(n, d, lost)
		return
	}
	report(notify.Delivered, nil)
	p.checker.checkFinalStatus(n, d, notify.Delivered)
	if d.channel == notify.SMS && p.chance(n.to.replyRate) {
		said := replies[p.rng.IntN(len(replies))]
		p.scheduleIn(p.randomDuration(time.Hour), func() { p.applyReply(n.to, said) })
	}
}
