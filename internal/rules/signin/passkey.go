package signin

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// MaxPasskeys is how many passkeys a member has.
	MaxPasskeys = 10
	// PasskeyWithin is how soon after signing in somebody may add a passkey.
	PasskeyWithin = 10 * time.Minute
	// PasskeyAnswer is how long a browser may take to answer with a passkey.
	PasskeyAnswer = 5 * time.Minute
)

// Passkey is a key of a member's device that signs in as the member, in one tenant.
type Passkey struct {
	ID           tenant.PasskeyID
	Member       tenant.MemberID
	CredentialID []byte
	Credential   []byte // JSON
	Name         string // of the browser that added it
	CreatedAt    time.Time
	UsedAt       time.Time
	AskedAt      time.Time // when the browser asked for the newest sign-in
}

// AddPasskey returns a new passkey of somebody who signed in at a time, and has so many. Errors: STEP_UP_REQUIRED,
// QUOTA_EXCEEDED.
func AddPasskey(p Passkey, signedInAt time.Time, before int, now time.Time) (Passkey, error) {
	if err := CheckRecent(signedInAt, now); err != nil {
		return p, err
	}
	if before >= MaxPasskeys {
		return p, fault.OverQuota("passkeys", MaxPasskeys, "A member has at most %d passkeys. Remove one first.",
			MaxPasskeys)
	}
	p.CreatedAt, p.UsedAt, p.AskedAt = now, now, now
	return p, nil
}

// CheckRecent refuses a sign-in that is too old to add a passkey: a browser that somebody has left open must not become
// a key of somebody else. Errors: STEP_UP_REQUIRED.
func CheckRecent(signedInAt, now time.Time) error {
	if now.Sub(signedInAt) > PasskeyWithin {
		return fault.New(fault.PermissionDenied, fault.StepUpRequired, "Sign in again to add a passkey.")
	}
	return nil
}

// Use returns the passkey after a use that a browser asked for at a time. An answer that is late, or not newer than the
// last one, is replayed or forgotten: PASSKEY_INVALID.
func (p Passkey) Use(credential []byte, askedAt, now time.Time) (Passkey, error) {
	if !askedAt.After(p.AskedAt) || now.Sub(askedAt) > PasskeyAnswer {
		return p, ErrPasskeyInvalid
	}
	p.Credential, p.UsedAt, p.AskedAt = credential, now, askedAt
	return p, nil
}

// ErrPasskeyInvalid refuses a passkey: PASSKEY_INVALID.
var ErrPasskeyInvalid = fault.New(fault.Unauthenticated, fault.PasskeyInvalid,
	"The passkey signs nobody in here, or it answered too late. Try again, or sign in with a code.")
