package token_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"math/big"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

const (
	issuer   = "https://login.example.com/"
	audience = "berth"
	keysURL  = "https://login.example.com/keys"
	tenantA  = "018f5e6e-0000-7000-8000-00000000000a"
	tenantB  = "018f5e6e-0000-7000-8000-00000000000b"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// clock only moves when it is set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: noon} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// signer is an issuer's key.
type signer struct {
	kid     string
	method  jwt.SigningMethod
	private crypto.Signer
}

var newRSA = sync.OnceValue(func() crypto.Signer { return valueOf(rsa.GenerateKey(rand.Reader, 2048)) })

func rs(kid string) signer { return signer{kid, jwt.SigningMethodRS256, newRSA()} }

func es(kid string) signer {
	return signer{kid, jwt.SigningMethodES256, valueOf(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))}
}

func ed(kid string) signer {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return signer{kid, jwt.SigningMethodEdDSA, private}
}

// jwk encodes the public key by hand, so the code under test does not read its own output.
func (s signer) jwk() map[string]any {
	k := map[string]any{"kid": s.kid, "use": "sig", "alg": s.method.Alg()}
	switch public := s.private.Public().(type) {
	case *rsa.PublicKey:
		k["kty"], k["n"], k["e"] = "RSA", b64(public.N.Bytes()), b64(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point := valueOf(public.Bytes())
		size := (len(point) - 1) / 2
		k["kty"], k["crv"] = "EC", public.Params().Name
		k["x"], k["y"] = b64(point[1:1+size]), b64(point[1+size:])
	case ed25519.PublicKey:
		k["kty"], k["crv"], k["x"] = "OKP", "Ed25519", b64(public)
	}
	return k
}

func keySet(signers ...signer) []byte {
	keys := []any{}
	for _, s := range signers {
		keys = append(keys, s.jwk())
	}
	return valueOf(json.Marshal(map[string]any{"keys": keys}))
}

type claims map[string]any

// valid returns claims that are valid at noon.
func valid() claims {
	return claims{
		"iss": issuer, "aud": audience, "sub": "ann", "tenants": []string{tenantA},
		"iat": noon.Unix(), "exp": noon.Add(time.Hour).Unix(),
	}
}

func (c claims) with(name string, value any) claims {
	out := maps.Clone(c)
	out[name] = value
	return out
}

func (c claims) without(name string) claims {
	out := maps.Clone(c)
	delete(out, name)
	return out
}

// sign signs claims. Entries of header replace the usual ones; nil removes one.
func (s signer) sign(c claims, header ...claims) string {
	h := claims{"alg": s.method.Alg(), "typ": "JWT", "kid": s.kid}
	for _, more := range header {
		maps.Copy(h, more)
	}
	maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
	return s.signText(string(valueOf(json.Marshal(h))), string(valueOf(json.Marshal(c))))
}

func (s signer) signText(header, payload string) string {
	signed := b64([]byte(header)) + "." + b64([]byte(payload))
	return signed + "." + b64(valueOf(s.method.Sign(signed, s.private)))
}

// provider is an identity provider behind an HTTP client.
type provider struct {
	mu       sync.Mutex
	document []byte
	status   int
	fail     error
	fetches  int
	hold     func(context.Context)
}

func newProvider(signers ...signer) *provider {
	return &provider{document: keySet(signers...), status: http.StatusOK}
}

func (p *provider) publish(signers ...signer) { p.serve(http.StatusOK, keySet(signers...), nil) }

func (p *provider) serve(status int, document []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.document, p.fail = status, document, err
}

func (p *provider) fetched() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.fetches++
	status, document, err, hold := p.status, p.document, p.fail, p.hold
	p.mu.Unlock()
	if hold != nil {
		hold(r.Context())
	}
	if err == nil {
		err = r.Context().Err()
	}
	if err != nil {
		return nil, err
	}
	if r.URL.Host != "login.example.com" {
		status, document = http.StatusOK, keySet() // the target of a redirect
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Request: r,
		Header: http.Header{"Location": {"https://other.example.com/keys"}},
		Body:   io.NopCloser(bytes.NewReader(document)),
	}, nil
}

// verifier returns a verifier that only trusts this provider.
func (p *provider) verifier(t testing.TB, now func() time.Time) *token.Verifier {
	t.Helper()
	keys := expect.Value(token.URLKeys(keysURL, &http.Client{Transport: p}, now))(t)
	return newVerifier(t, now, token.TrustedIssuer{Issuer: issuer, Audience: audience, Keys: keys})
}

func newVerifier(t testing.TB, now func() time.Time, trusts ...token.TrustedIssuer) *token.Verifier {
	t.Helper()
	return expect.Value(token.NewVerifier(now, trusts...))(t)
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func valueOf[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
