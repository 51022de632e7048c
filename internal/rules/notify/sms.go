package notify

import (
	"maps"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The variables that are shortened to keep a text message to one segment, and the lengths to try, in characters. Codes,
// links and times are never shortened.
var (
	shortened = []string{
		"Title", "Location", "Tenant", "Plan", "Note", "Reason", "Name", "Coach", "Resource", "Address",
	}
	shortLengths = []int{40, 28, 20, 14, 10, 7, 5}
)

// renderSMS uses the GSM 7-bit alphabet if the text can be written in it, and shortens names if one segment is then
// enough. Otherwise names stay complete.
func renderSMS(t Template, values Values) (Rendered, error) {
	render := func(values Values) (Rendered, error) {
		f, err := t.fill(values)
		if err != nil {
			return Rendered{}, err
		}
		text := foldToGSM(strings.Join(strings.Fields(f.Body), " "))
		segments, encoding, _ := CountSegments(text)
		return Rendered{Text: text, Segments: segments, GSM7: encoding == GSM7Bit}, nil
	}
	complete, err := render(values)
	if err != nil || complete.Segments <= 1 {
		return complete, err
	}
	for _, length := range shortLengths {
		values := maps.Clone(values)
		for _, name := range shortened {
			if text, ok := values[name].(string); ok {
				values[name] = short(text, length)
			}
		}
		if fits, err := render(values); err != nil || fits.Segments <= 1 {
			return fits, err
		}
	}
	return complete, nil
}

// gsmReplacer replaces typographic characters with those of the GSM 7-bit alphabet.
var gsmReplacer = strings.NewReplacer(
	"’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"–", "-", "—", "-", "…", "...", "\u00a0", " ", "\u202f", " ",
	"·", "-", "•", "-", "°", "o", "×", "x", "œ", "oe", "Œ", "OE", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ı", "i",
)

// foldToGSM converts a text to the GSM 7-bit alphabet, without the diacritics that the alphabet lacks. A text in
// another script stays as it is, because it cannot be converted completely.
func foldToGSM(text string) string {
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

// Mask hides most of a number or address. Its owner can still recognize it.
func Mask(c Channel, address string) string {
	if c == Push || address == "" {
		return address
	}
	if name, host, ok := strings.Cut(address, "@"); ok {
		return string([]rune(name)[:min(1, len([]rune(name)))]) + "***@" + host
	}
	if len(address) < 7 {
		return "***"
	}
	return address[:3] + strings.Repeat("*", len(address)-5) + address[len(address)-2:]
}
