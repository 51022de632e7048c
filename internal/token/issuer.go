package token

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/berthhq/berth/internal/tenant"
)

// Issuer signs tokens with Berth's own key and publishes the public key.
type Issuer struct {
	now              func() time.Time
	issuer, audience string
	method           jwt.SigningMethod
	private          crypto.Signer
	public           webKey
	document         []byte // the JSON Web Key Set
	keys             *KeySet
}

// Claims is the content of a token.
type Claims struct {
	Subject     string // a user, or "sa:<id>"
	Name, Email string // may be empty
	Tenants     []tenant.TenantID
}

// OpenIssuer loads the private key from a PEM file (PKCS #8; Ed25519, or EC on P-256). If the file does not exist,
// it creates an Ed25519 key and writes it, readable by the owner only. Nodes that share the file accept each other's
// tokens.
func OpenIssuer(path, issuer, audience string, now func() time.Time) (*Issuer, error) {
	private, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(path); err == nil {
			private, err = load(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("token: signing key: %w", err)
	}
	i := &Issuer{now: now, issuer: issuer, audience: audience, private: private, keys: newKeySet(now, 0, 0)}
	if i.public, err = newWebKey(private.Public()); err != nil {
		return nil, fmt.Errorf("token: signing key %s: %w", path, err)
	}
	i.method = jwt.GetSigningMethod(i.public.Algorithm)
	if i.document, err = json.Marshal(map[string][]webKey{"keys": {i.public}}); err != nil {
		return nil, err
	}
	keys, err := parseKeys(i.document)
	if err != nil {
		return nil, err
	}
	i.keys.replace(keys)
	return i, nil
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
	t := jwt.NewWithClaims(i.method, claims)
	t.Header["kid"] = i.public.ID
	raw, err = t.SignedString(i.private)
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

// ServeHTTP publishes the public key as a JSON Web Key Set.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/jwk-set+json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(i.document) // fails only if the connection is closed
}

const pemType = "PRIVATE KEY"

func load(path string) (crypto.Signer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// The group may read it, because orchestrators give secrets to unprivileged processes that way.
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("everyone can read %s: restrict its permissions (chmod 600)", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("%s has no PEM block %q", path, pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s has no PKCS #8 key", path)
	}
	signer, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s has a key that cannot sign", path)
	}
	return signer, nil
}

// create writes a new key to the path, unless another process was faster and wrote its own.
// The file appears complete or not at all.
func create(path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), ".signing-key-*") // has mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	err = pem.Encode(draft, &pem.Block{Type: pemType, Bytes: der})
	if err == nil {
		err = draft.Sync()
	}
	if closeErr := draft.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
