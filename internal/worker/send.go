package worker

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// SendAll sends messages and returns their results.
func (d *Dispatcher) SendAll(
	ctx context.Context, in tenant.TenantID, out []messages.Outgoing,
) []messages.AttemptResult {
	var results results
	d.sendBatch(ctx, in, out, results.collect(out))
	return results.drain()
}

// sendBatch sends messages and reports each result. Messages of one provider do not wait for those of another.
// When ctx has ended, messages that were not started are left for later.
func (d *Dispatcher) sendBatch(
	ctx context.Context, in tenant.TenantID, out []messages.Outgoing, report func(messages.AttemptResult),
) {
	senders, err := d.senders(context.WithoutCancel(ctx), in, out)
	start := d.config.Now()
	queues := make(map[account][]messages.Outgoing)
	for _, o := range out {
		of := account{d.owner(in, o), o.Provider}
		queues[of] = append(queues[of], o)
	}
	var all sync.WaitGroup
	for of, queue := range queues {
		all.Go(func() {
			var group errgroup.Group
			group.SetLimit(d.config.Concurrency)
			for _, o := range queue {
				group.Go(func() error {
					attempt := messages.AttemptResult{Outgoing: o}
					if to := senders[of]; to != nil {
						attempt.Receipt, attempt.Err = d.send(ctx, to, o, start)
					} else {
						attempt.Err = &delivery.Error{
							Kind: delivery.Misconfigured, Reason: "the sender cannot be opened", Err: err,
						}
					}
					report(attempt)
					return nil
				})
			}
			_ = group.Wait() // errors are in the attempts
		})
	}
	all.Wait()
}

func (d *Dispatcher) owner(in tenant.TenantID, o messages.Outgoing) tenant.TenantID {
	if o.Own {
		return in
	}
	return tenant.TenantID{}
}

// send sends one message, unless its provider's breaker is open.
func (d *Dispatcher) send(
	ctx context.Context, to *accountSender, o messages.Outgoing, start time.Time,
) (delivery.Receipt, error) {
	now := d.config.Now()
	if now.Sub(start) > startTimeout || ctx.Err() != nil {
		return delivery.Receipt{}, &delivery.Error{
			Kind: delivery.Transient, Code: "NOT_BEGUN", Reason: "messages before it took too long", Err: ctx.Err(),
		}
	}
	permit, retryAt, ok := to.breaker.Allow(now)
	if !ok {
		return delivery.Receipt{}, &delivery.Error{
			Kind: delivery.Transient, Code: "BREAKER_OPEN", Reason: "the provider does not answer",
			RetryAfter: retryAt.Sub(now),
		}
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	receipt, err := to.sender.Send(limited, o.Message)
	ended := d.config.Now()
	to.breaker.Done(permit, ended, err)
	d.metrics.sent(o, ended.Sub(now), err)
	return receipt, err
}

// senders returns the senders for the messages. It opens a tenant's own accounts again if they have changed.
func (d *Dispatcher) senders(
	ctx context.Context, in tenant.TenantID, out []messages.Outgoing,
) (map[account]*accountSender, error) {
	own := make(map[string]bool)
	for _, o := range out {
		if o.Own {
			own[o.Provider] = true
		}
	}
	var settings messages.Senders
	var failed error
	if len(own) > 0 {
		if settings, failed = d.config.Messages.SendersOf(ctx, in); failed != nil {
			own = nil
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	found := make(map[account]*accountSender)
	for provider, sender := range d.config.Platform {
		key := account{provider: provider}
		found[key] = &accountSender{sender: sender(in), breaker: d.accounts[key].breaker}
	}
	for provider := range own {
		key := account{in, provider}
		current := d.accounts[key]
		if current == nil || current.version != settings.Version {
			sender, err := d.config.Open(ctx, in, provider, settings)
			if err != nil {
				failed = err
				continue
			}
			current = &accountSender{sender: sender, version: settings.Version, breaker: newBreaker()}
			d.accounts[key] = current
		}
		found[key] = current
	}
	return found, failed
}
