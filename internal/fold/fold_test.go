package fold_test

import (
	"testing"

	"github.com/shoenig/test"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fold"
)

func TestText_IsTheSameForWhatReadsTheSame(t *testing.T) {
	t.Parallel()
	for want, all := range map[string][]string{
		"jose munoz":  {"José Muñoz", "Jose\u0301 Mun\u0303oz", "JOSÉ  MUÑOZ", " jose\u00a0munoz "},
		"strasse":     {"Straße", "STRASSE", "STRAẞE"},
		"o'dalaigh":   {"Ó’Dálaigh", "O'DALAIGH", "Ó‘dálaigh", "O´Dálaigh"},
		"anne-marie":  {"Anne-Marie", "Anne‑Marie", "ANNE–MARIE"},
		"soren aebel": {"Søren Æbel", "SØREN ÆBEL"},
		"istanbul":    {"İstanbul", "ıstanbul"},
		"ana":         {"ＡＮＡ", "A\u200bna", "Ana\ufeff"},
		"андреи":      {"Андрей", "АНДРЕИ\u0306"},
		"οδοσ":        {"Οδός", "ΟΔΟΣ"},
		"がく":          {"か\u3099く", "がく"},
		"हिन्दी":      {"हिन्दी"},
		"ꭰꮳ":          {"ꭰꮳ", "ᎠᏣ"},
		"a'b":         {"a´b", "a\u1ffdb"},
		"":            {"", " \t\n", "\u200b"},
	} {
		for _, s := range all {
			test.EqOp(t, norm.NFC.String(want), fold.Text(s), test.Sprintf("%q", s))
		}
	}
	test.NotEqOp(t, fold.Text("か"), fold.Text("が"), test.Sprint("another letter"))
	test.NotEqOp(t, fold.Text("हन्द"), fold.Text("हिन्दी"), test.Sprint("other vowels"))
}

// A folded text is its own key, so what is stored folded and what is searched folded meet.
func TestText_IsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		once := fold.Text(s)
		test.EqOp(t, once, fold.Text(once))
		test.EqOp(t, once, fold.Text(norm.NFD.String(s)))
	})
}
