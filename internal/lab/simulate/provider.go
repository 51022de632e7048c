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
func (p *provider) startFailing(d *dispatcher) {
	p.badFrom = d.now
	length := d.randomDuration(time.Hour)
	if d.chance(0.1) {
		length = d.randomDuration(12 * time.Hour)
	}
	p.badUntil = d.now.Add(length)
	p.failureKind = []delivery.FailureKind{
		delivery.Transient, delivery.Transient, delivery.Unknown, delivery.Misconfigured,
	}[d.rng.IntN(4)]
}

// sendAll sends the messages of one attempt. Responses come one by one, and the last one settles the attempt. A node
// that crashes settles nothing.
func (p *provider) sendAll(d *dispatcher, n *notice, attempt notify.Notice, lines []*loggedDelivery, died bool) {
	attempts := make([]notify.Attempt, len(lines))
	left := len(lines)
	for i, line := range lines {
		permit, retryAt, ok := p.breaker.Allow(d.now)
		if !ok && d.bug != ignoreBreaker {
			attempts[i].Err = &delivery.Error{Kind: delivery.Transient, Code: "BREAKER_OPEN", RetryAfter: retryAt.Sub(d.now)}
			d.checker.attemptFailed(n, line, attempts[i].Err)
			if left--; left == 0 && !died {
				d.settleAttempt(n, attempt, lines, attempts)
			}
			continue
		}
		began := d.now
		if early := p.callTooEarly(began); early > 0 {
			d.mustSucceed(d.fail("an unresponsive provider is called %s too early", early))
		}
		receipt, failure, arrived := p.respond(d, n.to, line)
		wait := d.randomDuration(3 * time.Second)
		if failure != nil && failure.Kind == delivery.Unknown {
			wait = 30 * time.Second
		}
		if arrived {
			d.checker.providerAccepted(n, line)
			p.scheduleReports(d, n, line)
		}
		d.schedule(d.now.Add(wait.Truncate(time.Millisecond)), func() {
			var err error
			if failure != nil {
				err = failure
				d.checker.attemptFailed(n, line, failure)
			}
			p.breaker.Done(permit, d.now, err)
			p.record(began, d.now, failure)
			attempts[i] = notify.Attempt{Receipt: receipt, Err: failure}
			if left--; left == 0 && !died {
				d.settleAttempt(n, attempt, lines, attempts)
			}
		})
	}
	if died {
		d.checker.resultLost(n, lines[0].channel)
		if d.bug == loseAttempt {
			n.done = true
		}
	}
}

// respond returns the provider's response, and whether it accepted the message.
func (p *provider) respond(
	d *dispatcher, to *recipient, line *loggedDelivery,
) (delivery.Receipt, *delivery.Error, bool) {
	failed := func(kind delivery.FailureKind, after time.Duration) (delivery.Receipt, *delivery.Error, bool) {
		return delivery.Receipt{}, &delivery.Error{Kind: kind, RetryAfter: after}, false
	}
	dead := line.channel == delivery.SMS && to.deadPhone || line.channel == delivery.Email && to.deadEmail
	switch {
	case d.now.Before(p.badUntil) && p.failureKind == delivery.Unknown, d.chance(0.004):
		_, failure, _ := failed(delivery.Unknown, 0)
		return delivery.Receipt{}, failure, !dead && d.chance(0.5)
	case d.now.Before(p.badUntil):
		return failed(p.failureKind, d.randomDuration(time.Minute))
	case dead && line.channel == delivery.SMS:
		return failed(delivery.Permanent, 0)
	case dead, line.channel == delivery.Push && d.chance(0.01):
		return failed(delivery.Unregistered, 0)
	case d.chance(0.01):
		return failed(delivery.Transient, d.randomDuration(time.Second))
	case line.channel == delivery.SMS && d.chance(0.005):
		return failed(delivery.OptedOut, 0)
	}
	return delivery.Receipt{ProviderID: line.id.String(), Status: delivery.Queued}, nil, true
}

// scheduleReports schedules the status reports of an accepted message. They come in any order, some of them twice, and
// some before the attempt is settled.
func (p *provider) scheduleReports(d *dispatcher, n *notice, line *loggedDelivery) {
	if line.channel == delivery.Push {
		return
	}
	soon := time.Minute
	if d.chance(0.1) {
		soon = 500 * time.Millisecond
	}
	report := func(status delivery.Status, failure *delivery.Error) {
		for range 1 + d.rng.IntN(2) {
			d.whenRunning(
				d.now.Add(d.randomDuration(soon).Truncate(time.Millisecond)), func() { d.applyReport(n, line, status, failure) },
			)
		}
	}
	report(delivery.Sent, nil)
	if d.chance(0.03) {
		lost, failure := delivery.Undelivered, (*delivery.Error)(nil)
		if line.channel == delivery.Email {
			lost, failure = delivery.Bounced, &delivery.Error{Kind: delivery.Unregistered}
		}
		report(lost, failure)
		d.checker.checkFinalStatus(n, line, lost)
		return
	}
	report(delivery.Delivered, nil)
	d.checker.checkFinalStatus(n, line, delivery.Delivered)
	if line.channel == delivery.SMS && d.chance(n.to.replyRate) {
		said := replies[d.rng.IntN(len(replies))]
		d.scheduleIn(d.randomDuration(time.Hour), func() { d.applyReply(n.to, said) })
	}
}
