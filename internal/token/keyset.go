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

// KeySet is the public keys of one issuer, which may change at any time. It is
// safe for concurrent use.
type KeySet struct {
	now     func() time.Time
	current atomic.Pointer[map[keyID]*key]

	// read gives the document, or nil if it is the one given before and that
	// was good; a set without it never changes.
	read     func(ctx context.Context, good bool) ([]byte, error)
	interval time.Duration // between readings that nobody asked for
	cooldown time.Duration // after a reading, for keys that are unknown

	turn    chan struct{} // holds a value while somebody reads; guards what follows
	tried   time.Time     // when the last reading ended
	failure error         // why it failed, if it did
}

const fetchTimeout = 5 * time.Second

// FileKeys reads a JSON Web Key Set from a file, and again when the file
// changes. Replace it by renaming another one over it, so that it is never seen half written.
func FileKeys(path string, now func() time.Time) *KeySet {
	var seen os.FileInfo
	s := newKeySet(now, 2*time.Second, time.Second)
	s.read = func(_ context.Context, good bool) ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		// Before its content: a change in between is found the next time.
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		if good && os.SameFile(seen, info) && seen.Size() == info.Size() && seen.ModTime().Equal(info.ModTime()) {
			return nil, nil
		}
		seen = info
		return limited(file)
	}
	return s
}

// URLKeys fetches a JSON Web Key Set, and again every five minutes and when a
// token names a key that is not in it, but not more often than every ten seconds.
// The URL must be https, or http to this very machine; redirects are not followed.
func URLKeys(address string, client *http.Client, now func() time.Time) (*KeySet, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return nil, errors.New("token: keys are fetched from an https URL without credentials, or by http from this machine")
	}
	// Whoever answers for the URL vouches for the keys. A redirect would hand that on.
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
		return limited(response.Body)
	}
	return s, nil
}

func newKeySet(now func() time.Time, interval, cooldown time.Duration) *KeySet {
	s := &KeySet{now: now, interval: interval, cooldown: cooldown, turn: make(chan struct{}, 1)}
	s.current.Store(&map[keyID]*key{})
	return s
}

// find gives a key by its id, and reads the keys anew where that may help.
func (s *KeySet) find(ctx context.Context, id keyID) (*key, error) {
	if k := (*s.current.Load())[id]; k != nil {
		return k, nil
	}
	if err := s.await(ctx); err != nil {
		return nil, err
	}
	defer s.done()
	// One reading serves all who waited for it, and none follows at once:
	// anybody can make up the names of keys.
	if k := (*s.current.Load())[id]; k != nil {
		return k, nil
	}
	if s.read != nil && (s.tried.IsZero() || s.now().Sub(s.tried) >= s.cooldown) {
		s.readKeys(ctx)
	}
	if k := (*s.current.Load())[id]; k != nil {
		return k, nil
	}
	if s.failure != nil {
		return nil, refuse("The keys of the token's issuer cannot be read at the moment. Try again in a minute.", s.failure)
	}
	return nil, refuse("The token is signed by a key that its issuer does not publish. Get a new token.", nil)
}

// refresh reads the keys, whenever they were last read.
func (s *KeySet) refresh(ctx context.Context) error {
	if s.read == nil {
		return nil
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	defer s.done()
	s.readKeys(ctx)
	return s.failure
}

// keep refreshes the keys until ctx ends.
func (s *KeySet) keep(ctx context.Context, failed func(error)) {
	if s.read == nil {
		return
	}
	for {
		wait := s.interval
		if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			wait = s.cooldown
			failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// readKeys replaces the keys if they can be read. Whoever calls it holds the turn.
func (s *KeySet) readKeys(ctx context.Context) {
	// The caller's leaving must not cost those who wait behind it their answer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	document, err := s.read(ctx, !s.tried.IsZero() && s.failure == nil)
	if err == nil && document != nil {
		var keys map[keyID]*key
		if keys, err = parseKeys(document); err == nil {
			s.replace(keys)
		}
	}
	s.tried, s.failure = s.now(), err
}

// replace puts new keys in force. A key that stays is the same value as before,
// and one that goes is marked, so that what it signed is forgotten wherever it is kept.
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
			k.gone.Store(true)
		}
	}
}

func (s *KeySet) await(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *KeySet) done() { <-s.turn }

func limited(r io.Reader) ([]byte, error) {
	document, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(document) > maxDocument {
		err = fmt.Errorf("the key set is larger than %d bytes", maxDocument)
	}
	return document, err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
