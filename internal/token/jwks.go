package token

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/golang-jwt/jwt/v5"
)

// The accepted signature algorithms, each for one type of key.
var (
	rs256 = jwt.SigningMethodRS256.Alg()
	es256 = jwt.SigningMethodES256.Alg()
	eddsa = jwt.SigningMethodEdDSA.Alg()

	algorithms = []string{rs256, es256, eddsa}
)

// keyID identifies a key. The algorithm is part of it and comes from the key, not from the token,
// so a token cannot use a key with another algorithm.
type keyID struct{ kid, alg string }

// key is an issuer's public key while the issuer publishes it.
type key struct {
	public    crypto.PublicKey
	withdrawn atomic.Bool // no longer published: tokens signed with it are invalid
}

// Limits of a key set in bytes and keys, and of RSA keys in bits.
const (
	maxDocument = 1 << 20
	maxKeys     = 128
	minRSA      = 2048
	maxRSA      = 8192
)

// webKey has the members of a JSON Web Key (RFC 7517 and RFC 8037) that this package uses.
type webKey struct {
	Type       string   `json:"kty"`
	ID         string   `json:"kid,omitempty"`
	Use        string   `json:"use,omitempty"`
	Algorithm  string   `json:"alg,omitempty"`
	Operations []string `json:"key_ops,omitempty"`
	Curve      string   `json:"crv,omitempty"`
	X          string   `json:"x,omitempty"`
	Y          string   `json:"y,omitempty"`
	N          string   `json:"n,omitempty"`
	E          string   `json:"e,omitempty"`
	D          string   `json:"d,omitempty"`
}

// parseKeys parses a JSON Web Key Set. It ignores keys that are for other uses, of other types or too weak, as RFC 7517
// section 5 says. It rejects a document that is ambiguous or contains a private key.
func parseKeys(document []byte) (map[keyID]*key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, fmt.Errorf("not a JSON Web Key Set: %w", err)
	}
	if set.Keys == nil {
		return nil, errors.New("not a JSON Web Key Set: keys is missing")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("more than %d keys", maxKeys)
	}
	keys := make(map[keyID]*key, len(set.Keys))
	for _, raw := range set.Keys {
		var k webKey
		if json.Unmarshal(raw, &k) != nil || k.ID == "" || !k.verifies() {
			continue
		}
		if k.D != "" {
			return nil, fmt.Errorf("key %q includes its private key: publish only the public key, and replace the key", k.ID)
		}
		public, alg := k.public()
		if public == nil || (k.Algorithm != "" && k.Algorithm != alg) {
			continue
		}
		id := keyID{k.ID, alg}
		if _, twice := keys[id]; twice {
			return nil, fmt.Errorf("two keys have the ID %q", k.ID)
		}
		keys[id] = &key{public: public}
	}
	return keys, nil
}

func (k webKey) verifies() bool {
	return (k.Use == "" || k.Use == "sig") && (len(k.Operations) == 0 || slices.Contains(k.Operations, "verify"))
}

// public returns the key and its algorithm, or nil if it is not usable here.
func (k webKey) public() (crypto.PublicKey, string) {
	switch {
	case k.Type == "RSA":
		n, e := decodeInt(k.N), decodeInt(k.E)
		if bits := n.BitLen(); bits < minRSA || bits > maxRSA || n.Bit(0) == 0 {
			return nil, ""
		}
		if e.BitLen() < 2 || e.BitLen() > 31 || e.Bit(0) == 0 {
			return nil, ""
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}, rs256
	case k.Type == "EC" && k.Curve == "P-256":
		point := slices.Concat([]byte{4}, decode(k.X), decode(k.Y))
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
		if err != nil || len(decode(k.X)) != 32 {
			return nil, ""
		}
		return public, es256
	case k.Type == "OKP" && k.Curve == "Ed25519":
		public := decode(k.X)
		if len(public) != ed25519.PublicKeySize {
			return nil, ""
		}
		return ed25519.PublicKey(public), eddsa
	default:
		return nil, ""
	}
}

// newWebKey is the inverse of public. The key's ID is its RFC 7638 thumbprint, so it need not be stored.
func newWebKey(public crypto.PublicKey) (webKey, error) {
	var k webKey
	switch public := public.(type) {
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil || public.Curve != elliptic.P256() {
			return k, errors.New("an EC key must be on the curve P-256")
		}
		k = webKey{Type: "EC", Curve: "P-256", X: encode(point[1:33]), Y: encode(point[33:])}
		k.Algorithm = es256
	case ed25519.PublicKey:
		k = webKey{Type: "OKP", Curve: "Ed25519", X: encode(public)}
		k.Algorithm = eddsa
	default:
		return k, errors.New("the key must be Ed25519, or EC on the curve P-256")
	}
	members := fmt.Sprintf(`{"crv":%q,"kty":%q,"x":%q`, k.Curve, k.Type, k.X)
	if k.Y != "" {
		members += fmt.Sprintf(`,"y":%q`, k.Y)
	}
	thumb := sha256.Sum256([]byte(members + "}"))
	k.ID, k.Use = encode(thumb[:]), "sig"
	return k, nil
}

func equal(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// decode returns nil for invalid base64url. No key is empty, so nil is never valid.
func decode(text string) []byte {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}

func decodeInt(text string) *big.Int {
	return new(big.Int).SetBytes(bytes.TrimLeft(decode(text), "\x00"))
}
