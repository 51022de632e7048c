package delivery

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Encoding is the encoding of an SMS.
type Encoding string

// The encodings (3GPP TS 23.038).
const (
	GSM7Bit Encoding = "GSM-7"
	UCS2    Encoding = "UCS-2"
)

// The capacity of an SMS in units of the encoding: of a single one, and of a part of a longer one, in which a header
// takes six bytes.
const (
	gsmSingle, gsmPart = 160, 153
	ucsSingle, ucsPart = 70, 67
)

// gsmBasic is the GSM 7-bit default alphabet. gsmExtension is its extension table: each character takes two units, an
// escape and itself.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtension = "\f^{}\\[~]|€"
)

var gsmUnits = func() map[rune]int {
	units := make(map[rune]int, 138)
	for _, r := range gsmBasic {
		units[r] = 1
	}
	for _, r := range gsmExtension {
		units[r] = 2
	}
	return units
}()

// CountSegments returns how many segments a text needs as SMS, in which encoding, and how many units each segment
// holds. One character outside the GSM 7-bit alphabet makes the whole text UCS-2. A character is never split between
// segments, so a text can need one more than its length suggests. An empty text has no segments.
func CountSegments(text string) (segments int, encoding Encoding, perSegment int) {
	if units, ok := gsmLengths(text); ok {
		segments, perSegment = pack(units, gsmSingle, gsmPart)
		return segments, GSM7Bit, perSegment
	}
	segments, perSegment = pack(utf16Lengths(text), ucsSingle, ucsPart)
	return segments, UCS2, perSegment
}

func gsmLengths(text string) ([]int, bool) {
	lengths := make([]int, 0, len(text))
	for _, r := range text {
		n, ok := gsmUnits[r]
		if !ok {
			return nil, false
		}
		lengths = append(lengths, n)
	}
	return lengths, true
}

func utf16Lengths(text string) []int {
	lengths := make([]int, 0, len(text))
	for _, r := range text {
		if r > 0xFFFF {
			lengths = append(lengths, 2)
		} else {
			lengths = append(lengths, 1)
		}
	}
	return lengths
}

// pack counts the segments for characters of these lengths.
func pack(lengths []int, single, part int) (segments, perSegment int) {
	total := 0
	for _, n := range lengths {
		total += n
	}
	if total <= single {
		return min(total, 1), single
	}
	segments, used := 1, 0
	for _, n := range lengths {
		if used+n > part {
			segments, used = segments+1, 0
		}
		used += n
	}
	return segments, part
}

// gsmReplacer replaces typographic characters with those of the GSM 7-bit alphabet.
var gsmReplacer = strings.NewReplacer(
	"’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"–", "-", "—", "-", "…", "...", "\u00a0", " ", "\u202f", " ",
	"·", "-", "•", "-", "°", "o", "×", "x", "œ", "oe", "Œ", "OE", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ı", "i",
)

// FoldToGSM converts a text to the GSM 7-bit alphabet, without the diacritics that the alphabet lacks. A text in
// another script stays as it is, because it cannot be converted completely.
func FoldToGSM(text string) string {
	if _, ok := gsmLengths(text); ok {
		return text
	}
	var folded strings.Builder
	for _, r := range norm.NFC.String(gsmReplacer.Replace(text)) {
		if _, ok := gsmUnits[r]; ok {
			folded.WriteRune(r)
			continue
		}
		for _, part := range norm.NFKD.String(string(r)) {
			if _, ok := gsmUnits[part]; ok {
				folded.WriteRune(part)
			} else if !unicode.Is(unicode.Mn, part) {
				return text
			}
		}
	}
	return folded.String()
}
