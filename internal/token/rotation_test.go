package token_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/secret"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// signingNode is a node with its own copy of the file of signing keys.
type signingNode struct {
	path     string
	issuer   *token.Issuer
	verifier *token.Verifier
}

func newSigningNode(t *testing.T, path string, clock *clock) signingNode {
	t.Helper()
	issuer := openIssuer(t, path, clock)
	return signingNode{path, issuer, newVerifier(t, clock.now, issuer.AsTrusted())}
}

// twoNodes returns nodes that have the same key.
func twoNodes(t *testing.T, clock *clock) (a, b signingNode) {
	t.Helper()
	folder := t.TempDir()
	a = newSigningNode(t, filepath.Join(folder, "a.pem"), clock)
	copyFile(t, a.path, filepath.Join(folder, "b.pem"))
	return a, newSigningNode(t, filepath.Join(folder, "b.pem"), clock)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	must.NoError(t, os.WriteFile(to, expect.Value(os.ReadFile(from))(t), 0o600))
}

// replaceKey replaces the only key of a node, which then has no other one to sign with.
func replaceKey(t *testing.T, n signingNode, clock *clock) {
	t.Helper()
	another := filepath.Join(t.TempDir(), "another.pem")
	openIssuer(t, another, clock)
	copyFile(t, another, n.path)
	must.NoError(t, n.verifier.Refresh(t.Context()))
}

func kidOf(t *testing.T, raw string) string {
	t.Helper()
	parsed, _, err := jwt.NewParser().ParseUnverified(raw, jwt.MapClaims{})
	must.NoError(t, err)
	return parsed.Header["kid"].(string)
}

func (n signingNode) issue(t *testing.T) string {
	t.Helper()
	raw, _, err := n.issuer.Issue(token.Claims{Subject: "ann"}, 15*time.Minute)
	must.NoError(t, err)
	return raw
}

// A rotation with two nodes, of which the second gets the new file late. Every token is accepted by both nodes, and by
// a service that caches the published keys, until it expires.
func TestIssuer_RotatesWithoutEndingTokens(t *testing.T) {
	t.Parallel()
	clock := newClock()
	a, b := twoNodes(t, clock)
	server := httptest.NewServer(b.issuer)
	defer server.Close()
	remote := newVerifier(t, clock.now, token.TrustedIssuer{
		Issuer: ownIssuer, Audience: audience, ServiceAccounts: true,
		Keys: valueOf(token.URLKeys(server.URL, server.Client(), clock.now)),
	})
	files := secret.Files{secret.Signing: a.path}
	first := kidOf(t, a.issue(t))
	valid := make(map[string]time.Time) // until when
	start := clock.now()
	for clock.now().Before(start.Add(time.Hour)) {
		switch clock.now().Sub(start) {
		case 5 * time.Minute:
			must.NoError(t, files.Add(t.Context(), secret.Signing, clock.now().Add(secret.PublishTime)))
		case 9 * time.Minute:
			copyFile(t, a.path, b.path)
		case 45 * time.Minute:
			test.EqOp(t, 1, expect.Value(files.Prune(t.Context(), secret.Signing, clock.now().Add(-20*time.Minute)))(t))
			copyFile(t, a.path, b.path)
		}
		for _, n := range []signingNode{a, b} {
			must.NoError(t, n.verifier.Refresh(t.Context()))
			valid[n.issue(t)] = clock.now().Add(15 * time.Minute)
		}
		for raw, until := range valid {
			if !clock.now().Before(until) {
				delete(valid, raw)
				continue
			}
			for _, v := range []*token.Verifier{a.verifier, b.verifier, remote} {
				_, err := v.Verify(t.Context(), raw)
				must.NoError(t, err, must.Sprintf("%s after the start", clock.now().Sub(start)))
			}
		}
		clock.advance(time.Minute)
	}
	test.NotEqOp(t, first, kidOf(t, a.issue(t)), test.Sprint("the key did not change"))
	test.EqOp(t, kidOf(t, a.issue(t)), kidOf(t, b.issue(t)))
}

// Negative control: a node that signs with a new key at once is refused by a node that does not have it yet.
func TestIssuer_TokensOfAKeyThatIsNotPublishedAreRefused(t *testing.T) {
	t.Parallel()
	clock := newClock()
	a, b := twoNodes(t, clock)
	replaceKey(t, a, clock)
	expect.Reason(t, fault.UnauthenticatedReason)(b.verifier.Verify(t.Context(), a.issue(t)))
}

// A running node publishes a new key before it signs, whatever the file says.
func TestIssuer_SignsWithANewKeyOnlyAfterPublishingIt(t *testing.T) {
	t.Parallel()
	clock := newClock()
	a, b := twoNodes(t, clock)
	first := kidOf(t, a.issue(t))
	must.NoError(t, secret.Files{secret.Signing: a.path}.Add(t.Context(), secret.Signing, clock.now()))
	must.NoError(t, a.verifier.Refresh(t.Context()))
	clock.advance(secret.PublishTime - time.Second)
	must.NoError(t, a.verifier.Refresh(t.Context()))
	test.EqOp(t, first, kidOf(t, a.issue(t)))
	copyFile(t, a.path, b.path)
	clock.advance(time.Second)
	raw := a.issue(t)
	test.NotEqOp(t, first, kidOf(t, raw))
	test.NoError(t, expect.Error(b.verifier.Verify(t.Context(), raw))) // the unknown key makes it read its file
}

func TestIssuer_KeepsItsKeysWhileTheFileIsBroken(t *testing.T) {
	t.Parallel()
	a, _ := twoNodes(t, newClock())
	raw := a.issue(t)
	must.NoError(t, os.WriteFile(a.path, []byte("-----BEGIN PRIVATE"), 0o600))
	test.Error(t, a.verifier.Refresh(t.Context()))
	test.EqOp(t, kidOf(t, raw), kidOf(t, a.issue(t)))
	test.NoError(t, expect.Error(a.verifier.Verify(t.Context(), raw)))
}

// A key that is removed from the file ends its tokens at once: that is how to react to a leak.
func TestIssuer_WithdrawsAKeyThatIsRemoved(t *testing.T) {
	t.Parallel()
	clock := newClock()
	a, _ := twoNodes(t, clock)
	raw := a.issue(t)
	expect.OK(t)(a.verifier.Verify(t.Context(), raw))
	replaceKey(t, a, clock)
	expect.Reason(t, fault.UnauthenticatedReason)(a.verifier.Verify(t.Context(), raw))
}

// Tokens that are issued and verified at the same time as the keys change are all accepted.
func TestIssuer_RotatesUnderLoad(t *testing.T) {
	t.Parallel()
	clock := newClock()
	a, b := twoNodes(t, clock)
	files := secret.Files{secret.Signing: a.path}
	first := kidOf(t, a.issue(t))
	done := make(chan struct{})
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				for _, n := range []signingNode{a, b} {
					raw, _, err := n.issuer.Issue(token.Claims{Subject: "ann"}, 24*time.Hour)
					test.NoError(t, err)
					for _, v := range []*token.Verifier{a.verifier, b.verifier} {
						test.NoError(t, expect.Error(v.Verify(t.Context(), raw)))
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		test.NoError(t, files.Add(t.Context(), secret.Signing, clock.now().Add(secret.PublishTime)))
		copyFile(t, a.path, b.path)
		for range 15 {
			test.NoError(t, a.verifier.Refresh(t.Context()))
			test.NoError(t, b.verifier.Refresh(t.Context()))
			clock.advance(time.Minute)
		}
	}
	close(done)
	load.Wait()
	test.NotEqOp(t, first, kidOf(t, a.issue(t)))
}

// A key that leaked stays valid while the file with the next one is not accepted. That is an error, which is told once.
func TestRun_TellsThatALeakedKeyStaysValid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		path, next := filepath.Join(folder, "signing.pem"), filepath.Join(folder, "next.pem")
		leaked := expect.Value(token.OpenIssuer(path, ownIssuer, audience, time.Now))(t)
		v := newVerifier(t, time.Now, leaked.AsTrusted())
		raw, _, err := leaked.Issue(token.Claims{Subject: "ann"}, time.Hour)
		must.NoError(t, err)
		expect.OK(t)(token.OpenIssuer(next, ownIssuer, audience, time.Now))
		must.NoError(t, os.Chmod(next, 0o644))
		must.NoError(t, os.Rename(next, path))

		ctx, stop := context.WithCancel(t.Context())
		var log bytes.Buffer
		var run sync.WaitGroup
		run.Go(func() { v.Run(ctx, slog.New(slog.NewTextHandler(&log, nil))) })
		<-time.After(time.Minute) // on the fake clock
		synctest.Wait()
		expect.OK(t)(v.Verify(t.Context(), raw))
		must.NoError(t, os.Chmod(path, 0o640))
		<-time.After(3 * time.Second)
		synctest.Wait()
		expect.Reason(t, fault.UnauthenticatedReason)(v.Verify(t.Context(), raw))
		stop()
		run.Wait()
		test.EqOp(t, 1, strings.Count(log.String(), "\n"), test.Sprint(log.String()))
		test.StrContains(t, log.String(), "level=ERROR")
		test.StrContains(t, log.String(), "everyone can read")
	})
}
