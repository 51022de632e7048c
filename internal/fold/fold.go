// Package fold compares texts as people read and search them: without case, accents and what cannot be seen. The
// console does the same with what it has loaded, in clients/console/src/shared/search.
package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Text returns the form in which a text is compared. Two spellings of one text have the same: composed and decomposed
// letters, wide and narrow ones, curly and straight apostrophes, one and several spaces. Marks other than the accents
// of Latin, Greek and Cyrillic letters are a part of their letter, so they stay.
func Text(s string) string {
	var b strings.Builder
	space := false
	// It would decompose into a space and an accent. Other characters are the same as it, canonically.
	s = strings.ReplaceAll(norm.NFC.String(s), "´", "'")
	folded := cases.Fold().String(norm.NFKD.String(s))
	folded = strings.ToLower(folded) // folding exchanges the cases of Cherokee letters
	for _, char := range norm.NFKD.String(folded) {
		switch {
		case isAccent(char), unicode.In(char, unicode.Cf):
			continue
		case unicode.IsSpace(char):
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if plain, ok := alike[char]; ok {
			b.WriteString(plain)
		} else {
			b.WriteRune(char)
		}
	}
	return norm.NFC.String(b.String())
}

// isAccent reports whether a character is of the block of combining diacritical marks.
func isAccent(char rune) bool { return char >= 0x300 && char <= 0x36f }

// alike has letters that have no decomposition in Unicode, though people search them without their stroke, and marks
// that programs put in place of those on the keyboard.
var alike = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ħ': "h", 'ŧ': "t", 'ı': "i", 'æ': "ae", 'œ': "oe", 'þ': "th",
	'‘': "'", '’': "'", 'ʼ': "'", '`': "'",
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '−': "-",
}
