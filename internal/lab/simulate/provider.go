package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
)

// The configuration of a provider's circuit breaker.
const (
	failureLimit = 5
	breakerPause = 5 * time.Second
)

// provider is a provider of one channel. It fails at times.
type provider struct {
	breaker     delivery.Breaker
	badFrom     time.Time
	badUntil    time.Time
	failureKind delivery.FailureKind // while it fails
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
func (m *breakerModel) callTooEarly(now time.Time) time.Duration {
	if m.until.IsZero() || now.Before(m.until) {
		return max(m.until.Sub(now), 0)
	}
	m.probe, m.until = now, now.Add(m.wait)
	return 0
}

// record takes in the result of a call that began at a time.
func (m *breakerModel) record(began, now time.Time, failure *delivery.Error) {
	bad := failure != nil && (failure.Kind == delivery.Transient || failure.Kind == delivery.Unknown)
	leave := func(wait time.Duration) {
		m.wait, m.until, m.probe = wait, now.Add(max(wait, failure.RetryAfter)), time.Time{}
	}
	switch closed := m.until.IsZero(); {
	case closed && began.Before(m.closedAt), !closed && !began.Equal(m.probe):
	case !bad:
		if m.failures = 0; !closed {
			m.until, m.closedAt = time.Time{}, now
		}
	case !closed:
		leave(min(2*m.wait, 2*time.Minute))
	default:
		if m.failures++; m.failures == failureLimit {
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
	c.failureKind = []delivery.FailureKind{
		delivery.Transient, delivery.Transient, delivery.Unknown, delivery.Misconfigured,
	}[p.rng.IntN(4)]
}

// sendAll sends the messages of one attempt. Responses come one by one, and the last one settles the attempt. A node
// that crashes settles nothing.
func (c *provider) sendAll(p *dispatcher, n *notice, attempt notify.Notice, lines []*loggedDelivery, died bool) {
	attempts := make([]notify.Attempt, len(lines))
	left := len(lines)
	for i, d := range lines {
		permit, retryAt, ok := c.breaker.Allow(p.now)
		if !ok && p.bug != ignoreBreaker {
			attempts[i].Err = &delivery.Error{Kind: delivery.Transient, Code: "BREAKER_OPEN", RetryAfter: retryAt.Sub(p.now)}
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
		if failure != nil && failure.Kind == delivery.Unknown {
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
func (c *provider) respond(p *dispatcher, to *recipient, d *loggedDelivery) (delivery.Receipt, *delivery.Error, bool) {
	failed := func(kind delivery.FailureKind, after time.Duration) (delivery.Receipt, *delivery.Error, bool) {
		return delivery.Receipt{}, &delivery.Error{Kind: kind, RetryAfter: after}, false
	}
	dead := d.channel == delivery.SMS && to.deadPhone || d.channel == delivery.Email && to.deadEmail
	switch {
	case p.now.Before(c.badUntil) && c.failureKind == delivery.Unknown, p.chance(0.004):
		_, failure, _ := failed(delivery.Unknown, 0)
		return delivery.Receipt{}, failure, !dead && p.chance(0.5)
	case p.now.Before(c.badUntil):
		return failed(c.failureKind, p.randomDuration(time.Minute))
	case dead && d.channel == delivery.SMS:
		return failed(delivery.Permanent, 0)
	case dead, d.channel == delivery.Push && p.chance(0.01):
		return failed(delivery.Unregistered, 0)
	case p.chance(0.01):
		return failed(delivery.Transient, p.randomDuration(time.Second))
	case d.channel == delivery.SMS && p.chance(0.005):
		return failed(delivery.OptedOut, 0)
	}
	return delivery.Receipt{ProviderID: d.id.String(), Status: delivery.Queued}, nil, true
}

// scheduleReports schedules the status reports of an accepted message. They come in any order, some of them twice, and
// some before the attempt is settled.
func (c *provider) scheduleReports(p *dispatcher, n *notice, d *loggedDelivery) {
	if d.channel == delivery.Push {
		return
	}
	soon := time.Minute
	if p.chance(0.1) {
		soon = 500 * time.Millisecond
	}
	report := func(status delivery.Status, failure *delivery.Error) {
		for range 1 + p.rng.IntN(2) {
			p.whenRunning(
				p.now.Add(p.randomDuration(soon).Truncate(time.Millisecond)), func() { p.applyReport(n, d, status, failure) },
			)
		}
	}
	report(delivery.Sent, nil)
	if p.chance(0.03) {
		lost, failure := delivery.Undelivered, (*delivery.Error)(nil)
		if d.channel == delivery.Email {
			lost, failure = delivery.Bounced, &delivery.Error{Kind: delivery.Unregistered}
		}
		report(lost, failure)
		p.checker.checkFinalStatus(n, d, lost)
		return
	}
	report(delivery.Delivered, nil)
	p.checker.checkFinalStatus(n, d, delivery.Delivered)
	if d.channel == delivery.SMS && p.chance(n.to.replyRate) {
		said := replies[p.rng.IntN(len(replies))]
		p.scheduleIn(p.randomDuration(time.Hour), func() { p.applyReply(n.to, said) })
	}
}
