package traffic

import (
	"crypto/sha256"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// A Rate limits calls.
type Rate struct {
	// PerSecond is how many calls a second are allowed in the long run. Zero is no limit.
	PerSecond float64
	// Burst is how many calls are allowed at once after a time without calls.
	Burst int
}

// burstSeconds is how many seconds' worth of calls are allowed at once.
const burstSeconds = 10

// PerSecond returns the rate of n calls a second, with a burst of ten seconds' worth.
func PerSecond(n float64) Rate { return Rate{PerSecond: n, Burst: max(1, int(n*burstSeconds))} }

// PerHour returns the rate of n calls an hour, all of which may come at once.
func PerHour(n int) Rate { return Rate{PerSecond: float64(n) / time.Hour.Seconds(), Burst: n} }

// The default rates, in calls a second. A person makes some tens of calls when an app starts, and then a few. A front
// desk with several screens shares an account. A program may make as many as its answers allow it, one after the other.
const (
	DefaultCallerRate  = 100
	DefaultTenantRate  = 2000
	DefaultAddressRate = 10
	// DefaultStreamsPerCaller limits open streams. A program needs one, and a person one for each open window.
	DefaultStreamsPerCaller = 100
	// DefaultBenefitGuesses is how many wrong membership numbers a member may try in an hour.
	DefaultBenefitGuesses = 10
	// DefaultProgramBenefitGuesses is the same for a service account, which confirms for many members.
	DefaultProgramBenefitGuesses = 100
	// DefaultDomainChecks is how often a tenant may set or verify a sending domain in an hour.
	DefaultDomainChecks = 20
)

const (
	shards = 16
	// maxKeys bounds the memory of a limiter: about 10 MB.
	maxKeys = 1 << 17
	// examined is how many keys are looked at to make room for one.
	examined = 8
)

// A Limiter limits the calls of each key. It is safe for concurrent use.
//
// For each key it stores one time: when the key will have its whole burst again, if it makes no more calls. A key whose
// time has passed is as good as unknown. When many keys are in use, the limiter forgets such keys, and otherwise the
// one of a few that has used least.
type Limiter[K comparable] struct {
	every time.Duration // between two calls, in the long run
	burst time.Duration // how far the stored time may be ahead
	start time.Time     // times are durations since then, which are monotonic
	seed  maphash.Seed
	max   int // keys in each shard

	shards [shards]shard[K]
}

type shard[K comparable] struct {
	mu   sync.Mutex
	full map[K]time.Duration
}

// NewLimiter returns a limiter with a rate for each key, or nil, which allows everything, if the rate has no limit.
func NewLimiter[K comparable](rate Rate, now time.Time) *Limiter[K] {
	if rate.PerSecond <= 0 {
		return nil
	}
	every := time.Duration(float64(time.Second) / rate.PerSecond)
	l := &Limiter[K]{
		every: every, burst: time.Duration(rate.Burst) * every, start: now, seed: maphash.MakeSeed(), max: maxKeys / shards,
	}
	for i := range l.shards {
		l.shards[i].full = make(map[K]time.Duration)
	}
	return l
}

// Take takes one call from the key. If there is none, it returns how long it takes until there is one.
func (l *Limiter[K]) Take(key K, now time.Time) (wait time.Duration) {
	if l == nil {
		return 0
	}
	at := now.Sub(l.start)
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	full, known := s.full[key]
	next := max(full, at) + l.every
	if wait = next - at - l.burst; wait > 0 {
		return wait
	}
	if !known && len(s.full) >= l.max {
		s.makeRoom(at)
	}
	s.full[key] = next
	return 0
}

// Return gives back what Take took from the key.
func (l *Limiter[K]) Return(key K) {
	if l == nil {
		return
	}
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if full, known := s.full[key]; known {
		s.full[key] = full - l.every
	}
}

func (l *Limiter[K]) shard(key K) *shard[K] {
	return &l.shards[maphash.Comparable(l.seed, key)%shards]
}

// makeRoom forgets keys that have their whole burst, or else the one that comes closest. A map is iterated from a
// random place, so these are a sample.
func (s *shard[K]) makeRoom(now time.Duration) {
	var least K
	n, found := 0, false
	for key, full := range s.full {
		if full <= now {
			delete(s.full, key)
			found = true
		} else if n == 0 || full < s.full[least] {
			least = key
		}
		if n++; n == examined {
			break
		}
	}
	if !found {
		delete(s.full, least)
	}
}

// Addresses limits the calls without a proven caller, by the address of the client.
type Addresses struct {
	Proxies Proxies
	Now     func() time.Time
	limiter *Limiter[netip.Prefix]
	made    *Limiter[madeKey]
}

// madeKey is a key or link that was made by the service, at an address.
type madeKey struct {
	from   netip.Prefix
	digest [sha256.Size]byte
}

// NewAddresses returns a limit for each address.
func NewAddresses(rate Rate, proxies Proxies, now func() time.Time) *Addresses {
	return &Addresses{
		Proxies: proxies, Now: now,
		limiter: NewLimiter[netip.Prefix](rate, now()), made: NewLimiter[madeKey](rate, now()),
	}
}

// Take takes one call from an address. If there is none, it returns how long it takes until there is one. Call proven
// if the call turns out to have a proven caller, such as one with a valid link: it then counts for nothing.
func (a *Addresses) Take(client netip.Addr) (wait time.Duration, proven func()) {
	key := Network(client)
	return a.limiter.Take(key, a.Now()), func() { a.limiter.Return(key) }
}

// TakeMade is Take for an address that has no call left. A key or link that was made by the service has calls of its
// own there, so that those with invented ones shut no one out, and those with revoked ones are limited, too.
func (a *Addresses) TakeMade(client netip.Addr, text string) (wait time.Duration, proven func()) {
	key := madeKey{Network(client), sha256.Sum256([]byte(text))}
	return a.made.Take(key, a.Now()), func() { a.made.Return(key) }
}
