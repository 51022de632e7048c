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

// The algorithms that are accepted, each for one type of key.
var (
	rs256 = jwt.SigningMethodRS256.Alg()
	es256 = jwt.SigningMethodES256.Alg()
	eddsa = jwt.SigningMethodEdDSA.Alg()

	algorithms = []string{rs256, es256, eddsa}
)

// keyID finds a key. The algorithm is part of it, and follows from the key and
// not from the token, so a token cannot have a key used in any way but its own.
type keyID struct{ kid, alg string }

// key is a public key of an issuer for as long as the issuer publishes it.
type key struct {
	public crypto.PublicKey
	gone   atomic.Bool // no longer published: what it signed counts no more
}

// Bounds of a key set and of RSA keys, in bits.
const (
	maxDocument = 1 << 20
	maxKeys     = 128
	minRSA      = 2048
	maxRSA      = 8192
)

// webKey is a JSON Web Key, RFC 7517 and 8037, as far as it is needed here.
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

// parseKeys reads a JSON Web Key Set. Keys for other purposes, of other kinds or
// too weak are left out, as RFC 7517 section 5 wants it. A document that is
// ambiguous or lays open a private key is refused as a whole.
func parseKeys(document []byte) (map[keyID]*key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, fmt.Errorf("no JSON Web Key Set: %w", err)
	}
	if set.Keys == nil {
		return nil, errors.New("no JSON Web Key Set: keys is missing")
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
			return nil, fmt.Errorf("key %q has its private part: publish the public one alone, and replace the key", k.ID)
		}
		public, alg := k.public()
		if public == nil || (k.Algorithm != "" && k.Algorithm != alg) {
			continue
		}
		id := keyID{k.ID, alg}
		if _, twice := keys[id]; twice {
			return nil, fmt.Errorf("two keys are called %q", k.ID)
		}
		keys[id] = &key{public: public}
	}
	return keys, nil
}

func (k webKey) verifies() bool {
	return (k.Use == "" || k.Use == "sig") && (len(k.Operations) == 0 || slices.Contains(k.Operations, "verify"))
}

// public gives the key and its algorithm; nil means that it is not for use here.
func (k webKey) public() (crypto.PublicKey, string) {
	switch {
	case k.Type == "RSA":
		n, e := number(k.N), number(k.E)
		if bits := n.BitLen(); bits < minRSA || bits > maxRSA || n.Bit(0) == 0 {
			return nil, ""
		}
		if e.BitLen() < 2 || e.BitLen() > 31 || e.Bit(0) == 0 {
			return nil, ""
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}, rs256
	case k.Type == "EC" && k.Curve == "P-256":
		point := slices.Concat([]byte{4}, octets(k.X), octets(k.Y))
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
		if err != nil || len(octets(k.X)) != 32 {
			return nil, ""
		}
		return public, es256
	case k.Type == "OKP" && k.Curve == "Ed25519":
		public := octets(k.X)
		if len(public) != ed25519.PublicKeySize {
			return nil, ""
		}
		return ed25519.PublicKey(public), eddsa
	default:
		return nil, ""
	}
}

// describe is public in the other direction; the key's id is its RFC 7638
// thumbprint, so that it follows from the key and needs no place of its own.
func describe(public crypto.PublicKey) (webKey, error) {
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

// octets gives nil for what is no base64url; no key is made of nothing.
func octets(text string) []byte {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}

func number(text string) *big.Int {
	return new(big.Int).SetBytes(bytes.TrimLeft(octets(text), "\x00"))
}
