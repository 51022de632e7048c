package notify

import (
	"strings"
	"testing"
)

func TestAnswerText_FitsOneSegmentInEveryLanguage(t *testing.T) {
	t.Parallel()
	seen := make(map[string]string)
	for _, locale := range DefaultLocales() {
		for _, a := range []Answer{Booked, OfferDeclined, NotOpen, BookingFailed, Ambiguous, Helped, MessagesStopped} {
			text := a.Text(strings.Repeat("Yogastudio ", 9), locale)
			if segments, encoding, _ := CountSegments(text); segments != 1 || encoding != GSM7Bit ||
				strings.Contains(text, "%") {
				t.Errorf("%s in %s: %d segments of %s: %q", a, locale, segments, encoding, text)
			}
			if other, ok := seen[text]; ok {
				t.Errorf("%q is in %s and %s", text, other, locale)
			}
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
		if got := NotOpen.Text("", c.locales...); got != c.want {
			t.Errorf("%v: %q", c.locales, got)
		}
	}
	if got := NoAnswer.Text("x", "de"); got != "" {
		t.Errorf("no answer is %q", got)
	}
}
