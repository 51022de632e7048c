package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/rules/notify"
)

// What the breaker of a provider is given.
const (
	trip  = 5
	pause = 5 * time.Second
)

// carrier is a provider of one channel, with moods.
type carrier struct {
	breaker notify.Breaker
	badFrom time.Time
	badTill time.Time
	how     notify.FailureKind // while it is bad
	patience
}

// patience is a breaker told anew: until when a provider is to be left alone.
type patience struct {
	failures int           // in a row
	wait     time.Duration // the last
	until    time.Time     // zero: it answers
	since    time.Time     // it does so again
	probe    time.Time     // when it was asked whether it does
}

// asked says how much too early a provider is asked.
func (p *patience) asked(now time.Time) time.Duration {
	if p.until.IsZero() || now.Before(p.until) {
		return max(p.until.Sub(now), 0)
	}
	p.probe, p.until = now, now.Add(p.wait)
	return 0
}

// answered takes in what came of a message that began at a time.
func (p *patience) answered(began, now time.Time, failure *notify.SendError) {
	bad := failure != nil && (failure.Kind == notify.Transient || failure.Kind == notify.Unknown)
	leave := func(wait time.Duration) {
		p.wait, p.until, p.probe = wait, now.Add(max(wait, failure.RetryAfter)), time.Time{}
	}
	switch closed := p.until.IsZero(); {
	case closed && began.Before(p.since), !closed && !began.Equal(p.probe):
	case !bad:
		if p.failures = 0; !closed {
			p.until, p.since = time.Time{}, now
		}
	case !closed:
		leave(min(2*p.wait, 2*time.Minute))
	default:
		if p.failures++; p.failures == trip {
			leave(pause)
		}
	}
}

// fail lets the provider be bad for a while: it does not answer, is busy, or its account is.
func (c *carrier) fail(p *post) {
	c.badFrom = p.now
	length := p.upTo(time.Hour)
	if p.chance(0.1) {
		length = p.upTo(12 * time.Hour)
	}
	c.badTill = p.now.Add(length)
	c.how = []notify.FailureKind{notify.Transient, notify.Transient, notify.Unknown, notify.Misconfigured}[p.rng.IntN(4)]
}

// carry sends the messages of one attempt. The answers come one by one; the last one settles all. Whoever dies
// meanwhile settles nothing.
func (c *carrier) carry(p *post, n *notice, attempt notify.Notice, lines []*delivery, died bool) {
	attempts := make([]notify.Attempt, len(lines))
	left := len(lines)
	for i, d := range lines {
		permit, retryAt, ok := c.breaker.Allow(p.now)
		if !ok && p.flaw != storm {
			attempts[i].Err = &notify.SendError{Kind: notify.Transient, Code: "BREAKER_OPEN", RetryAfter: retryAt.Sub(p.now)}
			p.judged.refused(n, d, attempts[i].Err)
			if left--; left == 0 && !died {
				p.settle(n, attempt, lines, attempts)
			}
			continue
		}
		began := p.now
		if early := c.asked(began); early > 0 {
			p.must(p.wrong("a provider that does not answer is asked %s too early", early))
		}
		receipt, failure, arrived := c.answer(p, n.to, d)
		wait := p.upTo(3 * time.Second)
		if failure != nil && failure.Kind == notify.Unknown {
			wait = 30 * time.Second
		}
		if arrived {
			p.judged.handed(n, d)
			c.reports(p, n, d)
		}
		p.on(p.now.Add(wait.Truncate(time.Millisecond)), func() {
			var err error
			if failure != nil {
				err = failure
				p.judged.refused(n, d, failure)
			}
			c.breaker.Done(permit, p.now, err)
			c.answered(began, p.now, failure)
			attempts[i] = notify.Attempt{Receipt: receipt, Err: failure}
			if left--; left == 0 && !died {
				p.settle(n, attempt, lines, attempts)
			}
		})
	}
	if died {
		p.judged.lost(n, lines[0].channel)
		if p.flaw == loseAttempt {
			n.done = true
		}
	}
}

// answer is what the provider says of a message, and whether it has it.
func (c *carrier) answer(p *post, to *addressee, d *delivery) (notify.Receipt, *notify.SendError, bool) {
	failed := func(kind notify.FailureKind, after time.Duration) (notify.Receipt, *notify.SendError, bool) {
		return notify.Receipt{}, &notify.SendError{Kind: kind, RetryAfter: after}, false
	}
	dead := d.channel == notify.SMS && to.deadLine || d.channel == notify.Email && to.deadMail
	switch {
	case p.now.Before(c.badTill) && c.how == notify.Unknown, p.chance(0.004):
		_, failure, _ := failed(notify.Unknown, 0)
		return notify.Receipt{}, failure, !dead && p.chance(0.5)
	case p.now.Before(c.badTill):
		return failed(c.how, p.upTo(time.Minute))
	case dead && d.channel == notify.SMS:
		return failed(notify.Permanent, 0)
	case dead, d.channel == notify.Push && p.chance(0.01):
		return failed(notify.Unregistered, 0)
	case p.chance(0.01):
		return failed(notify.Transient, p.upTo(time.Second))
	case d.channel == notify.SMS && p.chance(0.005):
		return failed(notify.OptedOut, 0)
	}
	return notify.Receipt{ProviderID: d.id.String(), Status: notify.Queued}, nil, true
}

// reports are what the provider tells later about a message that it has: in any order, some of it twice, and some so
// soon that nobody has written yet that it was sent.
func (c *carrier) reports(p *post, n *notice, d *delivery) {
	if d.channel == notify.Push {
		return
	}
	soon := time.Minute
	if p.chance(0.1) {
		soon = 500 * time.Millisecond
	}
	tell := func(status notify.DeliveryStatus, failure *notify.SendError) {
		for range 1 + p.rng.IntN(2) {
			p.whenUp(p.now.Add(p.upTo(soon).Truncate(time.Millisecond)), func() { p.reported(n, d, status, failure) })
		}
	}
	tell(notify.Sent, nil)
	if p.chance(0.03) {
		lost, failure := notify.Undelivered, (*notify.SendError)(nil)
		if d.channel == notify.Email {
			lost, failure = notify.Bounced, &notify.SendError{Kind: notify.Unregistered}
		}
		tell(lost, failure)
		p.judged.ends(n, d, lost)
		return
	}
	tell(notify.Delivered, nil)
	p.judged.ends(n, d, notify.Delivered)
	if d.channel == notify.SMS && p.chance(n.to.answers) {
		said := replies[p.rng.IntN(len(replies))]
		p.later(p.upTo(time.Hour), func() { p.reply(n.to, said) })
	}
}
