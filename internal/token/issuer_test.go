package token_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

const ownIssuer = "https://berth.example.com"

func TestIssuer_IssuesVerifiableTokens(t *testing.T) {
	t.Parallel()
	clock := newClock()
	i := openIssuer(t, filepath.Join(t.TempDir(), "new", "signing.pem"), clock)
	account := tenant.MustParse[tenant.ServiceAccountID](tenantB)
	a := tenant.MustParse[tenant.TenantID](tenantA)
	clock.advance(1500 * time.Millisecond)
	raw, expires, err := i.Issue(token.Claims{
		Subject: tenant.AccountPrefix + account.String(), Name: "Turnstile", Tenants: []tenant.TenantID{a},
	}, time.Hour)
	must.NoError(t, err)
	want := token.Principal{
		Subject: "sa:" + tenantB, Issuer: ownIssuer, Own: true, Name: "Turnstile",
		Tenants: []tenant.TenantID{a}, Expires: noon.Add(time.Hour + time.Second),
	}
	test.True(t, expires.Equal(want.Expires), test.Sprintf("expires at %s", expires))

	// A verifier that fetches the published keys accepts it, like this process.
	server := httptest.NewServer(i)
	defer server.Close()
	remote := valueOf(token.URLKeys(server.URL, server.Client(), clock.now))
	for name, trust := range map[string]token.TrustedIssuer{
		"local":  i.AsTrusted(),
		"remote": {Issuer: ownIssuer, Audience: audience, Keys: remote, ServiceAccounts: true},
	} {
		got, err := newVerifier(t, clock.now, trust).Verify(t.Context(), raw)
		must.NoError(t, err, must.Sprint(name))
		test.Eq(t, want, got, test.Sprint(name))
	}
	tooMany := token.Claims{Subject: "ann", Tenants: make([]tenant.TenantID, 129)}
	test.Error(t, expect.Error(i.Issue(tooMany, time.Hour)), test.Sprint("a token that no verifier accepts was issued"))
}

// Who the subject is in a tenant is the member that the token names there, and in no other tenant.
func TestIssuer_NamesMembersByID(t *testing.T) {
	t.Parallel()
	clock := newClock()
	i := openIssuer(t, filepath.Join(t.TempDir(), "signing.pem"), clock)
	a, b := tenant.MustParse[tenant.TenantID](tenantA), tenant.MustParse[tenant.TenantID](tenantB)
	member, other := tenant.MustParse[tenant.MemberID](tenantB), tenant.MustParse[tenant.MemberID](tenantA)
	v := newVerifier(t, clock.now, i.AsTrusted())
	raw, _, err := i.Issue(token.Claims{
		Subject: tenant.MemberSubject(member), Tenants: []tenant.TenantID{a, b},
		Members: map[tenant.TenantID]tenant.MemberID{a: member, b: other},
	}, time.Hour)
	must.NoError(t, err)
	p := expect.Value(v.Verify(t.Context(), raw))(t)
	test.EqOp(t, "member:"+tenantB, p.SubjectIn(a))
	test.EqOp(t, "member:"+tenantA, p.SubjectIn(b))

	for name, members := range map[string]map[tenant.TenantID]tenant.MemberID{
		"a tenant that the token is not valid for": {b: member},
		"no member": {a: {}},
	} {
		raw, _, err := i.Issue(token.Claims{
			Subject: tenant.MemberSubject(member), Tenants: []tenant.TenantID{a}, Members: members,
		}, time.Hour)
		must.NoError(t, err, must.Sprint(name))
		test.ErrorContains(t, expect.Error(v.Verify(t.Context(), raw)), "claim members", test.Sprint(name))
	}
}

func TestOpenIssuer_CreatesKeyOnce(t *testing.T) {
	t.Parallel()
	clock := newClock()
	path := filepath.Join(t.TempDir(), "signing.pem")
	raws := make([]string, 16)
	var starts sync.WaitGroup
	for n := range raws {
		starts.Go(func() {
			raws[n], _, _ = openIssuer(t, path, clock).Issue(token.Claims{Subject: "ann"}, time.Hour)
		})
	}
	starts.Wait()
	v := newVerifier(t, clock.now, openIssuer(t, path, clock).AsTrusted())
	for _, raw := range raws {
		test.NoError(t, expect.Error(v.Verify(t.Context(), raw)))
	}
	test.EqOp(t, 0o600, valueOf(os.Stat(path)).Mode().Perm())
	left := valueOf(os.ReadDir(filepath.Dir(path)))
	test.EqOp(t, 1, len(left), test.Sprintf("left behind: %v", left))
}

func TestOpenIssuer_AcceptsECKey(t *testing.T) {
	t.Parallel()
	clock := newClock()
	path := filepath.Join(t.TempDir(), "signing.pem")
	der := valueOf(x509.MarshalPKCS8PrivateKey(es("").private))
	write(t, path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o440)
	i := openIssuer(t, path, clock)
	raw, _, err := i.Issue(token.Claims{Subject: "ann", Email: "ann@example.com"}, time.Hour)
	must.NoError(t, err)
	p := expect.Value(newVerifier(t, clock.now, i.AsTrusted()).Verify(t.Context(), raw))(t)
	test.EqOp(t, "ann@example.com", p.Email, test.Sprintf("%+v", p))
}

func TestOpenIssuer_RejectsUnusableKeys(t *testing.T) {
	t.Parallel()
	block := func(kind string, content []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	}
	encoded := func(private any) []byte { return block("PRIVATE KEY", valueOf(x509.MarshalPKCS8PrivateKey(private))) }
	secret := encoded(ed("").private)
	for name, tt := range map[string]struct {
		text []byte
		mode os.FileMode
		want string
	}{
		"a file everyone can read": {secret, 0o604, "chmod 600"},
		"an empty file":            {nil, 0o600, "no PEM block"},
		"no PEM":                   {[]byte("secret"), 0o600, "no PEM block"},
		"another block":            {block("CERTIFICATE", []byte("secret")), 0o600, "no PEM block"},
		"no key in it":             {block("PRIVATE KEY", []byte("secret")), 0o600, "no PKCS #8 key"},
		"an RSA key":               {encoded(newRSA()), 0o600, "must be Ed25519"},
		"a P-384 key":              {encoded(valueOf(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))), 0o600, "P-256"},
	} {
		path := filepath.Join(t.TempDir(), "signing.pem")
		write(t, path, tt.text, tt.mode)
		_, err := token.OpenIssuer(path, ownIssuer, audience, time.Now)
		test.Error(t, err, test.Sprintf("%s: %v", name, err))
		test.StrContains(t, err.Error(), tt.want, test.Sprintf("%s: %v", name, err))
		test.False(
			t, err != nil && strings.Contains(err.Error(), "secret"),
			test.Sprintf("%s: the error repeats the file: %v", name, err),
		)
	}
	test.Error(
		t, expect.Error(token.OpenIssuer(t.TempDir(), ownIssuer, audience, time.Now)), test.Sprint("a directory was opened"),
	)
}

func TestIssuer_PublishesOnlyPublicKey(t *testing.T) {
	t.Parallel()
	i := openIssuer(t, filepath.Join(t.TempDir(), "signing.pem"), newClock())
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "DELETE": 405} {
		w := httptest.NewRecorder()
		i.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/.well-known/jwks.json", http.NoBody))
		test.EqOp(t, want, w.Code, test.Sprint(method))
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/.well-known/jwks.json", http.NoBody))
	var set struct{ Keys []map[string]any }
	must.NoError(t, json.Unmarshal(w.Body.Bytes(), &set))
	must.SliceLen(t, 1, set.Keys)
	public := map[string]any{
		"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "x": set.Keys[0]["x"], "kid": set.Keys[0]["kid"],
	}
	test.Eq(t, public, set.Keys[0])
	test.EqOp(t, "application/jwk-set+json", w.Header().Get("Content-Type"), test.Sprint("content type"))
}

func openIssuer(t testing.TB, path string, clock *clock) *token.Issuer {
	t.Helper()
	i := expect.Value(token.OpenIssuer(path, ownIssuer, audience, clock.now))(t)
	return i
}

func write(t *testing.T, path string, text []byte, mode os.FileMode) {
	t.Helper()
	must.NoError(t, os.WriteFile(path, text, 0o600))
	must.NoError(t, os.Chmod(path, mode)) // regardless of the umask
}
