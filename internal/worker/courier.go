// Package worker does what falls due and can fail: it takes messages to their
// senders and writes what became of them.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Sender hands a message to a provider. Its errors are *notify.SendError; whatever else it gives counts as
// possibly sent. It gives up within a minute.
type Sender interface {
	Send(ctx context.Context, m notify.Message) (notify.Receipt, error)
}

// Config is what a Courier needs.
type Config struct {
	App *app.App
	// Platform gives the senders for tenants without their own, by provider; that of app.LocalOutbox must be there. Callbacks
	// name the tenant, so a sender may be one tenant's alone.
	Platform map[string]func(in tenant.TenantID) Sender
	// Open makes a sender of a tenant's own account.
	Open func(ctx context.Context, in tenant.TenantID, provider string, s app.Senders) (Sender, error)
	// AtOnce is how many messages of one wave are with one provider at the same time. Default 32.
	AtOnce int
	// Waves is how many waves of messages are under way at the same time, those of all tenants together. Default 64.
	Waves   int
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Now     func() time.Time
}

const (
	defaultAtOnce = 32
	defaultWaves  = 64
	// wavesOfOne is how many of them may be one tenant's.
	wavesOfOne = 4
	// settleEvery is how often it is written down what became of messages, while others of their wave are still on their way.
	settleEvery = time.Second
	// sendWithin bounds one message, whatever its sender makes of it.
	sendWithin = 30 * time.Second
	// startWithin is when a message that has not been begun is left for later: well before its attempt counts as lost.
	startWithin = time.Minute
	// failedPause is how long a tenant waits whose notices could not be read or written.
	failedPause = 5 * time.Second
)

// Courier takes messages to their senders. All nodes may run one: each notice is taken by one of them.
type Courier struct {
	config  Config
	metrics *metrics
	waves   chan struct{}

	mu       sync.Mutex
	served   map[tenant.TenantID]chan struct{} // takes one word: it was woken again meanwhile
	accounts map[account]*carrier
}

// account names a provider's account: a tenant's own, or the platform's.
type account struct {
	tenant   tenant.TenantID // zero: the platform's
	provider string
}

// carrier is a sender with what is known of its provider.
type carrier struct {
	sender  Sender
	version int
	breaker *notify.Breaker
}

// New makes a Courier.
func New(c Config) (*Courier, error) {
	if c.AtOnce == 0 {
		c.AtOnce = defaultAtOnce
	}
	if c.Waves == 0 {
		c.Waves = defaultWaves
	}
	m, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	courier := &Courier{
		config: c, metrics: m, waves: make(chan struct{}, c.Waves),
		served: make(map[tenant.TenantID]chan struct{}), accounts: make(map[account]*carrier),
	}
	for provider := range c.Platform {
		courier.accounts[account{provider: provider}] = &carrier{breaker: newBreaker()}
	}
	return courier, nil
}

// newBreaker gives a provider five chances, and then pauses of growing length.
func newBreaker() *notify.Breaker {
	return &notify.Breaker{Trip: 5, Pause: 5 * time.Second, Most: 2 * time.Minute}
}

// Run delivers whatever is due, until ctx ends. It comes back when nothing is under way any more.
func (c *Courier) Run(ctx context.Context) {
	var group sync.WaitGroup
	c.config.App.RunNotices(ctx, func(id tenant.TenantID) {
		c.mu.Lock()
		defer c.mu.Unlock()
		woken, running := c.served[id]
		if !running {
			woken = make(chan struct{}, 1)
			c.served[id] = woken
			group.Go(func() { c.serve(ctx, id, woken) })
		}
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	group.Wait()
}

// serve delivers what is due for a tenant for as long as it is woken.
func (c *Courier) serve(ctx context.Context, id tenant.TenantID, woken chan struct{}) {
	failed := func(err error) {
		if ctx.Err() == nil {
			c.config.Log.ErrorContext(ctx, "messages not delivered", slog.String("tenant_id", id.String()), slog.Any("error", err))
			c.config.App.WakeNoticesIn(id, failedPause)
		}
	}
	for {
		c.deliver(ctx, id, woken, failed)
		c.mu.Lock()
		if len(woken) == 0 || ctx.Err() != nil {
			delete(c.served, id)
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
}

// Deliver sends what is due for a tenant now.
func (c *Courier) Deliver(ctx context.Context, id tenant.TenantID) error {
	due := make(chan struct{}, 1)
	due <- struct{}{}
	var all error
	c.deliver(ctx, id, due, func(err error) { all = errors.Join(all, err) })
	return all
}

// deliver takes what is due for a tenant whenever it is woken, wave by wave. A wave that a provider keeps waiting does not
// keep the next from leaving. What became of messages is written down when their wave has ended, or after a second, so that little is in doubt if
// the node dies; by whoever takes them, since the two would be in each other's way. It comes back when no wave is under way any more, and
// nobody has woken it.
func (c *Courier) deliver(ctx context.Context, id tenant.TenantID, woken <-chan struct{}, failed func(error)) {
	var through tray
	settle := func() {
		// Even while the node stops: otherwise it would count as possibly sent.
		if err := c.config.App.SettleDeliveries(context.WithoutCancel(ctx), id, through.empty()); err != nil {
			failed(err)
		}
	}
	ticker := time.NewTicker(settleEvery)
	defer ticker.Stop()
	underway, ended := 0, make(chan struct{}, wavesOfOne)
	for more := false; more || underway > 0 || len(woken) > 0; {
		var place chan<- struct{}
		var stop <-chan struct{}
		if more {
			stop = ctx.Done()
			if underway < wavesOfOne && len(ended) == 0 {
				place = c.waves
			}
		}
		select {
		case <-stop:
			more = false
		case <-woken:
			more = ctx.Err() == nil
		case <-ended:
			underway--
			settle()
		case <-ticker.C:
			settle()
		case place <- struct{}{}:
			taken, err := c.config.App.TakeNotices(ctx, id)
			c.metrics.take(taken)
			if more = taken.More && err == nil; err != nil {
				failed(err)
			}
			if len(taken.Out) == 0 {
				<-c.waves
				continue
			}
			underway++
			go func() {
				c.post(ctx, id, taken.Out, through.together(taken.Out))
				<-c.waves
				ended <- struct{}{}
			}()
		}
	}
}

// tray collects what became of messages.
type tray struct {
	mu       sync.Mutex
	attempts []app.Attempted
}

func (t *tray) empty() []app.Attempted {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.attempts
	t.attempts = nil
	return all
}

// together puts attempts of a wave into the tray, those of each notice once it has them all: they are settled as one.
func (t *tray) together(out []app.Outgoing) func(app.Attempted) {
	left, waiting := make(map[tenant.NoticeID]int), make(map[tenant.NoticeID][]app.Attempted)
	for _, o := range out {
		left[o.Notice.ID]++
	}
	return func(a app.Attempted) {
		t.mu.Lock()
		defer t.mu.Unlock()
		id := a.Notice.ID
		waiting[id] = append(waiting[id], a)
		if left[id]--; left[id] == 0 {
			t.attempts = append(t.attempts, waiting[id]...)
			delete(waiting, id)
		}
	}
}
