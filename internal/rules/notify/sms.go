package notify

import (
	"maps"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// What may be cut to keep a text message to one segment, and to which lengths. Codes, links and times never are.
var (
	cuttable = []string{"Title", "Location", "Tenant", "Plan", "Note", "Reason", "Name", "Coach", "Resource", "Address"}
	lengths  = []int{40, 28, 20, 14, 10, 7, 5}
)

// renderSMS keeps to the GSM 7-bit alphabet where the text can be written in it, and to one segment where
// shorter names make it fit. Where they don't, names are left whole.
func renderSMS(t Template, values Values) (Rendered, error) {
	write := func(values Values) (Rendered, error) {
		f, err := t.fill(values)
		if err != nil {
			return Rendered{}, err
		}
		text := foldToGSM(strings.Join(strings.Fields(f.Body), " "))
		segments, encoding, _ := GSM7(text)
		return Rendered{Text: text, Segments: segments, GSM7: encoding == GSM7Bit}, nil
	}
	whole, err := write(values)
	if err != nil || whole.Segments <= 1 {
		return whole, err
	}
	for _, length := range lengths {
		cut := maps.Clone(values)
		for _, name := range cuttable {
			if text, ok := cut[name].(string); ok {
				cut[name] = short(text, length)
			}
		}
		if fits, err := write(cut); err != nil || fits.Segments <= 1 {
			return fits, err
		}
	}
	return whole, nil
}

// plain are characters that typographers prefer to those of the GSM 7-bit alphabet.
var plain = strings.NewReplacer(
	"’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "–", "-", "—", "-", "…", "...", "\u00a0", " ", "\u202f", " ",
	"·", "-", "•", "-", "°", "o", "×", "x", "œ", "oe", "Œ", "OE", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ı", "i",
)

// foldToGSM writes a text in the GSM 7-bit alphabet, without the marks that this lacks. A text in another script
// stays as it is: half of it would be no text.
func foldToGSM(text string) string {
	if _, ok := gsmLengths(text); ok {
		return text
	}
	var folded strings.Builder
	for _, r := range norm.NFC.String(plain.Replace(text)) {
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

// Mask hides all of a number or address but what its owner would know it by.
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
