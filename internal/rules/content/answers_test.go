package content

import (
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
)

func TestAnswerText_FitsOneSegmentInEveryLanguage(t *testing.T) {
	t.Parallel()
	seen := make(map[string]string)
	for _, locale := range DefaultLocales() {
		for _, a := range []Answer{Booked, OfferDeclined, NotOpen, BookingFailed, Ambiguous, Helped, MessagesStopped} {
			text := a.Text(strings.Repeat("Yogastudio ", 9), locale)
			segments, encoding, _ := delivery.CountSegments(text)
			test.EqOp(t, 1, segments,
				test.Sprintf("%s in %s: %d segments of %s: %q", a, locale, segments, encoding, text))
			test.EqOp(t, delivery.GSM7Bit, encoding,
				test.Sprintf("%s in %s: %d segments of %s: %q", a, locale, segments, encoding, text))
			test.StrNotContains(t, text, "%",
				test.Sprintf("%s in %s: %d segments of %s: %q", a, locale, segments, encoding, text))
			other, ok := seen[text]
			test.False(t, ok, test.Sprintf("%q is in %s and %s", text, other, locale))
			seen[text] = locale
		}
	}
	for _, c := range []struct {
		locales []string
		want    string
	}{
		{[]string{"de-AT", "fr"}, "Dieses Angebot gilt nicht mehr."},
		{[]string{"", "fr-CA"}, "Cette offre n'est plus valable."},
		{[]string{"nl", "de"}, "Dieses Angebot gilt nicht mehr."},
		{[]string{"nl"}, "That offer is no longer open."},
		{nil, "That offer is no longer open."},
	} {
		test.EqOp(t, c.want, NotOpen.Text("", c.locales...), test.Sprint(c.locales))
	}
	test.EqOp(t, "", NoAnswer.Text("x", "de"), test.Sprint("no answer"))
}
