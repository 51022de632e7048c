package content

import (
	"maps"
	"strings"

	"github.com/berthhq/berth/internal/rules/delivery"
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
		text := delivery.FoldToGSM(strings.Join(strings.Fields(f.Body), " "))
		segments, encoding, _ := delivery.CountSegments(text)
		return Rendered{Text: text, Segments: segments, GSM7: encoding == delivery.GSM7Bit}, nil
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
