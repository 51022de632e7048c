package delivery

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
)

// Text messages use the alphabet of SMS where it has a similar character.
func TestFoldToGSM_ReplacesTypographicCharacters(t *testing.T) {
	t.Parallel()
	const (
		from = "’‘“”„«»–—…\u00a0\u202f·•°×œŒłŁđĐı"
		to   = `''"""""--...  --oxoeOElLdDi`
	)
	test.EqOp(t, to, FoldToGSM(from))
	for char := range strings.SplitSeq(from, "") {
		test.NotEqOp(t, char, FoldToGSM(char), test.Sprint(char))
	}
	test.EqOp(t, "a{b}", FoldToGSM("a{b}"))
	segments, encoding, _ := CountSegments(strings.Repeat("\uffff", 70))
	test.EqOp(t, 1, segments)
	test.EqOp(t, UCS2, encoding)
	segments, _, _ = CountSegments(strings.Repeat("\U00010000", 36))
	test.EqOp(t, 2, segments)
}

func TestFoldToGSM_RemovesDiacriticsUnlessAnotherScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Café à 9 h – “à bientôt” …": `Café à 9 h - "à bientot" ...`,
		"Čajovna Łódź":               "Cajovna Lodz",
		"Ärger über Öl, ñ, ß":        "Ärger über Öl, ñ, ß",
		"Йога":                       "Йога",
	} {
		test.EqOp(t, want, FoldToGSM(text))
	}
}
