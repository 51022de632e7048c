package session

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
)

// Bounds of texts, in characters. The contract states them too; here they hold for
// whoever does not come through it.
const (
	maxTitle       = 200
	maxDescription = 4_000
	maxReason      = 1_000
	maxName        = 200
	maxBody        = 20_000
)

// CheckReason refuses a reason that cannot be kept: INVALID_FIELD.
func CheckReason(reason string) error { return lines("reason", reason, maxReason) }

// line refuses what is no single line of text.
func line(field, value string, longest int) error {
	return text(field, value, longest, unicode.IsControl)
}

// lines refuses what is no text of one or more lines.
func lines(field, value string, longest int) error {
	return text(field, value, longest, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) })
}

// text refuses what the database would not keep, such as a null character, and what would show as
// something else than it is.
func text(field, value string, longest int, forbidden func(rune) bool) error {
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, forbidden):
		return fault.Invalid(field, "The text has control characters.")
	case utf8.RuneCountInString(value) > longest:
		return fault.Invalid(field, "The text is longer than %d characters.", longest)
	default:
		return nil
	}
}
