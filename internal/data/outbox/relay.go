package outbox

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// RelayConfig configures a relay.
type RelayConfig struct {
	DB  *pg.DB
	Log *slog.Logger
	// Metrics receives the relay's metrics; nil keeps them private.
	Metrics prometheus.Registerer
	// RolesChanged, if set, is called when a watched tenant's roles may have changed, before its watchers get the events.
	RolesChanged func(tenant.TenantID)
	// Poll is how often a log without notices is read, in case a notice was lost. Default 5 s.
	Poll time.Duration
}

// Relay tells this node's readers about new events: immediately if this node committed them,
// and when the notice arrives if another one did. A lost notice only costs time.
type Relay struct {
	db           *pg.DB
	log          *slog.Logger
	metrics      *metrics
	rolesChanged func(tenant.TenantID)
	poll         time.Duration
	// maxLag is how long a watcher may stay behind before it is told to resume.
	maxLag  time.Duration
	maxTail int
	// name lets a node recognize its own notices.
	name string

	draining  chan struct{}
	drainOnce sync.Once
	// ctx ends when the relay is closed. Feeds end with it.
	ctx     context.Context //nolint:containedctx // it belongs to the relay, not to a request
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	feeds     map[tenant.TenantID]*feed
	consumers []*alarm.Clock
	changed   map[tenant.TenantID]struct{} // since the last notice
	notify    chan struct{}
}

// NewRelay returns a relay for commits of this node. Run adds those of other nodes. The caller closes it.
func NewRelay(c RelayConfig) (*Relay, error) {
	r := &Relay{
		db: c.DB, log: c.Log, rolesChanged: c.RolesChanged, poll: c.Poll,
		maxLag: 30 * time.Second, maxTail: maxTail, name: rand.Text(),
		draining: make(chan struct{}), feeds: make(map[tenant.TenantID]*feed),
		changed: make(map[tenant.TenantID]struct{}), notify: make(chan struct{}, 1),
	}
	if r.rolesChanged == nil {
		r.rolesChanged = func(tenant.TenantID) {}
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.poll == 0 {
		r.poll = 5 * time.Second
	}
	var err error
	if r.metrics, err = newMetrics(c.Metrics); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Close stops all reading. No watcher may be waiting.
func (r *Relay) Close() {
	r.Drain()
	r.cancel()
	r.running.Wait()
}

// Drain ends all watching, now and later, with SHUTTING_DOWN.
func (r *Relay) Drain() { r.drainOnce.Do(func() { close(r.draining) }) }

// NotifyCommit says that this node has committed changes of a tenant. It does not block.
func (r *Relay) NotifyCommit(id tenant.TenantID) {
	r.mu.Lock()
	r.changed[id] = struct{}{}
	r.mu.Unlock()
	select {
	case r.notify <- struct{}{}:
	default:
	}
	r.wake(id, consumeDelay)
}

// wake wakes this node's readers of a tenant, its consumers after a delay.
func (r *Relay) wake(id tenant.TenantID, wait time.Duration) {
	r.mu.Lock()
	f, consumers := r.feeds[id], r.consumers
	r.mu.Unlock()
	if f != nil {
		f.wake()
	}
	for _, c := range consumers {
		c.Set(id, time.Now().Add(wait))
	}
}

func (r *Relay) wakeAll() {
	r.mu.Lock()
	feeds, consumers := slices.Collect(maps.Values(r.feeds)), r.consumers
	r.mu.Unlock()
	for _, f := range feeds {
		f.wake()
	}
	for _, c := range consumers {
		c.Set(everyTenant, time.Time{})
	}
}

// Watch starts to watch a tenant's log, after a position or from now on.
// A position past the log's end is INVALID_FIELD.
func (r *Relay) Watch(ctx context.Context, in tenant.TenantID, after *Cursor) (*Watcher, error) {
	select {
	case <-r.draining:
		return nil, errShuttingDown
	default:
	}
	var from Range
	if after != nil {
		from.From = *after
		r.metrics.resumes.Inc()
	}
	page, err := Read(ctx, r.db, in, from)
	if err != nil {
		return nil, err
	}
	//nolint:contextcheck // the feed outlives its first watcher
	w := &Watcher{feed: r.acquire(in, page.Horizon), at: page.Horizon}
	if after != nil {
		w.at = *after
	}
	return w, nil
}

// acquire returns the feed of a tenant. It starts it for the first watcher, at the end of the log. Roles that changed
// before that were not noticed.
func (r *Relay) acquire(in tenant.TenantID, end Cursor) *feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.feeds[in]
	if f == nil {
		r.rolesChanged(in)
		ctx, stop := context.WithCancel(r.ctx)
		f = &feed{
			relay: r, in: in, stop: stop, wakeups: make(chan struct{}, 1),
			tail: tail{start: end, end: end, changed: make(chan struct{})},
		}
		r.feeds[in] = f
		r.running.Go(func() { f.run(ctx) })
	}
	f.watchers++
	r.metrics.watchers.Inc()
	return f
}

// release stops the feed after its last watcher.
func (r *Relay) release(f *feed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics.watchers.Dec()
	if f.watchers--; f.watchers == 0 {
		delete(r.feeds, f.in)
		f.stop()
	}
}

const (
	// channel carries a node's name and the IDs of the tenants in which it has committed changes.
	channel = "berth_events"
	// notifyInterval is the minimum time between two notices of a node: NOTIFY locks out all others.
	notifyInterval = 50 * time.Millisecond
	// notifyTimeout limits the sending of a notice.
	notifyTimeout = 2 * time.Second
	// A notice names at most this many tenants, because Postgres limits it to 8,000 bytes. Beyond that it says: all.
	maxNotifyTenants = 200
	notifyAll        = "*"
	// remoteDelay gives the node that committed events a head start, before the consumers of this node look at them.
	remoteDelay = time.Second
)

// Run exchanges notices of commits with other nodes until ctx ends.
func (r *Relay) Run(ctx context.Context) {
	var listening sync.WaitGroup
	// It ends with ctx. Until then it connects again, and logs why.
	listening.Go(func() { _ = r.db.Listen(ctx, channel, r.onNotify, r.wakeAll) })
	defer listening.Wait()

	// A pool of its own, so no burst of bookings delays a notice.
	pool, err := r.db.OpenPool(ctx, 1, nil)
	if err != nil {
		r.log.ErrorContext(ctx, "notifying other nodes failed", slog.Any("error", err))
		return
	}
	defer pool.Close()
	timer := time.NewTimer(notifyInterval)
	defer timer.Stop()
	for {
		select { // wait until the interval since the last notice has passed
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-r.notify:
		}
		wait := notifyInterval
		if err := r.notifyOthers(ctx, pool); err != nil {
			r.log.WarnContext(ctx, "notifying other nodes failed", slog.Any("error", err))
			wait = readBackoff
		}
		timer.Reset(wait)
	}
}

// notifyOthers sends one notice about all commits since the last one, even while this node stops.
// A notice that fails is not repeated: the other nodes poll.
func (r *Relay) notifyOthers(ctx context.Context, pool *pgxpool.Pool) error {
	r.mu.Lock()
	changed := r.changed
	r.changed = make(map[tenant.TenantID]struct{})
	r.mu.Unlock()
	words := []string{r.name}
	if len(changed) > maxNotifyTenants {
		words = append(words, notifyAll)
	} else {
		for id := range changed {
			words = append(words, id.String())
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	_, err := pool.Exec(ctx, "select pg_notify($1, $2)", channel, strings.Join(words, " "))
	return err
}

func (r *Relay) onNotify(payload string) {
	words := strings.Fields(payload)
	if len(words) == 0 || words[0] == r.name {
		return
	}
	for _, word := range words[1:] {
		if word == notifyAll {
			r.wakeAll()
		} else if id, err := tenant.Parse[tenant.TenantID](word); err == nil {
			r.wake(id, remoteDelay)
		}
	}
}
