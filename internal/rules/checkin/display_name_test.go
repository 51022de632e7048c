package checkin_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/checkin"
)

func TestDisplayName_ShowsFirstNameAndInitial(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Mia Meyer":                    "Mia M.",
		"Mia de Klerk":                 "Mia K.",
		"  Mia \t Meyer ":              "Mia M.",
		"Mia":                          "Mia",
		"Anna-Lena Öz":                 "Anna-Lena Ö.",
		"émile zola":                   "émile Z.",
		strings.Repeat("é", 30) + " N": strings.Repeat("é", 30) + " N.",
		"王 小明":                         "王 小.",
		"Mia (guest)":                  "Mia",
		"Mia 2":                        "Mia",
		"Mia\u202eMeyer":               "Mia M.",
		"":                             "",
		" \u200b ":                     "",
		strings.Repeat("m", 31) + " N": strings.Repeat("m", 29) + "… N.",
	} {
		test.EqOp(t, want, checkin.DisplayName(name), test.Sprintf("%q is shown as", name))
	}
}

func TestDisplayName_NeverShowsALastName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shown := checkin.DisplayName(rapid.StringN(0, 60, -1).Draw(t, "name"))
		words := strings.Fields(shown)
		must.True(t, utf8.ValidString(shown), must.Sprintf("%q", shown))
		must.LessEq(t, 33, utf8.RuneCountInString(shown))
		must.LessEq(t, 2, len(words))
		must.True(t, len(words) != 2 || utf8.RuneCountInString(words[1]) == 2, must.Sprintf("%q", shown))
	})
}
