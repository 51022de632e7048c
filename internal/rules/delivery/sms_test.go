package delivery_test

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/delivery"
)

func TestGSM7_CountsSegmentsAndChoosesEncoding(t *testing.T) {
	t.Parallel()
	const gsm, ucs = delivery.GSM7Bit, delivery.UCS2
	for name, tc := range map[string]struct {
		text     string
		segments int
		encoding delivery.Encoding
		per      int
	}{
		"empty":                   {"", 0, gsm, 160},
		"short":                   {"A place is free", 1, gsm, 160},
		"full":                    {strings.Repeat("a", 160), 1, gsm, 160},
		"one more":                {strings.Repeat("a", 161), 2, gsm, 153},
		"two full":                {strings.Repeat("a", 306), 2, gsm, 153},
		"three":                   {strings.Repeat("a", 307), 3, gsm, 153},
		"accents in the alphabet": {strings.Repeat("é", 160), 1, gsm, 160},
		"Greek in the alphabet":   {strings.Repeat("Ω", 160), 1, gsm, 160},
		"lines":                   {"a\nb\rc", 1, gsm, 160},
		"extended":                {strings.Repeat("€", 80), 1, gsm, 160},
		"one extended more":       {strings.Repeat("€", 80) + "a", 2, gsm, 153},
		"braces":                  {strings.Repeat("{", 81), 2, gsm, 153},
		// 152 plus an escaped character does not fit into 153, so the whole character goes to the next segment.
		"escape not split":     {strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), 3, gsm, 153},
		"escape at the end":    {strings.Repeat("a", 151) + "€" + strings.Repeat("a", 153), 2, gsm, 153},
		"not in the alphabet":  {"ê", 1, ucs, 70},
		"typographic quote":    {strings.Repeat("a", 70) + "’", 2, ucs, 67},
		"Cyrillic":             {strings.Repeat("ы", 70), 1, ucs, 70},
		"Cyrillic, two":        {strings.Repeat("ы", 134), 2, ucs, 67},
		"Cyrillic, three":      {strings.Repeat("ы", 135), 3, ucs, 67},
		"outside the BMP":      {strings.Repeat("🎾", 35), 1, ucs, 70},
		"surrogates not split": {strings.Repeat("🎾", 67), 3, ucs, 67}, // 33 of two units to a segment
		"tab":                  {"a\tb", 1, ucs, 70},
		"backtick":             {"`", 1, ucs, 70},
		"not UTF-8":            {"\xff", 1, ucs, 70},
	} {
		segments, encoding, per := delivery.CountSegments(tc.text)
		test.EqOp(t, tc.segments, segments,
			test.Sprintf(
				"%s: %d of %d in %s, want %d of %d in %s",
				name, segments, per, encoding, tc.segments, tc.per, tc.encoding,
			))
		test.EqOp(t, tc.encoding, encoding,
			test.Sprintf(
				"%s: %d of %d in %s, want %d of %d in %s",
				name, segments, per, encoding, tc.segments, tc.per, tc.encoding,
			))
		test.EqOp(t, tc.per, per,
			test.Sprintf(
				"%s: %d of %d in %s, want %d of %d in %s",
				name, segments, per, encoding, tc.segments, tc.per, tc.encoding,
			))
	}
}

func TestGSM7_SegmentsAreEnoughAndNotTooMany(t *testing.T) {
	t.Parallel()
	alphabet := []rune("aZ9 é\n€[~ы’🎾")
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 500).Draw(t, "text"))
		segments, encoding, per := delivery.CountSegments(text)
		units := 0
		for _, r := range text {
			switch {
			case encoding == delivery.UCS2 && r > 0xFFFF, encoding == delivery.GSM7Bit && strings.ContainsRune("€[~", r):
				units += 2
			default:
				units++
			}
		}
		must.True(t, segments*per >= units, must.Sprintf("%d units in %d of %d", units, segments, per))
		if segments > 1 && (segments-1)*(per-1) >= units { // at most one unit of each segment is unused
			t.Fatalf("%d segments of %d for %d units", segments, per, units)
		}
		more, _, _ := delivery.CountSegments(text + "a")
		must.True(t, more >= segments, must.Sprintf("a longer text needs %d instead of %d", more, segments))
	})
}
