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

// Lifetimes of signed tokens.
const (
	// QRInterval is how often a display shows a new code.
	QRInterval = 30 * time.Second
	// QRTTL is how long a displayed code is valid: two steps, plus the time to unlock a phone. It is short, so that a
	// photo of the code is soon useless to people who are not there.
	QRTTL = 90 * time.Second
	// MaxQRTTL limits the lifetime of codes that staff request, such as one to print for a door.
	MaxQRTTL = 10 * time.Minute
	// DisplayTTL is how long a display link is valid, and for how long a screen renews it.
	DisplayTTL = 10 * time.Minute
	// MaxClockSkew is the allowed clock skew: how far in the future of this node's clock another node may have signed a
	// token. It does not apply to the expiry.
	MaxClockSkew = 30 * time.Second
)

// MinSecretLength is the minimum length of a server secret, in bytes.
const MinSecretLength = 32

// ErrSecretTooShort means that a server secret has fewer than MinSecretLength bytes.
var ErrSecretTooShort = errors.New("check-in secret is shorter than 32 bytes")

// purpose separates keys, so that a token signed for one purpose is invalid for another.
type purpose string

const (
	purposeQR      purpose = "berth/checkin/qr/v1"
	purposeDisplay purpose = "berth/checkin/display/v2"
)

// Keys signs and verifies tokens. Each tenant and purpose has its own key, derived from the server's secret (HKDF,
// RFC 5869). The zero Keys rejects every token, and panics when it signs.
type Keys struct{ secrets func() [][]byte }

// NewKeys takes the server's secret, and previous secrets whose tokens stay valid. It copies them. The error is
// ErrSecretTooShort.
func NewKeys(current []byte, previous ...[]byte) (Keys, error) {
	var secrets [][]byte
	for _, secret := range append([][]byte{current}, previous...) {
		if len(secret) < MinSecretLength {
			return Keys{}, ErrSecretTooShort
		}
		secrets = append(secrets, append([]byte(nil), secret...))
	}
	return RotatingKeys(func() [][]byte { return secrets }), nil
}

// RotatingKeys takes secrets that may change: each use asks for them. The first signs, and all verify. Each has at
// least MinSecretLength bytes.
func RotatingKeys(secrets func() [][]byte) Keys { return Keys{secrets} }

func (k Keys) all() [][]byte {
	if k.secrets == nil {
		return nil
	}
	return k.secrets()
}

// A token is the unpadded base64url encoding of
//
//	version  1 byte
//	tenant  16 bytes
//	ids     16 bytes each: the session; of a display also the link and the screen
//	issued   8 bytes, Unix seconds, big-endian
//	expires  8 bytes, Unix seconds, big-endian
//	tag     16 bytes, the first half of the HMAC-SHA-256 of all bytes before it
const (
	signedVersion = 1
	idLength      = 16
	tagLength     = sha256.Size / 2
)

// encoding is strict: the unused bits of the last character must be zero, so that each token has only one valid text.
var encoding = base64.RawURLEncoding.Strict()

// claims are the contents of a token, whether or not its tag is valid.
type claims struct {
	tenant          tenant.TenantID
	ids             []tenant.UUID
	issued, expires int64
}

// SignQR makes the text of a QR code, 87 characters of base64url. The lifetime is limited to one second at least and
// MaxQRTTL at most.
func (k Keys) SignQR(
	in tenant.TenantID, session tenant.SessionID, now time.Time, life time.Duration,
) (text string, expires time.Time) {
	return k.sign(purposeQR, in, now, min(max(life, time.Second), MaxQRTTL), session.UUID)
}

// VerifyQR accepts only a text that SignQR made for this session and that is valid now. The error is QR_INVALID,
// without the cause.
func (k Keys) VerifyQR(text string, in tenant.TenantID, session tenant.SessionID, now time.Time) error {
	c, ok := k.verify(purposeQR, text, now, MaxQRTTL, 1)
	if !ok || c.tenant != in || c.ids[0] != session.UUID {
		return fault.New(fault.FailedPrecondition, fault.QRInvalid, "Invalid or expired QR code.")
	}
	return nil
}

// SignDisplay makes the token with which a display is read, valid until d.Expires, and for DisplayTTL at most.
func (k Keys) SignDisplay(d Display, now time.Time) (text string, expires time.Time) {
	life := min(max(d.Expires.Sub(now), time.Second), DisplayTTL)
	return k.sign(purposeDisplay, d.Tenant, now, life, d.Session.UUID, d.Link.UUID, d.Screen.UUID)
}

// Display is what a verified token of a display gives access to.
type Display struct {
	Tenant  tenant.TenantID
	Session tenant.SessionID
	Link    tenant.DisplayLinkID
	// Screen is the screen that has the token; zero in the link itself.
	Screen  tenant.ScreenID
	Expires time.Time
}

// VerifyDisplay reads a token of a display. The error is LINK_INVALID, without the cause.
func (k Keys) VerifyDisplay(text string, now time.Time) (Display, error) {
	c, ok := k.verify(purposeDisplay, text, now, DisplayTTL, 3)
	if !ok {
		return Display{}, ErrLinkInvalid
	}
	return Display{
		Tenant: c.tenant, Session: tenant.SessionID{UUID: c.ids[0]}, Link: tenant.DisplayLinkID{UUID: c.ids[1]},
		Screen: tenant.ScreenID{UUID: c.ids[2]}, Expires: time.Unix(c.expires, 0).UTC(),
	}, nil
}

func (k Keys) sign(
	p purpose, in tenant.TenantID, now time.Time, life time.Duration, ids ...tenant.UUID,
) (string, time.Time) {
	secrets := k.all()
	if len(secrets) == 0 {
		panic("checkin: signing without a secret")
	}
	issued, expires := now.Unix(), now.Add(life).Unix()
	token := make([]byte, 0, tokenLength(len(ids)))
	token = append(token, signedVersion)
	token = append(token, in.UUID[:]...)
	for _, id := range ids {
		token = append(token, id[:]...)
	}
	token = binary.BigEndian.AppendUint64(token, uint64(issued))
	token = binary.BigEndian.AppendUint64(token, uint64(expires))
	token = append(token, tag(secrets[0], p, in, token)...)
	return encoding.EncodeToString(token), time.Unix(expires, 0).UTC()
}

// tokenLength is the length in bytes of a token with n ids.
func tokenLength(n int) int { return 1 + idLength*(1+n) + 8 + 8 + tagLength }

// verify reads a token with n ids.
func (k Keys) verify(p purpose, text string, now time.Time, maxLife time.Duration, n int) (claims, bool) {
	length := tokenLength(n)
	// Check the length first, because the decoder skips line breaks.
	if len(text) != encoding.EncodedLen(length) {
		return claims{}, false
	}
	token, err := encoding.DecodeString(text)
	if err != nil || len(token) != length || token[0] != signedVersion {
		return claims{}, false
	}
	payload := token[:length-tagLength]
	c := claims{ids: make([]tenant.UUID, n)}
	rest := payload[1:]
	rest = rest[copy(c.tenant.UUID[:], rest):]
	for i := range c.ids {
		rest = rest[copy(c.ids[i][:], rest):]
	}
	c.issued = int64(binary.BigEndian.Uint64(rest))
	c.expires = int64(binary.BigEndian.Uint64(rest[8:]))
	authentic := false
	for _, secret := range k.all() {
		if hmac.Equal(token[len(payload):], tag(secret, p, c.tenant, payload)) {
			authentic = true
		}
	}
	at := now.Unix()
	valid := authentic && at < c.expires && c.issued <= at+int64(MaxClockSkew/time.Second) &&
		c.expires-c.issued <= int64(maxLife/time.Second)
	return c, valid
}

// tag derives the key for a tenant and purpose and authenticates the payload.
func tag(secret []byte, p purpose, in tenant.TenantID, payload []byte) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, string(p)+string(in.UUID[:]), sha256.Size)
	if err != nil {
		panic("checkin: " + err.Error()) // only if the key is longer than HKDF allows
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(payload)
	return mac.Sum(nil)[:tagLength]
}
