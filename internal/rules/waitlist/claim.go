package waitlist

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// ClaimKey derives the tokens in the links of offers, and the codes in text messages, from an offer's id. Only a hash
// of a token and a keyed hash of a code are stored, so nothing in the database lets its reader answer for a member. The
// zero ClaimKey must not be used.
type ClaimKey struct {
	secret func(at time.Time) []byte
	all    func() [][]byte // the one in use first
}

// ErrClaimSecret reports that a secret is too short for a ClaimKey.
var ErrClaimSecret = errors.New("the secret for claim links is shorter than 32 bytes")

// NewClaimKey takes the server's secret.
func NewClaimKey(secret []byte) (ClaimKey, error) {
	if len(secret) < sha256.Size {
		return ClaimKey{}, ErrClaimSecret
	}
	return RotatingClaimKey(
		func(time.Time) []byte { return secret }, func() [][]byte { return [][]byte{secret} },
	), nil
}

// RotatingClaimKey takes a secret that changes: the one in use at a time, and all that are valid, the one in use first.
// An offer's token and code come from the secret that was in use when the offer was made, so that every message about
// it has the same, on every node. Links that were sent stay valid in any case, because the hash of the token is stored.
// Codes stay valid as long as their secret.
func RotatingClaimKey(secret func(at time.Time) []byte, all func() [][]byte) ClaimKey {
	return ClaimKey{secret, all}
}

// A token is the tenant to search, followed by 128 bits that cannot be guessed. The last of them are a checksum of all
// before it, which tells a token that was made from one that was invented, without a search.
const (
	claimTenant = 16
	claimBits   = 12
	claimCheck  = 4
	claimLength = claimTenant + claimBits + claimCheck
)

// Token returns the token in the link of an offer.
func (k ClaimKey) Token(in tenant.TenantID, offer tenant.OfferID) string {
	token := slices.Concat(in.UUID[:], k.mac("token", offer)[:claimBits])
	return base64.RawURLEncoding.EncodeToString(append(token, checkClaim(k.secret(offer.Time()), token)...))
}

// Made reports whether a text is a token that Token made, whether or not there is such an offer.
func (k ClaimKey) Made(token string) bool {
	raw, ok := decodeClaim(token)
	if !ok || k.all == nil {
		return false
	}
	said, check := raw[:claimLength-claimCheck], raw[claimLength-claimCheck:]
	return slices.ContainsFunc(k.all(), func(secret []byte) bool { return hmac.Equal(check, checkClaim(secret, said)) })
}

func checkClaim(secret, said []byte) []byte {
	mac := hmac.New(sha256.New, derive(secret, "berth/waitlist/check/v1"))
	mac.Write(said)
	return mac.Sum(nil)[:claimCheck]
}

// Code returns the code in the text message of an offer: six digits.
func (k ClaimKey) Code(offer tenant.OfferID) string {
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(k.mac("code", offer))%1_000_000)
}

// HashCode returns the keyed hashes under which a code can be stored, that with the current secret first. Without a
// key, trying all codes would find the one of a hash.
func (k ClaimKey) HashCode(in tenant.TenantID, code string) [][]byte {
	if k.all == nil {
		panic("waitlist: a code without a key")
	}
	var hashes [][]byte
	for _, secret := range k.all() {
		mac := hmac.New(sha256.New, derive(secret, "berth/waitlist/code/v1"))
		mac.Write(in.UUID[:])
		mac.Write([]byte(code))
		hashes = append(hashes, mac.Sum(nil))
	}
	return hashes
}

func (k ClaimKey) mac(what string, offer tenant.OfferID) []byte {
	if k.secret == nil {
		panic("waitlist: a claim without a key")
	}
	mac := hmac.New(sha256.New, derive(k.secret(offer.Time()), "berth/waitlist/claim/v1"))
	mac.Write([]byte(what))
	mac.Write(offer.UUID[:])
	return mac.Sum(nil)
}

// derive returns a secret's key for a purpose of its own (HKDF, RFC 5869).
func derive(secret []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, sha256.Size)
	if err != nil {
		panic("waitlist: " + err.Error()) // the length is right
	}
	return key
}

// HashClaim returns the hash of a token, which is what the database stores.
func HashClaim(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// ErrClaimInvalid is the error of a link to an offer that does not exist: LINK_INVALID.
var ErrClaimInvalid = fault.New(fault.FailedPrecondition, fault.LinkInvalid, "The link is not valid.")

// ReadClaim returns the tenant of a token. A text that is not a token is LINK_INVALID.
func ReadClaim(token string) (tenant.TenantID, error) {
	raw, ok := decodeClaim(token)
	if !ok {
		return tenant.TenantID{}, ErrClaimInvalid
	}
	in := tenant.TenantID{UUID: tenant.UUID(raw[:claimTenant])}
	if in.IsZero() {
		return tenant.TenantID{}, ErrClaimInvalid
	}
	return in, nil
}

func decodeClaim(token string) (raw []byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(claimLength) {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return raw, err == nil && len(raw) == claimLength // it ignores line breaks
}
