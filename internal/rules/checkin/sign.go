package checkin

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// How long signed texts live.
const (
	// QRStep is how often a display shows a new code.
	QRStep = 30 * time.Second
	// QRLife is how long a displayed code is good for: two steps and the time
	// to unlock a phone, while a photograph sent to a friend is worthless soon.
	QRLife = 90 * time.Second
	// MaxQRLife bounds codes that staff ask for, such as one to print for a door.
	MaxQRLife = 10 * time.Minute
	// DisplayLife is how long a display link is good for.
	DisplayLife = 10 * time.Minute
	// Leeway is how far in the future, by this node's clock, a text may have been
	// signed by another. An expiry gets none.
	Leeway = 30 * time.Second
)

// MinSecretLength is the least length of a server secret, in bytes.
const MinSecretLength = 32

// ErrSecretTooShort says that a server secret has fewer than MinSecretLength bytes.
var ErrSecretTooShort = errors.New("check-in secret is shorter than 32 bytes")

// purpose separates keys, so that a text signed for one use is none for another.
type purpose string

const (
	purposeQR      purpose = "berth/checkin/qr/v1"
	purposeDisplay purpose = "berth/checkin/display/v1"
)

// Keys signs and verifies. Every tenant and purpose has a key of its own,
// derived from the server's secret (HKDF, RFC 5869). The zero Keys verifies
// nothing and must not sign.
type Keys struct{ secrets [][]byte }

// NewKeys takes the server's secret, and those that it replaced for as long as
// texts signed with them are to be good. The error is ErrSecretTooShort.
func NewKeys(current []byte, previous ...[]byte) (Keys, error) {
	var keys Keys
	for _, secret := range append([][]byte{current}, previous...) {
		if len(secret) < MinSecretLength {
			return Keys{}, ErrSecretTooShort
		}
		keys.secrets = append(keys.secrets, append([]byte(nil), secret...))
	}
	return keys, nil
}

// A signed text is unpadded base64url of
//
//	version  1 byte
//	tenant  16 bytes
//	session 16 bytes
//	issued   8 bytes, Unix seconds, big-endian
//	expires  8 bytes, likewise
//	tag     16 bytes, the first half of HMAC-SHA-256 over all before it
const (
	signedVersion = 1
	payloadLength = 1 + 16 + 16 + 8 + 8
	tagLength     = sha256.Size / 2
	tokenLength   = payloadLength + tagLength
)

// encoding is strict: the unused bits of the last character must be zero, so
// that every text but the one signed is refused.
var encoding = base64.RawURLEncoding.Strict()

// signed is what a text says, whether or not its tag holds.
type signed struct {
	tenant          tenant.TenantID
	session         tenant.SessionID
	issued, expires int64
}

// SignQR makes the text of a QR code, 87 characters of base64url. A life that
// is not between one second and MaxQRLife becomes the nearer of the two.
func (k Keys) SignQR(in tenant.TenantID, session tenant.SessionID, now time.Time, life time.Duration) (text string, expires time.Time) {
	return k.sign(purposeQR, in, session, now, min(max(life, time.Second), MaxQRLife))
}

// VerifyQR refuses every text but one that SignQR made for this session and
// that is good now. The error is QR_INVALID and never says what was wrong.
func (k Keys) VerifyQR(text string, in tenant.TenantID, session tenant.SessionID, now time.Time) error {
	s, ok := k.verify(purposeQR, text, now, MaxQRLife)
	if !ok || s.tenant != in || s.session != session {
		return fault.New(fault.FailedPrecondition, fault.QRInvalid, "Invalid or expired QR code.")
	}
	return nil
}

// SignDisplay makes the part of a display link that proves it, good for DisplayLife.
func (k Keys) SignDisplay(in tenant.TenantID, session tenant.SessionID, now time.Time) (text string, expires time.Time) {
	return k.sign(purposeDisplay, in, session, now, DisplayLife)
}

// Display is what a verified display link gives access to.
type Display struct {
	Tenant  tenant.TenantID
	Session tenant.SessionID
	Expires time.Time
}

// VerifyDisplay reads a display link. The error is LINK_INVALID and never says
// what was wrong.
func (k Keys) VerifyDisplay(text string, now time.Time) (Display, error) {
	s, ok := k.verify(purposeDisplay, text, now, DisplayLife)
	if !ok {
		return Display{}, fault.New(fault.FailedPrecondition, fault.LinkInvalid, "Invalid or expired link.")
	}
	return Display{Tenant: s.tenant, Session: s.session, Expires: time.Unix(s.expires, 0).UTC()}, nil
}

func (k Keys) sign(use purpose, in tenant.TenantID, session tenant.SessionID, now time.Time, life time.Duration) (string, time.Time) {
	if len(k.secrets) == 0 {
		panic("checkin: signing without a secret")
	}
	issued := now.Unix()
	expires := issued + int64(life/time.Second)
	token := make([]byte, 0, tokenLength)
	token = append(token, signedVersion)
	token = append(token, in.UUID[:]...)
	token = append(token, session.UUID[:]...)
	token = binary.BigEndian.AppendUint64(token, uint64(issued))
	token = binary.BigEndian.AppendUint64(token, uint64(expires))
	token = append(token, tag(k.secrets[0], use, in, token)...)
	return encoding.EncodeToString(token), time.Unix(expires, 0).UTC()
}

func (k Keys) verify(use purpose, text string, now time.Time, longest time.Duration) (signed, bool) {
	// The length is compared first because the decoder passes over line breaks.
	if len(text) != encoding.EncodedLen(tokenLength) {
		return signed{}, false
	}
	token, err := encoding.DecodeString(text)
	if err != nil || len(token) != tokenLength || token[0] != signedVersion {
		return signed{}, false
	}
	var s signed
	copy(s.tenant.UUID[:], token[1:])
	copy(s.session.UUID[:], token[17:])
	s.issued = int64(binary.BigEndian.Uint64(token[33:]))
	s.expires = int64(binary.BigEndian.Uint64(token[41:]))
	genuine := false
	for _, secret := range k.secrets {
		if hmac.Equal(token[payloadLength:], tag(secret, use, s.tenant, token[:payloadLength])) {
			genuine = true
		}
	}
	at := now.Unix()
	good := genuine && at < s.expires && s.issued <= at+int64(Leeway/time.Second) &&
		s.expires-s.issued <= int64(longest/time.Second)
	return s, good
}

// tag derives the key for a tenant and purpose and authenticates the payload.
func tag(secret []byte, use purpose, in tenant.TenantID, payload []byte) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, string(use)+string(in.UUID[:]), sha256.Size)
	if err != nil {
		panic("checkin: " + err.Error()) // only for a key longer than HKDF can give
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(payload)
	return mac.Sum(nil)[:tagLength]
}
