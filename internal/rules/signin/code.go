package signin

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// CodeLife is how long a code is good.
	CodeLife = 10 * time.Minute
	// CodeDay is the time in which codes and wrong guesses count.
	CodeDay = 24 * time.Hour
	// MaxCodes is how many codes an address gets within a CodeDay: of all browsers that have never signed in to it
	// together, and of each browser that has. What strangers ask for is in the way of no other browser.
	MaxCodes = 3
	// MaxGuesses is how many wrong ones a code has.
	MaxGuesses = 5
)

// Code is a code that a mail brings, with which the browser that asked for it signs in.
type Code struct {
	ID          tenant.CodeID
	Member      tenant.MemberID // in the tenant in which the code stands
	AddressHash []byte
	BrowserHash []byte // of a browser that has signed in to the address before; nil: any other
	CodeHash    []byte
	Digits      int
	Guesses     int // wrong ones
	Used        bool
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// NewCode returns a new code.
func NewCode(
	id tenant.CodeID, of tenant.MemberID, address, browser, hash []byte, digits int, now time.Time,
) Code {
	return Code{
		ID: id, Member: of, AddressHash: address, BrowserHash: browser, CodeHash: hash, Digits: digits,
		CreatedAt: now, ExpiresAt: now.Add(CodeLife),
	}
}

// Guess decides about a guess, and returns the code to store. Digits is how long codes are now. If the guess is wrong,
// or the code is too old, used, too short or was guessed at too often, the error is SIGN_IN_CODE_INVALID: it tells
// nothing about who exists.
func (c Code) Guess(right bool, digits int, now time.Time) (Code, error) {
	if c.Used || c.Guesses >= MaxGuesses || c.Digits < digits || !now.Before(c.ExpiresAt) {
		return c, ErrCodeInvalid
	}
	if !right {
		c.Guesses++
		return c, ErrCodeInvalid
	}
	c.Used = true
	return c, nil
}

// ErrCodeInvalid refuses a code: SIGN_IN_CODE_INVALID.
var ErrCodeInvalid = fault.New(fault.Unauthenticated, fault.SignInCodeInvalid,
	"The code is wrong, or no longer good. Check the newest mail, or ask for a new code.").WithField("code")

// digits says how long codes are after so many wrong guesses, of all addresses together, within a CodeDay.
var digits = []struct{ guesses, digits int }{{100_000, 10}, {1_000, 8}, {0, 6}}

// Digits returns how many digits codes have after so many wrong guesses of all addresses together within a CodeDay. Who
// guesses at codes of very many addresses would hit one some day. A thousand guesses at six digits, the next hundred
// thousand at eight, and ten million at ten hit one with a probability of a thousandth each.
func Digits(guesses int) int {
	for _, d := range digits {
		if guesses >= d.guesses {
			return d.digits
		}
	}
	return 6
}
