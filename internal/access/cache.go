package access

import (
	"hash/maphash"
	"sync"
)

const shards = 64

// cache is a bounded map for many readers. When a shard is full, any entry of it
// makes room: everything in here can be read again, and what is in use will be.
type cache[K comparable, V any] struct {
	seed  maphash.Seed
	limit int     // per shard
	drop  func(V) // told of each entry that makes room
	parts [shards]struct {
		sync.RWMutex
		entries map[K]V
	}
}

func newCache[K comparable, V any](limit int, drop func(V)) *cache[K, V] {
	c := &cache[K, V]{seed: maphash.MakeSeed(), limit: max(1, limit/shards), drop: drop}
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

// update replaces an entry by what change makes of it; a zero value and false stand for none.
func (c *cache[K, V]) update(key K, change func(V, bool) V) V {
	part := &c.parts[maphash.Comparable(c.seed, key)%shards]
	part.Lock()
	defer part.Unlock()
	old, ok := part.entries[key]
	if !ok && len(part.entries) >= c.limit {
		for victim, v := range part.entries {
			delete(part.entries, victim)
			c.drop(v)
			break
		}
	}
	v := change(old, ok)
	part.entries[key] = v
	return v
}

// updateAll replaces every entry that is there when the call begins. An entry
// added meanwhile may or may not be changed.
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
