package grant

import (
	"crypto/sha256"
	"crypto/subtle"
	"math/big"
	"strings"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Secret is what makes a key hard to guess.
type Secret [32]byte

// Hash is what is kept of a secret. It has 256 bits of its own: there is nothing to stretch.
func (s Secret) Hash() [32]byte { return sha256.Sum256(s[:]) }

// Opens compares the secret with the hash kept of a key, in a time that tells
// nothing of either. No hash is opened by none.
func (s Secret) Opens(hash []byte) bool {
	own := s.Hash()
	return subtle.ConstantTimeCompare(own[:], hash) == 1
}

// The text of a key: a mark by which leaked ones are found, then the key's id,
// the tenant's and the secret in base 62, each of a fixed width.
const (
	keyMark     = "berth_"
	idWidth     = 22
	secretWidth = 43
	prefixWidth = len(keyMark) + 12
)

// KeyText is the key as it is handed out.
func KeyText(in tenant.TenantID, id tenant.KeyID, secret Secret) string {
	return keyMark + encode(id.UUID[:], idWidth) + encode(in.UUID[:], idWidth) + encode(secret[:], secretWidth)
}

// Prefix is the beginning of the key's text, to tell it from others. It shows
// nothing of the secret.
func (k Key) Prefix() string { return (keyMark + encode(k.ID.UUID[:], idWidth))[:prefixWidth] }

// ParseKey takes a key's text apart. KEY_INVALID says that it is none.
func ParseKey(text string) (in tenant.TenantID, id tenant.KeyID, secret Secret, err error) {
	digits, marked := strings.CutPrefix(text, keyMark)
	if !marked || len(digits) != 2*idWidth+secretWidth ||
		!decode(digits[:idWidth], id.UUID[:]) ||
		!decode(digits[idWidth:2*idWidth], in.UUID[:]) ||
		!decode(digits[2*idWidth:], secret[:]) {
		return tenant.TenantID{}, tenant.KeyID{}, Secret{}, ErrKeyInvalid
	}
	return in, id, secret, nil
}

// ErrKeyInvalid refuses a key, whatever is wrong with it: KEY_INVALID.
var ErrKeyInvalid = fault.New(fault.Unauthenticated, fault.KeyInvalid, "The key is unknown, revoked or expired.")

const base = 62

func encode(raw []byte, width int) string {
	digits := new(big.Int).SetBytes(raw).Text(base)
	return strings.Repeat("0", width-len(digits)) + digits
}

// decode reads digits into all of raw; false where they are none, or too large.
func decode(digits string, raw []byte) bool {
	for _, c := range []byte(digits) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false // a sign would pass below
		}
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.BitLen() > 8*len(raw) {
		return false
	}
	n.FillBytes(raw)
	return true
}
