// Package seal encrypts texts that only the service can read, and signs links that only the service can make.
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

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// MinSecretLength is the minimum length of a secret in bytes.
const MinSecretLength = 32

var (
	// ErrSecretTooShort says that a secret has fewer than MinSecretLength bytes.
	ErrSecretTooShort = errors.New("seal: a secret is shorter than 32 bytes")
	// ErrLinkInvalid refuses a link that was not signed for its purpose, or does not say what it should: LINK_INVALID.
	ErrLinkInvalid = fault.New(fault.FailedPrecondition, fault.LinkInvalid, "The link is not good.")
	// ErrInvalid says that a text was sealed with another key or for another tenant, or was changed.
	ErrInvalid = errors.New("seal: cannot be opened")
)

// Keys seal and sign. Each tenant has its own keys, derived from the server's secret (HKDF, RFC 5869).
// The zero Keys open nothing and must not seal.
type Keys struct{ secrets func() [][]byte }

// NewKeys takes the server's secret, and previous ones whose texts and links are still valid.
func NewKeys(current []byte, previous ...[]byte) (Keys, error) {
	var secrets [][]byte
	for _, secret := range append([][]byte{current}, previous...) {
		if len(secret) < MinSecretLength {
			return Keys{}, ErrSecretTooShort
		}
		secrets = append(secrets, bytes.Clone(secret))
	}
	return RotatingKeys(func() [][]byte { return secrets }), nil
}

// RotatingKeys takes secrets that may change: each use asks for them. The first seals and signs, and all open and
// verify. Each has at least MinSecretLength bytes.
func RotatingKeys(secrets func() [][]byte) Keys { return Keys{secrets} }

func (k Keys) all() [][]byte {
	if k.secrets == nil {
		return nil
	}
	return k.secrets()
}

func derive(secret []byte, in tenant.TenantID, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, secret, in.UUID[:], purpose, sha256.Size)
	if err != nil {
		panic("seal: " + err.Error()) // the length is right
	}
	return key
}

// sealer encrypts with AES-256-GCM and a random nonce.
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
	return sealer(k.all()[0], in).Seal(nil, nil, text, in.UUID[:]) //nolint:gosec // the cipher adds a random nonce
}

// Open decrypts a text that Seal encrypted for the tenant, or returns ErrInvalid.
func (k Keys) Open(in tenant.TenantID, sealed []byte) ([]byte, error) {
	for _, secret := range k.all() {
		if text, err := sealer(secret, in).Open(nil, nil, sealed, in.UUID[:]); err == nil {
			return text, nil
		}
	}
	return nil, ErrInvalid
}

// Hashes returns a keyed hash of a text with each secret, that of the current one first, to look up what is sealed. It
// cannot be computed without the secret.
func (k Keys) Hashes(in tenant.TenantID, purpose, text string) [][]byte {
	var hashes [][]byte
	for _, secret := range k.all() {
		mac := hmac.New(sha256.New, derive(secret, in, "berth/hash/v1/"+purpose))
		mac.Write([]byte(text))
		hashes = append(hashes, mac.Sum(nil))
	}
	return hashes
}

// ChecksumSize is the length of a checksum in bytes.
const ChecksumSize = 4

// Checksum returns a keyed checksum of a text, which is part of keys and links whose secrets are stored as hashes. It
// tells what the service made from what was invented, without a look into the database. It proves nothing else: it is
// short, and what it belongs to may be revoked.
func (k Keys) Checksum(in tenant.TenantID, purpose string, text []byte) []byte {
	return checksum(k.all()[0], in, purpose, text)
}

// HasChecksum reports whether Checksum made the checksum of a text.
func (k Keys) HasChecksum(in tenant.TenantID, purpose string, text, sum []byte) bool {
	for _, secret := range k.all() {
		if hmac.Equal(sum, checksum(secret, in, purpose, text)) {
			return true
		}
	}
	return false
}

func checksum(secret []byte, in tenant.TenantID, purpose string, text []byte) []byte {
	return tag(secret, in, "checksum/"+purpose, text)[:ChecksumSize]
}

const tagLength = sha256.Size / 2

var encoding = base64.RawURLEncoding.Strict()

// Sign returns a part of a link that contains a tenant and a payload for one purpose.
// The payload is signed, not encrypted.
func (k Keys) Sign(in tenant.TenantID, purpose string, says []byte) string {
	text := append(bytes.Clone(in.UUID[:]), says...)
	return encoding.EncodeToString(append(text, tag(k.all()[0], in, purpose, text)...))
}

// Token derives 128 bits from a seed. It cannot be computed without the secret. The same seed gives the same token.
func (k Keys) Token(in tenant.TenantID, purpose string, seed []byte) []byte {
	return tag(k.all()[0], in, "token/"+purpose, seed)
}

// Verify returns what Sign signed for the purpose. Any other text is LINK_INVALID.
func (k Keys) Verify(purpose, link string) (in tenant.TenantID, says []byte, err error) {
	raw, err := encoding.DecodeString(link)
	if err != nil || len(raw) < len(in.UUID)+tagLength {
		return in, nil, ErrLinkInvalid
	}
	text, given := raw[:len(raw)-tagLength], raw[len(raw)-tagLength:]
	copy(in.UUID[:], text)
	for _, secret := range k.all() {
		if hmac.Equal(given, tag(secret, in, purpose, text)) {
			return in, text[len(in.UUID):], nil
		}
	}
	return tenant.TenantID{}, nil, ErrLinkInvalid
}

func tag(secret []byte, in tenant.TenantID, purpose string, text []byte) []byte {
	mac := hmac.New(sha256.New, derive(secret, in, "berth/link/v1/"+purpose))
	mac.Write(text)
	return mac.Sum(nil)[:tagLength]
}
