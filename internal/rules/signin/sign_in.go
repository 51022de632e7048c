// Package signin has the rules for signing in with Berth itself.
package signin

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// Method is how somebody signed in.
type Method string

// The methods.
const (
	ByCode       Method = "CODE" // that a mail brought
	ByPasskey    Method = "PASSKEY"
	ByInvitation Method = "INVITATION"
)

const (
	// Idle is how long a sign-in lasts that nobody uses.
	Idle = 30 * 24 * time.Hour
	// Longest is how long a sign-in lasts in any case.
	Longest = 180 * 24 * time.Hour
	// renewEvery is how often a use is written.
	renewEvery = time.Hour
)

const (
	// MaxOfMember is how many sign-ins a member has. A new one replaces the one that was used longest ago.
	MaxOfMember = 50
	// MaxTenants is how many tenants a sign-in is for: with more, its access tokens are too long.
	MaxTenants = 40
)

// SignIn is a browser that is signed in as a member.
type SignIn struct {
	ID               tenant.SignInID
	Member           tenant.MemberID
	Method           Method
	Browser, Address string    // as they were when it began
	CreatedAt        time.Time // when its person proved who they are
	UsedAt           time.Time // to an hour
	ExpiresAt        time.Time
}

// Start returns a new sign-in of a member.
func Start(id tenant.SignInID, of tenant.MemberID, by Method, browser, address string, now time.Time) SignIn {
	return SignIn{
		ID: id, Member: of, Method: by, Browser: browser, Address: address, CreatedAt: now, UsedAt: now,
		ExpiresAt: now.Add(Idle),
	}
}

// Use returns the sign-in after a use, and whether it is worth writing.
func (s SignIn) Use(now time.Time) (SignIn, bool) {
	if now.Sub(s.UsedAt) < renewEvery {
		return s, false
	}
	s.UsedAt, s.ExpiresAt = now, now.Add(Idle)
	if last := s.CreatedAt.Add(Longest); s.ExpiresAt.After(last) {
		s.ExpiresAt = last
	}
	return s, true
}

// SignedIn is a sign-in, with what decides whether its member may use it.
type SignedIn struct {
	SignIn

	Name   string
	Email  string
	Locale string
	Status member.Status
	Linked bool // the member has a subject at an identity provider
}

// IsGood reports whether a sign-in is good at a time. If there is an identity provider, those who are linked to it sign
// in there: a mail must not replace its second factor.
func (s SignedIn) IsGood(hasProvider bool, now time.Time) bool {
	return now.Before(s.ExpiresAt) && s.Status == member.Active && (!hasProvider || !s.Linked)
}

// ListedSignIn is a sign-in of a member, and whether the request comes from it.
type ListedSignIn struct {
	SignIn

	Current bool
}

// ErrEnded refuses a browser that is not signed in, or not any more: SIGN_IN_ENDED.
var ErrEnded = fault.New(fault.Unauthenticated, fault.SignInEnded, "Nobody is signed in here. Sign in.")
