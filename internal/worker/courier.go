// Package worker does what falls due and can fail: it takes messages to their
// senders and writes what became of them.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/notify"
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
	// AtOnce is how many messages of one tenant are on their way at the same time. Default 32.
	AtOnce int
	// Tenants is how many tenants are served at the same time. Default 16.
	Tenants int
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Now     func() time.Time
}

const (
	defaultAtOnce  = 32
	defaultTenants = 16
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
	slots   chan struct{}

	mu       sync.Mutex
	busy     map[tenant.TenantID]bool // true: it was woken again meanwhile
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
	if c.Tenants == 0 {
		c.Tenants = defaultTenants
	}
	m, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	courier := &Courier{
		config: c, metrics: m, slots: make(chan struct{}, c.Tenants),
		busy: make(map[tenant.TenantID]bool), accounts: make(map[account]*carrier),
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
		if _, running := c.busy[id]; running {
			c.busy[id] = true
			return
		}
		c.busy[id] = false
		group.Go(func() { c.serve(ctx, id) })
	})
	group.Wait()
}

// serve delivers what is due for a tenant, and again for as long as it is woken meanwhile.
func (c *Courier) serve(ctx context.Context, id tenant.TenantID) {
	for {
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		err := c.Deliver(ctx, id)
		<-c.slots
		if err != nil && ctx.Err() == nil {
			c.config.Log.ErrorContext(ctx, "messages not delivered", slog.String("tenant_id", id.String()), slog.Any("error", err))
			c.config.App.WakeNoticesIn(id, failedPause)
		}
		c.mu.Lock()
		if again := c.busy[id]; !again || ctx.Err() != nil {
			delete(c.busy, id)
			c.mu.Unlock()
			return
		}
		c.busy[id] = false
		c.mu.Unlock()
	}
}

// Deliver sends what is due for a tenant now.
func (c *Courier) Deliver(ctx context.Context, id tenant.TenantID) error {
	for {
		taken, err := c.config.App.TakeNotices(ctx, id)
		c.metrics.take(taken)
		if len(taken.Out) > 0 {
			// What has been taken is sent and written down even while the node stops: otherwise it would count as possibly sent.
			if err := c.config.App.SettleDeliveries(context.WithoutCancel(ctx), id, c.Post(ctx, id, taken.Out)); err != nil {
				return err
			}
		}
		if err != nil || !taken.More || ctx.Err() != nil {
			return err
		}
	}
}

// Post sends messages and gives what became of each.
func (c *Courier) Post(ctx context.Context, in tenant.TenantID, out []app.Outgoing) []app.Attempted {
	carriers, err := c.carriers(ctx, in, out)
	attempts := make([]app.Attempted, len(out))
	begun := c.config.Now()
	var group errgroup.Group
	group.SetLimit(c.config.AtOnce)
	for i, o := range out {
		group.Go(func() error {
			attempts[i] = app.Attempted{Outgoing: o}
			carrier := carriers[account{c.owner(in, o), o.Provider}]
			if carrier == nil {
				attempts[i].Err = &notify.SendError{Kind: notify.Misconfigured, Reason: "the sender cannot be opened", Err: err}
			} else {
				attempts[i].Receipt, attempts[i].Err = c.send(ctx, carrier, o, begun)
			}
			return nil
		})
	}
	_ = group.Wait() // what fails stands in its attempt
	return attempts
}

func (c *Courier) owner(in tenant.TenantID, o app.Outgoing) tenant.TenantID {
	if o.Own {
		return in
	}
	return tenant.TenantID{}
}

// send sends one message, if its provider's breaker lets it.
func (c *Courier) send(ctx context.Context, to *carrier, o app.Outgoing, begun time.Time) (notify.Receipt, error) {
	now := c.config.Now()
	if now.Sub(begun) > startWithin || ctx.Err() != nil {
		return notify.Receipt{}, &notify.SendError{Kind: notify.Transient, Code: "NOT_BEGUN", Reason: "others took too long", Err: ctx.Err()}
	}
	permit, retryAt, ok := to.breaker.Allow(now)
	if !ok {
		return notify.Receipt{}, &notify.SendError{
			Kind: notify.Transient, Code: "BREAKER_OPEN", Reason: "the provider does not answer", RetryAfter: retryAt.Sub(now),
		}
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendWithin)
	defer cancel()
	receipt, err := to.sender.Send(limited, o.Message)
	ended := c.config.Now()
	to.breaker.Done(permit, ended, err)
	c.metrics.sent(o, ended.Sub(now), err)
	return receipt, err
}

// carriers gives those for the messages, opening a tenant's own accounts anew when they have changed.
func (c *Courier) carriers(ctx context.Context, in tenant.TenantID, out []app.Outgoing) (map[account]*carrier, error) {
	own := make(map[string]bool)
	for _, o := range out {
		if o.Own {
			own[o.Provider] = true
		}
	}
	var senders app.Senders
	var failed error
	if len(own) > 0 {
		if senders, failed = c.config.App.SendersOf(ctx, in); failed != nil {
			own = nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make(map[account]*carrier)
	for provider, sender := range c.config.Platform {
		key := account{provider: provider}
		found[key] = &carrier{sender: sender(in), breaker: c.accounts[key].breaker}
	}
	for provider := range own {
		key := account{in, provider}
		known := c.accounts[key]
		if known == nil || known.version != senders.Version {
			sender, err := c.config.Open(ctx, in, provider, senders)
			if err != nil {
				failed = err
				continue
			}
			known = &carrier{sender: sender, version: senders.Version, breaker: newBreaker()}
			c.accounts[key] = known
		}
		found[key] = known
	}
	return found, failed
}
