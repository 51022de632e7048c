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

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// RelayConfig says what a relay works with.
type RelayConfig struct {
	DB  *pg.DB
	Log *slog.Logger
	// Metrics receives the relay's; nil keeps them private.
	Metrics prometheus.Registerer
	// RolesChanged, if set, hears of a watched tenant in which somebody may now do something else, before its watchers do.
	RolesChanged func(tenant.TenantID)
	// Poll is how often a log is read that nobody said anything about. It is the net under lost notices. Default 5 s.
	Poll time.Duration
}

// Relay tells the readers of this node what was committed: at once where this node did it, and as soon as its notice
// arrives where another one did. Nothing is lost with a notice but time.
type Relay struct {
	db           *pg.DB
	log          *slog.Logger
	metrics      *metrics
	rolesChanged func(tenant.TenantID)
	poll         time.Duration
	// patience is how long a watcher may be behind all the time before it is told to resume.
	patience time.Duration
	tailMost int
	// name tells a node's own notices from those of others.
	name string

	draining  chan struct{}
	drainOnce sync.Once
	// life ends when the relay is closed; feeds and their reading end with it.
	life  context.Context //nolint:containedctx // it is the relay's, not a request's
	end   context.CancelFunc
	feeds sync.WaitGroup

	mu        sync.Mutex
	watched   map[tenant.TenantID]*feed
	consumers []*agenda
	changed   map[tenant.TenantID]struct{} // since the last notice
	notify    chan struct{}
}

// NewRelay makes a relay that hears of this node's own commits. Run makes it hear of others'. The caller closes it.
func NewRelay(c RelayConfig) (*Relay, error) {
	r := &Relay{
		db: c.DB, log: c.Log, rolesChanged: c.RolesChanged, poll: c.Poll,
		patience: 30 * time.Second, tailMost: tailMost, name: rand.Text()[:8],
		draining: make(chan struct{}), watched: make(map[tenant.TenantID]*feed),
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
	r.life, r.end = context.WithCancel(context.Background())
	return r, nil
}

// Close ends all reading. No watcher may be waiting any more.
func (r *Relay) Close() {
	r.Drain()
	r.end()
	r.feeds.Wait()
}

// Drain ends all watching, now and from now on, with SHUTTING_DOWN.
func (r *Relay) Drain() { r.drainOnce.Do(func() { close(r.draining) }) }

// Committed says that this node has committed something of a tenant. It never waits.
func (r *Relay) Committed(id tenant.TenantID) {
	r.mu.Lock()
	r.changed[id] = struct{}{}
	r.mu.Unlock()
	select {
	case r.notify <- struct{}{}:
	default:
	}
	r.poke(id, consumeGather)
}

// poke makes this node's readers of a tenant look, its consumers after a while.
func (r *Relay) poke(id tenant.TenantID, wait time.Duration) {
	r.mu.Lock()
	f, consumers := r.watched[id], r.consumers
	r.mu.Unlock()
	if f != nil {
		f.poke()
	}
	for _, c := range consumers {
		c.set(id, time.Now().Add(wait))
	}
}

func (r *Relay) pokeAll() {
	r.mu.Lock()
	feeds, consumers := slices.Collect(maps.Values(r.watched)), r.consumers
	r.mu.Unlock()
	for _, f := range feeds {
		f.poke()
	}
	for _, c := range consumers {
		c.survey()
	}
}

// Watch begins to watch a tenant's log: behind a position, or from now on. INVALID_FIELD for a position behind the log's end.
func (r *Relay) Watch(ctx context.Context, in tenant.TenantID, after *Cursor) (*Watcher, error) {
	select {
	case <-r.draining:
		return nil, errShuttingDown
	default:
	}
	var from Stretch
	if after != nil {
		from.From = *after
		r.metrics.resumes.Inc()
	}
	page, err := Read(ctx, r.db, in, from)
	if err != nil {
		return nil, err
	}
	w := &Watcher{feed: r.take(in), at: page.Horizon} //nolint:contextcheck // the feed outlives who is the first to watch
	if after != nil {
		w.at = *after
	}
	return w, nil
}

// take gives the feed of a tenant, and starts it for the first who asks.
func (r *Relay) take(in tenant.TenantID) *feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.watched[in]
	if f == nil {
		ctx, stop := context.WithCancel(r.life)
		f = &feed{relay: r, in: in, stop: stop, pokes: make(chan struct{}, 1), tail: tail{moved: make(chan struct{})}}
		r.watched[in] = f
		r.feeds.Go(func() { f.run(ctx) })
	}
	f.watchers++
	r.metrics.watchers.Inc()
	return f
}

// release stops the feed that nobody watches any more.
func (r *Relay) release(f *feed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics.watchers.Dec()
	if f.watchers--; f.watchers == 0 {
		delete(r.watched, f.in)
		f.stop()
	}
}

const (
	// channel carries the names of nodes, each with the ids of the tenants in which it has committed something.
	channel = "berth_events"
	// notifyEvery is the least time between two notices of a node: NOTIFY locks out all others.
	notifyEvery = 50 * time.Millisecond
	// notifyTimeout bounds the sending of one.
	notifyTimeout = 2 * time.Second
	// A notice names so many tenants at most, for Postgres takes 8,000 bytes; beyond them it says: all.
	notifyMost = 200
	notifyAll  = "*"
	// elsewhere is how long this node's consumers leave to the node that committed what is new there.
	elsewhere = time.Second
)

// Run tells other nodes what this one commits, and hears what they do, until ctx ends.
func (r *Relay) Run(ctx context.Context) {
	var hearing sync.WaitGroup
	hearing.Go(func() { _ = r.db.Listen(ctx, channel, r.heard, r.pokeAll) })
	defer hearing.Wait()

	// A connection of its own, so that no rush of bookings keeps a notice waiting.
	pool, err := r.db.OpenPool(ctx, 1, nil)
	if err != nil {
		r.log.ErrorContext(ctx, "other nodes hear of events late", slog.Any("error", err))
		return
	}
	defer pool.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select { // first of all the time to pass since the last notice
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-r.notify:
		}
		wait := notifyEvery
		if err := r.tell(ctx, pool); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "other nodes hear of events late", slog.Any("error", err))
			wait = failedPause
		}
		timer.Reset(wait)
	}
}

// tell sends one notice about all that was committed since the last. One that cannot be sent is not repeated: the
// others look by themselves from time to time.
func (r *Relay) tell(ctx context.Context, pool *pgxpool.Pool) error {
	r.mu.Lock()
	changed := r.changed
	r.changed = make(map[tenant.TenantID]struct{})
	r.mu.Unlock()
	words := []string{r.name}
	if len(changed) > notifyMost {
		words = append(words, notifyAll)
	} else {
		for id := range changed {
			words = append(words, id.String())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	_, err := pool.Exec(ctx, "select pg_notify($1, $2)", channel, strings.Join(words, " "))
	return err
}

func (r *Relay) heard(payload string) {
	words := strings.Fields(payload)
	if len(words) == 0 || words[0] == r.name {
		return
	}
	for _, word := range words[1:] {
		if word == notifyAll {
			r.pokeAll()
		} else if id, err := tenant.Parse[tenant.TenantID](word); err == nil {
			r.poke(id, elsewhere)
		}
	}
}
