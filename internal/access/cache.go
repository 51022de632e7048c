package access

import (
	"hash/maphash"
	"sync"
)

const shards = 64

// cache is a bounded map for many concurrent readers. A full shard evicts any of its entries:
// all of them can be read again, and those in use will be.
type cache[K comparable, V any] struct {
	seed    maphash.Seed
	limit   int     // per shard, which holds one entry in any case
	onEvict func(V) // called with each evicted entry
	parts   [shards]struct {
		sync.RWMutex
		entries map[K]V
	}
}

func newCache[K comparable, V any](limit int, onEvict func(V)) *cache[K, V] {
	c := &cache[K, V]{seed: maphash.MakeSeed(), limit: limit / shards, onEvict: onEvict}
	for i := range c.parts {
		c.parts[i].entries = make(map[K]V)
	}
	return c
}

func (c *cache[K, V]) get(key K) (V, bool) {
	part := &c.parts[maphash.Comparable(c.seed, key)%shards]
	part.RLock()
	v, ok := part.entries[key]
	part.RUnlock()
	return v, ok
}

// update replaces an entry with the result of change, which gets a zero value and false if there is none.
func (c *cache[K, V]) update(key K, change func(V, bool) V) V {
	part := &c.parts[maphash.Comparable(c.seed, key)%shards]
	part.Lock()
	defer part.Unlock()
	old, ok := part.entries[key]
	if !ok && len(part.entries) >= c.limit {
		for victim, v := range part.entries {
			delete(part.entries, victim)
			c.onEvict(v)
			break
		}
	}
	v := change(old, ok)
	part.entries[key] = v
	return v
}

// replace replaces an entry, if there is one.
func (c *cache[K, V]) replace(key K, change func(V) V) {
	part := &c.parts[maphash.Comparable(c.seed, key)%shards]
	part.Lock()
	defer part.Unlock()
	if v, ok := part.entries[key]; ok {
		part.entries[key] = change(v)
	}
}

// updateAll replaces every entry that exists when the call begins. It may or may not change
// an entry that is added at the same time.
func (c *cache[K, V]) updateAll(change func(V) V) {
	for i := range c.parts {
		part := &c.parts[i]
		part.Lock()
		for key, v := range part.entries {
			part.entries[key] = change(v)
		}
		part.Unlock()
	}
}
