package printable_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/printable"
)

func TestLine_ShowsAllThatItContains(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "Harbour Yoga": true, "Émilie O’Hara-Süß, Ltd.": true, "وحدة اليوغا": true, "סטודיו": true, "ヨガ": true,
		"🧘‍♀️ Yoga": true, "👩‍🏫": true, "می\u200cخواهم": true, "क्\u200dष": true,
		"a\tb": false, "a\nb": false, "a\x00": false, "a\u0085b": false, "a\u2028b": false, "a\u2029b": false,
		"a\u200bb": false, "a\u2060b": false, "a\ufeff": false, "a\u00adb": false, "a\u034fb": false, "\u3164": false,
		"a\u200eb": false, "a\u200fb": false, "a\u061cb": false, "a\u202ab": false, "a\u202bb": false, "a\u202cb": false,
		"a\u202db": false, "a\u202eb": false, "a\u2066b": false, "a\u2067b": false, "a\u2068b": false, "a\u2069b": false,
		"a\u200db": false, "a\u200cb": false, "\u200dيوغا": false, "يوغا\u200c": false, "ي\u200d\u200dو": false,
		"ي \u200cو": false, "\U000e0041": false,
	} {
		test.EqOp(t, want, printable.Line(text), test.Sprintf("%q", text))
	}
}

func TestLines_AllowsSeveral(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "\n": true, "a\n\tb\r\nc": true, "🧘‍♀️\n👩‍🏫": true, "a\n\u202eb": false, "a\u2028b": false, "a\x00": false,
	} {
		test.EqOp(t, want, printable.Lines(text), test.Sprintf("%q", text))
	}
}

func TestHasAddress_LeavesOutAnAtAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "Harbour Yoga": false, "Yoga @ the Pier": false, "@harbour": false, "harbour@": false,
		"support@bank.example": true, "Bank <support@bank.example>": true, "support＠bank.example": true, "a﹫b": true,
	} {
		test.EqOp(t, want, printable.HasAddress(text), test.Sprintf("%q", text))
	}
}

func TestTrim_RemovesWhatCannotBeSeenAtTheEnds(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		" \ufeffAna\u200b\u00a0": "Ana",
		"A\u200bna":              "A\u200bna",
		"\x00Ana":                "\x00Ana",
		"\u200b \u2060":          "",
		"👩\u200d💻":               "👩\u200d💻",
	} {
		test.EqOp(t, want, printable.Trim(s), test.Sprintf("%q", s))
	}
}
