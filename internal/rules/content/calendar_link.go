package content

import (
	"encoding/base64"
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// ErrNoCalendar refuses the link of a calendar that does not exist: LINK_INVALID.
var ErrNoCalendar = fault.New(fault.FailedPrecondition, fault.LinkInvalid, "There is no such calendar.")

// CalendarSecretSize is the length of the secret in a calendar's link: 128 bits.
const CalendarSecretSize = 16

// WriteCalendarLink returns the last part of the URL of a calendar: the tenant, which says where to look, and a secret.
func WriteCalendarLink(in tenant.TenantID, secret []byte) string {
	return base64.RawURLEncoding.EncodeToString(slices.Concat(in.UUID[:], secret))
}

// ReadCalendarLink reads what WriteCalendarLink wrote. Any other text is LINK_INVALID.
func ReadCalendarLink(text string) (in tenant.TenantID, secret []byte, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != len(in.UUID)+CalendarSecretSize ||
		len(text) != base64.RawURLEncoding.EncodedLen(len(raw)) { // the decoder skips line breaks
		return in, nil, ErrNoCalendar
	}
	if copy(in.UUID[:], raw); in.IsZero() {
		return in, nil, ErrNoCalendar
	}
	return in, raw[len(in.UUID):], nil
}
