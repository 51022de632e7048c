// Package tenant has typed ids, and the caller of a request with the tenant that the request is for. Every row, role
// and event belongs to exactly one tenant, so this package is below all others and imports none of them.
package tenant

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sync"
	"time"
)

// Platform is under which id the platform's own rows stand. It is no tenant's: those are made from a time.
var Platform = TenantID{UUID{15: 1}}

// UUID is a 128-bit id, written as RFC 9562 text.
type UUID [16]byte

// ErrNotUUID means that a text is not an RFC 9562 UUID in canonical form.
var ErrNotUUID = errors.New("not a UUID")

// ID is a UUID with the type of what it identifies: a booking's id cannot be passed for a session's. K is a marker
// without data.
type ID[K any] struct{ UUID }

// The markers of the typed ids below.
type (
	tenantKind       struct{}
	locationKind     struct{}
	resourceKind     struct{}
	serviceKind      struct{}
	sessionKind      struct{}
	seriesKind       struct{}
	workoutKind      struct{}
	memberKind       struct{}
	deviceKind       struct{}
	codeKind         struct{}
	displayKind      struct{}
	screenKind       struct{}
	bookingKind      struct{}
	entryKind        struct{}
	offerKind        struct{}
	roundKind        struct{}
	decisionKind     struct{}
	planKind         struct{}
	subscriptionKind struct{}
	creditKind       struct{}
	paymentKind      struct{}
	accountKind      struct{}
	keyKind          struct{}
	transferKind     struct{}
	signInKind       struct{}
	passkeyKind      struct{}
	auditKind        struct{}
	eventKind        struct{}
	batchKind        struct{}
	itemKind         struct{}
	lineKind         struct{}
	deliveryKind     struct{}
	noticeKind       struct{}
	importKind       struct{}
	mailKind         struct{}
	invitationKind   struct{}
	addressKind      struct{}
)

// One id type for each entity.
type (
	TenantID         = ID[tenantKind] //nolint:revive // named like the others: SessionID, MemberID
	LocationID       = ID[locationKind]
	ResourceID       = ID[resourceKind]
	ServiceID        = ID[serviceKind]
	SessionID        = ID[sessionKind]
	SeriesID         = ID[seriesKind]
	WorkoutID        = ID[workoutKind]
	MemberID         = ID[memberKind]
	DeviceID         = ID[deviceKind]
	CodeID           = ID[codeKind]
	DisplayLinkID    = ID[displayKind]
	ScreenID         = ID[screenKind]
	BookingID        = ID[bookingKind]
	EntryID          = ID[entryKind]
	OfferID          = ID[offerKind]
	RoundID          = ID[roundKind]
	DecisionID       = ID[decisionKind]
	PlanID           = ID[planKind]
	SubscriptionID   = ID[subscriptionKind]
	CreditLineID     = ID[creditKind]
	PaymentLineID    = ID[paymentKind]
	ServiceAccountID = ID[accountKind]
	KeyID            = ID[keyKind]
	TransferID       = ID[transferKind]
	SignInID         = ID[signInKind]
	PasskeyID        = ID[passkeyKind]
	AuditID          = ID[auditKind]
	EventID          = ID[eventKind]
	BatchID          = ID[batchKind]
	ItemID           = ID[itemKind]
	ItemLineID       = ID[lineKind]
	DeliveryID       = ID[deliveryKind]
	NoticeID         = ID[noticeKind]
	ImportID         = ID[importKind]
	MailID           = ID[mailKind]
	InvitationID     = ID[invitationKind]
	AddressChangeID  = ID[addressKind]
)

// Parse reads the canonical form. Upper case is accepted; braces and URNs are not.
func Parse[I ~struct{ UUID }](text string) (I, error) {
	u, err := ParseUUID(text)
	return I{u}, err
}

// MustParse is Parse for constants; it panics on anything else.
func MustParse[I ~struct{ UUID }](text string) I {
	id, err := Parse[I](text)
	if err != nil {
		panic(err.Error() + ": " + text)
	}
	return id
}

// Time returns when an id was made, to the millisecond in UTC. It has a meaning only for ids that New or NextID made.
func (u UUID) Time() time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(u[:8]) >> 16)).UTC()
}

// New returns an id that sorts by time (UUIDv7, RFC 9562 section 5.7). It reads random bytes: call it before a
// transaction begins, never inside one, so that a retried transaction writes the same rows.
func New[I ~struct{ UUID }](now time.Time) I {
	return I{newV7(now)}
}

// ParseUUID reads the canonical form, which has 36 characters.
func ParseUUID(text string) (UUID, error) {
	var u UUID
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return u, ErrNotUUID
	}
	var digits [32]byte
	n := copy(digits[:], text[0:8])
	n += copy(digits[n:], text[9:13])
	n += copy(digits[n:], text[14:18])
	n += copy(digits[n:], text[19:23])
	copy(digits[n:], text[24:36])
	if _, err := hex.Decode(u[:], digits[:]); err != nil {
		return UUID{}, ErrNotUUID
	}
	return u, nil
}

// String returns the canonical form, in lower case.
func (u UUID) String() string {
	var out [36]byte
	hex.Encode(out[0:8], u[0:4])
	out[8] = '-'
	hex.Encode(out[9:13], u[4:6])
	out[13] = '-'
	hex.Encode(out[14:18], u[6:8])
	out[18] = '-'
	hex.Encode(out[19:23], u[8:10])
	out[23] = '-'
	hex.Encode(out[24:36], u[10:16])
	return string(out[:])
}

// IsZero reports whether the id is not set.
func (u UUID) IsZero() bool { return u == UUID{} }

// Bytes returns the id as the database driver expects it.
func (u UUID) Bytes() [16]byte { return u }

// SetBytes sets the id from bytes of the database driver.
func (u *UUID) SetBytes(b [16]byte) { *u = b }

// MarshalText implements encoding.TextMarshaler. A zero id is empty.
func (u UUID) MarshalText() ([]byte, error) {
	if u.IsZero() {
		return []byte{}, nil
	}
	return []byte(u.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *UUID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*u = UUID{}
		return nil
	}
	parsed, err := ParseUUID(string(text))
	*u = parsed
	return err
}

var v7 struct {
	sync.Mutex
	last uint64 // Unix milliseconds << 12 | counter; strictly increasing in one process
}

// newV7 keeps the ids of one process and one clock in strict order: it uses the 12 bits of rand_a as a counter within
// the millisecond (RFC 9562 section 6.2, method 1). So rows of one request sort in the order in which they were
// created.
func newV7(now time.Time) UUID {
	v7.Lock()
	stamp := uint64(now.UnixMilli()) << 12
	if stamp <= v7.last && v7.last-stamp < 1<<24 {
		stamp = v7.last + 1
	}
	v7.last = stamp
	v7.Unlock()

	var u UUID
	binary.BigEndian.PutUint64(u[0:8], stamp>>12<<16|stamp&0x0fff|0x7000)
	if _, err := rand.Read(u[8:]); err != nil {
		panic("tenant: no random bytes: " + err.Error()) // crypto/rand never fails on supported systems
	}
	u[8] = u[8]&0x3f | 0x80
	return u
}
