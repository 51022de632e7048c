package token

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/berthhq/berth/internal/secret"
	"github.com/berthhq/berth/internal/tenant"
)

// Issuer signs tokens with Berth's own key and publishes the public keys. Keys change while it runs: a new one is
// published before it signs, and an old one stays published until its source no longer has it.
type Issuer struct {
	now              func() time.Time
	issuer, audience string
	source           secret.Source
	ring             atomic.Pointer[[]signingKey]
	document         atomic.Pointer[[]byte] // the JSON Web Key Set
	keys             *KeySet
}

// signingKey is one of the issuer's keys.
type signingKey struct {
	secret.Signer

	method    jwt.SigningMethod
	public    webKey
	notBefore time.Time // zero if the key was there when the issuer was created
}

// Claims is the content of a token.
type Claims struct {
	Subject     string // a user, or "sa:<id>"
	Name, Email string // may be empty
	Verified    bool   // the address is known to be the subject's
	Tenants     []tenant.TenantID
	Members     map[tenant.TenantID]tenant.MemberID // who the subject is in some of the tenants; may be empty
	SignedInAt  time.Time                           // zero: not stated
	SignIn      string                              // which one it was, for those with Berth itself; may be empty
}

// OpenIssuer returns an issuer with the keys of a file: see secret.Files. If the file does not exist, it creates one
// with an Ed25519 key. Nodes that share the file accept each other's tokens.
func OpenIssuer(path, issuer, audience string, now func() time.Time) (*Issuer, error) {
	files := secret.Files{secret.Signing: path}
	if _, err := files.Create(); err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	return NewIssuer(context.Background(), files, issuer, audience, now)
}

// NewIssuer returns an issuer with the keys of a source. The verifier that trusts it reads them again: see
// Verifier.Run. If that fails, the keys stay as they are.
func NewIssuer(
	ctx context.Context, source secret.Source, issuer, audience string, now func() time.Time,
) (*Issuer, error) {
	i := &Issuer{now: now, issuer: issuer, audience: audience, source: source}
	i.keys = newKeySet(now, secret.ReloadEvery, secret.ReloadEvery)
	i.keys.read = func(ctx context.Context, _ bool) ([]byte, error) { return i.reload(ctx) }
	if err := i.keys.refresh(ctx); err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	return i, nil
}

// reload reads the keys, and returns the JSON Web Key Set if they have changed. KeySet runs one at a time.
func (i *Issuer) reload(ctx context.Context) ([]byte, error) {
	signers, err := i.source.Signers(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[string]signingKey)
	if old := i.ring.Load(); old != nil {
		for _, k := range *old {
			known[k.public.ID] = k
		}
	}
	ring := make([]signingKey, 0, len(signers))
	public := make([]webKey, 0, len(signers))
	for _, s := range signers {
		k := signingKey{Signer: s}
		if k.public, err = newWebKey(s.Public()); err != nil {
			return nil, fmt.Errorf("signing key: %w", err)
		}
		// While this node runs, other nodes run too, and have to publish a key before this one signs with it. A node that
		// starts cannot know since when they do, and keeps to the time that the key states.
		if old, ok := known[k.public.ID]; ok {
			k.notBefore = old.notBefore
		} else if len(known) > 0 {
			k.notBefore = i.now().Add(secret.PublishTime)
		}
		if k.From.Before(k.notBefore) {
			k.From = k.notBefore
		}
		k.method = jwt.GetSigningMethod(k.public.Algorithm)
		ring, public = append(ring, k), append(public, k.public)
	}
	document, err := json.Marshal(map[string][]webKey{"keys": public})
	if err != nil {
		return nil, err
	}
	if _, err := parseKeys(document); err != nil {
		return nil, err
	}
	i.ring.Store(&ring)
	i.document.Store(&document)
	return document, nil
}

// CheckSigners rejects keys with which an issuer cannot sign.
func CheckSigners(signers []secret.Signer) error {
	for _, s := range signers {
		if _, err := newWebKey(s.Public()); err != nil {
			return fmt.Errorf("signing key: %w", err)
		}
	}
	return nil
}

// signer returns the key that signs at a time.
func (i *Issuer) signer(at time.Time) signingKey {
	ring := *i.ring.Load()
	begins := make([]time.Time, len(ring))
	for n, k := range ring {
		begins[n] = k.From
	}
	return ring[secret.InUse(begins, at)]
}

// Issue signs a token that is valid for ttl from now, truncated to seconds.
func (i *Issuer) Issue(g Claims, ttl time.Duration) (raw string, expires time.Time, err error) {
	if len(g.Tenants) > maxTenants {
		return "", time.Time{}, fmt.Errorf("token: %d tenants, %d at most", len(g.Tenants), maxTenants)
	}
	now := i.now().Truncate(time.Second)
	expires = now.Add(ttl.Truncate(time.Second)).UTC()
	claims := jwt.MapClaims{
		"iss":     i.issuer,
		"aud":     i.audience,
		"sub":     g.Subject,
		"tenants": append([]tenant.TenantID{}, g.Tenants...),
		"iat":     now.Unix(),
		"exp":     expires.Unix(),
	}
	if g.Name != "" {
		claims["name"] = g.Name
	}
	if g.Email != "" {
		claims["email"] = g.Email
	}
	if !g.SignedInAt.IsZero() {
		claims["auth_time"] = g.SignedInAt.Unix()
	}
	if g.SignIn != "" {
		claims["sid"] = g.SignIn
	}
	if len(g.Members) > 0 {
		claims["members"] = g.Members
	}
	if g.Verified {
		claims["email_verified"] = true
	}
	key := i.signer(now)
	t := jwt.NewWithClaims(key.method, claims)
	t.Header["kid"] = key.public.ID
	raw, err = t.SignedString(key.Signer.Signer)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("token: sign: %w", err)
	}
	if len(raw) > maxToken {
		return "", time.Time{}, fmt.Errorf("token: %d bytes, %d at most", len(raw), maxToken)
	}
	return raw, expires, nil
}

// AsTrusted makes a verifier in this process accept the issuer's tokens.
func (i *Issuer) AsTrusted() TrustedIssuer {
	return TrustedIssuer{Issuer: i.issuer, Audience: i.audience, Keys: i.keys, ServiceAccounts: true}
}

// ServeHTTP publishes the public keys as a JSON Web Key Set.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/jwk-set+json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(*i.document.Load()) // fails only if the connection is closed
}
