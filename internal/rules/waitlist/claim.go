package waitlist

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/berthhq/berth/internal/tenant"
)

// ClaimKey makes the tokens in the links of offers, and the codes in text messages. Both follow from the offer's id and
// the key, so that nothing has to be kept by which somebody could answer for others: the database has the hash alone.
// The zero ClaimKey must not make any.
type ClaimKey struct{ key []byte }

// ErrClaimSecret says that a secret is too short for a ClaimKey.
var ErrClaimSecret = errors.New("the secret for claim links is shorter than 32 bytes")

// NewClaimKey derives it from the server's secret (HKDF, RFC 5869). Another secret makes other tokens for offers
// that are made from then on; links that are out stay good.
func NewClaimKey(secret []byte) (ClaimKey, error) {
	if len(secret) < sha256.Size {
		return ClaimKey{}, ErrClaimSecret
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "berth/waitlist/claim/v1", sha256.Size)
	return ClaimKey{key: key}, err
}

// A token is 128 bits that nobody can guess, behind the tenant in which to look for them.
const (
	claimTenant = 16
	claimBits   = 16
)

// Token is what the link of an offer carries.
func (k ClaimKey) Token(in tenant.TenantID, offer tenant.OfferID) string {
	return base64.RawURLEncoding.EncodeToString(append(in.UUID[:], k.mac("token", offer)[:claimBits]...))
}

// Code is what a text message that answers the offer carries: six digits.
func (k ClaimKey) Code(offer tenant.OfferID) string {
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(k.mac("code", offer))%1_000_000)
}

func (k ClaimKey) mac(what string, offer tenant.OfferID) []byte {
	if len(k.key) == 0 {
		panic("waitlist: a claim without a key")
	}
	mac := hmac.New(sha256.New, k.key)
	mac.Write([]byte(what))
	mac.Write(offer.UUID[:])
	return mac.Sum(nil)
}

// HashClaim is what is kept of a token.
func HashClaim(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// ReadClaim tells in which tenant to look for a token; false where it is none.
func ReadClaim(token string) (tenant.TenantID, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != claimTenant+claimBits {
		return tenant.TenantID{}, false
	}
	return tenant.TenantID{UUID: tenant.UUID(raw[:claimTenant])}, true
}
