package session

import (
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/printable"
)

// Length limits of texts, in characters. The contract has them too; these apply to callers inside the service.
const (
	maxTitle       = 200
	maxDescription = 4_000
	maxReason      = 1_000
	maxName        = 200
	maxBody        = 20_000
)

// CheckReason rejects an invalid reason: INVALID_FIELD.
func CheckReason(reason string) error { return lines("reason", reason, maxReason) }

// line returns one line of text, or none, as it is stored: see field.Line.
func line(of, value string, longest int) (string, error) {
	if printable.Trim(value) == "" {
		return "", nil
	}
	normal, problem := field.Line(longest)(value)
	if problem != "" {
		return "", fault.Invalid(of, "%s", problem)
	}
	return normal, nil
}

// lines accepts one or more lines of text.
//
// It rejects what the database cannot store, such as a null character, and characters that can hide what a text is.
func lines(of, value string, longest int) error {
	switch {
	case !utf8.ValidString(value) || !printable.Lines(value):
		return fault.Invalid(of, "The text has control or invisible characters.")
	case utf8.RuneCountInString(value) > longest:
		return fault.Invalid(of, "The text is longer than %d characters.", longest)
	default:
		return nil
	}
}
