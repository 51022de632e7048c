package token_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/token"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestVerifier_FollowsKeyRotation(t *testing.T) {
	t.Parallel()
	old, next, clock := es("1"), ed("2"), newClock()
	idp := newProvider(old)
	v := idp.verifier(t, clock.now)
	byOld, byNext := old.sign(valid()), next.sign(valid())
	verify := func(raw string) bool {
		_, err := v.Verify(t.Context(), raw)
		return err == nil
	}
	must.True(t, verify(byOld), must.Sprint("before the rotation"))
	must.False(t, verify(byNext), must.Sprint("before the rotation"))
	idp.publish(old, next)
	clock.advance(10 * time.Second)
	test.True(t, verify(byOld), test.Sprint("the new key was not found"))
	test.True(t, verify(byNext), test.Sprint("the new key was not found"))
	idp.publish(next)
	must.NoError(t, v.Refresh(t.Context()))
	test.False(t, verify(byOld), test.Sprint("a cached token is valid after its key was withdrawn"))
	test.True(t, verify(byNext), test.Sprint("a key that stayed was dropped"))
	// A new key with the same ID is another key.
	other := ed("2")
	idp.publish(other)
	must.NoError(t, v.Refresh(t.Context()))
	test.False(t, verify(byNext), test.Sprint("a key was replaced under its ID, and the old one is still valid"))
	test.True(t, verify(other.sign(valid())),
		test.Sprint("a key was replaced under its ID, and the old one is still valid"))
	idp.publish()
	must.NoError(t, v.Refresh(t.Context()))
	test.False(t, verify(other.sign(valid())), test.Sprint("an issuer without keys is trusted"))
}

func TestURLKeys_FetchOnceForConcurrentUnknownKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := ed("d")
		idp := newProvider(d)
		release := make(chan struct{})
		idp.hold = func(context.Context) { <-release }
		v := idp.verifier(t, time.Now)
		c := valid().with("iat", time.Now().Unix()).with("exp", time.Now().Add(time.Hour).Unix())
		fine := d.sign(c)
		var asks sync.WaitGroup
		for i := range 100 {
			asks.Go(func() {
				_, err := v.Verify(t.Context(), d.sign(c, claims{"kid": fmt.Sprint("unknown ", i)}))
				test.Error(t, err, test.Sprint("an unknown key was accepted"))
			})
			asks.Go(func() {
				expect.OK(t)(v.Verify(t.Context(), fine))
			})
		}
		synctest.Wait()
		close(release)
		asks.Wait()
		test.EqOp(t, 1, idp.fetched(), test.Sprint("fetches"))
	})
}

func TestURLKeys_WaitForCooldownBeforeNextFetch(t *testing.T) {
	t.Parallel()
	d, clock := ed("d"), newClock()
	idp := newProvider(d)
	v := idp.verifier(t, clock.now)
	for step, tc := range []struct {
		pass    time.Duration
		fail    error
		fetches int
	}{
		{0, nil, 1},
		{0, nil, 1},
		{9 * time.Second, nil, 1},
		{time.Second, nil, 2},
		{9*time.Second + 999*time.Millisecond, nil, 2},
		{time.Hour, errors.New("unreachable"), 3},
		{9 * time.Second, errors.New("unreachable"), 3}, // a failure does not shorten the cooldown
		{time.Second, nil, 4},
	} {
		clock.advance(tc.pass)
		idp.serve(http.StatusOK, keySet(d), tc.fail)
		for i := range 20 {
			_, err := v.Verify(t.Context(), d.sign(valid(), claims{"kid": fmt.Sprint("unknown ", step, i)}))
			must.Error(t, err, must.Sprint("an unknown key was accepted"))
		}
		test.EqOp(t, tc.fetches, idp.fetched(), test.Sprintf("step %d: fetches, want %d", step, tc.fetches))
	}
}

func TestURLKeys_KeepKeysIfFetchFails(t *testing.T) {
	t.Parallel()
	d := ed("d")
	for name, tc := range map[string]struct {
		status   int
		document []byte
		err      error
	}{
		"unreachable":      {err: errors.New("unreachable")},
		"an error":         {status: http.StatusInternalServerError, document: keySet()},
		"not found":        {status: http.StatusNotFound, document: keySet()},
		"a redirect":       {status: http.StatusFound, document: keySet()},
		"nothing":          {status: http.StatusOK},
		"a web page":       {status: http.StatusOK, document: []byte("<html>")},
		"another document": {status: http.StatusOK, document: []byte("{}")},
		"an endless one":   {status: http.StatusOK, document: append(keySet(), bytes.Repeat([]byte(" "), 1<<20)...)},
		"a broken one":     {status: http.StatusOK, document: keySet(d)[:40]},
		"a private key": {
			status:   http.StatusOK,
			document: []byte(`{"keys":[{"kid":"d","kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}]}`),
		},
		"two of one name":    {status: http.StatusOK, document: keySet(ed("x"), ed("x"))},
		"too many":           {status: http.StatusOK, document: []byte(`{"keys":[` + strings.Repeat("{},", 128) + `{}]}`)},
		"a list of no keys":  {status: http.StatusOK, document: []byte(`{"keys":null}`)},
		"a text for a list ": {status: http.StatusOK, document: []byte(`{"keys":"none"}`)},
	} {
		idp := newProvider(d)
		v := idp.verifier(t, newClock().now)
		test.False(t, v.Ready(), test.Sprintf("%s, before the first read", name))
		must.NoError(t, v.Refresh(t.Context()))
		idp.serve(tc.status, tc.document, tc.err)
		err := v.Refresh(t.Context())
		test.Error(t, err, test.Sprintf("%s: %v", name, err))
		test.StrContains(t, err.Error(), issuer, test.Sprintf("%s: %v", name, err))
		_, err = v.Verify(t.Context(), d.sign(valid()))
		test.NoError(t, err, test.Sprint(name))
		test.True(t, v.Ready(), test.Sprintf("%s, with the keys of before", name))
		// With no keys at all, the error says that the caller is not at fault.
		v = idp.verifier(t, newClock().now)
		_, err = v.Verify(t.Context(), d.sign(valid()))
		test.False(t, v.Ready(), test.Sprintf("%s, without keys", name))
		test.EqOp(t, fault.UnauthenticatedReason, fault.ReasonOf(err), test.Sprintf("%s, without keys: %v", name, err))
		test.StrContains(t, err.Error(), "not available right now", test.Sprintf("%s, without keys: %v", name, err))
	}
}

func TestURLKeys_TimeOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := ed("d")
		idp := newProvider(d)
		idp.hold = func(ctx context.Context) { <-ctx.Done() }
		start := time.Now()
		_, err := idp.verifier(t, time.Now).Verify(t.Context(), d.sign(valid()))
		took := time.Since(start)
		test.ErrorIs(t, err, context.DeadlineExceeded, test.Sprintf("after %s: %v", took, err))
		test.EqOp(t, fault.UnauthenticatedReason, fault.ReasonOf(err), test.Sprintf("after %s: %v", took, err))
		test.EqOp(t, 5*time.Second, took, test.Sprintf("after %s: %v", took, err))
	})
}

func TestURLKeys_CancelledCallerDoesNotFailOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := ed("d")
		idp := newProvider(d)
		release := make(chan struct{})
		idp.hold = func(context.Context) { <-release }
		v := idp.verifier(t, time.Now)
		raw := d.sign(valid().with("iat", time.Now().Unix()).with("exp", time.Now().Add(time.Hour).Unix()))
		fetching, leave := context.WithCancel(t.Context())
		waiting, leaveToo := context.WithCancel(t.Context())
		errs := make(map[string]error)
		var mu sync.Mutex
		var asks sync.WaitGroup
		ask := func(who string, ctx context.Context) {
			asks.Go(func() {
				_, err := v.Verify(ctx, raw)
				mu.Lock()
				errs[who] = err
				mu.Unlock()
			})
			synctest.Wait()
		}
		ask("fetches", fetching)
		ask("waits", waiting)
		ask("stays", t.Context())
		leave()
		leaveToo()
		synctest.Wait()
		mu.Lock()
		test.ErrorIs(t, errs["waits"], context.Canceled, test.Sprint("the caller that cancelled while waiting"))
		test.EqOp(t, "", fault.ReasonOf(errs["waits"]))
		mu.Unlock()
		close(release)
		asks.Wait()
		test.NoError(t, errs["stays"], test.Sprint("the caller that stayed"))
		test.EqOp(t, 1, idp.fetched(), test.Sprint("fetches"))
	})
}

func TestRun_DropsTokensOfWithdrawnKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := ed("d")
		idp := newProvider(d)
		v := idp.verifier(t, time.Now)
		raw := d.sign(valid().with("iat", time.Now().Unix()).with("exp", time.Now().Add(time.Hour).Unix()))
		ctx, stop := context.WithCancel(t.Context())
		var log bytes.Buffer
		var run sync.WaitGroup
		run.Go(func() { v.Run(ctx, slog.New(slog.NewTextHandler(&log, nil))) })
		synctest.Wait()
		at := func(when time.Duration, want bool) {
			t.Helper()
			<-time.After(when) // on the fake clock
			synctest.Wait()
			_, err := v.Verify(t.Context(), raw)
			test.EqOp(t, want, (err == nil), test.Sprintf("%v, want accepted", err))
		}
		at(0, true)
		idp.publish(ed("other"))
		at(5*time.Minute-time.Second, true)
		at(time.Second, false)

		idp.serve(http.StatusBadGateway, nil, nil)
		<-time.After(5 * time.Minute)
		synctest.Wait()
		idp.publish(d)
		at(9*time.Second, false)
		at(time.Second, true) // after a failure it retries soon
		stop()
		run.Wait()
		got := log.String()
		test.EqOp(t, 1, strings.Count(got, "\n"), test.Sprintf("logged %q", got))
		test.StrContains(t, got, "issuer="+issuer, test.Sprintf("logged %q", got))
		test.StrContains(t, got, "level=ERROR")
	})
}

func TestFileKeys_FollowFileChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	replace := func(document []byte) {
		t.Helper()
		must.NoError(t, os.WriteFile(path+".new", document, 0o600))
		must.NoError(t, os.Rename(path+".new", path))
	}
	clock := newClock()
	v := newVerifier(t, clock.now,
		token.TrustedIssuer{Issuer: issuer, Audience: audience, Keys: token.FileKeys(path, clock.now)})
	a, b := ed("a"), ed("b")
	check := func(when string, aOK, bOK bool) {
		t.Helper()
		for _, tc := range []struct {
			by   signer
			want bool
		}{{a, aOK}, {b, bOK}} {
			_, err := v.Verify(t.Context(), tc.by.sign(valid()))
			test.EqOp(t, tc.want, (err == nil), test.Sprintf("%s, key %s: %v", when, tc.by.kid, err))
		}
	}
	refresh := func(want bool) {
		t.Helper()
		err := v.Refresh(t.Context())
		test.EqOp(t, want, (err == nil), test.Sprintf("refresh: %v", err))
	}
	refresh(false)
	check("no file", false, false)

	replace(keySet(a))
	clock.advance(time.Second)
	check("its first version", true, false)
	refresh(true)
	refresh(true)
	check("the same version", true, false)

	replace(keySet(b)) // with the same size, and maybe the same time
	refresh(true)
	check("its second version", false, true)

	replace(keySet(a, b)[:60])
	refresh(false)
	refresh(false) // it has not changed and is still broken
	check("half a version", false, true)

	replace(keySet(a, b))
	clock.advance(time.Second)
	check("its last version", true, true)

	must.NoError(t, os.Remove(path))
	refresh(false)
	check("removed", true, true)
}

func TestURLKeys_RejectInsecureURLs(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://login.example.com/keys":         true,
		"http://localhost:8080/keys":             true,
		"http://127.0.0.1/keys":                  true,
		"http://[::1]:8080/keys":                 true,
		"http://login.example.com/keys":          false,
		"http://localhost.example.com/keys":      false,
		"http://127.0.0.1.example.com/keys":      false,
		"https://user:secret@login.example.com/": false,
		"file:///etc/keys.json":                  false,
		"login.example.com/keys":                 false,
		"https:///keys":                          false,
		"":                                       false,
		"\x00":                                   false,
	} {
		_, err := token.URLKeys(address, http.DefaultClient, time.Now)
		test.EqOp(t, want, (err == nil), test.Sprintf("%q: %v", address, err))
	}
}
