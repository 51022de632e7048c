package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"
)

// KeySet is the public keys of an issuer, which may change at any time. It is safe for concurrent use.
type KeySet struct {
	now     func() time.Time
	current atomic.Pointer[map[keyID]*key]
	known   atomic.Bool // the keys were read once; later errors keep them

	// read returns the document. It may return nil if the document has not changed and good is true: the last one was
	// valid. A set without read never changes.
	read     func(ctx context.Context, good bool) ([]byte, error)
	interval time.Duration // between periodic reads
	cooldown time.Duration // minimum time after a read before an unknown key causes another

	lock     chan struct{} // a lock that can be waited for with a context; guards the fields below
	lastRead time.Time     // when the last read ended
	lastErr  error         // the error of the last read
}

const fetchTimeout = 5 * time.Second

// FileKeys reads a JSON Web Key Set from a file, and again when the file changes.
// To replace it, rename another file over it, so that it is never read half written.
func FileKeys(path string, now func() time.Time) *KeySet {
	var last os.FileInfo
	s := newKeySet(now, 2*time.Second, time.Second)
	s.read = func(_ context.Context, good bool) ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		// Stat before reading: a change in between is found the next time.
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		unchanged := good && os.SameFile(last, info) && last.Size() == info.Size() && last.ModTime().Equal(info.ModTime())
		if unchanged {
			return nil, nil
		}
		last = info
		return readLimited(file)
	}
	return s
}

// URLKeys fetches a JSON Web Key Set. It fetches it again every five minutes, and when a token names a key that is not
// in the set, but at most every ten seconds. The URL must be https, or http on a loopback address. Redirects are not
// followed.
func URLKeys(address string, client *http.Client, now func() time.Time) (*KeySet, error) {
	u, err := url.Parse(address)
	secure := err == nil && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()))
	if !secure || u.Host == "" || u.User != nil {
		return nil, errors.New("token: the URL of the keys must be https and without credentials, or http on this machine")
	}
	// The server of the URL is trusted with the keys. A redirect would pass that trust on.
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := newKeySet(now, 5*time.Minute, 10*time.Second)
	s.read = func(ctx context.Context, _ bool) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/jwk-set+json, application/json")
		response, err := direct.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("GET %s answered %s", address, response.Status)
		}
		return readLimited(response.Body)
	}
	return s, nil
}

func newKeySet(now func() time.Time, interval, cooldown time.Duration) *KeySet {
	s := &KeySet{now: now, interval: interval, cooldown: cooldown, lock: make(chan struct{}, 1)}
	s.current.Store(&map[keyID]*key{})
	return s
}

// find returns a key by its ID. It reads the keys again if the key is unknown.
func (s *KeySet) find(ctx context.Context, id keyID) (*key, error) {
	if k := (*s.current.Load())[id]; k != nil {
		return k, nil
	}
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.release()
	// One read serves all callers that waited for it. The next read has to wait for the cooldown, since anyone can
	// invent key IDs.
	if k := (*s.current.Load())[id]; k != nil {
		return k, nil
	}
	if s.read != nil && (s.lastRead.IsZero() || s.now().Sub(s.lastRead) >= s.cooldown) {
		s.reload(ctx)
	}
	if k := (*s.current.Load())[id]; k != nil {
		return k, nil
	}
	if s.lastErr != nil {
		return nil, unauthenticated(
			"The keys of the token's issuer are not available right now. Try again in a minute.", s.lastErr,
		)
	}
	return nil, unauthenticated("The token is signed with a key that its issuer does not publish. Get a new token.",
		errUnknownKey)
}

// ready reports whether tokens can be verified: a set that can be read has been read once.
func (s *KeySet) ready() bool { return s.read == nil || s.known.Load() }

// refresh reads the keys, even if they were just read.
func (s *KeySet) refresh(ctx context.Context) error {
	if s.read == nil {
		return nil
	}
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	s.reload(ctx)
	return s.lastErr
}

// refreshPeriodically refreshes the keys until ctx ends. It calls failed once for failures in a row.
func (s *KeySet) refreshPeriodically(ctx context.Context, failed func(error)) {
	if s.read == nil {
		return
	}
	failing := false
	for {
		wait := s.interval
		err := s.refresh(ctx)
		if err != nil {
			wait = s.cooldown
		}
		if err != nil && !failing && ctx.Err() == nil {
			failed(err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// reload replaces the keys if they can be read. The caller holds the lock.
func (s *KeySet) reload(ctx context.Context) {
	// If the caller cancels, those that wait for the same read still need the keys.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	document, err := s.read(ctx, !s.lastRead.IsZero() && s.lastErr == nil)
	if err == nil && document != nil {
		var keys map[keyID]*key
		if keys, err = parseKeys(document); err == nil {
			s.replace(keys)
			s.known.Store(true)
		}
	}
	s.lastRead, s.lastErr = s.now(), err
}

// replace activates new keys. A key that stays keeps its value, and a key that is missing is marked as withdrawn,
// so that cached tokens signed with it become invalid.
func (s *KeySet) replace(keys map[keyID]*key) {
	old := *s.current.Load()
	for id, k := range old {
		if next, ok := keys[id]; ok && equal(next.public, k.public) {
			keys[id] = k
		}
	}
	s.current.Store(&keys)
	for id, k := range old {
		if keys[id] != k {
			k.withdrawn.Store(true)
		}
	}
}

func (s *KeySet) acquire(ctx context.Context) error {
	select {
	case s.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *KeySet) release() { <-s.lock }

func readLimited(r io.Reader) ([]byte, error) {
	document, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(document) > maxDocument {
		err = fmt.Errorf("the key set is larger than %d bytes", maxDocument)
	}
	return document, err
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
