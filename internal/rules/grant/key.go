package grant

import (
	"crypto/sha256"
	"crypto/subtle"
	"math/big"
	"strings"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Secret is the random part of a key.
type Secret [32]byte

// Hash returns what is stored of a secret. A plain SHA-256 is enough, because the secret has 256 random bits: key
// stretching is for passwords, which can be guessed.
func (s Secret) Hash() [32]byte { return sha256.Sum256(s[:]) }

// Check compares the secret with a stored hash, in constant time: KEY_INVALID. An empty hash matches no secret.
func (s Secret) Check(hash []byte) error {
	own := s.Hash()
	if subtle.ConstantTimeCompare(own[:], hash) != 1 {
		return ErrKeyInvalid
	}
	return nil
}

// The text of a key: a fixed prefix, by which scanners find leaked keys, then the key's id, the tenant's id and the
// secret in base 62, each of a fixed width.
const (
	keyPrefix    = "berth_"
	idWidth      = 22
	secretWidth  = 43
	visibleWidth = len(keyPrefix) + 12
)

// KeyText returns the text of a key, which only its owner gets.
func KeyText(in tenant.TenantID, id tenant.KeyID, secret Secret) string {
	return keyPrefix + encode(id.UUID[:], idWidth) + encode(in.UUID[:], idWidth) + encode(secret[:], secretWidth)
}

// Prefix returns the beginning of the key's text, which identifies it in lists. It contains no part of the secret.
func (k Key) Prefix() string { return (keyPrefix + encode(k.ID.UUID[:], idWidth))[:visibleWidth] }

// ParseKeyOf is ParseKey for a caller who names the key's tenant. The zero id names none. The error is KEY_INVALID.
func ParseKeyOf(named tenant.TenantID, text string) (tenant.TenantID, tenant.KeyID, Secret, error) {
	in, id, secret, err := ParseKey(text)
	if err == nil && !named.IsZero() && named != in {
		err = ErrKeyInvalid
	}
	return in, id, secret, err
}

// ParseKey parses a key's text. The error is KEY_INVALID.
func ParseKey(text string) (in tenant.TenantID, id tenant.KeyID, secret Secret, err error) {
	digits, hasPrefix := strings.CutPrefix(text, keyPrefix)
	if !hasPrefix || len(digits) != 2*idWidth+secretWidth ||
		!decode(digits[:idWidth], id.UUID[:]) ||
		!decode(digits[idWidth:2*idWidth], in.UUID[:]) ||
		!decode(digits[2*idWidth:], secret[:]) || in.IsZero() {
		return tenant.TenantID{}, tenant.KeyID{}, Secret{}, ErrKeyInvalid
	}
	return in, id, secret, nil
}

// ErrKeyInvalid rejects a key without the cause: KEY_INVALID.
var ErrKeyInvalid = fault.New(fault.Unauthenticated, fault.KeyInvalid, "The key is unknown, revoked or expired.")

const base = 62

func encode(raw []byte, width int) string {
	digits := new(big.Int).SetBytes(raw).Text(base)
	return strings.Repeat("0", width-len(digits)) + digits
}

// decode reads base 62 digits and fills raw. It returns false if a character is not a digit or the number is too large.
func decode(digits string, raw []byte) bool {
	for _, c := range []byte(digits) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false // SetString accepts a sign
		}
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.BitLen() > 8*len(raw) {
		return false
	}
	n.FillBytes(raw)
	return true
}
