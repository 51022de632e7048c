package catalog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// StepUp is which sign-in people need for changes of roles, senders and service accounts, as in RFC 9470. The zero value
// asks for none.
type StepUp struct {
	MaxAge    time.Duration // since the sign-in; 0: no sign-in is recent enough
	ACRValues []string      // values of the claim acr that are strong enough at any age
}

// The bounds of MaxAge.
const (
	minSignInAge = time.Minute
	maxSignInAge = 24 * time.Hour
)

func (s StepUp) validate() error {
	if s.MaxAge != 0 && (s.MaxAge < minSignInAge || s.MaxAge > maxSignInAge || s.MaxAge%time.Second != 0) {
		return fault.Invalid("tenant.step_up.max_age", "The age of a sign-in is 1 minute to 24 hours, in whole seconds.")
	}
	return nil
}

// Check rejects a sign-in that is neither recent nor strong enough: STEP_UP_REQUIRED. The time of the sign-in is zero if
// the token does not state it.
func (s StepUp) Check(signedInAt time.Time, acr string, now time.Time) error {
	recent := s.MaxAge > 0 && !signedInAt.IsZero() && !now.After(signedInAt.Add(s.MaxAge))
	if recent || s.MaxAge == 0 && len(s.ACRValues) == 0 || slices.Contains(s.ACRValues, acr) {
		return nil
	}
	err := fault.New(fault.PermissionDenied, fault.StepUpRequired, "Sign in again to do this.")
	if s.MaxAge > 0 {
		err = err.WithMetadata("max_age", strconv.Itoa(int(s.MaxAge.Seconds())))
	}
	if len(s.ACRValues) > 0 {
		err = err.WithMetadata("acr_values", strings.Join(s.ACRValues, " "))
	}
	return err
}
