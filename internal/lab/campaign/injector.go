package campaign

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthhq/berth/internal/pgproxy"
)

// A fault begins, lasts for a while, and ends.
type fault struct {
	begin func(ctx context.Context) error
	end   func(ctx context.Context) error
}

// maxSkew is the maximum error of a process's clock.
const maxSkew = 5 * time.Minute

// faults returns all kinds of faults by name. Each call of a function draws the details.
func (c *cluster) faults(random *rand.Rand) map[string]func() fault {
	one := func() *node { return pick(random, c.all()) }
	// killed kills a process, and restarted lets it finish its work. Both start it again with another clock.
	killed := func(of []*node) func() fault {
		return func() fault {
			n, skew := pick(random, of), c.skew(random)
			return fault{
				begin: func(context.Context) error { n.down().kill(); return nil },
				end:   func(ctx context.Context) error { return n.start(ctx, skew) },
			}
		}
	}
	restarted := func(of []*node) func() fault {
		return func() fault {
			n, skew := pick(random, of), c.skew(random)
			return fault{
				begin: func(context.Context) error { return n.down().stop() },
				end:   func(ctx context.Context) error { return n.start(ctx, skew) },
			}
		}
	}
	network := func(bad pgproxy.Network) func() fault {
		return func() fault {
			n := one()
			return fault{
				begin: func(context.Context) error { n.proxy.Set(bad); return nil },
				end:   func(context.Context) error { n.proxy.Set(pgproxy.Network{}); return nil },
			}
		}
	}
	commits := func(hard bool) func() fault {
		return func() fault {
			n, often := one(), int32(1+random.IntN(4))
			return fault{
				begin: func(context.Context) error { n.proxy.bothSides.Store(hard); n.proxy.armed.Store(often); return nil },
				end:   func(context.Context) error { n.proxy.armed.Store(0); return nil },
			}
		}
	}
	return map[string]func() fault{
		"server killed":               killed(c.nodes),
		"server restarted, clock set": restarted(c.nodes),
		"worker killed":               killed(c.workers),
		"worker restarted, clock set": restarted(c.workers),
		diedSending: func() fault {
			n, skew := pick(random, c.workers), c.skew(random)
			return fault{
				begin: func(ctx context.Context) error { return c.killSending(ctx, n) },
				end: func(ctx context.Context) error {
					n.proxy.Set(pgproxy.Network{})
					return n.start(ctx, skew)
				},
			}
		},
		"Postgres killed": func() fault {
			return fault{
				begin: func(context.Context) error { return c.killPostgres() },
				end:   c.startPostgres,
			}
		},
		"backends terminated": func() fault {
			return fault{begin: func(ctx context.Context) error { return c.terminate(ctx, random) }}
		},
		"connections cut":             network(pgproxy.Network{Cut: true}),
		"connections slow":            network(pgproxy.Network{Delay: 40 * time.Millisecond, Jitter: 40 * time.Millisecond}),
		"connections reset":           network(pgproxy.Network{LostAfter: 20 * time.Millisecond}),
		"reset after COMMIT":          commits(false),
		"reset around COMMIT":         commits(true),
		"responses of Postgres stall": network(pgproxy.Network{LostAfter: 1500 * time.Millisecond}),
	}
}

// skew draws the error of a clock. In a third of all cases the clock is right.
func (c *cluster) skew(random *rand.Rand) time.Duration {
	if random.IntN(3) == 0 {
		return 0
	}
	return time.Duration(random.Int64N(int64(2*maxSkew))) - maxSkew
}

// injector injects one fault after the other. Times are counted in attempts of callers, so that a seed means the same
// on slow and fast machines.
type injector struct {
	cluster *cluster
	random  *rand.Rand
	say     func(string)

	attempts atomic.Int64
	mu       sync.Mutex
	waiting  int64
	reached  chan struct{}
	counts   map[string]int
	spans    []span // of all faults; the last one may be active
}

func newInjector(s *cluster, random *rand.Rand, say func(string)) *injector {
	return &injector{cluster: s, random: random, say: say, counts: make(map[string]int)}
}

// countAttempt counts an attempt of a caller.
func (in *injector) countAttempt() {
	n := in.attempts.Add(1)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.reached != nil && n >= in.waiting {
		close(in.reached)
		in.reached = nil
	}
}

// endless is longer than any campaign.
const endless = 1000 * time.Hour

// blame returns why a call may have had no response in time, or "".
func (in *injector) blame(begun, ended time.Time) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return blame(begun, ended, in.spans, processorPressure())
}

// longest is the longest time of a fault that blocks all callers.
const longest = 3 * time.Second

// after waits for this number of further attempts. It returns false if ctx has ended.
func (in *injector) after(ctx context.Context, attempts int64) bool {
	in.mu.Lock()
	in.waiting, in.reached = in.attempts.Load()+attempts, make(chan struct{})
	reached := in.reached
	in.mu.Unlock()
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-reached:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// run injects faults until ctx ends, and then ends them all. Every kind occurs once before any repeats.
func (in *injector) run(ctx context.Context) error {
	kinds := in.cluster.faults(in.random)
	names := slices.Sorted(maps.Keys(kinds))
	lasting := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		in.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if !in.after(ctx, 30+in.random.Int64N(60)) {
				return nil
			}
			f := kinds[name]()
			in.mu.Lock()
			in.counts[name]++
			in.spans = append(in.spans, span{time.Now(), time.Now().Add(endless)})
			in.mu.Unlock()
			if err := f.begin(lasting); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			in.after(ctx, 10+in.random.Int64N(30))
			if f.end != nil {
				if err := f.end(lasting); err != nil {
					return fmt.Errorf("end of %s: %w", name, err)
				}
			}
			in.mu.Lock()
			in.spans[len(in.spans)-1].to = time.Now()
			in.mu.Unlock()
		}
	}
	return nil
}

// faults returns the number of faults so far, in total and by name.
func (in *injector) faults() (total int, by map[string]int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return sum(in.counts), maps.Clone(in.counts)
}
