package traffic

import (
	"net/http"
	"net/netip"
	"sync"
)

// A Counter counts what each key has open: streams, requests, or the bytes of them. It is safe for concurrent use.
type Counter[K comparable] struct {
	Max int // of each key; 0 for no limit

	mu   sync.Mutex
	open map[K]int
}

// Take counts one more, until release is called. It returns false if the key has the maximum open.
func (c *Counter[K]) Take(key K) (release func(), ok bool) {
	if !c.Add(key, 1) {
		return nil, false
	}
	return func() { c.Remove(key, 1) }, true
}

// Add counts n more, until Remove is called. It returns false, and counts nothing, if that is above the maximum.
func (c *Counter[K]) Add(key K, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Max > 0 && c.open[key] > c.Max-n {
		return false
	}
	if c.open == nil {
		c.open = make(map[K]int)
	}
	c.open[key] += n
	return true
}

// Remove counts n less.
func (c *Counter[K]) Remove(key K, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.open[key] - n; left > 0 {
		c.open[key] = left
	} else {
		delete(c.open, key)
	}
}

// DefaultRequestsPerAddress limits the requests in progress of one address. It is enough for 300 members with an open
// app and a few requests each.
const DefaultRequestsPerAddress = 4000

// LimitRequests limits the requests in progress of each address. Over HTTP/2 each connection may have many, which take
// memory even if they are refused in the end.
func LimitRequests(next http.Handler, proxies Proxies, perAddress int) http.Handler {
	open := Counter[netip.Prefix]{Max: perAddress}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		release, ok := open.Take(Network(proxies.Client(r)))
		if !ok {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Too many requests of your address are in progress.", http.StatusTooManyRequests)
			return
		}
		defer release()
		next.ServeHTTP(w, r)
	})
}
