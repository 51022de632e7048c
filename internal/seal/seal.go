// Package seal keeps texts that only the service can read, and makes links that
// only the service can have made.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"github.com/berthhq/berth/internal/tenant"
)

// MinSecretLength is the least length of a secret, in bytes.
const MinSecretLength = 32

var (
	// ErrSecretTooShort says that a secret has fewer than MinSecretLength bytes.
	ErrSecretTooShort = errors.New("seal: a secret is shorter than 32 bytes")
	// ErrBroken says that a text was sealed with another key, for another tenant, or was changed since.
	ErrBroken = errors.New("seal: cannot be opened")
)

// Keys seal and sign. Every tenant has keys of its own, derived from the server's secret (HKDF, RFC 5869). The zero
// Keys open nothing and must not seal.
type Keys struct{ secrets [][]byte }

// NewKeys takes the server's secret, and those that it replaced for as long as what was made with them is to be good.
func NewKeys(current []byte, previous ...[]byte) (Keys, error) {
	var keys Keys
	for _, secret := range append([][]byte{current}, previous...) {
		if len(secret) < MinSecretLength {
			return Keys{}, ErrSecretTooShort
		}
		keys.secrets = append(keys.secrets, bytes.Clone(secret))
	}
	return keys, nil
}

func derive(secret []byte, in tenant.TenantID, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, secret, in.UUID[:], purpose, sha256.Size)
	if err != nil {
		panic("seal: " + err.Error()) // the length is right
	}
	return key
}

// sealer encrypts with AES-256 in GCM, with a nonce that it draws by itself.
func sealer(secret []byte, in tenant.TenantID) cipher.AEAD {
	block, err := aes.NewCipher(derive(secret, in, "berth/seal/v1"))
	if err != nil {
		panic("seal: " + err.Error()) // the length is right
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("seal: " + err.Error())
	}
	return aead
}

// Seal encrypts a tenant's text.
func (k Keys) Seal(in tenant.TenantID, text []byte) []byte {
	return sealer(k.secrets[0], in).Seal(nil, nil, text, in.UUID[:]) //nolint:gosec // the cipher draws its nonce by itself
}

// Open decrypts a text that Seal made for the tenant, or gives ErrBroken.
func (k Keys) Open(in tenant.TenantID, sealed []byte) ([]byte, error) {
	for _, secret := range k.secrets {
		if text, err := sealer(secret, in).Open(nil, nil, sealed, in.UUID[:]); err == nil {
			return text, nil
		}
	}
	return nil, ErrBroken
}

const tagLength = sha256.Size / 2

var encoding = base64.RawURLEncoding.Strict()

// Sign makes the part of a link that names a tenant and says something to it, for one purpose. It says it
// in the open: only that it was the service who said it is certain.
func (k Keys) Sign(in tenant.TenantID, purpose string, says []byte) string {
	text := append(bytes.Clone(in.UUID[:]), says...)
	return encoding.EncodeToString(append(text, tag(k.secrets[0], in, purpose, text)...))
}

// Token makes 128 bits from a seed, which nobody can do who lacks the secret. The same seed gives the same token.
func (k Keys) Token(in tenant.TenantID, purpose string, seed []byte) []byte {
	return tag(k.secrets[0], in, "token/"+purpose, seed)
}

// Verify reads what Sign made for the purpose; false for any other text.
func (k Keys) Verify(purpose, link string) (in tenant.TenantID, says []byte, ok bool) {
	raw, err := encoding.DecodeString(link)
	if err != nil || len(raw) < len(in.UUID)+tagLength {
		return in, nil, false
	}
	text, given := raw[:len(raw)-tagLength], raw[len(raw)-tagLength:]
	copy(in.UUID[:], text)
	for _, secret := range k.secrets {
		if hmac.Equal(given, tag(secret, in, purpose, text)) {
			return in, text[len(in.UUID):], true
		}
	}
	return tenant.TenantID{}, nil, false
}

func tag(secret []byte, in tenant.TenantID, purpose string, text []byte) []byte {
	mac := hmac.New(sha256.New, derive(secret, in, "berth/link/v1/"+purpose))
	mac.Write(text)
	return mac.Sum(nil)[:tagLength]
}
