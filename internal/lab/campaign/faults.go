package campaign

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A fault begins, stays for a while, and is healed.
type fault struct {
	begin func(ctx context.Context) error
	heal  func(ctx context.Context) error
}

// maxSkew is by how much a server's clock may be wrong.
const maxSkew = 5 * time.Minute

// faults are all that can go wrong, by name. What a fault is about is drawn when it is made.
func (s *site) faults(random *rand.Rand) map[string]func() fault {
	one := func() *node { return pick(random, s.all()) }
	// killed ends a process with whatever it was doing, and restarted lets it finish. Both come back with another clock.
	killed := func(of []*node) func() fault {
		return func() fault {
			n, skew := pick(random, of), s.skew(random)
			return fault{
				begin: func(context.Context) error { n.down().kill(); return nil },
				heal:  func(ctx context.Context) error { return n.start(ctx, skew) },
			}
		}
	}
	restarted := func(of []*node) func() fault {
		return func() fault {
			n, skew := pick(random, of), s.skew(random)
			return fault{
				begin: func(context.Context) error { return n.down().stop() },
				heal:  func(ctx context.Context) error { return n.start(ctx, skew) },
			}
		}
	}
	toxic := func(text string) func() fault {
		return func() fault {
			n := one()
			return fault{
				begin: func(context.Context) error {
					_, err := n.proxy.Toxics.AddToxicJson(strings.NewReader(text))
					return err
				},
				heal: func(ctx context.Context) error { n.proxy.Toxics.ResetToxics(ctx); return nil },
			}
		}
	}
	commits := func(hard bool) func() fault {
		return func() fault {
			n, often := one(), int32(1+random.IntN(4))
			return fault{
				begin: func(context.Context) error { n.wire.hard.Store(hard); n.wire.armed.Store(often); return nil },
				heal:  func(context.Context) error { n.wire.armed.Store(0); return nil },
			}
		}
	}
	return map[string]func() fault{
		"server killed":               killed(s.nodes),
		"server restarted, clock set": restarted(s.nodes),
		"worker killed":               killed(s.workers),
		"worker restarted, clock set": restarted(s.workers),
		"Postgres killed": func() fault {
			return fault{
				begin: func(context.Context) error { return s.killPostgres() },
				heal:  s.startPostgres,
			}
		},
		"backends terminated": func() fault {
			return fault{begin: func(ctx context.Context) error { return s.terminate(ctx, random) }}
		},
		"connections cut": func() fault {
			n := one()
			return fault{
				begin: func(context.Context) error { n.proxy.Stop(); return nil },
				heal:  func(context.Context) error { return n.proxy.Start() },
			}
		},
		"connections slow":          toxic(`{"name": "slow", "type": "latency", "stream": "downstream", "attributes": {"latency": 40, "jitter": 40}}`),
		"connections reset":         toxic(`{"name": "reset", "type": "reset_peer", "stream": "downstream", "attributes": {"timeout": 20}}`),
		"reset after COMMIT":        commits(false),
		"reset around COMMIT":       commits(true),
		"answers of Postgres stall": toxic(`{"name": "stall", "type": "timeout", "stream": "downstream", "attributes": {"timeout": 1500}}`),
	}
}

// skew draws by how much a clock is wrong: in a third of all cases it is right.
func (s *site) skew(random *rand.Rand) time.Duration {
	if random.IntN(3) == 0 {
		return 0
	}
	return time.Duration(random.Int64N(int64(2*maxSkew))) - maxSkew
}

// storm lets one thing after the other go wrong. When, is counted in attempts of callers, so that a seed means the same on a
// slow machine and on a fast one.
type storm struct {
	site   *site
	random *rand.Rand
	say    func(string)

	attempts atomic.Int64
	mu       sync.Mutex
	waiting  int64
	reached  chan struct{}
	counts   map[string]int
}

func newStorm(s *site, random *rand.Rand, say func(string)) *storm {
	return &storm{site: s, random: random, say: say, counts: make(map[string]int)}
}

// tried counts an attempt of a caller.
func (st *storm) tried() {
	n := st.attempts.Add(1)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reached != nil && n >= st.waiting {
		close(st.reached)
		st.reached = nil
	}
}

// longest is how long a fault may last, if callers are all stuck in it.
const longest = 3 * time.Second

// after waits for so many more attempts; false where ctx has ended.
func (st *storm) after(ctx context.Context, attempts int64) bool {
	st.mu.Lock()
	st.waiting, st.reached = st.attempts.Load()+attempts, make(chan struct{})
	reached := st.reached
	st.mu.Unlock()
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

// rage lets things go wrong until ctx ends, and leaves everything healed. Every kind comes once before any comes again.
func (st *storm) rage(ctx context.Context) error {
	kinds := st.site.faults(st.random)
	names := slices.Sorted(maps.Keys(kinds))
	lasting := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		st.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if !st.after(ctx, 30+st.random.Int64N(60)) {
				return nil
			}
			f := kinds[name]()
			st.mu.Lock()
			st.counts[name]++
			st.mu.Unlock()
			if err := f.begin(lasting); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			st.after(ctx, 10+st.random.Int64N(30))
			if f.heal == nil {
				continue
			}
			if err := f.heal(lasting); err != nil {
				return fmt.Errorf("%s, healing: %w", name, err)
			}
		}
	}
	return nil
}

// faults counts what went wrong so far.
func (st *storm) faults() (total int, by map[string]int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, n := range st.counts {
		total += n
	}
	return total, maps.Clone(st.counts)
}
