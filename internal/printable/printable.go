// Package printable says which texts show all that they contain. A name with other characters can look like another
// name, or hide a part of itself, in the sender and the subject of a mail, in a text message and in lists.
package printable

import (
	"strings"
	"unicode"
)

// Line reports whether a text is one line, and has no character that is invisible or changes the direction of others.
// Arabic and Hebrew need none of these. Emoji and some scripts need joiners, which are allowed between their
// characters.
func Line(s string) bool {
	var before rune
	chars := []rune(s)
	for i, char := range chars {
		switch {
		case isJoiner(char):
			if i+1 == len(chars) || !isJoined(before) || !isJoined(chars[i+1]) {
				return false
			}
		case IsHidden(char):
			return false
		}
		before = char
	}
	return true
}

// Lines reports whether each line of a text is a Line. Tabs are allowed.
func Lines(s string) bool {
	for line := range strings.FieldsFuncSeq(s, func(char rune) bool { return strings.ContainsRune("\t\r\n", char) }) {
		if !Line(line) {
			return false
		}
	}
	return true
}

// Trim returns a text without the space and the invisible characters at its ends, which come along where people copy.
// Control characters stay: whoever checks the text refuses them.
func Trim(s string) string {
	return strings.TrimFunc(s, func(char rune) bool {
		return unicode.IsSpace(char) || IsHidden(char) && !unicode.IsControl(char)
	})
}

// IsHidden reports whether a character is a control character, a mark of the direction or the end of a line, or
// invisible.
func IsHidden(char rune) bool {
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, char):
		return false // Arabic signs around numbers, which show
	case unicode.Is(unicode.Variation_Selector, char):
		return false // of emoji
	}
	return unicode.IsControl(char) || unicode.In(
		char, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
	)
}

// The joiners: zero-width joiner and non-joiner.
func isJoiner(char rune) bool { return char == '\u200d' || char == '\u200c' }

// isJoined reports whether a character can be next to a joiner. Those of Latin, Greek and Cyrillic come before Hebrew,
// and are never joined.
func isJoined(char rune) bool {
	const hebrew = 0x590
	return char >= hebrew && !unicode.IsSpace(char) && !isJoiner(char) &&
		(!IsHidden(char) || unicode.Is(unicode.Variation_Selector, char))
}

// HasAddress reports whether a text has something that looks like an email address: an @ with something on each side.
// "Yoga @ the Pier" has none.
func HasAddress(s string) bool {
	chars := []rune(s)
	for i, char := range chars {
		if strings.ContainsRune("@\uff20\ufe6b", char) && i > 0 && i+1 < len(chars) &&
			!unicode.IsSpace(chars[i-1]) && !unicode.IsSpace(chars[i+1]) {
			return true
		}
	}
	return false
}
