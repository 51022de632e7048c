package checkin

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDisplayName is the length limit of a first name on a public display, in characters.
const maxDisplayName = 30

// DisplayName returns a member's name for a public display: the first name and the initial of the last one, "Mia K."
// for "Mia de Klerk". A single name is shown as it is.
func DisplayName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	if len(words) == 0 {
		return ""
	}
	first := words[0]
	if utf8.RuneCountInString(first) > maxDisplayName {
		first = string([]rune(first)[:maxDisplayName-1]) + "…"
	}
	initial, _ := utf8.DecodeRuneInString(words[len(words)-1])
	if len(words) == 1 || !unicode.IsLetter(initial) {
		return first
	}
	return first + " " + string(unicode.ToUpper(initial)) + "."
}
