package token

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Bounds of the verified tokens that are kept; about a kilobyte each.
const (
	shards   = 64
	perShard = 1024
	sample   = 8
)

type digest [sha256.Size]byte

// verified is a token that held, for as long as it is kept.
type verified struct {
	principal Principal
	until     time.Time // the end of the leeway
	key       *key
}

// cache keeps verified tokens by their digests, so that memory holds no token
// that could be stolen from it. It is bounded, and only tokens that trusted
// issuers signed get into it.
type cache [shards]struct {
	sync.RWMutex
	tokens map[digest]*verified
}

func (c *cache) get(d digest, now time.Time) (*verified, bool) {
	part := &c[d[0]%shards]
	part.RLock()
	v, ok := part.tokens[d]
	part.RUnlock()
	// The key is asked each time: a token that was being verified while its key
	// was withdrawn may have come in afterwards.
	if !ok || !now.Before(v.until) || v.key.gone.Load() {
		return nil, false
	}
	return v, true
}

// put makes room by dropping the first of a few to expire, which finds those that have.
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
		looked := 0
		for other, kept := range part.tokens {
			if first == nil || kept.key.gone.Load() || kept.until.Before(first.until) {
				victim, first = other, kept
			}
			if looked++; looked == sample {
				break
			}
		}
		delete(part.tokens, victim)
	}
	part.tokens[d] = v
}
