// Package worker sends due messages through providers and records the results.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Sender sends a message through a provider. Its errors are *notify.SendError; after any other error the message counts
// as possibly sent. It gives up within a minute.
type Sender interface {
	Send(ctx context.Context, m delivery.Message) (delivery.Receipt, error)
}

// Config configures a Dispatcher.
type Config struct {
	Messages *messages.Service
	// Platform returns the senders of tenants without their own, by provider. It must include messages.LocalOutbox.
	// Callbacks name the tenant, so a sender may be for one tenant only.
	Platform map[string]func(in tenant.TenantID) Sender
	// Open opens a sender for a tenant's own account.
	Open func(ctx context.Context, in tenant.TenantID, provider string, s messages.Senders) (Sender, error)
	// Concurrency is how many messages of a batch are sent through one provider at the same time. Default 32.
	Concurrency int
	Log         *slog.Logger
	Metrics     prometheus.Registerer
	Now         func() time.Time
}

const (
	defaultConcurrency = 32
	// maxBatches is how many batches of messages are in progress at the same time, those of all tenants together.
	maxBatches = 64
	// maxTenantBatches is how many of them may be one tenant's.
	maxTenantBatches = 4
	// saveInterval is how often results are saved while others of their batch are still in progress.
	saveInterval = time.Second
	// sendTimeout limits the sending of one message, whatever its sender does.
	sendTimeout = 30 * time.Second
	// startTimeout is after how long a message that was not started is left for later. It is well before
	// the time after which its attempt counts as lost.
	startTimeout = time.Minute
	// retryDelay is how long a tenant waits after its notices could not be read or written.
	retryDelay = 5 * time.Second
)

// Dispatcher sends messages. All nodes may run one: each notice is taken by one of them.
type Dispatcher struct {
	config  Config
	metrics *metrics
	batches chan struct{} // holds a value for each batch in progress

	mu       sync.Mutex
	active   map[tenant.TenantID]chan struct{} // holds a value if the tenant was woken since
	accounts map[account]*accountSender
}

// account identifies an account at a provider: a tenant's own or the platform's.
type account struct {
	tenant   tenant.TenantID // zero: the platform's
	provider string
}

// accountSender is the sender of an account with its circuit breaker.
type accountSender struct {
	sender  Sender
	version int
	breaker *delivery.Breaker
}

// New returns a Dispatcher.
func New(c Config) (*Dispatcher, error) {
	if c.Concurrency == 0 {
		c.Concurrency = defaultConcurrency
	}
	m, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	dispatcher := &Dispatcher{
		config: c, metrics: m, batches: make(chan struct{}, maxBatches),
		active: make(map[tenant.TenantID]chan struct{}), accounts: make(map[account]*accountSender),
	}
	for provider := range c.Platform {
		dispatcher.accounts[account{provider: provider}] = &accountSender{breaker: newBreaker()}
	}
	return dispatcher, nil
}

// newBreaker returns a breaker that opens after five failures, for pauses of growing length.
func newBreaker() *delivery.Breaker {
	return &delivery.Breaker{FailureLimit: 5, Pause: 5 * time.Second, MaxPause: 2 * time.Minute}
}

// Run delivers what is due until ctx ends. It returns when nothing is in progress any more.
func (d *Dispatcher) Run(ctx context.Context) {
	var group sync.WaitGroup
	d.config.Messages.RunNotices(ctx, func(id tenant.TenantID) {
		d.mu.Lock()
		defer d.mu.Unlock()
		wakeup, running := d.active[id]
		if !running {
			wakeup = make(chan struct{}, 1)
			d.active[id] = wakeup
			group.Go(func() { d.serve(ctx, id, wakeup) })
		}
		select {
		case wakeup <- struct{}{}:
		default:
		}
	})
	group.Wait()
}

// serve delivers what is due for a tenant for as long as it is woken up.
func (d *Dispatcher) serve(ctx context.Context, id tenant.TenantID, wakeup chan struct{}) {
	failed := func(err error) {
		if ctx.Err() == nil {
			d.config.Log.ErrorContext(ctx, "delivering messages failed",
				slog.String("tenant_id", id.String()), slog.Any("error", err))
			d.config.Messages.SetNoticeAlarm(id, retryDelay)
		}
	}
	for {
		d.deliver(ctx, id, wakeup, failed)
		d.mu.Lock()
		if len(wakeup) == 0 || ctx.Err() != nil {
			delete(d.active, id)
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
	}
}

// deliver takes what is due for a tenant whenever it is woken up, batch by batch. A batch that waits for a slow
// provider does not hold up the next. Results are saved when their batch ends, or after a second, so that few are
// unknown if the node dies. The goroutine that takes notices also saves, because the two transactions would conflict.
// deliver returns when no batch is in progress and nothing has woken it up.
func (d *Dispatcher) deliver(ctx context.Context, id tenant.TenantID, wakeup <-chan struct{}, failed func(error)) {
	var results results
	save := func() {
		// Save even while the node stops: otherwise the messages would count as possibly sent.
		if err := d.config.Messages.SettleDeliveries(context.WithoutCancel(ctx), id, results.drain()); err != nil {
			failed(err)
		}
	}
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	running, ended := 0, make(chan struct{}, maxTenantBatches)
	for more := false; more || running > 0 || len(wakeup) > 0; {
		var start chan<- struct{}
		var stop <-chan struct{}
		if more {
			stop = ctx.Done()
			if running < maxTenantBatches && len(ended) == 0 {
				start = d.batches
			}
		}
		select {
		case <-stop:
			more = false
		case <-wakeup:
			more = ctx.Err() == nil
		case <-ended:
			running--
			save()
		case <-ticker.C:
			save()
		case start <- struct{}{}:
			taken, err := d.config.Messages.TakeNotices(ctx, id)
			d.metrics.taken(taken)
			d.logAlarms(ctx, id, taken.Alarms)
			if more = taken.More && err == nil; err != nil {
				failed(err)
			}
			if len(taken.Out) == 0 {
				<-d.batches
				continue
			}
			running++
			go func() {
				d.sendBatch(ctx, id, taken.Out, results.collect(taken.Out))
				<-d.batches
				ended <- struct{}{}
			}()
		}
	}
}

// logAlarms logs the sending quotas of a tenant of which a share was reached.
func (d *Dispatcher) logAlarms(ctx context.Context, id tenant.TenantID, alarms []notify.SendingAlarm) {
	for _, a := range alarms {
		d.config.Log.WarnContext(ctx, "sending quota reached", slog.String("tenant_id", id.String()),
			slog.String("channel", string(a.Channel)), slog.String("country", a.Country), slog.Int("percent", a.Percent),
			slog.Int("limit", a.Limit), slog.Int("used", a.Used))
	}
}

// results collects the results of messages until they are saved.
type results struct {
	mu       sync.Mutex
	attempts []messages.AttemptResult
}

// drain returns and removes the results.
func (r *results) drain() []messages.AttemptResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.attempts
	r.attempts = nil
	return all
}

// collect returns a function that adds a result of the batch. The results of a notice are added
// when the last one arrives, because they are saved together.
func (r *results) collect(out []messages.Outgoing) func(messages.AttemptResult) {
	left, waiting := make(map[tenant.NoticeID]int), make(map[tenant.NoticeID][]messages.AttemptResult)
	for _, o := range out {
		left[o.Notice.ID]++
	}
	return func(a messages.AttemptResult) {
		r.mu.Lock()
		defer r.mu.Unlock()
		id := a.Notice.ID
		waiting[id] = append(waiting[id], a)
		if left[id]--; left[id] == 0 {
			r.attempts = append(r.attempts, waiting[id]...)
			delete(waiting, id)
		}
	}
}
