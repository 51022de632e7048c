package token

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Limits of the cache of verified tokens, which take about a kilobyte each.
const (
	shards   = 64
	perShard = 1024
	sample   = 8
)

type digest [sha256.Size]byte

// verified is a valid token in the cache.
type verified struct {
	principal Principal
	until     time.Time // its expiry plus the leeway
	key       *key
}

// cache keeps verified tokens by their digests, so no token can be stolen from memory.
// It is bounded and only holds tokens that trusted issuers signed.
type cache [shards]struct {
	sync.RWMutex
	tokens map[digest]*verified
}

func (c *cache) get(d digest, now time.Time) (*verified, bool) {
	part := &c[d[0]%shards]
	part.RLock()
	v, ok := part.tokens[d]
	part.RUnlock()
	// Check the key each time: a token whose key was withdrawn during verification may have been added afterwards.
	if !ok || !now.Before(v.until) || v.key.withdrawn.Load() {
		return nil, false
	}
	return v, true
}

// put adds a token. If the shard is full, it drops the token that expires first in a small sample.
func (c *cache) put(d digest, v *verified) {
	part := &c[d[0]%shards]
	part.Lock()
	defer part.Unlock()
	if part.tokens == nil {
		part.tokens = make(map[digest]*verified)
	}
	if _, known := part.tokens[d]; !known && len(part.tokens) >= perShard {
		var victim digest
		var first *verified
		sampled := 0
		for other, kept := range part.tokens {
			if first == nil || kept.key.withdrawn.Load() || kept.until.Before(first.until) {
				victim, first = other, kept
			}
			if sampled++; sampled == sample {
				break
			}
		}
		delete(part.tokens, victim)
	}
	part.tokens[d] = v
}
